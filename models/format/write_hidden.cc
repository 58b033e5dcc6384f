// Writes the layer between the feature and the last layer.
#include "models/format/write_steps.h"

namespace topwork {
void InsertHidden(const HeadReplacement& head, EditedOperator* layer, ModelTables* tables) {
  const HiddenReplacement& hidden = head.hidden;
  const bool conv = tables->IsConv(*layer);
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
  AddedOp op;
  op.code = tables->CodeOf(*layer);
  op.inputs = {feature, weights, bias};
  op.outputs = {output};
  op.keep_dims = !conv && keeps;
  op.activation = Activation::kRelu;
  InsertOp(op, layer, tables);
  layer->inputs[0] = output;
}

}  // namespace topwork
