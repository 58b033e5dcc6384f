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
  // Of this build, without options or one of these: CONV_2D (stride 1, VALID), FULLY_CONNECTED, ADD,
  // SUB, MUL, DIV, CONCATENATION, GATHER, ARG_MAX, reductions, CAST, SOFTMAX (beta 1),
  // L2_NORMALIZATION, RESHAPE (target as input 1).
  OpCode code = OpCode::kCustom;
  std::vector<int> inputs;  // −1: left out
  std::vector<int> outputs;
  int axis = 0;                               // CONCATENATION, GATHER
  bool keep_dims = false;                     // reductions; keep_num_dims of FULLY_CONNECTED
  Activation activation = Activation::kNone;  // of the arithmetic operators and layers
};

struct AddedOutput {
  int tensor = -1;   // one of the added ones, or one that the model has
  std::string name;  // in the signatures of the main subgraph; one that is taken gets a number
  // Position of the output whose place it takes, with the operators that only that one needed; −1: it
  // comes after the others.
  int replaces = -1;
};

// What to add to the main subgraph. The model's own tensors have the numbers of Graph::values; those
// that are added follow, in their order.
struct GraphAddition {
  explicit GraphAddition(const Model& model)  // borrowed
      : graph(model.main()), n_before(static_cast<int>(model.main().values.size())) {}

  // Each adds a tensor and returns its number.
  int Add(AddedTensor tensor);
  int Floats(const std::string& name, const std::vector<int32_t>& shape, Span<const float> values);
  int Ints(const std::string& name, const std::vector<int32_t>& shape, Span<const int32_t> values);
  // An operator of one result; the other fields of the operator can be set in ops.back().
  int Op(OpCode code, const std::vector<int>& inputs, const std::string& name, DType dtype,
         const std::vector<int32_t>& shape);

  // Op() for the operators that exports add. The shape of a result follows from the inputs', with −1
  // in front for a model's own value. Results are float32, those of comparisons bool.
  int Plus(int a, int b, const std::string& name);
  int Minus(int a, int b, const std::string& name);
  int Times(int a, int b, const std::string& name);
  int Minimum(int a, int b, const std::string& name);
  int IsLess(int a, int b, const std::string& name);
  int IsAtLeast(int a, int b, const std::string& name);
  int Exp(int x, const std::string& name);
  int Log(int x, const std::string& name);
  int Absolute(int x, const std::string& name);
  int InverseRoot(int x, const std::string& name);
  int UnitLength(int x, const std::string& name);
  int ToFloat(int x, const std::string& name);
  int Dequantize(int x, const std::string& name);
  // Of rows: [n, m] to [n, 1], LargestAt to [n] of int32. `axis`: an int32 constant, [1].
  int MaxOver(int x, int axis, const std::string& name);
  int MeanOver(int x, int axis, const std::string& name);
  int SumOver(int x, int axis, const std::string& name);
  int LargestAt(int x, int axis, const std::string& name);
  int Pooled(int map, const std::string& name);         // the mean of each channel, [n, c]
  int Rows(int x, int32_t n, const std::string& name);  // in the shape [any, n]
  // A value of the model in real numbers as [any, n]; a map of n channels is averaged.
  int RealRows(int v, int32_t n, const std::string& name);
  int RowsAt(int table, int indices, const std::string& name);
  int Joined(const std::vector<int>& columns, const std::string& name);
  // weights [m, dim], bias [m] or −1; to [n, m], or with keep_dims from [..., dim] to [..., m].
  int Dense(int x, int weights, int bias, const std::string& name, bool keep_dims = false);
  // The k largest of each row, and (the tensor after them) where they are, int32.
  int Largest(int x, int32_t k, const std::string& name);
  std::vector<int32_t> ShapeOf(int v) const;

  const Graph& graph;  // of the model
  int n_before;
  std::vector<AddedTensor> tensors;
  std::vector<AddedOp> ops;
  std::vector<AddedOutput> outputs;
  // Positions of outputs that go, with the operators that only they needed. Those after them move up.
  std::vector<int> removed_outputs;
  // For the archive at the model's end; each takes the place of a file with its name, and one without
  // content removes that file.
  std::vector<AssociatedFile> files;

 private:
  int Reduced(OpCode code, int x, int axis, const std::string& name);
  // One input, or two that are broadcast.
  int Elementwise(OpCode code, const std::vector<int>& inputs, const std::string& name,
                  DType dtype = DType::kFloat32);
};

// INVALID_ARGUMENT for a tensor or output that does not exist, an operator of another kind, a result
// that is computed twice, and a constant whose bytes do not fill its shape; UNSUPPORTED as from
// ExportWithHead. Relations between an operator's inputs are not checked: opening and planning do that.
Result<std::vector<uint8_t>> AppendToModel(const Model& model, const GraphAddition& addition);

// The same in memory, without a copy of the model (Model::WithGraph). `addition` has outputs behind the
// others and constants without scales; names of outputs, and files, are not looked at.
Result<std::shared_ptr<const Model>> ExtendModel(std::shared_ptr<const Model> model,
                                                 const GraphAddition& addition);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_APPEND_H_
