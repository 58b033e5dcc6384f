// Int8 activations: the operators' types and scales, and QUANTIZE and DEQUANTIZE at the borders.
//
// A value has at most two tensors, one float and one int8, and a uint8 one where it is an input or
// output of that type. The file's own tensor has the type of the input or output where it is one;
// elsewhere it takes the type that its operator makes.
#include <algorithm>

#include "models/format/compress/quantize_steps.h"
#include "models/format/constants.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

class IntegerWriter {
 public:
  IntegerWriter(const Graph& graph, const IntegerPlan& plan, const QuantizeSpec& spec,
                ModelTables* tables)
      : graph_(graph),
        plan_(plan),
        io_(spec.io),
        tables_(*tables),
        weights_(graph, spec.means, tables) {
    integer_.assign(graph.values.size(), -1);
    real_.assign(graph.values.size(), -1);
    first_ = tables->main()->operators.empty() ? nullptr : tables->main()->operators[0].get();
  }

  Status Write(QuantizeReport* report);

 private:
  bool IsOutput(int v) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end();
  }
  bool IsActivation(int v) const {
    return v >= 0 && graph_.values[static_cast<size_t>(v)].dtype == DType::kFloat32 &&
           !IsFloatConstant(graph_, v);
  }
  void MakeInteger(int tensor, Affine affine);
  void MakeBorder(int v);
  int Copy(int v, const char* suffix);
  void PlaceInput(int v);
  void PlaceResult(const Op& op, size_t output);
  int IntegerOf(int v);
  int RealOf(int v);
  Status WriteOperator(const Op& op);
  Status WriteConstantInput(const Op& op, size_t input);

  const Graph& graph_;
  const IntegerPlan& plan_;
  const QuantizeIo io_;
  ModelTables& tables_;
  WeightWriter weights_;
  std::vector<int> integer_, real_;  // tensors of a value; −1: none yet
  EditedOperator* first_ = nullptr;
  int n_constants_ = 0;
};

void IntegerWriter::MakeInteger(int tensor, Affine affine) {
  tables_.tensor(tensor)->type = DType::kInt8;
  tables_.SetScale(tensor, affine);
}

// v is an input or output and gets its type.
void IntegerWriter::MakeBorder(int v) {
  Affine affine = plan_.scales[static_cast<size_t>(v)];
  if (io_ == QuantizeIo::kUInt8) affine.zero_point += 128;
  MakeInteger(v, affine);
  if (io_ == QuantizeIo::kUInt8) tables_.tensor(v)->type = DType::kUInt8;
}

int IntegerWriter::Copy(int v, const char* suffix) {
  const int copy = tables_.CopyTensor(v);
  EditedTensor* t = tables_.tensor(copy);
  t->name += suffix;
  t->type = DType::kFloat32;
  t->ClearQuantization();
  t->buffer = 0;
  return copy;
}

void IntegerWriter::PlaceInput(int v) {
  const size_t i = static_cast<size_t>(v);
  if (!IsActivation(v)) return;
  if (io_ == QuantizeIo::kFloat32 || !plan_.ranges[i].known()) {
    real_[i] = v;
    return;
  }
  MakeBorder(v);
  integer_[i] = v;
  if (io_ == QuantizeIo::kInt8) return;
  integer_[i] = Copy(v, "/int8");
  MakeInteger(integer_[i], plan_.scales[i]);
  first_ = tables_.InsertConversion(v, integer_[i], first_);
}

// Where the operator's result goes, once its inputs are in place.
void IntegerWriter::PlaceResult(const Op& op, size_t output) {
  const int v = op.outputs[output];
  if (!IsActivation(v)) return;
  const size_t i = static_cast<size_t>(v);
  EditedOperator* written = tables_.op(op.file_index);
  const bool to_integer_output =
      io_ != QuantizeIo::kFloat32 && IsOutput(v) && plan_.ranges[i].known();
  if (!plan_.is_integer[i]) {
    real_[i] = v;
    if (!to_integer_output) return;
    real_[i] = Copy(v, "/float");
    written->outputs[output] = real_[i];
    MakeBorder(v);
    if (io_ == QuantizeIo::kInt8) integer_[i] = v;
    tables_.InsertConversionBehind(real_[i], v, written);
    return;
  }
  const bool other_output = IsOutput(v) && io_ != QuantizeIo::kInt8;
  integer_[i] = other_output ? Copy(v, "/int8") : v;
  MakeInteger(integer_[i], plan_.scales[i]);
  written->outputs[output] = integer_[i];
  const EditedOperator* last = written;
  if (plan_.requantize[i]) {
    const int fixed = Copy(v, "/fixed");
    MakeInteger(fixed, op.def->integer_scale);
    written->outputs[output] = fixed;
    last = tables_.InsertConversionBehind(fixed, integer_[i], written);
  }
  if (!other_output) return;
  if (to_integer_output) MakeBorder(v);
  if (io_ == QuantizeIo::kFloat32) real_[i] = v;
  tables_.InsertConversionBehind(integer_[i], v, last);
}

