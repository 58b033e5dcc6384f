// PrepareContext's checks and the parse helpers shared by operators.
#include "kernels/contract/kernel.h"

#include "kernels/contract/subgraphs.h"

namespace topwork {

Status PrepareContext::CheckInputs(int min_inputs, int max_inputs) const {
  if (n_inputs() > max_inputs) {
    return InvalidModel("%s has %d inputs, at most %d are allowed", Where().c_str(), n_inputs(),
                        max_inputs);
  }
  for (int i = 0; i < min_inputs; ++i) {
    if (input(i) == nullptr) {
      return InvalidModel("%s lacks its input %d, which is not optional", Where().c_str(), i);
    }
  }
  return Status::Ok();
}

Status PrepareContext::CheckOutputs(int n) const {
  if (n_outputs() == n) return Status::Ok();
  return InvalidModel("%s has %d outputs, %d expected", Where().c_str(), n_outputs(), n);
}

Status PrepareContext::CheckDType(int i, std::initializer_list<DType> dtypes) const {
  const TensorView* view = input(i);
  if (view == nullptr) return Status::Ok();
  std::string list;
  for (DType dtype : dtypes) {
    if (view->dtype == dtype) return Status::Ok();
    if (!list.empty()) list += ", ";
    list += DTypeName(dtype);
  }
  return Unsupported("%s: %s is %s; supported here: %s", Where().c_str(), InputName(i).c_str(),
                     DTypeName(view->dtype), list.c_str());
}

Status PrepareContext::CheckRank(int i, int min_rank, int max_rank) const {
  const TensorView* view = input(i);
  if (view == nullptr) return Status::Ok();
  const int rank = view->shape.rank();
  if (rank >= min_rank && rank <= max_rank) return Status::Ok();
  const std::string want = min_rank == max_rank
                               ? std::to_string(min_rank)
                               : std::to_string(min_rank) + " to " + std::to_string(max_rank);
  return InvalidModel("%s: %s has shape %s of rank %d, rank %s expected", Where().c_str(),
                      InputName(i).c_str(), view->shape.ToString().c_str(), rank, want.c_str());
}

Status PrepareContext::NeedValue(int i) {
  const TensorView* view = input(i);
  if (view == nullptr) {
    return InvalidModel("%s lacks its input %d, which is not optional", Where().c_str(), i);
  }
  if (view->data != nullptr || view->shape.NumElements() == 0) return Status::Ok();
  unknown_value_input_ = i;
  deferred_ = true;
  return FailedPrecondition("%s: the value of %s is only known at run time", Where().c_str(),
                            InputName(i).c_str());
}

Status PrepareContext::LeaveShapeToRun(int i) {
  if (!may_be_unknown_) {
    deferred_ = true;
    return FailedPrecondition("%s: the shape of output %d is only known at run time",
                              Where().c_str(), i);
  }
  shape_left_to_run_.resize(outputs_.size(), false);
  shape_left_to_run_[static_cast<size_t>(i)] = true;
  output_set_[static_cast<size_t>(i)] = true;
  return Status::Ok();
}

Result<const Callee*> PrepareContext::PlanCallee(int, const std::vector<CalleeInput>&) {
  return Unsupported("%s: subgraphs cannot be called here", Where().c_str());
}

int PrepareContext::PassedInput(int, int) const { return -1; }

Result<std::vector<OpCode>> PrepareContext::OperatorsOf(int) const {
  return Unsupported("%s: subgraphs cannot be read here", Where().c_str());
}

Status RunContext::SetOutputShape(int i, const Shape& shape) const {
  if (output_memory == nullptr) return InternalError("output %d has its shape already", i);
  return output_memory->SetShape(i, shape);
}

Status PrepareContext::SetOutput(int i, DType dtype, const Shape& shape) {
  if (i < 0 || i >= n_outputs()) {
    return InvalidModel("%s has %d outputs, %d or more expected", Where().c_str(), n_outputs(),
                        i + 1);
  }
  size_t bytes = 0;
  if (!CheckedByteSize(dtype, shape, &bytes)) {
    return InvalidModel("%s: its output shape %s of %s is negative or too large", Where().c_str(),
                        shape.ToString().c_str(), DTypeName(dtype));
  }
  TensorView& view = outputs_[static_cast<size_t>(i)];
  if (view.dtype != dtype) {
    return InvalidModel("%s: output %d is declared %s in the file but the operator makes %s",
                        Where().c_str(), i, DTypeName(view.dtype), DTypeName(dtype));
  }
  view.shape = shape;
  output_set_[static_cast<size_t>(i)] = true;
  return Status::Ok();
}

Status ParseActivation(int8_t value, Activation* out) {
  if (value < 0 || value > static_cast<int8_t>(Activation::kSignBit)) {
    return InvalidModel("fused_activation_function %d does not exist (0 to 5 do)", value);
  }
  if (value == static_cast<int8_t>(Activation::kSignBit)) {
    return Unsupported("fused activation SIGN_BIT is not supported");
  }
  *out = static_cast<Activation>(value);
  return Status::Ok();
}

Status ParsePadding(int8_t value, Padding* out) {
  if (value != 0 && value != 1) {
    return InvalidModel("padding %d does not exist (0 SAME, 1 VALID)", value);
  }
  *out = static_cast<Padding>(value);
  return Status::Ok();
}

}  // namespace topwork
