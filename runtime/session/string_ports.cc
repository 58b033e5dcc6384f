#include "runtime/session/string_ports.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/tensor/selected_types.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

constexpr bool kHasStrings = IsSelected(DType::kString);

}  // namespace

Result<std::vector<Buffer>> StringPorts::NewInputs(const Plan& plan) const {
  std::vector<Buffer> fresh(plan.inputs.size());
  for (size_t i = 0; kHasStrings && i < plan.inputs.size(); ++i) {
    const TensorView& view = plan.values[static_cast<size_t>(plan.inputs[i])].view;
    const size_t bytes = view.dtype == DType::kString ? std::max<size_t>(view.bytes(), 1) : 0;
    if (bytes == 0 || (i < inputs_.size() && inputs_[i].references.size() == bytes)) continue;
    TW_ASSIGN_OR_RETURN(fresh[i], Buffer::Allocate(bytes, "an input of strings", allocator_));
    std::memset(fresh[i].data(), 0, bytes);
  }
  return fresh;
}

void StringPorts::SetInputs(std::vector<Buffer> fresh) {
  inputs_.resize(fresh.size());
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i].data() != nullptr) inputs_[i].references = std::move(fresh[i]);
  }
}

size_t StringPorts::reference_bytes() const {
  size_t bytes = 0;
  for (const Input& input : inputs_) bytes += input.references.size();
  return bytes;
}

Status StringPorts::Write(size_t i, const TensorView& view, const std::string& name,
                          Span<const StringRef> strings) {
  if (!kHasStrings || view.dtype != DType::kString ||
      static_cast<uint64_t>(view.shape.NumElements()) != strings.size()) {
    return InvalidArgument("input {} '{}' is {} {}, it cannot take {} strings", i, name,
                           DTypeName(view.dtype), view.shape.ToString(), strings.size());
  }
  Input& held = inputs_[i];
  const size_t bytes = TextBytes(strings);
  const size_t others = memory_.used_bytes - held.text.size();
  if (memory_.limit_bytes != 0 &&
      bytes > memory_.limit_bytes - std::min(memory_.limit_bytes, others)) {
    return OutOfMemory(
        "the strings of input {} '{}' take {} bytes, more than the memory limit leaves", i, name,
        bytes);
  }
  // They may be the ones that the input has.
  TW_ASSIGN_OR_RETURN(
      Buffer text, Buffer::Allocate(std::max<size_t>(bytes, 1), "an input of strings", allocator_));
  CopyText(strings, text.as<char>(), view.as<StringRef>());
  held.text = std::move(text);
  memory_.used_bytes = others + held.text.size();
  return Status::Ok();
}

void StringPorts::HideOutputs(PlanRunner* runner) const {
  for (size_t i = 0; kHasStrings && i < runner->plan().outputs.size(); ++i) {
    if (runner->output(i).dtype == DType::kString) runner->ShowOutput(i, nullptr);
  }
}

Status StringPorts::KeepOutputs(PlanRunner* runner) {
  for (size_t i = 0; kHasStrings && i < runner->plan().outputs.size(); ++i) {
    const TensorView view = runner->output(i);
    if (view.dtype != DType::kString) continue;
    runner->ShowOutput(i, nullptr);
    const Span<const StringRef> strings = StringsOf(view);
    const size_t text = TextBytes(strings);
    TW_ASSIGN_OR_RETURN(void* block, outputs_.Get(static_cast<int>(i), view.bytes() + text,
                                                  "an output of strings"));
    CopyText(strings, static_cast<char*>(block) + view.bytes(), static_cast<StringRef*>(block));
    runner->ShowOutput(i, block);
  }
  return Status::Ok();
}

}  // namespace topwork