// The int8 tensor of v; adds a QUANTIZE where v is made as floats.
int IntegerWriter::IntegerOf(int v) {
  const size_t i = static_cast<size_t>(v);
  if (integer_[i] >= 0) return integer_[i];
  integer_[i] = Copy(v, "/int8");
  MakeInteger(integer_[i], plan_.scales[i]);
  const EditedOperator* producer = tables_.ProducerOf(real_[i]);
  if (producer != nullptr) {
    tables_.InsertConversionBehind(real_[i], integer_[i], producer);
  } else {
    first_ = tables_.InsertConversion(real_[i], integer_[i], first_);
  }
  return integer_[i];
}

int IntegerWriter::RealOf(int v) {
  const size_t i = static_cast<size_t>(v);
  if (real_[i] >= 0) return real_[i];
  real_[i] = Copy(v, "/float");
  const EditedOperator* producer = tables_.ProducerOf(integer_[i]);
  if (producer != nullptr) {
    tables_.InsertConversionBehind(integer_[i], real_[i], producer);
  } else {
    first_ = tables_.InsertConversion(integer_[i], real_[i], first_);
  }
  return real_[i];
}

// A constant that is not a weight gets one scale: that of the operator's activations where they
// share one.
Status IntegerWriter::WriteConstantInput(const Op& op, size_t input) {
  const int v = op.inputs[input];
  std::vector<float> values;
  TW_RETURN_IF_ERROR(ReadFloats(graph_, v, &values));
  const ValueRange& range = plan_.ranges[static_cast<size_t>(v)];
  Affine affine = ScaleOfRange(DType::kInt8, range.min, range.max);
  if (op.def->integer == IntegerForm::kSame) {
    const auto moved = std::find_if(op.inputs.begin(), op.inputs.end(),
                                    [this](int other) { return IsActivation(other); });
    affine = plan_.scales[static_cast<size_t>(*moved)];
  }
  const std::vector<int32_t> shape = tables_.tensor(v)->shape;
  const int constant = Copy(v, "/int8");
  tables_.SetConstant(constant, shape, StoreInt8(affine, values));
  tables_.op(op.file_index)->inputs[input] = constant;
  ++n_constants_;
  return Status::Ok();
}

Status IntegerWriter::WriteOperator(const Op& op) {
  EditedOperator* written = tables_.op(op.file_index);
  const bool weighted = op.def->integer == IntegerForm::kWeighted;
  const WeightedInputs inputs = op.def->weighted;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const int v = op.inputs[k];
    if (v < 0 || graph_.values[static_cast<size_t>(v)].dtype != DType::kFloat32) continue;
    if (IsActivation(v)) {
      written->inputs[k] = IntegerOf(v);
    } else if (!weighted || (k != inputs.weights && k != inputs.bias)) {
      TW_RETURN_IF_ERROR(WriteConstantInput(op, k));
    }
  }
  if (weighted) {
    const int data = InputOf(op, inputs.data);
    TW_RETURN_IF_ERROR(weights_.Write(op, plan_.scales[static_cast<size_t>(data)].scale));
  }
  tables_.SetCode(written, op.code, std::max<int>(op.def->integer_version, op.version));
  return Status::Ok();
}

Status IntegerWriter::Write(QuantizeReport* report) {
  for (int v : graph_.inputs) PlaceInput(v);
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Op& op = graph_.ops[i];
    const IntegerPlan::OpPlan& plan = plan_.ops[i];
    if (plan.row != nullptr) {
      TW_RETURN_IF_ERROR(WriteOperator(op));
      ++report->n_integer_ops;
    } else {
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        const int v = op.inputs[k];
        if (!IsActivation(v) || graph_.values[static_cast<size_t>(v)].is_variable) continue;
        if (real_[static_cast<size_t>(v)] < 0 && integer_[static_cast<size_t>(v)] < 0) continue;
        tables_.op(op.file_index)->inputs[k] = RealOf(v);
      }
      if (!plan.reason.empty()) {
        report->float_ops.push_back({op.file_index, op.name(), plan.reason});
      }
    }
    for (size_t k = 0; k < op.outputs.size(); ++k) PlaceResult(op, k);
  }
  report->n_constants = weights_.n_constants() + n_constants_;
  return Status::Ok();
}

}  // namespace

Status WriteIntegers(const Graph& graph, const IntegerPlan& plan, const QuantizeSpec& spec,
                     ModelTables* tables, QuantizeReport* report) {
  return IntegerWriter(graph, plan, spec, tables).Write(report);
}

}  // namespace topwork
