// The decision for each operator, by its row, and the groups of equal scale.
#include "models/format/compress/quantize_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/format/constants.h"

namespace topwork {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<ValueRange>& ranges) : graph_(graph) {
    const size_t n = graph.values.size();
    plan_.ranges = ranges;
    plan_.ranges.resize(n);
    plan_.is_integer.resize(n);
    plan_.requantize.resize(n);
    plan_.scales.resize(n);
    plan_.ops.resize(graph.ops.size());
    constant_.resize(n);
    input_.resize(n);
    parent_.resize(n);
    std::iota(parent_.begin(), parent_.end(), 0);
    fixed_.resize(n);
  }

  IntegerPlan Run() {
    for (size_t v = 0; v < graph_.values.size(); ++v) ReadConstant(static_cast<int>(v));
    for (int v : graph_.inputs) input_[static_cast<size_t>(v)] = true;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      IntegerPlan::OpPlan* op = &plan_.ops[i];
      if (Decide(graph_.ops[i], op)) Accept(graph_.ops[i]);
    }
    SetScales();
    return std::move(plan_);
  }

 private:
  const Value& At(int v) const { return graph_.values[static_cast<size_t>(v)]; }
  bool IsConstant(int v) const { return constant_[static_cast<size_t>(v)]; }
  bool IsReal(int v) const { return v >= 0 && At(v).dtype == DType::kFloat32; }
  bool IsActivation(int v) const { return IsReal(v) && !IsConstant(v); }
  void ReadConstant(int v);
  bool Decide(const Op& op, IntegerPlan::OpPlan* plan) const;
  std::string Obstacle(const Op& op) const;
  std::string WeightedObstacle(const Op& op) const;
  bool Moves(const Op& op) const;
  void Accept(const Op& op);
  int Root(int v);
  void SetScales();

  const Graph& graph_;
  IntegerPlan plan_;
  std::vector<uint8_t> constant_, input_;
  std::vector<int> parent_;           // of the groups
  std::vector<const Affine*> fixed_;  // that the value's operator gives it
  std::vector<std::pair<int, ValueRange>> moved_constants_;
};

void Planner::ReadConstant(int v) {
  if (!IsFloatConstant(graph_, v)) return;
  constant_[static_cast<size_t>(v)] = true;
  ValueRange* range = &plan_.ranges[static_cast<size_t>(v)];
  *range = ValueRange();
  std::vector<float> values;
  if (!ReadFloats(graph_, v, &values).ok() || values.empty()) return;
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) return;
  range->min = *std::min_element(values.begin(), values.end());
  range->max = *std::max_element(values.begin(), values.end());
}

bool Planner::Decide(const Op& op, IntegerPlan::OpPlan* plan) const {
  const auto real = [this](int v) { return IsActivation(v); };
  if (!std::any_of(op.inputs.begin(), op.inputs.end(), real) &&
      !std::any_of(op.outputs.begin(), op.outputs.end(), real)) {
    return false;
  }
  const bool has_form = op.def != nullptr && op.def->integer != IntegerForm::kNone;
  plan->reason = has_form ? Obstacle(op) : "it has no int8 form";
  if (plan->reason.empty()) plan->row = op.def;
  return plan->row != nullptr;
}

std::string Planner::Obstacle(const Op& op) const {
  bool any_activation = false;
  for (int v : op.inputs) {
    if (!IsReal(v)) continue;
    any_activation = any_activation || !IsConstant(v);
    if (At(v).is_variable) return "it keeps a state in '" + At(v).name + "'";
    if (plan_.ranges[static_cast<size_t>(v)].known()) continue;
    return "the range of '" + At(v).name + "' is not known";
  }
  if (!any_activation) return "it reads no activation";
  for (int v : op.outputs) {
    if (!IsReal(v) || op.def->integer == IntegerForm::kFixed) continue;
    if (plan_.ranges[static_cast<size_t>(v)].known()) continue;
    return "the range of '" + At(v).name + "' is not known";
  }
  if (op.params.activation != Activation::kNone && op.params.activation != Activation::kRelu &&
      op.params.activation != Activation::kRelu6 &&
      op.params.activation != Activation::kReluN1To1) {
    return "its fused activation has no int8 form";
  }
  if (op.def->integer == IntegerForm::kWeighted) return WeightedObstacle(op);
  if (op.def->integer == IntegerForm::kSame && !Moves(op)) return "it only moves floats";
  return "";
}

std::string Planner::WeightedObstacle(const Op& op) const {
  const WeightedInputs inputs = op.def->weighted;
  const int weights = InputOf(op, inputs.weights);
  const int bias = InputOf(op, inputs.bias);
  if (!IsActivation(InputOf(op, inputs.data))) return "its input is constant";
  if (weights < 0 || !IsConstant(weights)) return "its weights are not constant";
  if (bias >= 0 && (!IsReal(bias) || !IsConstant(bias))) return "its bias is not constant";
  if (At(weights).shape.rank() <= inputs.axis) return "its weights have too few dimensions";
  if (op.params.weights_format != 0) return "its weights are shuffled";
  return "";
}

