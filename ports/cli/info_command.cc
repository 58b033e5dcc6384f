// topwork info: what a model is, and whether and how it would run.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "ports/cli/common.h"
#include "ports/cli/shapes.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  bool plan = false;
};

std::string ShapeList(const Json& shape) {
  std::string text = "[";
  for (const Json& dim : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim.get<int64_t>());
  }
  return text + "]";
}

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

constexpr size_t kInfoNameWidth = 48;

void AddTensors(const char* title, const Json& tensors, Table* table) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = tensors[i]["name"].get<std::string>();
    table->Row({i == 0 ? Paint(1, "2", title) : "",
                ShapeText(tensors[i]) + "  " +
                    Paint(1, "36", Shorten(name.empty() ? "(no name)" : name, kInfoNameWidth))});
  }
}

std::string Tick(bool supported) {
  return supported ? Paint(1, "32", "yes") : Paint(1, "1;31", "NO");
}

// Of what is good to have, and no fault where it lacks.
std::string Mark(bool there) { return there ? Paint(1, "32", "yes") : Paint(1, "2", "-"); }

// "images → output_0": what a signature's caller sees.
std::string SignatureText(const Json& signature) {
  std::string text = signature["key"].get<std::string>() + ":";
  for (const Json& input : signature["inputs"]) text += " " + input["name"].get<std::string>();
  text += " →";
  for (const Json& output : signature["outputs"]) text += " " + output["name"].get<std::string>();
  return text;
}

std::string HeadText(const Json& model) {
  const Json& head = model["head"];
  if (!head.is_object()) {
    return "none that can be re-trained: " + model.value("head_reason", std::string("unknown"));
  }
  if (head.value("appended", false)) {
    return "none; one can be appended to the output of " +
           std::to_string(head["n_features"].get<int64_t>()) + " features";
  }
  std::string tail;
  bool is_scores = false;
  for (const Json& op : head["tail"]) {
    const std::string name = op.get<std::string>();
    tail += ", then " + name;
    is_scores = is_scores || name == "SOFTMAX" || name == "LOG_SOFTMAX" || name == "LOGISTIC";
  }
  const std::string text =
      head["op"].get<std::string>() + ", " +
      CountText(head["n_features"].get<int64_t>(), "feature") + " to " +
      CountText(head["n_classes"].get<int64_t>(), is_scores ? "class" : "output") + tail;
  return text + Paint(1, "2", " (can be re-trained)");
}

std::string Millions(int64_t n) {
  if (n < 10000) return std::to_string(n);
  char text[48];
  std::snprintf(text, sizeof(text), " (%.2f million)", static_cast<double>(n) * 1e-6);
  return std::to_string(n) + text;
}

void PrintModel(const std::string& path, const Json& model) {
  std::printf("%s\n", Paint(1, "1", path).c_str());
  Table table({"", ""});
  const auto row = [&](const char* title, const std::string& text) {
    if (!text.empty()) table.Row({Paint(1, "2", title), text});
  };
  row("about", model["description"].get<std::string>());
  row("file", HumanBytes(model["file_bytes"].get<double>()) + ", schema " +
                  std::to_string(model["schema_version"].get<int>()));
  row("sha256", model["sha256"].get<std::string>());
  AddTensors("inputs", model["inputs"], &table);
  AddTensors("outputs", model["outputs"], &table);
  for (const Json& signature : model["signatures"]) row("signature", SignatureText(signature));
  if (model["subgraphs"].size() > 1) row("subgraphs", std::to_string(model["subgraphs"].size()));
  row("weights", Millions(model["n_parameters"].get<int64_t>()));
  const Json& labels = model["labels"];
  if (!labels.empty()) {
    row("labels", std::to_string(labels.size()) + ", \"" + labels.front().get<std::string>() +
                      "\" to \"" + labels.back().get<std::string>() + "\"");
  }
  if (model["normalization"].is_object()) {
    row("pixels", "(pixel - " + model["normalization"]["mean"].dump() + ") / " +
                      model["normalization"]["std"].dump());
  }
  std::string metadata;
  for (const Json& entry : model["metadata"]) {
    metadata += (metadata.empty() ? "" : ", ") + entry["name"].get<std::string>();
  }
  row("metadata", metadata);
  row("head", HeadText(model));
  table.Print(2);
  std::printf("\n");
  Table operators({"operator", ">count", ">version", "cpu", "opencl", "gradient"});
  for (const Json& op : model["operators"]) {
    operators.Row({op["name"].get<std::string>() + (op["custom"].get<bool>() ? " (custom)" : ""),
                   std::to_string(op["count"].get<int64_t>()),
                   std::to_string(op["version"].get<int64_t>()), Tick(op["supported"].get<bool>()),
                   Mark(op["opencl"].get<bool>()), Mark(op["gradient"].get<bool>())});
  }
  operators.Print(2);
}

