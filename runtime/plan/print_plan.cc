// PrintPlan and PlanToJson: the plan for people and for programs.
#include <algorithm>

#include "runtime/base/json.h"
#include "runtime/plan/op_work.h"
#include "runtime/plan/plan.h"

namespace topwork {
namespace {

// Where the value's memory is: "@4096", "in #12 +256" (a view), "constant", "run time"; "in parts"
// where the whole of it is nowhere.
std::string Place(const Plan& plan, int v) {
  if (v < 0) return "none";
  const PlanValue& value = plan.values[static_cast<size_t>(v)];
  if (value.constant) return "constant";
  if (value.variable) return "state";
  if (value.deferred) return "run time";
  const PlanValue& root = plan.values[static_cast<size_t>(value.root)];
  if (root.arena_offset < 0) return "in parts";
  std::string text =
      "@" + std::to_string(root.arena_offset + static_cast<int64_t>(value.root_offset));
  if (value.root != v) text += " (shares '" + root.name + "')";
  return text;
}

// The share of the work-items that only fill work-groups up.
double WasteOf(int64_t started, int64_t items) {
  return started > 0 ? 1.0 - static_cast<double>(items) / static_cast<double>(started) : 0.0;
}

void WriteWork(int64_t started, const LaunchWork& work, JsonWriter* json) {
  const auto integer = [&](const char* key, double value) {
    json->Key(key);
    json->Int(static_cast<int64_t>(value));
  };
  integer("items", static_cast<double>(work.items));
  json->Key("waste");
  json->Double(WasteOf(started, work.items));
  integer("steps", static_cast<double>(work.steps));
  integer("loads", work.loads);
  integer("multiply_adds", work.multiply_adds);
}

void WriteLaunches(const Step& part, JsonWriter* json) {
  json->Key("launches");
  json->BeginArray();
  for (const PlannedLaunch& launch : part.launches) {
    json->BeginObject();
    json->Key("kernel");
    json->String(launch.kernel);
    WriteWork(launch.started, launch.work, json);
    json->EndObject();
  }
  json->EndArray();
}

void AddTotals(const Plan& plan, LaunchTotals* totals) {
  for (const Step& step : plan.steps) {
    for (const Step& part : step.parts) {
      for (const PlannedLaunch& launch : part.launches) {
        ++totals->n;
        totals->started += launch.started;
        totals->work.items += launch.work.items;
        totals->work.steps = std::max(totals->work.steps, launch.work.steps);
        totals->work.loads += launch.work.loads;
        totals->work.multiply_adds += launch.work.multiply_adds;
      }
    }
    for (const PlannedCallee& callee : step.callees) AddTotals(*callee.plan, totals);
  }
}

void WriteStep(const Plan& plan, const Step& step, JsonWriter* json) {
  json->BeginObject();
  json->Key("op");
  json->String(step.def->name());
  json->Key("file_index");
  json->Int(step.file_index);
  json->Key("backend");
  json->String(PlaceName(step.device));
  json->Key("variant");
  json->String(step.variant);
  json->Key("products");
  json->String(step.products);
  json->Key("n_tasks");
  json->Int(step.n_tasks);
  json->Key("fused");
  json->String(step.fused);
  json->Key("reason");
  json->String(step.reason);
  json->Key("scratch_bytes");
  json->Int(static_cast<int64_t>(step.scratch_bytes));
  const Work work = WorkOf(plan, step);
  json->Key("flops");
  json->Int(static_cast<int64_t>(work.flops));
  json->Key("bytes");
  json->Int(static_cast<int64_t>(work.bytes));
  json->Key("outputs");
  json->BeginArray();
  for (int v : step.outputs) {
    if (v < 0) continue;
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    json->BeginObject();
    json->Key("name");
    json->String(value.name);
    json->Key("dtype");
    json->String(DTypeName(value.view.dtype));
    json->Key("shape");
    json->BeginArray();
    for (int i = 0; i < value.view.shape.rank(); ++i) json->Int(value.view.shape[i]);
    json->EndArray();
    json->Key("place");
    json->String(Place(plan, v));
    json->EndObject();
  }
  json->EndArray();
  json->Key("inside");
  json->String(step.inside);
  if (!step.launches.empty()) WriteLaunches(step, json);
  if (!step.callees.empty()) {
    json->Key("subgraphs");
    json->BeginArray();
    for (const PlannedCallee& callee : step.callees) {
      json->BeginObject();
      json->Key("subgraph");
      json->Int(callee.subgraph);
      json->Key("steps");
      json->BeginArray();
      for (const Step& inner : callee.plan->steps) WriteStep(*callee.plan, inner, json);
      json->EndArray();
      json->EndObject();
    }
    json->EndArray();
  }
  if (!step.parts.empty()) {
    json->Key("gpu_bytes");
    json->Int(static_cast<int64_t>(step.gpu_bytes));
    json->Key("parts");
    json->BeginArray();
    for (const Step& part : step.parts) WriteStep(plan, part, json);
    json->EndArray();
  }
  json->EndObject();
}

std::string StepLine(const Plan& plan, const std::string& number, const Step& step,
                     const std::string& place) {
  const int v = step.outputs.empty() ? -1 : step.outputs[0];
  const std::string shape = v < 0 ? "" : plan.values[static_cast<size_t>(v)].view.shape.ToString();
  std::string note = step.fused.empty() ? "" : "+" + step.fused;
  if (step.products[0] != '\0') {
    note += std::string(note.empty() ? "" : "; ") + step.products + " products";
  }
  if (!step.inside.empty()) note += (note.empty() ? "in " : "; in ") + step.inside;
  if (!step.reason.empty()) note += (note.empty() ? "" : "; ") + step.reason;
  const std::string tasks = step.n_tasks > 0 ? std::to_string(step.n_tasks) : "";
  return StrFormat("{:>4} {:<24} {:<7} {:<20} {:>5} {:<20} {:<28} {}\n", number, step.def->name(),
                   PlaceName(step.device), step.variant, tasks, shape, place, note);
}

void PrintSteps(const Plan& plan, const std::string& indent, std::string* text) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const int v = step.outputs.empty() ? -1 : step.outputs[0];
    *text += indent + StepLine(plan, std::to_string(s), step, Place(plan, v));
    for (const Step& part : step.parts) {
      const bool on_device = part.device != nullptr;
      *text += StepLine(plan, "", part, on_device ? "on the device" : Place(plan, part.outputs[0]));
    }
    for (const PlannedCallee& callee : step.callees) {
      *text +=
          indent +
          StrFormat("     subgraph {} '{}':\n", callee.subgraph,
                    callee.plan->model->subgraphs()[static_cast<size_t>(callee.subgraph)].name);
      PrintSteps(*callee.plan, indent + "  ", text);
    }
  }
  for (const Op& op : plan.deferred) {
    *text +=
        indent + StrFormat("{:>4} {:<24} prepared while running: a shape depends on the data\n",
                           "-", op.name());
  }
}

}  // namespace

