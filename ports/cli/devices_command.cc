// topwork devices: where models can run on this machine.
#include <cstdio>
#include <memory>
#include <string>

#include "ports/cli/common.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

// What can be said in a line: for the CPU its instruction set, for OpenCL what limits a model.
std::string Details(const Json& device) {
  if (device.contains("instruction_set")) {
    return "instruction set " + device["instruction_set"].get<std::string>() + ", " +
           std::to_string(device.value("n_threads", 0)) + " processors";
  }
  if (!device.contains("driver")) return "";
  std::string text = device["type"].get<std::string>() + ", " +
                     HumanBytes(device["memory_bytes"].get<double>()) + ", " +
                     std::to_string(device["n_compute_units"].get<int>()) + " units";
  text += device["has_fp16"].get<bool>() ? ", fp16" : ", no fp16";
  text += device["has_images"].get<bool>() ? ", images" : ", no images";
  if (device["has_int_dot"].get<bool>()) text += ", int dot";
  if (device["shares_memory"].get<bool>()) text += ", shared memory";
  return text + "; " + device["platform"].get<std::string>() + ", driver " +
         device["driver"].get<std::string>();
}

}  // namespace

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
    Table table({"device", "usable", "name", ""});
    std::string reasons;
    for (const Json& device : devices) {
      const bool usable = device["available"].get<bool>();
      const std::string id = device["id"].get<std::string>();
      table.Row({Paint(1, "1", id), usable ? Paint(1, "32", "yes") : Paint(1, "2", "no"),
                 device["name"].get<std::string>(), Details(device)});
      if (!usable) reasons += "\n" + id + ": " + device["reason"].get<std::string>();
    }
    table.Print(0);
    if (!reasons.empty()) std::printf("%s\n", reasons.c_str());
  });
}

}  // namespace cli
}  // namespace topwork
