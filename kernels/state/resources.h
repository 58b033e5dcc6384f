// Resources: variables and tables, which a model keeps from run to run by name.
//
// A variable is named by (container, shared_name); a table by its number, which stands in
// shared_name. VAR_HANDLE and HASHTABLE turn a name into a handle, an int32 in a tensor of dtype
// `resource`, and other operators look the handle up. The session owns the Resources of its graph
// and all subgraphs. Not thread-safe: sessions that share them run one at a time.
//
// Operators that name a resource keep the name in their parameters; see NameResource.
#ifndef TOPWORK_KERNELS_STATE_RESOURCES_H_
#define TOPWORK_KERNELS_STATE_RESOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/op_params.h"
#include "kernels/contract/options_view.h"
#include "runtime/base/buffer.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

// Text in the file's memory, zero-terminated; "" when the field is absent.
const char* TextOption(const OptionsView& options, int field);
// Stores shared_name in params->custom_name and container in the bytes of params->custom_options;
// both point into the model.
void NameResource(const char* container, const char* shared_name, OpParams* params);

class Resource {
 public:
  enum class Kind { kVariable, kTable };
  virtual ~Resource() = default;
  virtual Kind kind() const = 0;
  virtual size_t bytes() const = 0;
  // A copy, to go back to when a run fails.
  virtual Result<std::unique_ptr<Resource>> Copy(const Allocator& allocator) const = 0;
};

// A tensor: what ASSIGN_VARIABLE wrote last, of any dtype but strings and any shape.
class ResourceVariable final : public Resource {
 public:
  Kind kind() const override { return Kind::kVariable; }
  size_t bytes() const override { return buffer_.size(); }
  Result<std::unique_ptr<Resource>> Copy(const Allocator& allocator) const override;
  // Becomes so many bytes, all 0.
  Status Clear(size_t bytes, const Allocator& allocator);
  // The view's memory is the variable's own.
  const TensorView& value() const { return value_; }
  // Copies; memory is taken only where the value grows.
  Status Assign(const TensorView& value, const Allocator& allocator);

 private:
  TensorView value_;
  Buffer buffer_;
};

class Resources {
 public:
  explicit Resources(const Allocator& allocator) : allocator_(allocator) {}

  const Allocator& allocator() const { return allocator_; }
  // Of all resources together; 0: none.
  void set_limit_bytes(size_t bytes) { limit_bytes_ = bytes; }
  size_t bytes() const;
  // OUT_OF_MEMORY when `more` bytes would exceed the limit.
  Status CheckRoom(size_t more) const;

  // The same handle for equal names of one kind; the resource itself need not exist yet.
  int32_t HandleOf(Span<const uint8_t> container, const char* shared_name,
                   Resource::Kind kind = Resource::Kind::kVariable);
  // "'name'", or "'container/name'".
  std::string NameOf(int32_t handle) const;
  // Null: there is none of that kind.
  Resource* Find(int32_t handle, Resource::Kind kind) const;
  // INVALID_ARGUMENT where `handle` is none. Replaces what was there.
  Status Put(int32_t handle, std::unique_ptr<Resource> resource);

  // Memory of the operator with that name, which lasts from run to run. It is zeros in the first run
  // after Clear(), and where it had another size; only then memory is taken.
  Result<uint8_t*> MemoryOf(const std::string& owner, size_t bytes);

  // Whether that subgraph's initialisation (CALL_ONCE) has run.
  bool IsInitialized(int subgraph) const;
  void SetInitialized(int subgraph);

  // No resource exists, nothing is initialised; handles keep their meaning.
  void Clear();
  Result<std::unique_ptr<Resources>> Copy() const;
  // Takes over another's contents.
  void Become(Resources&& other);

 private:
  struct Name {
    std::string container, shared_name;
    Resource::Kind kind;
  };
  const Allocator& allocator_;
  size_t limit_bytes_ = 0;
  std::vector<Name> names_;  // by handle
  std::vector<std::unique_ptr<Resource>> resources_;
  std::vector<int> initialized_;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_STATE_RESOURCES_H_
