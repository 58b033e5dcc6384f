// Verify: two more sessions of the same plan that give every value, then one pass over the values.
#include "runtime/session/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "runtime/base/json.h"
#include "runtime/tensor/bfloat16.h"
#include "runtime/tensor/packed.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An operator of the plan, or one that is prepared while running.
struct PlannedOp {
  const char* name = "";
  std::string backend;
  int file_index = -1;
  std::vector<int> inputs, outputs;
};

std::string BackendOf(const Step& step) {
  const bool plain = step.products[0] == '\0';
  return plain ? PlaceName(step.device) : std::string(PlaceName(step.device)) + " " + step.products;
}

void AddStep(const Step& step, std::vector<PlannedOp>* ops) {
  if (step.parts.empty()) {
    ops->push_back({step.def->name(), BackendOf(step), step.file_index, step.inputs, step.outputs});
  }
  for (const Step& part : step.parts) AddStep(part, ops);
}

std::vector<PlannedOp> OpsOf(const Plan& plan) {
  std::vector<PlannedOp> ops;
  for (const Step& step : plan.steps) AddStep(step, &ops);
  for (const Op& op : plan.deferred) {
    ops.push_back({op.name(), PlaceName(nullptr), op.file_index, op.inputs, op.outputs});
  }
  return ops;
}

// The real number at position i; false where the type has none.
bool RealAt(const TensorView& view, int64_t i, double* value) {
  switch (view.dtype) {
    case DType::kFloat32:
      *value = view.as<float>()[i];
      return true;
    case DType::kFloat16:
      *value = HalfToFloat(view.as<uint16_t>()[i]);
      return true;
    case DType::kBFloat16:
      *value = BFloat16ToFloat(view.as<uint16_t>()[i]);
      return true;
    case DType::kFloat64:
      *value = view.as<double>()[i];
      return true;
    case DType::kInt8:
      *value = view.as<int8_t>()[i];
      return true;
    case DType::kUInt8:
      *value = view.as<uint8_t>()[i];
      return true;
    case DType::kBool:
      *value = view.as<uint8_t>()[i] != 0;
      return true;
    case DType::kInt16:
      *value = view.as<int16_t>()[i];
      return true;
    case DType::kInt32:
      *value = view.as<int32_t>()[i];
      return true;
    case DType::kInt64:
      *value = static_cast<double>(view.as<int64_t>()[i]);
      return true;
    default:
      if (IsPacked(view.dtype)) *value = PackedAt(view.dtype, view.data, i);
      return IsPacked(view.dtype);
  }
}

bool SameReal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Of two tensors of the same type and shape.
bool SameElements(const TensorView& a, const TensorView& b) {
  if (a.dtype != DType::kString) return std::memcmp(a.data, b.data, a.bytes()) == 0;
  const Span<const StringRef> strings = StringsOf(a);
  return std::equal(strings.begin(), strings.end(), b.as<StringRef>());
}

// The session's model with every value of `values` as an output, for the same input shapes.
Result<std::unique_ptr<Session>> SessionKeeping(const Session& session,
                                                const std::vector<int>& values, bool on_cpu) {
  SessionOptions options = session.options();
  options.outputs = values;
  options.state = nullptr;  // of its own, at its beginning
  options.memory_limit_bytes = options.device_memory_limit_bytes = 0;
  options.device_cost = nullptr;  // all that it can compute
  if (on_cpu) {
    options.devices.clear();
    options.half_products = false;
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Session> keeping,
                      Session::Create(session.shared_model(), options));
  for (int i = 0; i < session.n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(keeping->ResizeInput(i, session.input(i).shape));
  }
  TW_RETURN_IF_ERROR(keeping->Prepare());
  for (int i = 0; i < session.n_inputs(); ++i) {
    const TensorView& from = session.input(i);
    if (from.bytes() > 0) std::memcpy(keeping->input(i).data, from.data, from.bytes());
  }
  return keeping;
}