// True when something with a scale comes in: moving floats from one float operator to another in
// int8 would only lose bits.
bool Planner::Moves(const Op& op) const {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [this](int v) {
    return IsActivation(v) &&
           (plan_.is_integer[static_cast<size_t>(v)] || input_[static_cast<size_t>(v)]);
  });
}

int Planner::Root(int v) {
  while (parent_[static_cast<size_t>(v)] != v) {
    int* up = &parent_[static_cast<size_t>(v)];
    *up = parent_[static_cast<size_t>(*up)];
    v = *up;
  }
  return v;
}

void Planner::Accept(const Op& op) {
  for (int v : op.outputs) {
    if (!IsReal(v)) continue;
    plan_.is_integer[static_cast<size_t>(v)] = true;
    if (op.def->integer == IntegerForm::kFixed)
      fixed_[static_cast<size_t>(v)] = &op.def->integer_scale;
  }
  if (op.def->integer != IntegerForm::kSame) return;
  std::vector<int> members;
  std::copy_if(op.inputs.begin(), op.inputs.end(), std::back_inserter(members),
               [this](int v) { return IsActivation(v); });
  std::copy_if(op.outputs.begin(), op.outputs.end(), std::back_inserter(members),
               [this](int v) { return IsActivation(v); });
  for (int v : members) parent_[static_cast<size_t>(Root(v))] = Root(members[0]);
  for (int v : op.inputs) {
    if (!IsReal(v) || !IsConstant(v)) continue;
    moved_constants_.emplace_back(members[0], plan_.ranges[static_cast<size_t>(v)]);
  }
}

ValueRange RangeOf(const Affine& affine) {
  return {affine.scale * static_cast<float>(-128 - affine.zero_point),
          affine.scale * static_cast<float>(127 - affine.zero_point)};
}

void Planner::SetScales() {
  struct Group {
    float min = 0.0f, max = 0.0f;
    const Affine* fixed = nullptr;
    bool several = false;  // members with different fixed scales
  };
  std::vector<Group> groups(graph_.values.size());
  const auto widen = [](const ValueRange& range, Group* group) {
    if (!range.known()) return;
    group->min = std::min(group->min, range.min);
    group->max = std::max(group->max, range.max);
  };
  for (size_t v = 0; v < groups.size(); ++v) {
    Group* group = &groups[static_cast<size_t>(Root(static_cast<int>(v)))];
    ValueRange range = plan_.ranges[v];
    if (fixed_[v] != nullptr) {
      range = RangeOf(*fixed_[v]);
      const bool other =
          group->fixed != nullptr && (group->fixed->scale != fixed_[v]->scale ||
                                      group->fixed->zero_point != fixed_[v]->zero_point);
      group->several = group->several || other;
      group->fixed = fixed_[v];
    }
    widen(range, group);
  }
  for (const auto& constant : moved_constants_) {
    widen(constant.second, &groups[static_cast<size_t>(Root(constant.first))]);
  }
  for (size_t v = 0; v < groups.size(); ++v) {
    const Group& group = groups[static_cast<size_t>(Root(static_cast<int>(v)))];
    const ValueRange fixed = group.fixed == nullptr ? ValueRange() : RangeOf(*group.fixed);
    // A step beyond is cut off by every value that has this scale: 1 becomes 255/256.
    const float step = group.fixed == nullptr ? 0.0f : group.fixed->scale;
    const bool keep = group.fixed != nullptr && !group.several && fixed.min - step <= group.min &&
                      group.max <= fixed.max + step;
    plan_.scales[v] = keep ? *group.fixed : ScaleOfRange(DType::kInt8, group.min, group.max);
    plan_.requantize[v] = fixed_[v] != nullptr && !keep;
  }
}

}  // namespace

bool IsFloatConstant(const Graph& graph, int value) {
  const Value& own = graph.values[static_cast<size_t>(value)];
  if (own.dtype != DType::kFloat32 || own.is_variable) return false;
  if (own.data != nullptr) return true;
  for (const Op& op : graph.ops) {
    if (op.outputs.empty() || op.outputs[0] != value) continue;
    if (!IsDequantize(op.code) || op.inputs.empty() || op.inputs[0] < 0) return false;
    const Value& half = graph.values[static_cast<size_t>(op.inputs[0])];
    return half.dtype == DType::kFloat16 && half.data != nullptr && !half.is_variable;
  }
  return false;
}

IntegerPlan PlanIntegers(const Graph& graph, const std::vector<ValueRange>& ranges) {
  return Planner(graph, ranges).Run();
}

}  // namespace topwork
