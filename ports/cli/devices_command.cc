// topwork devices: where models can run on this machine.
#include <cstdio>
#include <memory>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

void AddDevicesCommand(CLI::App* app) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command = app->add_subcommand("devices", "List the devices of this machine");
  AddJsonOption(command, options.get());
  command->footer("Example:\n  topwork devices --json");
  command->callback([options] {
    const Json devices = Json::parse(
        CheckValue(tw::internal::GetString([](char** text) { return tw_device_describe(text); })));
    if (options->json) {
      PrintJson(devices);
      return;
    }
    for (const Json& device : devices) {
      std::printf("%-8s %s", device["device"].get<std::string>().c_str(),
                  device.value("name", std::string()).c_str());
      if (device.contains("instruction_set")) {
        std::printf(", instruction set %s, %d processors",
                    device["instruction_set"].get<std::string>().c_str(),
                    device.value("n_threads", 0));
      }
      if (!device.value("available", true)) {
        std::printf(" (not usable: %s)", device.value("reason", std::string("unknown")).c_str());
      }
      std::printf("\n");
    }
  });
}

}  // namespace cli
}  // namespace topwork