Status RunOnItsDevice(Session* session) {
  const bool had_device = !session->options().devices.empty();
  TW_RETURN_IF_ERROR(session->Run());
  if (!had_device || !session->options().devices.empty()) return Status::Ok();
  return Status(StatusCode::kDeviceLost,
                "the device failed, and the CPU took over: " + session->device_failure());
}

// As the other sessions ran: from the initial state. The session's own is as before afterwards.
Status RunFromTheStart(Session* session) {
  const SessionState::Lock lock(session->state()->mutex);
  TW_ASSIGN_OR_RETURN(SessionState::Saved before, session->state()->Save());
  session->ResetState();
  const Status status = RunOnItsDevice(session);
  session->state()->Restore(std::move(before));
  return status;
}

// What each operator read and made, in the order of running.
void CompareLayers(const std::vector<PlannedOp>& ops, const Session& cpu, const Session& device,
                   const std::vector<int>& values, Verification* result) {
  std::map<int, int> position;  // of a value among the outputs
  for (size_t i = 0; i < values.size(); ++i) position[values[i]] = static_cast<int>(i);
  std::map<int, std::pair<bool, double>> known;  // agrees, difference
  for (const PlannedOp& op : ops) {
    bool inputs_agree = true;
    double input_difference = 0.0;
    for (int v : op.inputs) {
      const auto at = known.find(v);
      if (at == known.end()) continue;
      inputs_agree = inputs_agree && at->second.first;
      input_difference = std::max(input_difference, at->second.second);
    }
    for (int v : op.outputs) {
      const auto at = position.find(v);
      if (at == position.end()) continue;
      ComparedValue value;
      value.file_index = op.file_index;
      value.op = op.name;
      value.backend = op.backend;
      value.output = device.output_name(at->second);
      value.inputs_agree = inputs_agree;
      value.input_difference = input_difference;
      CompareTensors(cpu.output(at->second), device.output(at->second), result->tolerance, &value);
      known[v] = {value.agrees, value.difference};
      result->layers.push_back(std::move(value));
    }
  }
}

void Summarize(Verification* result) {
  for (size_t i = 0; i < result->layers.size(); ++i) {
    if (result->layers[i].agrees) continue;
    result->agrees = false;
    if (result->first_divergence < 0) result->first_divergence = static_cast<int>(i);
  }
  for (const ComparedValue& output : result->outputs) {
    result->agrees = result->agrees && output.agrees;
  }
}

void WriteValue(const ComparedValue& value, JsonWriter* json) {
  const auto text = [&](const char* key, const std::string& content) {
    json->Key(key);
    json->String(content);
  };
  json->BeginObject();
  if (!value.op.empty()) {
    json->Key("index");
    json->Int(value.file_index);
    text("op", value.op);
    text("backend", value.backend);
  }
  text("output", value.output);
  text("dtype", DTypeName(value.dtype));
  json->Key("shape");
  json->BeginArray();
  for (int i = 0; i < value.shape.rank(); ++i) json->Int(value.shape[i]);
  json->EndArray();
  json->Key("difference");
  json->Double(value.difference);
  json->Key("range");
  json->Double(value.range);
  json->Key("agrees");
  json->Bool(value.agrees);
  if (!value.op.empty()) {
    json->Key("inputs_agree");
    json->Bool(value.inputs_agree);
    json->Key("input_difference");
    json->Double(value.input_difference);
  }
  json->EndObject();
}

}  // namespace

