// Writes the layer itself: its constants in their storage, its options; or adds a new layer after
// an output.
#include <utility>

#include "kernels/contract/selection.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// Puts a constant into input `slot` of the layer. float16 gets a DEQUANTIZE, and so does int8 where
// the old weights had one.
void WriteInput(EditedOperator* op, size_t slot, const std::vector<int32_t>& shape,
                const StoredConstant& stored, ModelTables* tables) {
  const int old = op->inputs[slot];
  EditedOperator* producer = tables->ProducerOf(old);
  const bool integers = tables->TypeOf(op->inputs[0]) != DType::kFloat32;
  const bool behind = producer != nullptr && !integers &&
                      (stored.dtype == DType::kFloat16 || stored.dtype == DType::kInt8);
  const bool shared = tables->CountUses(old) > 1;
  const int input = tables->OwnInput(op, slot);
  if (!behind) {
    if (producer != nullptr && !shared) tables->RemoveWithInputs(producer);
    tables->SetConstant(input, shape, stored);
    return;
  }
  if (shared) {
    const int constant = tables->CopyTensor(producer->inputs[0]);
    producer = tables->InsertOp(tables->CodeOf(*producer), tables->VersionOf(*producer), {constant},
                                {input}, op);
  }
  EditedTensor* result = tables->tensor(input);
  result->shape = shape;
  result->shape_signature.clear();
  tables->SetConstant(tables->OwnInput(producer, 0), shape, stored);
}

// Removes the fused activation, and what belongs to the storage that the layer no longer has.
void WriteOptions(const HeadFormat& format, EditedOperator* op) {
  using Dense = schema::FullyConnectedOptions;
  using Conv = schema::Conv2DOptions;
  if (EditedTable* options = op->Options(kFullyConnectedOptions)) {
    options->Clear(Dense::VT_FUSED_ACTIVATION_FUNCTION);
    if (format.storage != HeadStorage::kDynamicRange) {
      options->Clear(Dense::VT_ASYMMETRIC_QUANTIZE_INPUTS);
    }
    if (!IsInteger(format.storage)) options->Clear(Dense::VT_QUANTIZED_BIAS_TYPE);
  }
  if (EditedTable* options = op->Options(kConv2DOptions)) {
    options->Clear(Conv::VT_FUSED_ACTIVATION_FUNCTION);
    if (!IsInteger(format.storage)) options->Clear(Conv::VT_QUANTIZED_BIAS_TYPE);
  }
}

// A BATCH_MATMUL becomes the FULLY_CONNECTED that does the same.
void BecomeFullyConnected(EditedOperator* op, ModelTables* tables) {
  op->NewOptions(kFullyConnectedOptions)
      ->Set<uint8_t>(schema::FullyConnectedOptions::VT_KEEP_NUM_DIMS, 1, 0);
  tables->SetCode(op, OpCode::kFullyConnected,
                  tables->TypeOf(op->inputs[0]) == DType::kInt16 ? 7 : 5);
}

}  // namespace

