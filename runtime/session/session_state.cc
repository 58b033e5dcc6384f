// SessionState: one block per variable, by (subgraph, tensor).
#include "runtime/session/session_state.h"

#include <algorithm>
#include <cstring>

namespace topwork {

SessionState::SessionState(const Allocator& allocator)
    : allocator_(allocator), resources_(new Resources(allocator_)) {}

Result<void*> SessionState::Variable(const VariableKey& key, const TensorView& view) {
  VariableBlock& block = variables_[key];
  if (block.buffer.data() != nullptr && block.bytes == view.bytes()) return block.buffer.data();
  const size_t bytes = view.bytes();
  TW_ASSIGN_OR_RETURN(block.buffer, Buffer::Allocate(std::max<size_t>(bytes, 1),
                                                     "a variable of the model", allocator_));
  block.bytes = bytes;
  const bool has_zero_point = view.dtype == DType::kInt8 && view.quantization != nullptr &&
                              !view.quantization->zero_points.empty();
  block.initial = has_zero_point ? static_cast<int>(view.quantization->zero_points[0]) : 0;
  std::memset(block.buffer.data(), block.initial, bytes);
  return block.buffer.data();
}

size_t SessionState::bytes() const {
  size_t total = resources_->bytes();
  for (const auto& [key, block] : variables_) total += block.bytes;
  return total;
}

void SessionState::Reset() {
  for (auto& [key, block] : variables_) {
    if (block.bytes > 0) std::memset(block.buffer.data(), block.initial, block.bytes);
  }
  resources_->Clear();
}

Result<SessionState::Saved> SessionState::Save() const {
  Saved saved;
  for (const auto& [key, block] : variables_) {
    const uint8_t* data = block.buffer.as<const uint8_t>();
    saved.variables.emplace_back(data, data + block.bytes);
  }
  TW_ASSIGN_OR_RETURN(saved.resources, resources_->Copy());
  return saved;
}

void SessionState::Restore(Saved saved) {
  size_t i = 0;
  for (auto& [key, block] : variables_) {
    const std::vector<uint8_t>& data = saved.variables[i++];
    if (!data.empty()) std::memcpy(block.buffer.data(), data.data(), data.size());
  }
  resources_->Become(std::move(*saved.resources));
}

}  // namespace topwork
