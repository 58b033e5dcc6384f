// PlanPrepareContext: bookkeeping around OpDef::prepare.
#include "runtime/plan/prepare.h"

#include <utility>

namespace topwork {

PlanPrepareContext::PlanPrepareContext(const Op& op, std::vector<const TensorView*> inputs,
                                       std::vector<TensorView> declared,
                                       std::vector<const std::string*> input_names,
                                       std::string where, const CpuKernels& cpu, int max_threads)
    : input_names_(std::move(input_names)), where_(std::move(where)) {
  params_ = &op.params;
  cpu_ = &cpu;
  max_threads_ = max_threads;
  inputs_ = std::move(inputs);
  outputs_ = std::move(declared);
  output_set_.assign(outputs_.size(), false);
  allocator_ = DefaultAllocator();
}

void PlanPrepareContext::SetPacking(PackMode mode, PackCache* cache, std::vector<const void*> keys,
                                    const Allocator& allocator) {
  mode_ = mode;
  cache_ = cache;
  keys_ = std::move(keys);
  allocator_ = allocator;
}

std::string PlanPrepareContext::InputName(int i) const {
  const size_t at = static_cast<size_t>(i);
  const std::string* name = at < input_names_.size() ? input_names_[at] : nullptr;
  return StrFormat("input %d '%s'", i, name == nullptr ? "" : name->c_str());
}

Status PlanPrepareContext::Prepare(const OpDef& def) {
  TW_RETURN_IF_ERROR(def.prepare(*this));
  for (size_t i = 0; i < output_set_.size(); ++i) {
    if (!output_set_[i]) {
      return InvalidModel("%s has %zu outputs, %zu expected", where_.c_str(), output_set_.size(),
                          i);
    }
  }
  return Status::Ok();
}

Result<const void*> PlanPrepareContext::PackConstant(int input, const char* tag, size_t bytes,
                                                     bool release_input,
                                                     FunctionRef<void(void*)> pack) {
  alignas(kAlignment) static const uint8_t kNothing[kAlignment] = {};
  if (mode_ == PackMode::kShapesOnly) return static_cast<const void*>(kNothing);
  if (release_input) released_inputs_.push_back(input);
  const void* key =
      static_cast<size_t>(input) < keys_.size() ? keys_[static_cast<size_t>(input)] : nullptr;
  std::shared_ptr<const Buffer> block;
  if (key != nullptr && cache_ != nullptr) {
    const std::string full_tag = std::string(cpu_->isa) + ":" + tag;
    TW_ASSIGN_OR_RETURN(block, cache_->Get(key, full_tag.c_str(), bytes, allocator_, pack));
  } else {
    TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, "packed weights", allocator_));
    if (bytes > 0) pack(buffer.data());
    block = std::make_shared<const Buffer>(std::move(buffer));
  }
  packed_.push_back(block);
  return static_cast<const void*>(block->data());
}

}  // namespace topwork
