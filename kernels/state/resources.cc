// Resources: two arrays by handle, and the names that lead to them.
#include "kernels/state/resources.h"

#include <algorithm>
#include <cstring>

namespace topwork {

// A FlatBuffers string is a vector of bytes with a zero after it.
const char* TextOption(const OptionsView& options, int field) {
  const void* const text = options.IntVector(field).data();
  return text == nullptr ? "" : static_cast<const char*>(text);
}

void NameResource(const char* container, const char* shared_name, OpParams* params) {
  params->custom_name = shared_name;
  params->custom_options = {reinterpret_cast<const uint8_t*>(container), std::strlen(container)};
}

Status ResourceVariable::Assign(const TensorView& value, const Allocator& allocator) {
  const size_t bytes = value.bytes();
  if (buffer_.size() < bytes || buffer_.data() == nullptr) {
    TW_ASSIGN_OR_RETURN(
        buffer_, Buffer::Allocate(std::max<size_t>(bytes, 1), "a resource variable", allocator));
  }
  if (bytes > 0) std::memmove(buffer_.data(), value.data, bytes);
  value_ = value;
  value_.data = buffer_.data();
  return Status::Ok();
}

Status ResourceVariable::Clear(size_t bytes, const Allocator& allocator) {
  TW_ASSIGN_OR_RETURN(buffer_, Buffer::Allocate(bytes, "the memory of an operator", allocator));
  std::memset(buffer_.data(), 0, bytes);
  value_.dtype = DType::kUInt8;
  value_.shape = Shape({static_cast<int32_t>(bytes)});
  value_.data = buffer_.data();
  return Status::Ok();
}

Result<std::unique_ptr<Resource>> ResourceVariable::Copy(const Allocator& allocator) const {
  auto copy = std::make_unique<ResourceVariable>();
  TW_RETURN_IF_ERROR(copy->Assign(value_, allocator));
  return std::unique_ptr<Resource>(std::move(copy));
}

size_t Resources::bytes() const {
  size_t total = 0;
  for (const auto& resource : resources_) total += resource == nullptr ? 0 : resource->bytes();
  return total;
}

Status Resources::CheckRoom(size_t more) const {
  const size_t total = bytes() + more;
  if (limit_bytes_ == 0 || total <= limit_bytes_) return Status::Ok();
  return OutOfMemory("the model's variables and tables need {} bytes, the memory limit leaves {}",
                     total, limit_bytes_);
}

// Models have few resources; a run allocates nothing here.
int32_t Resources::HandleOf(Span<const uint8_t> container, const char* shared_name,
                            Resource::Kind kind) {
  const auto is_container = [&](const std::string& name) {
    return name.size() == container.size() &&
           (name.empty() || std::memcmp(name.data(), container.data(), name.size()) == 0);
  };
  for (size_t i = 0; i < names_.size(); ++i) {
    const Name& name = names_[i];
    if (name.kind == kind && is_container(name.container) && name.shared_name == shared_name) {
      return static_cast<int32_t>(i);
    }
  }
  names_.push_back({std::string(container.begin(), container.end()), shared_name, kind});
  resources_.emplace_back();
  return static_cast<int32_t>(names_.size()) - 1;
}

std::string Resources::NameOf(int32_t handle) const {
  if (handle < 0 || static_cast<size_t>(handle) >= names_.size()) {
    return "with handle " + std::to_string(handle);
  }
  const Name& name = names_[static_cast<size_t>(handle)];
  return "'" + (name.container.empty() ? "" : name.container + "/") + name.shared_name + "'";
}

Resource* Resources::Find(int32_t handle, Resource::Kind kind) const {
  if (handle < 0 || static_cast<size_t>(handle) >= resources_.size()) return nullptr;
  Resource* const resource = resources_[static_cast<size_t>(handle)].get();
  return resource != nullptr && resource->kind() == kind ? resource : nullptr;
}

Status Resources::Put(int32_t handle, std::unique_ptr<Resource> resource) {
  if (handle < 0 || static_cast<size_t>(handle) >= resources_.size()) {
    return InvalidArgument("there is no resource {}, the model has named {}", handle,
                           resources_.size());
  }
  resources_[static_cast<size_t>(handle)] = std::move(resource);
  return Status::Ok();
}

Result<uint8_t*> Resources::MemoryOf(const std::string& owner, size_t bytes) {
  static constexpr uint8_t kOperators[] = {'(', 'o', 'p', 's',
                                           ')'};  // beside variables' containers
  const int32_t handle = HandleOf({kOperators, sizeof(kOperators)}, owner.c_str());
  auto* held = static_cast<ResourceVariable*>(Find(handle, Resource::Kind::kVariable));
  if (held != nullptr && held->value().bytes() == bytes) return held->value().as<uint8_t>();
  TW_RETURN_IF_ERROR(CheckRoom(bytes));
  auto fresh = std::make_unique<ResourceVariable>();
  TW_RETURN_IF_ERROR(fresh->Clear(bytes, allocator_));
  uint8_t* const memory = fresh->value().as<uint8_t>();
  TW_RETURN_IF_ERROR(Put(handle, std::move(fresh)));
  return memory;
}

bool Resources::IsInitialized(int subgraph) const {
  return std::find(initialized_.begin(), initialized_.end(), subgraph) != initialized_.end();
}

void Resources::SetInitialized(int subgraph) { initialized_.push_back(subgraph); }

void Resources::Clear() {
  for (auto& resource : resources_) resource.reset();
  initialized_.clear();
}

Result<std::unique_ptr<Resources>> Resources::Copy() const {
  auto copy = std::make_unique<Resources>(allocator_);
  copy->limit_bytes_ = limit_bytes_;
  copy->names_ = names_;
  copy->initialized_ = initialized_;
  for (const auto& resource : resources_) {
    copy->resources_.emplace_back();
    if (resource == nullptr) continue;
    TW_ASSIGN_OR_RETURN(copy->resources_.back(), resource->Copy(allocator_));
  }
  return copy;
}

void Resources::Become(Resources&& other) {
  names_ = std::move(other.names_);
  resources_ = std::move(other.resources_);
  initialized_ = std::move(other.initialized_);
}

}  // namespace topwork
