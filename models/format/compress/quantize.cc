// QuantizeModel: the checks, dynamic range and float16.
#include "models/format/compress/quantize.h"

#include <algorithm>
#include <cmath>

#include "models/format/compress/quantize_steps.h"
#include "models/format/constants.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

// Below this a DEQUANTIZE costs more than float16 saves.
constexpr int64_t kLeastHalves = 16;

Status CheckFloat(const Model& model) {
  for (const Op& op : model.main().ops) {
    const int v = op.outputs.empty() ? -1 : op.outputs[0];
    if (v < 0 || IsConversion(op.code)) continue;
    const Value& value = model.main().values[static_cast<size_t>(v)];
    if (value.quantization == nullptr || value.dtype == DType::kFloat32) continue;
    return Unsupported(
        "operator #{} {} computes in {}: the model is quantized already; quantize the float model "
        "that it was made from",
        op.file_index, op.name(), DTypeName(value.dtype));
  }
  return Status::Ok();
}

// The input is quantized with a zero point at run time, as LiteRT's kernels for scales per channel
// expect.
void SetAsymmetric(EditedOperator* op) {
  EditedTable* options = op->Options(kFullyConnectedOptions);
  if (options == nullptr) options = op->NewOptions(kFullyConnectedOptions);
  options->Set<uint8_t>(schema::FullyConnectedOptions::VT_ASYMMETRIC_QUANTIZE_INPUTS, 1, 0);
}

Status WriteDynamicRange(const Model& model, const QuantizeSpec& spec, ModelTables* tables,
                         QuantizeReport* report) {
  const Graph& graph = model.main();
  WeightWriter weights(graph, spec.means, tables);
  for (const Op& op : graph.ops) {
    const int w = InputOf(op, 1);
    if (op.def == nullptr || op.def->dynamic_version == 0 || w < 0 || InputOf(op, 0) < 0 ||
        !IsFloatConstant(graph, w) ||
        graph.values[static_cast<size_t>(op.inputs[0])].dtype != DType::kFloat32 ||
        graph.values[static_cast<size_t>(w)].shape.NumElements() < spec.min_elements ||
        op.params.weights_format != 0) {
      continue;
    }
    TW_RETURN_IF_ERROR(weights.Write(op, 0.0f));
    EditedOperator* written = tables->op(op.file_index);
    if (written->inputs[1] == op.inputs[1]) continue;  // its weights stay as they are
    tables->SetCode(written, op.code, std::max<int>(op.def->dynamic_version, op.version));
    if (op.code == OpCode::kFullyConnected) SetAsymmetric(written);
    ++report->n_integer_ops;
  }
  report->n_constants = weights.n_constants();
  return Status::Ok();
}

bool SuitsFloat16(const Graph& graph, int v) {
  const Value& value = graph.values[static_cast<size_t>(v)];
  if (value.dtype != DType::kFloat32 || value.data == nullptr || value.is_variable ||
      value.shape.NumElements() < kLeastHalves) {
    return false;
  }
  const auto is_v = [v](int other) { return other == v; };
  if (std::any_of(graph.outputs.begin(), graph.outputs.end(), is_v)) return false;
  bool read = false;
  for (const Op& op : graph.ops) {
    if (std::none_of(op.inputs.begin(), op.inputs.end(), is_v)) continue;
    // Recurrent and custom operators need their constants as they are.
    if (op.def == nullptr || !op.def->reads_float16) return false;
    read = true;
  }
  return read;
}