void CompareTensors(const TensorView& expected, const TensorView& got, double tolerance,
                    ComparedValue* value) {
  value->dtype = expected.dtype;
  value->shape = expected.shape;
  const int64_t n = expected.shape.NumElements();
  double zero = 0.0, step = 0.0;
  if (expected.quantization != nullptr && expected.quantization->scales.size() == 1) {
    const auto& zeros = expected.quantization->zero_points;
    zero = zeros.size() == 1 ? static_cast<double>(zeros[0]) : 0.0;
    step = 1.0;
  }
  double low = kInfinity, high = -kInfinity, largest = 0.0, difference = 0.0;
  bool has_numbers = expected.dtype == got.dtype && expected.shape == got.shape;
  for (int64_t i = 0; i < n && has_numbers; ++i) {
    double a = 0.0, b = 0.0;
    has_numbers = RealAt(expected, i, &a) && RealAt(got, i, &b);
    if (std::isfinite(a)) {
      low = std::min(low, a - zero);
      high = std::max(high, a - zero);
      largest = std::max(largest, std::fabs(a - zero));
    }
    if (SameReal(a, b)) continue;
    difference =
        std::max(difference, std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : kInfinity);
  }
  if (!has_numbers) {
    const bool same = expected.shape == got.shape && expected.dtype == got.dtype &&
                      (expected.bytes() == 0 || SameElements(expected, got));
    difference = same ? 0.0 : kInfinity;
  }
  value->range = std::max(largest, high >= low ? high - low : 0.0);
  const bool within_step = step > 0.0 && difference <= step;
  value->difference =
      difference == 0.0 || value->range == 0.0 ? difference : difference / value->range;
  value->agrees = value->difference <= tolerance || within_step;
  if (step > 0.0) value->range *= static_cast<double>(expected.quantization->scales[0]);
}

double DefaultTolerance(const SessionOptions& options) {
  if (options.half_products) return 5e-2;
  for (const auto& device : options.devices) {
    if (device->storage() == Storage::kFloat16) return 2e-2;
  }
  return 1e-3;
}

Result<Verification> Verify(Session* session, double tolerance) {
  TW_RETURN_IF_ERROR(session->Prepare());
  Verification result;
  result.tolerance = tolerance > 0.0 ? tolerance : DefaultTolerance(session->options());
  const std::vector<int> graph_outputs = session->plan().outputs;
  std::vector<int> values;
  std::set<int> distinct;
  for (const PlannedOp& op : OpsOf(session->plan())) {
    for (int v : op.outputs) {
      if (v >= 0 && distinct.insert(v).second) values.push_back(v);
    }
  }
  // Outputs that no operator makes: inputs and constants passed through.
  for (int v : graph_outputs) {
    if (distinct.insert(v).second) values.push_back(v);
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> device,
                      SessionKeeping(*session, values, false));
  TW_RETURN_IF_ERROR(RunOnItsDevice(device.get()));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> cpu, SessionKeeping(*session, values, true));
  TW_RETURN_IF_ERROR(cpu->Run());
  CompareLayers(OpsOf(device->plan()), *cpu, *device, values, &result);
  TW_RETURN_IF_ERROR(RunFromTheStart(session));
  for (size_t i = 0; i < graph_outputs.size(); ++i) {
    const auto at = std::find(values.begin(), values.end(), graph_outputs[i]);
    ComparedValue value;
    value.output = session->output_name(static_cast<int>(i));
    CompareTensors(cpu->output(static_cast<int>(at - values.begin())),
                   session->output(static_cast<int>(i)), result.tolerance, &value);
    result.outputs.push_back(std::move(value));
  }
  Summarize(&result);
  return result;
}

std::string VerificationToJson(const Verification& verification) {
  JsonWriter json;
  json.BeginObject();
  json.Key("tolerance");
  json.Double(verification.tolerance);
  json.Key("agrees");
  json.Bool(verification.agrees);
  json.Key("first_divergence");
  if (verification.first_divergence < 0) {
    json.Null();
  } else {
    json.Int(verification.first_divergence);
  }
  json.Key("layers");
  json.BeginArray();
  for (const ComparedValue& value : verification.layers) WriteValue(value, &json);
  json.EndArray();
  json.Key("outputs");
  json.BeginArray();
  for (const ComparedValue& value : verification.outputs) WriteValue(value, &json);
  json.EndArray();
  json.EndObject();
  return json.text();
}

}  // namespace topwork
