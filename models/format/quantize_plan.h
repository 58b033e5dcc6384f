// Which operators of a float graph can compute in int8, and with which scales: the planning half of
// QuantizeModel, free of FlatBuffers types.
//
// Activations that an operator only moves or compares have one scale with its result: they form a
// group, whose scale covers all their ranges. Results with a scale that the format fixes (SOFTMAX:
// 1/256) keep it, and where their group needs another one a QUANTIZE goes between.
#ifndef TOPWORK_MODELS_FORMAT_QUANTIZE_PLAN_H_
#define TOPWORK_MODELS_FORMAT_QUANTIZE_PLAN_H_

#include <string>
#include <vector>

#include "models/format/graph.h"
#include "models/format/head_format.h"
#include "models/format/quantize.h"

namespace topwork {

// Input `i` of the operator, −1 when it is left out.
inline int InputOf(const Op& op, size_t i) { return i < op.inputs.size() ? op.inputs[i] : -1; }

// Every value of a graph as a float constant: its own, or a float16 one behind a DEQUANTIZE.
bool IsFloatConstant(const Graph& graph, int value);

struct IntegerPlan {
  struct OpPlan {
    const OpDef* row = nullptr;  // its int8 form; null: it stays float
    std::string reason;          // why; empty where no float is read or made
  };
  std::vector<OpPlan> ops;
  std::vector<bool> is_integer;  // values made by operators that compute in int8
  std::vector<Affine> scales;    // of every value in int8
  // Of a value that a kFixed operator makes: a QUANTIZE must turn that scale into `scales`.
  std::vector<bool> requantize;
  std::vector<ValueRange> ranges;  // of float constants as well
};

IntegerPlan PlanIntegers(const Graph& graph, const std::vector<ValueRange>& ranges);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_QUANTIZE_PLAN_H_