// One line for each output; a place is an offset in the arena, the names in it are cut.
void AddStepRows(const std::string& number, const Json& step, bool on_device, Table* table) {
  std::string note = step["fused"].get<std::string>();
  if (!note.empty()) note = "+ " + note;
  const std::string products = step["products"].get<std::string>();
  if (!products.empty()) note += (note.empty() ? "" : "; ") + products + " products";
  const std::string reason = step["reason"].get<std::string>();
  if (!reason.empty()) note += (note.empty() ? "" : "; ") + reason;
  const int64_t n_tasks = step["n_tasks"].get<int64_t>();
  const std::string tasks = n_tasks > 0 ? std::to_string(n_tasks) : "";
  for (size_t k = 0; k < std::max<size_t>(1, step["outputs"].size()); ++k) {
    std::string shape, place;
    if (k < step["outputs"].size()) {
      const Json& output = step["outputs"][k];
      shape = output["dtype"].get<std::string>() + " " + ShapeList(output["shape"]);
      place = on_device ? "on the device" : output["place"].get<std::string>();
      const size_t shared = place.find(" (shares");
      if (shared != std::string::npos) place = place.substr(0, shared) + " in place";
    }
    table->Row({k == 0 ? number : "", k == 0 ? step["op"].get<std::string>() : "",
                k == 0 ? step["variant"].get<std::string>() : "",
                k == 0 ? step["backend"].get<std::string>() : "", k == 0 ? tasks : "", shape, place,
                k == 0 ? note : ""});
  }
}

void AddLaunchRow(const std::string& op, const std::string& what, const Json& work, Table* table) {
  char idle[16];
  std::snprintf(idle, sizeof(idle), "%.0f %%", 100.0 * work["waste"].get<double>());
  const auto count = [&](const char* key) { return std::to_string(work[key].get<int64_t>()); };
  table->Row(
      {op, what, count("items"), idle, count("steps"), count("loads"), count("multiply_adds")});
}

// The steps of the plan, or of a subgraph of it: then `prefix` is its number and a colon. Under a
// step come the operators that are parts of it, and the subgraphs that it calls.
void AddSteps(const Json& steps, const std::string& prefix, Table* table) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const Json& step = steps[i];
    AddStepRows(prefix + std::to_string(i), step, false, table);
    if (step.contains("parts")) {
      for (const Json& part : step["parts"]) AddStepRows("", part, part["backend"] != "cpu", table);
    }
    if (!step.contains("subgraphs")) continue;
    for (const Json& callee : step["subgraphs"]) {
      AddSteps(callee["steps"], std::to_string(callee["subgraph"].get<int>()) + ":", table);
    }
  }
}

// One line for each launch on a device, under the operator's name.
void AddLaunchRows(const Json& steps, Table* table) {
  for (const Json& step : steps) {
    if (step.contains("launches")) {
      std::string op = step["op"].get<std::string>();
      for (const Json& launch : step["launches"]) {
        AddLaunchRow(op, launch["kernel"].get<std::string>(), launch, table);
        op.clear();
      }
    }
    if (step.contains("parts")) AddLaunchRows(step["parts"], table);
    if (!step.contains("subgraphs")) continue;
    for (const Json& callee : step["subgraphs"]) AddLaunchRows(callee["steps"], table);
  }
}

// What the plan asks of the device, launch by launch.
void PrintLaunches(const Json& plan) {
  const Json& total = plan["device_work"];
  const int64_t n = total["launches"].get<int64_t>();
  if (n == 0) return;
  std::printf("\n");
  Table table({"operator", "launch", ">work-items", ">idle", ">steps", ">loads", ">multiply-adds"});
  AddLaunchRows(plan["steps"], &table);
  AddLaunchRow("all", std::to_string(n) + " launches", total, &table);
  table.Print(2);
}