Status WriteFloat16(const Model& model, ModelTables* tables, QuantizeReport* report) {
  const Graph& graph = model.main();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const int v = static_cast<int>(i);
    if (!SuitsFloat16(graph, v)) continue;
    std::vector<float> values;
    TW_RETURN_IF_ERROR(ReadFloats(graph, v, &values));
    const bool fits = std::all_of(values.begin(), values.end(),
                                  [](float x) { return std::fabs(x) <= kLargestHalf; });
    if (!fits) continue;
    const std::vector<int32_t> shape = tables->tensor(v)->shape;
    const int half = tables->AddTensor(tables->tensor(v)->name + "/float16", DType::kFloat16, {});
    tables->SetConstant(half, shape, StoreHalf(values));
    tables->tensor(v)->buffer = 0;
    tables->tensor(v)->table.Clear(schema::Tensor::VT_SPARSITY);
    tables->InsertConversion(half, v, tables->main()->operators[0].get());
    ++report->n_constants;
  }
  return Status::Ok();
}

Status NothingToDo(const QuantizeSpec& spec) {
  if (spec.target == QuantizeTarget::kDynamicRange) {
    return Unsupported(
        "the model has no FULLY_CONNECTED, CONV_2D or DEPTHWISE_CONV_2D with constant float "
        "weights of {} elements or more",
        spec.min_elements);
  }
  if (spec.target == QuantizeTarget::kFloat16) {
    return Unsupported("the model has no float32 weights of {} elements or more", kLeastHalves);
  }
  return Unsupported("no operator of the model can compute in int8");
}

}  // namespace

Status WeightWriter::Write(const Op& op, float input_scale) {
  const WeightedInputs inputs = op.def->weighted;
  EditedOperator* written = tables_.op(op.file_index);
  const int w = InputOf(op, inputs.weights);
  const int b = input_scale > 0.0f ? InputOf(op, inputs.bias) : -1;
  const auto place = written_.find({{w, b}, input_scale});
  if (place != written_.end()) {
    written->inputs[inputs.weights] = place->second.first;
    if (b >= 0) written->inputs[inputs.bias] = place->second.second;
    return Status::Ok();
  }
  const Shape& shape = graph_.values[static_cast<size_t>(w)].shape;
  const size_t n = static_cast<size_t>(shape[inputs.axis]);
  std::vector<float> values, bias;
  TW_RETURN_IF_ERROR(ReadFloats(graph_, w, &values));
  if (b >= 0) TW_RETURN_IF_ERROR(ReadFloats(graph_, b, &bias));
  if (n == 0 || values.empty() || (b >= 0 && bias.size() != n)) {
    return InvalidModel("operator #{} {}: its weights and bias do not fit together", op.file_index,
                        op.name());
  }
  bias.resize(n);
  const size_t dim = values.size() / n;
  if (inputs.axis != 0) {  // channels last: StoreHead wants them first
    std::vector<float> turned(values.size());
    for (size_t i = 0; i < values.size(); ++i) turned[i % n * dim + i / n] = values[i];
    values.swap(turned);
  }
  HeadFormat format;
  format.storage = input_scale > 0.0f ? HeadStorage::kInt8 : HeadStorage::kDynamicRange;
  format.per_channel = true;
  format.input_scale = input_scale;
  format.sums_rows = input_scale <= 0.0f && op.code == OpCode::kFullyConnected;
  const int n_rows = static_cast<int>(n), n_columns = static_cast<int>(dim);
  if (SafeFormat(format, n_rows, n_columns, values, bias).storage != format.storage) {
    WarnOfRowSums(op.name());
    return Status::Ok();
  }
  if (b >= 0) CorrectBias(op, format, values, &bias);
  StoredHead stored = StoreHead(format, n_rows, n_columns, values, bias);
  if (inputs.axis != 0) {
    const std::vector<uint8_t> rows = stored.weights.bytes;
    for (size_t i = 0; i < rows.size(); ++i) stored.weights.bytes[i] = rows[i % n * dim + i / n];
  }
  const int weights = NewConstant(w, inputs.axis, stored.weights);
  const int new_bias = b < 0 ? -1 : NewConstant(b, 0, stored.bias);
  written->inputs[inputs.weights] = weights;
  if (b >= 0) written->inputs[inputs.bias] = new_bias;
  written_[{{w, b}, input_scale}] = {weights, new_bias};
  return Status::Ok();
}