void WriteHeadParameters(const HeadReplacement& head, const HeadFormat& format,
                         ModelTables* tables) {
  EditedOperator* op = tables->op(head.op);
  if (tables->CodeOf(*op) == OpCode::kBatchMatmul) BecomeFullyConnected(op, tables);
  const OpCode code = tables->CodeOf(*op);
  const bool conv = tables->IsConv(*op);
  const StoredHead stored =
      StoreHead(format, head.n_classes, head.last_dim(), head.weights, head.bias);
  const DType input = tables->TypeOf(op->inputs[0]);
  const DType old_weights = tables->TypeOf(op->inputs[1]);
  if (input != DType::kFloat32 && !IsInteger(format.storage)) {
    const int embedding = op->inputs[0];
    const EditedTensor& quantized = *tables->tensor(embedding);
    const int real =
        tables->AddTensor(quantized.name + "/dequantized", DType::kFloat32, quantized.shape);
    tables->tensor(real)->shape_signature = tables->tensor(embedding)->shape_signature;
    tables->InsertConversion(embedding, real, op);
    op->inputs[0] = real;
  }
  WriteInput(op, 1,
             conv ? std::vector<int32_t>{head.n_classes, 1, 1, head.last_dim()}
                  : std::vector<int32_t>{head.n_classes, head.last_dim()},
             stored.weights, tables);
  if (op->inputs.size() < 3) op->inputs.push_back(-1);
  if (op->inputs[2] < 0) {
    op->inputs[2] = tables->AddTensor(tables->tensor(op->outputs[0])->name + "/bias",
                                      stored.bias.dtype, {head.n_classes});
  }
  WriteInput(op, 2, {head.n_classes}, stored.bias, tables);
  WriteOptions(format, op);
  // An operator that now reads real numbers where it read integers may need another version.
  const bool real_now = format.storage == HeadStorage::kFloat32;
  if (real_now && old_weights != DType::kFloat32) {
    tables->SetCode(op, code, KeepsDimensions(op) ? 5 : 1);
  } else if (format.storage == HeadStorage::kDynamicRange && old_weights == DType::kUInt8) {
    tables->SetCode(op, code, conv ? 2 : 3);
  }
}

void AppendHead(const HeadReplacement& head, ModelTables* tables) {
  const int output = tables->main()->outputs[static_cast<size_t>(head.output)];
  int embedding = output;
  const DType dtype = tables->TypeOf(output);
  if (dtype != DType::kFloat32) {
    const EditedTensor& quantized = *tables->tensor(output);
    embedding =
        tables->AddTensor(quantized.name + "/dequantized", DType::kFloat32, quantized.shape);
    tables->InsertConversion(output, embedding, nullptr);
  }
  int64_t n = 1;
  for (int32_t dim : tables->tensor(output)->shape) n *= dim;
  const std::vector<int32_t> shape = {static_cast<int32_t>(n / head.dim), head.n_classes};
  std::vector<int32_t> signature = tables->tensor(output)->shape_signature;
  if (!signature.empty()) signature = {signature[0], head.n_classes};

  const int weights =
      tables->AddTensor("scores/weights", DType::kFloat32, {head.n_classes, head.last_dim()});
  const int bias = tables->AddTensor("scores/bias", DType::kFloat32, {head.n_classes});
  tables->SetConstant(weights, {head.n_classes, head.last_dim()}, StoreFloats(head.weights));
  tables->SetConstant(bias, {head.n_classes}, StoreFloats(head.bias));
  const int scores = tables->AddTensor("scores", DType::kFloat32, shape);
  tables->tensor(scores)->shape_signature = signature;
  int logits = scores;
  if (head.activation != FinalActivation::kNone) {
    logits = tables->AddTensor("scores/logits", DType::kFloat32, shape);
    tables->tensor(logits)->shape_signature = signature;
  }
  AddedOp dense;
  dense.code = OpCode::kFullyConnected;
  dense.inputs = {embedding, weights, bias};
  dense.outputs = {logits};
  EditedOperator* layer = InsertOp(dense, nullptr, tables);
  if (!kTrainsLastAlone && head.hidden.n_units > 0) InsertHidden(head, layer, tables);
  if (logits != scores) InsertActivation(head.activation, logits, scores, layer, tables);
  tables->main()->outputs[static_cast<size_t>(head.output)] = scores;
  for (EditedSignature& signature : tables->signatures()) {
    if (signature.subgraph_index != tables->main_index()) continue;
    bool taken = false;
    for (const auto& entry : signature.outputs) taken = taken || entry.name == "scores";
    for (auto& entry : signature.outputs) {
      if (entry.tensor_index != static_cast<uint32_t>(output)) continue;
      entry.tensor_index = static_cast<uint32_t>(scores);
      if (!taken) entry.name = "scores";
      taken = true;
    }
  }
}

}  // namespace topwork