// The plan: the steps, those of subgraphs as "2:0", the first of subgraph 2.
void PrintPlan(const Json& plan) {
  std::printf("\n");
  Table table(
      {">step", "operator", "kernel", "backend", ">tasks", "output", "place", "fused, reason"});
  AddSteps(plan["steps"], "", &table);
  table.Print(2);
  PrintLaunches(plan);
  const int n_threads = plan["n_threads"].get<int>();
  std::printf("\n  %d %s: %s\n", n_threads, n_threads == 1 ? "thread" : "threads",
              plan["threads_reason"].get<std::string>().c_str());
  const std::string half_note = plan["half_note"].get<std::string>();
  if (!half_note.empty()) std::printf("\n  %s\n", half_note.c_str());
  const std::string note = plan["note"].get<std::string>();
  if (!note.empty()) std::printf("\n  %s\n", note.c_str());
  const double on_cpu = plan["estimated_cpu_ns"].get<double>() * 1e-6;
  if (on_cpu > 0) {
    std::printf("\n  estimated %.3f ms, on the CPU alone %.3f ms\n",
                plan["estimated_ns"].get<double>() * 1e-6, on_cpu);
  }
}

void PrintMemory(const tw_session_info& memory) {
  const double live = static_cast<double>(memory.live_bytes);
  const double arena = static_cast<double>(memory.arena_bytes);
  char more[32] = "";
  if (live > 0) std::snprintf(more, sizeof(more), " (+%.1f %%)", 100.0 * (arena - live) / live);
  std::printf("\n");
  Table table({"", ""});
  table.Row({Paint(1, "2", "runs here"), Tick(true)});
  table.Row({Paint(1, "2", "arena"),
             HumanBytes(arena) + " for a largest live set of " + HumanBytes(live) + more});
  table.Row({Paint(1, "2", "packed"), HumanBytes(static_cast<double>(memory.packed_bytes)) +
                                          " of weights, shared by sessions"});
  table.Row({Paint(1, "2", "scratch"), HumanBytes(static_cast<double>(memory.scratch_bytes))});
  if (memory.device_bytes > 0) {
    table.Row({Paint(1, "2", "device"), HumanBytes(static_cast<double>(memory.device_bytes)) +
                                            " of activations and weights"});
  }
  table.Print(2);
}

// Inputs, outputs and head are those of the signature; it need not exist.
void ShowSignature(const std::string& key, Json* description) {
  for (const Json& signature : (*description)["signatures"]) {
    if (signature["key"] != key) continue;
    const Json chosen = signature;
    for (const char* member : {"inputs", "outputs", "head", "head_reason"}) {
      (*description)[member] = chosen[member];
    }
    return;
  }
}

// What an option asks for is not there; otherwise the model itself cannot run here.
bool IsCallersFault(tw_status status) {
  return status == TW_STATUS_INVALID_ARGUMENT || status == TW_STATUS_NOT_FOUND ||
         status == TW_STATUS_IO || status == TW_STATUS_CORRUPT;
}

void Info(const InfoOptions& options) {
  const tw::Model model = OpenModel(options.common.model);
  Json description = Json::parse(CheckValue(model.Describe()));
  if (!options.common.signature.empty()) ShowSignature(options.common.signature, &description);
  // A model that cannot run still has a description; the reason is part of it.
  const tw::Result<tw::Session> session = TrySession(model, options.common);
  const bool wrong_option = IsCallersFault(session.status().code());
  if (wrong_option) CheckSession(session.status(), options.common);
  description["runs"] = session.ok();
  if (session.ok()) {
    const tw_session_info memory = CheckValue(session->Info());
    description["arena_bytes"] = memory.arena_bytes;
    description["live_bytes"] = memory.live_bytes;
    description["packed_bytes"] = memory.packed_bytes;
    description["device_bytes"] = memory.device_bytes;
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
      if (options.plan) PrintPlan(description["plan"]);
      PrintMemory(CheckValue(session->Info()));
    } else {
      std::printf("\n  %s %s: %s\n", Paint(1, "2", "runs here").c_str(), Tick(false).c_str(),
                  session.status().message().c_str());
    }
  }
  if (options.plan) CheckSession(session.status(), options.common);
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
  AddInputShapeOption(command, &options->common);
  AddSessionOptions(command, &options->common);
  AddJsonOption(command, &options->common);
  command->footer(
      "Examples:\n  topwork info mobilenet.tflite\n  topwork info mobilenet.tflite --plan"
      "\n  topwork info mobilenet.tflite --json | jq .inputs");
  command->callback([options] { Info(*options); });
}

}  // namespace cli
}  // namespace topwork
