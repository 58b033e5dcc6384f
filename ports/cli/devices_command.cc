// topwork devices: where models can run on this machine.
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {

void AddDevicesCommand(CLI::App* app) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = app->add_subcommand("devices", "List the devices of this machine");
  AddJsonOption(command, options.get());
  command->footer("Examples:\n  topwork devices\n  topwork devices --json");
  command->callback([options] {
    const Json devices = Json::parse(
        CheckValue(tw::internal::GetString([](char** text) { return tw_device_describe(text); })));
    if (options->json) {
      PrintJson(devices);
      return;
    }
    Table table({"device", "usable", ""});
    for (const Json& device : devices) {
      const bool usable = device.value("available", true);
      std::string text = device.value("name", std::string());
      if (device.contains("instruction_set")) {
        text = "instruction set " + device["instruction_set"].get<std::string>() + ", " +
               std::to_string(device.value("n_threads", 0)) + " processors";
      }
      if (!usable) text = device.value("reason", std::string("no reason known"));
      table.Row({Paint(1, "1", device["device"].get<std::string>()),
                 usable ? Paint(1, "32", "yes") : Paint(1, "2", "no"), text});
    }
    table.Print(0);
  });
}

}  // namespace cli
}  // namespace topwork
