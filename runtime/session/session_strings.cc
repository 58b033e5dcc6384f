// Strings at a session's borders. An input's references lie in a block of the session's, zeroed
// when it is made, beside a copy of their bytes; an output's are copied once the run is done, so
// that they depend on neither inputs nor state. In between a run only moves references.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/session/session_impl.h"
#include "runtime/tensor/strings.h"

namespace topwork {

Status Session::RefuseStrings(const char* what, int i, const TensorView& view,
                              const std::string& name) {
  if (view.dtype != DType::kString) return Status::Ok();
  return Unsupported("%s %d '%s' holds strings: it cannot be bound", what, i, name.c_str());
}

Status Session::NewStringInputs(const Plan& plan, std::vector<Buffer>* out) const {
  out->resize(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const TensorView& view = plan.values[static_cast<size_t>(plan.inputs[i])].view;
    const size_t bytes = view.dtype == DType::kString ? std::max<size_t>(view.bytes(), 1) : 0;
    const std::vector<StringInput>& old = impl_->string_inputs;
    if (bytes == 0 || (i < old.size() && old[i].references.size() == bytes)) continue;
    TW_ASSIGN_OR_RETURN((*out)[i],
                        Buffer::Allocate(bytes, "an input of strings", *options_.allocator));
    std::memset((*out)[i].data(), 0, bytes);
  }
  return Status::Ok();
}

void Session::SetStringInputs(std::vector<Buffer> fresh) {
  impl_->string_inputs.resize(fresh.size());
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i].data() != nullptr) impl_->string_inputs[i].references = std::move(fresh[i]);
  }
}

Status Session::WriteStrings(int i, Span<const StringRef> strings) {
  TW_RETURN_IF_ERROR(Prepare());
  if (i < 0 || i >= n_inputs()) {
    return InvalidArgument("input %d does not exist, the model has %d", i, n_inputs());
  }
  const TensorView& view = input(i);
  if (view.dtype != DType::kString ||
      static_cast<uint64_t>(view.shape.NumElements()) != strings.size()) {
    return InvalidArgument("input %d '%s' is %s %s, it cannot take %zu strings", i,
                           input_name(i).c_str(), DTypeName(view.dtype),
                           view.shape.ToString().c_str(), strings.size());
  }
  StringInput& held = impl_->string_inputs[static_cast<size_t>(i)];
  const size_t bytes = TextBytes(strings);
  RunMemory& memory = impl_->memory;
  const size_t others = memory.used_bytes - held.text.size();
  if (memory.limit_bytes != 0 &&
      bytes > memory.limit_bytes - std::min(memory.limit_bytes, others)) {
    return OutOfMemory(
        "the strings of input %d '%s' take %zu bytes, more than the memory limit "
        "leaves",
        i, input_name(i).c_str(), bytes);
  }
  // They may be the ones that the input has.
  TW_ASSIGN_OR_RETURN(Buffer text, Buffer::Allocate(std::max<size_t>(bytes, 1),
                                                    "an input of strings", *options_.allocator));
  CopyText(strings, text.as<char>(), view.as<StringRef>());
  held.text = std::move(text);
  memory.used_bytes = others + held.text.size();
  return Status::Ok();
}

void Session::HideStringOutputs() {
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    if (output(static_cast<int>(i)).dtype == DType::kString) impl_->runner->ShowOutput(i, nullptr);
  }
}

Status Session::KeepStringOutputs() {
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const TensorView view = output(static_cast<int>(i));
    if (view.dtype != DType::kString) continue;
    impl_->runner->ShowOutput(i, nullptr);
    const Span<const StringRef> strings = StringsOf(view);
    const size_t text = TextBytes(strings);
    TW_ASSIGN_OR_RETURN(void* block,
                        impl_->string_outputs->Get(static_cast<int>(i), view.bytes() + text,
                                                   "an output of strings"));
    CopyText(strings, static_cast<char*>(block) + view.bytes(), static_cast<StringRef*>(block));
    impl_->runner->ShowOutput(i, block);
  }
  return Status::Ok();
}

}  // namespace topwork