// Takes from each channel's bias what rounded weights add to its result on average. `weights` have
// their channels first.
void WeightWriter::CorrectBias(const Op& op, const HeadFormat& format,
                               const std::vector<float>& weights, std::vector<float>* bias) const {
  const WeightedInputs& inputs = op.def->weighted;
  const size_t x = static_cast<size_t>(InputOf(op, inputs.data));
  const int w = InputOf(op, inputs.weights);
  // Layers that share weights read other means; of a filter that moves over the results
  // (TRANSPOSE_CONV, whose data are not its first input) each result meets another part.
  if (x >= means_.size() || means_[x].empty() || inputs.data != 0 || tables_.CountUses(w) > 1) {
    return;
  }
  const std::vector<float>& means = means_[x];
  const size_t n = bias->size(), dim = weights.size() / n;
  const Shape& shape = graph_.values[static_cast<size_t>(w)].shape;
  // A channel reads `period` channels of the input, over and over: a depthwise one, whose channels lie
  // last, a single one, a dense layer's all.
  const size_t period = inputs.axis != 0    ? 1
                        : shape.rank() == 2 ? means.size()
                                            : static_cast<size_t>(shape.back());
  if (period == 0 || means.size() % period != 0 || dim % period != 0) return;
  const size_t groups = means.size() / period;
  if (n % groups != 0) return;
  std::vector<float> rounded(weights.size()), ignored(n);
  RoundHead(format, static_cast<int>(n), static_cast<int>(dim), weights, *bias, rounded.data(),
            ignored.data());
  for (size_t c = 0; c < n; ++c) {
    const float* mean = means.data() + c / (n / groups) * period;
    double moved = 0.0;
    for (size_t k = 0; k < dim; ++k) {
      const size_t i = c * dim + k;
      moved += static_cast<double>(rounded[i] - weights[i]) * static_cast<double>(mean[k % period]);
    }
    (*bias)[c] -= static_cast<float>(moved);
  }
}

int WeightWriter::NewConstant(int old, int axis, const StoredConstant& stored) {
  const std::vector<int32_t> shape = tables_.tensor(old)->shape;
  const int index = tables_.CopyTensor(old);
  tables_.tensor(index)->ClearQuantization();
  tables_.SetConstant(index, shape, stored);
  if (stored.scales.size() > 1) {
    tables_.tensor(index)->quantization()->Set<int32_t>(
        schema::QuantizationParameters::VT_QUANTIZED_DIMENSION, axis, 0);
  }
  ++n_constants_;
  return index;
}

void RemoveUnreadDequantize(ModelTables* tables) {
  std::vector<const EditedOperator*> unread;
  for (const auto& op : tables->main()->operators) {
    if (IsDequantize(tables->CodeOf(*op)) && !op->outputs.empty() &&
        tables->CountUses(op->outputs[0]) == 0) {
      unread.push_back(op.get());
    }
  }
  for (const EditedOperator* op : unread) tables->RemoveOp(op);
}

Result<std::vector<uint8_t>> QuantizeModel(const Model& model, const QuantizeSpec& spec,
                                           QuantizeReport* report) {
  *report = QuantizeReport();
  TW_RETURN_IF_ERROR(CheckFloat(model));
  ModelTables tables(model);
  if (spec.target == QuantizeTarget::kInt8) {
    const IntegerPlan plan = PlanIntegers(model.main(), spec.ranges);
    TW_RETURN_IF_ERROR(WriteIntegers(model.main(), plan, spec, &tables, report));
  } else if (spec.target == QuantizeTarget::kFloat16) {
    TW_RETURN_IF_ERROR(WriteFloat16(model, &tables, report));
  } else {
    TW_RETURN_IF_ERROR(WriteDynamicRange(model, spec, &tables, report));
  }
  if (report->n_integer_ops + report->n_constants == 0) return NothingToDo(spec);
  RemoveUnreadDequantize(&tables);
  return tables.Pack();
}

}  // namespace topwork
