// topwork devices: where models can run on this machine.
#include <cstdio>
#include <memory>
#include <string>

#include "ports/cli/common.h"
#include "ports/cli/power/board.h"
#include "ports/cli/power/sensors.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

// What can be said in a line: for the CPU its instruction set, for OpenCL what limits a model.
std::string Details(const tw_device_info& device) {
  if (device.instruction_set[0] != '\0') {
    return std::string("instruction set ") + device.instruction_set + ", " +
           std::to_string(device.n_compute_units) + " processors; " +
           std::to_string(device.n_threads) + (device.n_threads == 1 ? " thread" : " threads") +
           " (" + device.n_threads_reason + ")";
  }
  if (device.driver[0] == '\0') return "";
  std::string text = std::string(device.type) + ", " +
                     HumanBytes(static_cast<double>(device.memory_bytes)) + ", " +
                     std::to_string(device.n_compute_units) + " units";
  text += device.has_fp16 != 0 ? ", fp16" : ", no fp16";
  text += device.has_images != 0 ? ", images" : ", no images";
  if (device.has_int_dot != 0) text += ", int dot";
  if (device.shares_memory != 0) text += ", shared memory";
  return text + "; " + device.platform + ", driver " + device.driver;
}

Json DeviceJson(const tw_device_info& device) {
  Json json;
  json["device"] = std::string(device.id).substr(0, std::string(device.id).find(':'));
  json["id"] = device.id;
  json["name"] = device.name;
  json["available"] = device.is_usable != 0;
  if (device.is_usable == 0) json["reason"] = device.reason;
  if (device.instruction_set[0] != '\0') {
    json["instruction_set"] = device.instruction_set;
    json["n_processors"] = device.n_compute_units;
    json["n_threads"] = device.n_threads;
    json["n_threads_reason"] = device.n_threads_reason;
  }
  if (device.driver[0] == '\0') return json;
  json["type"] = device.type;
  json["vendor"] = device.vendor;
  json["platform"] = device.platform;
  json["driver"] = device.driver;
  json["version"] = device.version;
  json["n_compute_units"] = device.n_compute_units;
  json["memory_bytes"] = device.memory_bytes;
  json["local_memory_bytes"] = device.local_memory_bytes;
  json["max_allocation_bytes"] = device.max_allocation_bytes;
  json["has_fp16"] = device.has_fp16 != 0;
  json["has_images"] = device.has_images != 0;
  json["has_int_dot"] = device.has_int_dot != 0;
  json["shares_memory"] = device.shares_memory != 0;
  return json;
}

bool HasGpu(const std::vector<tw_device_info>& devices) {
  for (const tw_device_info& device : devices) {
    const std::string type = device.type;
    if (device.is_usable != 0 && (type == "gpu" || type == "accelerator")) return true;
  }
  return false;
}

Json SensorJson(const PowerSensor& sensor) {
  Json json = {
      {"driver", sensor.driver}, {"name", sensor.name}, {"scope", PowerScopeName(sensor.scope)}};
  double value = 0.0;
  std::string reason;
  if (ReadPowerSensor(sensor, &value, &reason)) {
    json[sensor.is_counter ? "joules" : "watts"] = value;
  } else {
    json["reason"] = reason;
  }
  return json;
}

// The board, its power mode and sensors, from the files below `root`.
Json BoardJson(const std::string& root, bool has_gpu) {
  const Board board = ReadBoard(root);
  Json json;
  json["model"] = board.model;
  json["jetson_linux"] = board.release;
  json["power_mode"] = board.power_mode;
  if (board.gpu_max_mhz > 0.0) {
    json["gpu_mhz"] = board.gpu_mhz;
    json["gpu_max_mhz"] = board.gpu_max_mhz;
  }
  json["opencl_advice"] = OpenclAdvice(board, has_gpu);
  const std::vector<PowerSensor> sensors = FindPowerSensors(root);
  json["power_sensors"] = Json::array();
  for (const PowerSensor& sensor : sensors) json["power_sensors"].push_back(SensorJson(sensor));
  std::string reason;
  const PowerSensor* const chosen = ChoosePowerSensor(sensors, &reason);
  json["energy_from"] = chosen != nullptr ? Json(chosen->driver + " " + chosen->name) : Json();
  if (chosen == nullptr) json["no_energy"] = reason;
  return json;
}

void PrintBoard(const Json& board) {
  const auto text = [&](const char* key) { return board[key].get<std::string>(); };
  if (!text("model").empty()) {
    std::string line = text("model");
    if (!text("jetson_linux").empty()) line += ", Jetson Linux " + text("jetson_linux");
    if (!text("power_mode").empty()) line += ", power mode " + text("power_mode");
    std::printf("\n%s\n", line.c_str());
  }
  if (!text("opencl_advice").empty()) std::printf("%s\n", text("opencl_advice").c_str());
  const Json& source = board["energy_from"];
  std::printf("\nenergy: %s\n",
              source.is_null() ? text("no_energy").c_str() : source.get<std::string>().c_str());
}

}  // namespace

void AddDevicesCommand(CLI::App* app) {
  auto options = std::make_shared<CommonOptions>();
  auto root = std::make_shared<std::string>();
  CLI::App* command = app->add_subcommand("devices", "List the devices of this machine");
  AddJsonOption(command, options.get());
  // Hidden: a copy of another machine's /proc, /sys and /etc, for tests and for reports of users.
  command->add_option("--root", *root, "read the machine's files below this folder")->group("");
  command->footer("Examples:\n  topwork devices\n  topwork devices --json");
  command->callback([options, root] {
    const std::vector<tw_device_info> devices = CheckValue(tw::Devices());
    const Json board = BoardJson(*root, HasGpu(devices));
    if (options->json) {
      Json json = Json::array();
      for (const tw_device_info& device : devices) json.push_back(DeviceJson(device));
      json[0]["machine"] = board;
      PrintJson(json);
      return;
    }
    Table table({"device", "usable", "name", ""});
    std::string reasons;
    for (const tw_device_info& device : devices) {
      const bool usable = device.is_usable != 0;
      table.Row({Paint(1, "1", device.id), usable ? Paint(1, "32", "yes") : Paint(1, "2", "no"),
                 device.name, Details(device)});
      if (!usable) reasons += std::string("\n") + device.id + ": " + device.reason;
    }
    table.Print(0);
    if (!reasons.empty()) std::printf("%s\n", reasons.c_str());
    PrintBoard(board);
  });
}

}  // namespace cli
}  // namespace topwork
