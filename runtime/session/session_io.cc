// A session's inputs and outputs: what the caller sees, resizes and binds.
#include <algorithm>

#include "runtime/session/session_impl.h"

namespace topwork {

// Buffers that the caller bound must still be large enough for the new shapes.
Status Session::CheckBindings(const Plan& plan) const {
  const auto check = [&](const char* what, size_t i, int v, const Impl::Bound& bound) {
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    if (bound.data == nullptr || value.deferred || bound.bytes >= value.view.bytes())
      return Status::Ok();
    return InvalidArgument(
        "%s %zu '%s' now needs %zu bytes, the buffer bound to it has %zu; bind a "
        "larger one first",
        what, i, value.name.c_str(), value.view.bytes(), bound.bytes);
  };
  for (size_t i = 0; i < impl_->bound_inputs.size(); ++i) {
    TW_RETURN_IF_ERROR(check("input", i, plan.inputs[i], impl_->bound_inputs[i]));
  }
  for (size_t i = 0; i < impl_->bound_outputs.size(); ++i) {
    TW_RETURN_IF_ERROR(check("output", i, plan.outputs[i], impl_->bound_outputs[i]));
  }
  return Status::Ok();
}

int Session::n_inputs() const { return static_cast<int>(plan_->inputs.size()); }
int Session::n_outputs() const { return static_cast<int>(plan_->outputs.size()); }
const TensorView& Session::input(int i) const { return impl_->inputs[static_cast<size_t>(i)]; }
const TensorView& Session::output(int i) const {
  return impl_->runner->output(static_cast<size_t>(i));
}

const std::string& Session::input_name(int i) const {
  return plan_->values[static_cast<size_t>(plan_->inputs[static_cast<size_t>(i)])].name;
}

const std::string& Session::output_name(int i) const {
  return plan_->values[static_cast<size_t>(plan_->outputs[static_cast<size_t>(i)])].name;
}

Status Session::ResizeInput(int i, const Shape& shape) {
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input %d does not exist, the model has %d", i, n_inputs());
  }
  size_t bytes = 0;
  if (!CheckedByteSize(input(i).dtype, shape, &bytes)) {
    return InvalidArgument("input %d '%s' cannot have shape %s: negative or too large", i,
                           input_name(i).c_str(), shape.ToString().c_str());
  }
  if (impl_->wanted_shapes[static_cast<size_t>(i)] == shape) return Status::Ok();
  impl_->wanted_shapes[static_cast<size_t>(i)] = shape;
  impl_->replan = true;
  return Status::Ok();
}

Status Session::BindInput(int i, void* data, size_t bytes) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input %d does not exist, the model has %d", i, n_inputs());
  }
  TW_RETURN_IF_ERROR(RefuseStrings("input", i, input(i), input_name(i)));
  if (data != nullptr && bytes < input(i).bytes()) {
    return InvalidArgument("input %d '%s' needs %zu bytes, the buffer has %zu", i,
                           input_name(i).c_str(), input(i).bytes(), bytes);
  }
  impl_->bound_inputs[static_cast<size_t>(i)] = {data, data == nullptr ? 0 : bytes};
  impl_->rebind = true;
  return Prepare();
}

Status Session::BindOutput(int i, void* data, size_t bytes) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_outputs()) {
    return InvalidArgument("output %d does not exist, the model has %d", i, n_outputs());
  }
  TW_RETURN_IF_ERROR(RefuseStrings("output", i, output(i), output_name(i)));
  const bool deferred =
      plan_->values[static_cast<size_t>(plan_->outputs[static_cast<size_t>(i)])].deferred;
  if (data != nullptr && !deferred && bytes < output(i).bytes()) {
    return InvalidArgument("output %d '%s' needs %zu bytes, the buffer has %zu", i,
                           output_name(i).c_str(), output(i).bytes(), bytes);
  }
  impl_->bound_outputs[static_cast<size_t>(i)] = {data, data == nullptr ? 0 : bytes};
  impl_->rebind = true;
  return Prepare();
}

}  // namespace topwork
