// Which operators of a float graph can compute in int8, and with which scales: the planning half of
// QuantizeModel, free of FlatBuffers types.
//
// Where an operator only moves or compares values, its input and its result have one scale. Such
// values form a group, whose scale covers all their ranges. A result with a scale that the format
// prescribes (SOFTMAX: 1/256) keeps it; where its group needs another scale, a QUANTIZE converts.
#ifndef TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_PLAN_H_
#define TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_PLAN_H_

#include <string>
#include <vector>

#include "models/format/compress/quantize.h"
#include "models/format/graph.h"
#include "models/format/head_format.h"

namespace topwork {

// Input `i` of the operator, −1 when it is left out.
inline int InputOf(const Op& op, size_t i) { return i < op.inputs.size() ? op.inputs[i] : -1; }

// Each value of a graph as a float constant: its own, or the float16 one that a DEQUANTIZE reads.
bool IsFloatConstant(const Graph& graph, int value);

struct IntegerPlan {
  struct OpPlan {
    const OpDef* row = nullptr;  // its int8 form; null: it stays float
    std::string reason;          // why it stays float
  };
  std::vector<OpPlan> ops;
  std::vector<uint8_t> is_integer;  // values made by operators that compute in int8
  std::vector<Affine> scales;       // of every value in int8
  // For a value that a kFixed operator makes: a QUANTIZE must convert that scale to `scales`.
  std::vector<uint8_t> requantize;
  std::vector<ValueRange> ranges;  // of float constants as well
};

IntegerPlan PlanIntegers(const Graph& graph, const std::vector<ValueRange>& ranges);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_PLAN_H_
