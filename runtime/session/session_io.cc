// A session's inputs and outputs: what the caller sees, resizes and binds.
#include <algorithm>

#include "runtime/session/plan_runner.h"
#include "runtime/session/session.h"
#include "runtime/session/string_ports.h"

namespace topwork {
namespace {

Status RefuseStrings(const char* what, int i, const TensorView& view, const std::string& name) {
  if (view.dtype != DType::kString) return Status::Ok();
  return Unsupported("{} {} '{}' holds strings: it cannot be bound", what, i, name);
}

}  // namespace

// Buffers that the caller bound must still be large enough for the new shapes.
Status Session::CheckBindings(const Plan& plan) const {
  const auto check = [&](const char* what, size_t i, int v, const Bound& bound) {
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    if (bound.data == nullptr || value.deferred || bound.bytes >= value.view.bytes())
      return Status::Ok();
    return InvalidArgument(
        "{} {} '{}' now needs {} bytes, the buffer bound to it has {}; bind a larger one first",
        what, i, value.name, value.view.bytes(), bound.bytes);
  };
  for (size_t i = 0; i < bound_inputs_.size(); ++i) {
    TW_RETURN_IF_ERROR(check("input", i, plan.inputs[i], bound_inputs_[i]));
  }
  for (size_t i = 0; i < bound_outputs_.size(); ++i) {
    TW_RETURN_IF_ERROR(check("output", i, plan.outputs[i], bound_outputs_[i]));
  }
  return Status::Ok();
}

int Session::n_inputs() const { return static_cast<int>(plan_->inputs.size()); }
int Session::n_outputs() const { return static_cast<int>(plan_->outputs.size()); }
const TensorView& Session::input(int i) const { return inputs_[static_cast<size_t>(i)]; }
const TensorView& Session::output(int i) const { return runner_->output(static_cast<size_t>(i)); }

const std::string& Session::input_name(int i) const {
  return plan_->values[static_cast<size_t>(plan_->inputs[static_cast<size_t>(i)])].name;
}

const std::string& Session::output_name(int i) const {
  return plan_->values[static_cast<size_t>(plan_->outputs[static_cast<size_t>(i)])].name;
}

Status Session::ResizeInput(int i, const Shape& shape) {
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input {} does not exist, the model has {}", i, n_inputs());
  }
  size_t bytes = 0;
  if (!CheckedByteSize(input(i).dtype, shape, &bytes)) {
    return InvalidArgument("input {} '{}' cannot have shape {}: negative or too large", i,
                           input_name(i), shape.ToString());
  }
  if (wanted_shapes_[static_cast<size_t>(i)] == shape) return Status::Ok();
  wanted_shapes_[static_cast<size_t>(i)] = shape;
  replan_ = true;
  return Status::Ok();
}

Status Session::BindInput(int i, void* data, size_t bytes) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input {} does not exist, the model has {}", i, n_inputs());
  }
  TW_RETURN_IF_ERROR(RefuseStrings("input", i, input(i), input_name(i)));
  if (data != nullptr && bytes < input(i).bytes()) {
    return InvalidArgument("input {} '{}' needs {} bytes, the buffer has {}", i, input_name(i),
                           input(i).bytes(), bytes);
  }
  bound_inputs_[static_cast<size_t>(i)] = {data, data == nullptr ? 0 : bytes};
  rebind_ = true;
  return Prepare();
}

Status Session::BindOutput(int i, void* data, size_t bytes) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_outputs()) {
    return InvalidArgument("output {} does not exist, the model has {}", i, n_outputs());
  }
  TW_RETURN_IF_ERROR(RefuseStrings("output", i, output(i), output_name(i)));
  const bool deferred =
      plan_->values[static_cast<size_t>(plan_->outputs[static_cast<size_t>(i)])].deferred;
  if (data != nullptr && !deferred && bytes < output(i).bytes()) {
    return InvalidArgument("output {} '{}' needs {} bytes, the buffer has {}", i, output_name(i),
                           output(i).bytes(), bytes);
  }
  bound_outputs_[static_cast<size_t>(i)] = {data, data == nullptr ? 0 : bytes};
  rebind_ = true;
  return Prepare();
}

Status Session::WriteStrings(int i, Span<const StringRef> strings) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input {} does not exist, the model has {}", i, n_inputs());
  }
  return strings_->Write(static_cast<size_t>(i), input(i), input_name(i), strings);
}

}  // namespace topwork
