// AppendToModel: a model with further constants, operators and outputs, as the bytes of a .tflite.
//
// What the model has stays as it is, constants bit for bit. New operators come after all others and
// compute in float32, int32 or bool; a DEQUANTIZE takes quantized values there.
#ifndef TOPWORK_MODELS_FORMAT_APPEND_H_
#define TOPWORK_MODELS_FORMAT_APPEND_H_

#include <string>
#include <vector>

#include "kernels/contract/op_params.h"
#include "models/format/head_format.h"
#include "models/format/model.h"

namespace topwork {

// A tensor that an operator computes, or a constant.
struct AddedTensor {
  std::string name;  // a name that is taken gets a number
  DType dtype = DType::kFloat32;
  // −1: as many as the batch has; the file says 1, and −1 in the shape's signature.
  std::vector<int32_t> shape;
  StoredConstant constant;  // without bytes: computed. With scales: quantized, one for the tensor
};

struct AddedOp {
  // CONV_2D (stride 1, VALID), FULLY_CONNECTED, ADD, SUB, MUL, DIV, CONCATENATION, SUM, MEAN,
  // REDUCE_MAX, REDUCE_MIN, GATHER, ARG_MAX (int32), CAST, SOFTMAX (beta 1), L2_NORMALIZATION; or one
  // without options: RESHAPE (target as input 1), DEQUANTIZE, EXP, LOG, SQRT, RSQRT, NEG, MAXIMUM,
  // MINIMUM, LOGISTIC, RELU, TANH, TOPK_V2, SELECT_V2, comparisons, LOGICAL_AND, OR, NOT.
  OpCode code = OpCode::kCustom;
  std::vector<int> inputs;  // −1: left out
  std::vector<int> outputs;
  int axis = 0;                               // CONCATENATION, GATHER
  bool keep_dims = false;                     // reductions; keep_num_dims of FULLY_CONNECTED
  Activation activation = Activation::kNone;  // of the arithmetic operators and layers
};

struct AddedOutput {
  int tensor = -1;    // one of the added ones, or one that the model has
  std::string name;   // in the signatures of the main subgraph; one that is taken gets a number
  int replaces = -1;  // position of the output whose place it takes; −1: it comes after the others
};

// What to add to the main subgraph. The model's own tensors have the numbers of Graph::values; those
// that are added follow, in their order.
struct GraphAddition {
  explicit GraphAddition(const Model& model)
      : n_before(static_cast<int>(model.main().values.size())) {}

  // Each adds a tensor and returns its number.
  int Add(AddedTensor tensor);
  int Floats(const std::string& name, const std::vector<int32_t>& shape, Span<const float> values);
  int Ints(const std::string& name, const std::vector<int32_t>& shape, Span<const int32_t> values);
  // An operator of one result; the other fields of the operator can be set in ops.back().
  int Op(OpCode code, const std::vector<int>& inputs, const std::string& name, DType dtype,
         const std::vector<int32_t>& shape);

  int n_before;
  std::vector<AddedTensor> tensors;
  std::vector<AddedOp> ops;
  std::vector<AddedOutput> outputs;
  // Positions of outputs that go, with the operators that only they needed. Those after them move up.
  std::vector<int> removed_outputs;
  // For the archive at the model's end; each takes the place of a file with its name, and one without
  // content removes that file.
  std::vector<AssociatedFile> files;
};

// INVALID_ARGUMENT for a tensor or output that does not exist, an operator of another kind, a result
// that is computed twice, and a constant whose bytes do not fill its shape; UNSUPPORTED as from
// ExportWithHead. Relations between an operator's inputs are not checked: opening and planning do that.
Result<std::vector<uint8_t>> AppendToModel(const Model& model, const GraphAddition& addition);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_APPEND_H_