LaunchTotals TotalsOf(const Plan& plan) {
  LaunchTotals totals;
  totals.work.steps = 0;
  AddTotals(plan, &totals);
  return totals;
}

std::string PrintPlan(const Plan& plan, const std::string& note, const ThreadChoice* threads) {
  std::string text = note.empty() ? "" : note + "\n";
  text += StrFormat("{:>4} {:<24} {:<7} {:<20} {:>5} {:<20} {:<28} {}\n", "step", "operator",
                    "backend", "variant", "tasks", "shape", "memory", "fused / reason");
  PrintSteps(plan, "", &text);
  const double overhead =
      plan.live_bytes == 0
          ? 0.0
          : 100.0 * (static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_bytes) -
                     1.0);
  text += StrFormat(
      "arena {} bytes (largest live set {}, +{:.1f} %), scratch {}, packed weights {}, "
      "constants {}\n",
      plan.arena_bytes, plan.live_bytes, overhead, plan.scratch_bytes, plan.packed_bytes,
      plan.owned_bytes);
  if (threads != nullptr) text += threads->ToString() + "\n";
  if (!plan.half_note.empty()) text += plan.half_note + "\n";
  if (plan.state_bytes > 0) text += StrFormat("variables {} bytes\n", plan.state_bytes);
  if (plan.gpu_bytes > 0) text += StrFormat("on the device {} bytes\n", plan.gpu_bytes);
  const LaunchTotals totals = TotalsOf(plan);
  if (totals.n > 0) {
    text += StrFormat(
        "{} launches of {} work-items, {:.1f} % idle; {:.0f} loads, {:.0f} "
        "multiply-adds, {} steps one after the other at most\n",
        totals.n, totals.work.items, 100.0 * WasteOf(totals.started, totals.work.items),
        totals.work.loads, totals.work.multiply_adds, totals.work.steps);
  }
  if (plan.estimated_cpu_ns > 0) {
    text += StrFormat("estimated {:.3f} ms, on the CPU alone {:.3f} ms\n", plan.estimated_ns / 1e6,
                      plan.estimated_cpu_ns / 1e6);
  }
  return text;
}

std::string PlanToJson(const Plan& plan, const std::string& note, const ThreadChoice* threads) {
  JsonWriter json;
  json.BeginObject();
  json.Key("note");
  json.String(note);
  if (threads != nullptr) {
    json.Key("n_threads");
    json.Int(threads->n_threads);
    json.Key("threads_reason");
    json.String(threads->reason);
  }
  json.Key("half_note");
  json.String(plan.half_note);
  const auto bytes = [&](const char* key, size_t value) {
    json.Key(key);
    json.Int(static_cast<int64_t>(value));
  };
  bytes("arena_bytes", plan.arena_bytes);
  bytes("live_bytes", plan.live_bytes);
  bytes("scratch_bytes", plan.scratch_bytes);
  bytes("packed_bytes", plan.packed_bytes);
  bytes("constant_bytes", plan.owned_bytes);
  bytes("state_bytes", plan.state_bytes);
  bytes("gpu_bytes", plan.gpu_bytes);
  bytes("n_deferred", plan.deferred.size());
  bytes("estimated_ns", static_cast<size_t>(plan.estimated_ns));
  bytes("estimated_cpu_ns", static_cast<size_t>(plan.estimated_cpu_ns));
  const LaunchTotals totals = TotalsOf(plan);
  json.Key("device_work");
  json.BeginObject();
  json.Key("launches");
  json.Int(totals.n);
  WriteWork(totals.started, totals.work, &json);
  json.EndObject();
  json.Key("steps");
  json.BeginArray();
  for (const Step& step : plan.steps) WriteStep(plan, step, &json);
  json.EndArray();
  json.EndObject();
  return json.text();
}

}  // namespace topwork
