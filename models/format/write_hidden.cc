// Writes the layer between the feature and the last layer.
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// Conv: stride 1, on a map of 1x1.
template <typename Options>
EditedTable* AddRelu(TableLayout layout, EditedOperator* op) {
  EditedTable* options = op->NewOptions(layout);
  options->Set<int8_t>(Options::VT_FUSED_ACTIVATION_FUNCTION,
                       static_cast<int8_t>(schema::ActivationFunctionType::RELU), 0);
  return options;
}

}  // namespace

void InsertHidden(const HeadReplacement& head, EditedOperator* layer, ModelTables* tables) {
  const HiddenReplacement& hidden = head.hidden;
  const bool conv = tables->CodeOf(*layer) == OpCode::kConv2d;
  const bool keeps = conv || KeepsDimensions(layer);
  const int feature = layer->inputs[0];
  std::vector<int32_t> shape = tables->tensor(feature)->shape;
  std::vector<int32_t> signature = tables->tensor(feature)->shape_signature;
  int64_t n = 1;
  for (int32_t dim : shape) n *= dim;
  if (!keeps) {
    shape = {static_cast<int32_t>(n / head.dim), hidden.n_units};
    if (!signature.empty()) signature = {signature[0], hidden.n_units};
  }
  shape.back() = hidden.n_units;
  if (!signature.empty()) signature.back() = hidden.n_units;

  std::vector<int32_t> dims = {hidden.n_units, head.dim};
  if (conv) dims = {hidden.n_units, 1, 1, head.dim};
  const int weights = tables->AddTensor("hidden/weights", DType::kFloat32, dims);
  const int bias = tables->AddTensor("hidden/bias", DType::kFloat32, {hidden.n_units});
  const int output = tables->AddTensor("hidden", DType::kFloat32, shape);
  tables->SetConstant(weights, dims, StoreFloats(hidden.weights));
  tables->SetConstant(bias, {hidden.n_units}, StoreFloats(hidden.bias));
  tables->tensor(output)->shape_signature = signature;
  EditedOperator* op =
      tables->InsertOp(conv ? OpCode::kConv2d : OpCode::kFullyConnected, conv || !keeps ? 1 : 5,
                       {feature, weights, bias}, {output}, layer);
  if (conv) {
    using Options = schema::Conv2DOptions;
    EditedTable* options = AddRelu<Options>(kConv2DOptions, op);
    options->Set<int32_t>(Options::VT_STRIDE_W, 1, 0);
    options->Set<int32_t>(Options::VT_STRIDE_H, 1, 0);
  } else {
    using Options = schema::FullyConnectedOptions;
    AddRelu<Options>(kFullyConnectedOptions, op)->Set<uint8_t>(Options::VT_KEEP_NUM_DIMS, keeps, 0);
  }
  layer->inputs[0] = output;
}

}  // namespace topwork
