// topwork info: what a model is, and whether and how it would run.
#include <cstdio>
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  bool plan = false;
};

std::string ShapeText(const Json& tensor) {
  std::string text = tensor["dtype"].get<std::string>() + " [";
  for (size_t i = 0; i < tensor["shape"].size(); ++i) {
    const int open = tensor["open_shape"].size() > i ? tensor["open_shape"][i].get<int>() : 0;
    const std::string dim = std::to_string(tensor["shape"][i].get<int>());
    text += (i > 0 ? ", " : "") + (open < 0 ? "open (" + dim + ")" : dim);
  }
  text += "]";
  const Json& quantization = tensor["quantization"];
  if (quantization.is_object() && !quantization["scales"].empty()) {
    char more[96];
    std::snprintf(more, sizeof(more), ", scale %.6g, zero point %lld",
                  quantization["scales"][0].get<double>(),
                  static_cast<long long>(quantization["zero_points"].empty()
                                             ? 0
                                             : quantization["zero_points"][0].get<int64_t>()));
    text += more;
  }
  return text;
}

void PrintTensors(const char* title, const Json& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::printf("  %-9s %s  %s\n", i == 0 ? title : "",
                tensors[i]["name"].get<std::string>().c_str(), ShapeText(tensors[i]).c_str());
  }
}

std::string Tick(bool supported) {
  return supported ? Paint(1, "32", "yes") : Paint(1, "31", "no");
}

void PrintHead(const Json& head) {
  if (head.is_null()) return;
  if (head.contains("reason")) {
    std::printf("  %-9s none that can be re-trained: %s\n", "head",
                head["reason"].get<std::string>().c_str());
    return;
  }
  std::printf("  %-9s %s, %lld features to %lld classes\n", "head",
              head.value("operator", std::string("?")).c_str(),
              static_cast<long long>(head.value("n_features", int64_t{0})),
              static_cast<long long>(head.value("n_classes", int64_t{0})));
}

void PrintModel(const std::string& path, const Json& model) {
  std::printf("%s\n", Paint(1, "1", path).c_str());
  if (!model["description"].get<std::string>().empty()) {
    std::printf("  %-9s %s\n", "about", model["description"].get<std::string>().c_str());
  }
  std::printf("  %-9s %s, schema %d, sha256 %s\n", "file",
              HumanBytes(model["file_bytes"].get<double>()).c_str(),
              model["schema_version"].get<int>(), model["sha256"].get<std::string>().c_str());
  PrintTensors("inputs", model["inputs"]);
  PrintTensors("outputs", model["outputs"]);
  for (const Json& signature : model["signatures"]) {
    std::printf("  %-9s %s\n", "signature", signature["key"].get<std::string>().c_str());
  }
  std::printf("  %-9s %lld\n", "weights",
              static_cast<long long>(model["n_parameters"].get<int64_t>()));
  if (!model["labels"].empty()) {
    std::printf("  %-9s %zu, \"%s\" to \"%s\"\n", "labels", model["labels"].size(),
                model["labels"].front().get<std::string>().c_str(),
                model["labels"].back().get<std::string>().c_str());
  }
  PrintHead(model.value("head", Json()));
  std::printf("\n  %-32s %6s %8s %10s\n", "operator", "count", "version", "supported");
  for (const Json& op : model["operators"]) {
    std::printf("  %-32s %6lld %8lld %10s\n", op["name"].get<std::string>().c_str(),
                static_cast<long long>(op["count"].get<int64_t>()),
                static_cast<long long>(op["version"].get<int64_t>()),
                Tick(op["supported"].get<bool>()).c_str());
  }
}

void Info(const InfoOptions& options) {
  const tw::Model model = OpenModel(options.common.model);
  Json description = Json::parse(CheckValue(model.Describe()));
  // A model that cannot run still has a description; the reason is part of it.
  const tw::Result<tw::Session> session = [&] {
    tw::SessionOptions session_options;
    session_options.n_threads = options.common.n_threads;
    session_options.device = DeviceOf(options.common.device);
    return tw::Session::Create(model, session_options);
  }();
  description["runs"] = session.ok();
  if (session.ok()) {
    const tw_memory_info memory = CheckValue(session->Memory());
    description["arena_bytes"] = memory.arena_bytes;
    description["live_bytes"] = memory.live_bytes;
    description["packed_bytes"] = memory.packed_bytes;
    if (options.plan)
      description["plan"] = Json::parse(CheckValue(session->DescribePlan(TW_PLAN_JSON)));
  } else {
    description["reason"] = session.status().message();
  }
  if (options.common.json) {
    PrintJson(description);
  } else {
    PrintModel(options.common.model, description);
    if (session.ok()) {
      const tw_memory_info memory = CheckValue(session->Memory());
      std::printf("\n  runs here: %s; arena %s (at least %s is alive at once), packed weights %s\n",
                  Tick(true).c_str(), HumanBytes(static_cast<double>(memory.arena_bytes)).c_str(),
                  HumanBytes(static_cast<double>(memory.live_bytes)).c_str(),
                  HumanBytes(static_cast<double>(memory.packed_bytes)).c_str());
    } else {
      std::printf("\n  runs here: %s: %s\n", Tick(false).c_str(),
                  session.status().message().c_str());
    }
    if (session.ok() && options.plan) {
      std::printf("\n%s", CheckValue(session->DescribePlan()).c_str());
    }
  }
  if (options.plan && !session.ok()) Check(session.status(), options.common.model);
}

}  // namespace

void AddInfoCommand(CLI::App* app) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      app->add_subcommand("info", "Describe a model: inputs, operators, memory, head");
  AddModelOption(command, &options->common);
  command->add_flag(
      "--plan", options->plan,
      "print the plan: kernels, fusion, arena offsets, and the arena's size against the "
      "largest live set");
  AddDeviceOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer("Example:\n  topwork info model.tflite --plan");
  command->callback([options] { Info(*options); });
}

}  // namespace cli
}  // namespace topwork
