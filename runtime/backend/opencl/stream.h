// Stream: an in-order queue of one user on a context. It copies data, and runs Launch records.
//
// Record() makes kernels with their arguments set, once; Submit() only enqueues them, as often as
// wanted. Not thread-safe; streams of one context are independent of each other.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_

#include <cstdint>
#include <vector>

#include "kernels/launch.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/base/span.h"

namespace topwork {
namespace opencl {

// Launches made ready. Keeps the parts of buffers that they use; the buffers themselves must
// outlive it.
class Commands {
 public:
  size_t size() const { return steps_.size(); }

 private:
  friend class Stream;
  struct Step {
    KernelHandle kernel;
    std::shared_ptr<const Blas::Product> product;  // in place of a kernel; its memory is in parts_
    size_t global[3];
    size_t local[3];
    bool has_local;
  };
  std::vector<Step> steps_;
  std::vector<MemHandle> parts_;
};

// How many commands may gather before they are sent to the device; 0: the driver decides.
struct FlushRow {
  const char* vendor;  // substring of the vendor's or the device's name
  int every;
};
Span<const FlushRow> FlushRows();
int FlushEvery(const DeviceInfo& info, Span<const FlushRow> rows);

struct StreamOptions {
  bool profile = false;  // needed by SubmitTimed
};

class Stream {
 public:
  Stream() = default;
  // The context must outlive the stream.
  static Result<Stream> Create(Context* context, const StreamOptions& options);

  // Waits until the data is there and may be changed again; bytes 0 does nothing.
  Status Upload(const MemHandle& to, size_t offset_bytes, const void* data, size_t bytes);
  // Waits for everything before it, and for the data.
  Status Download(const MemHandle& from, size_t offset_bytes, void* data, size_t bytes);
  // Between buffers of the device, in order with all else; the ranges must not overlap.
  Status Copy(const MemHandle& from, size_t from_bytes, const MemHandle& to, size_t to_bytes,
              size_t bytes);

  // Compiles what is not compiled yet. `buffers` is the table that the launches' indices mean.
  Result<Commands> Record(Span<const Launch> launches, Span<const MemHandle> buffers);
  // The buffer's bytes for the host to read and write, until Unmap. Waits for everything before it.
  Result<void*> Map(const MemHandle& buffer, size_t offset_bytes, size_t bytes);
  // Does not wait.
  Status Unmap(const MemHandle& buffer, void* mapped);

  // Compiles what Record would, and says where a kernel does not fit the device.
  Status Check(Span<const Launch> launches);
  // Starts them and does not wait.
  Status Submit(const Commands& commands);
  // Starts them, waits, and appends the time that each took on the device.
  Status SubmitTimed(const Commands& commands, std::vector<int64_t>* nanos);
  // Waits until all is done.
  Status Finish();

  // Bytes that Upload and Download have moved so far.
  uint64_t uploaded_bytes() const { return uploaded_bytes_; }
  uint64_t downloaded_bytes() const { return downloaded_bytes_; }

 private:
  // The memory that a launch's argument means; a part of a buffer is kept in commands.
  Result<cl_mem> MemoryOf(const Launch& launch, size_t index, Span<const MemHandle> buffers,
                          Commands* commands) const;
  // A launch of kind kGemm, with working memory of its own.
  Status RecordProduct(const Launch& launch, Span<const MemHandle> buffers, Commands* commands);
  Status SetArgument(const Launch& launch, cl_uint index, Span<const MemHandle> buffers,
                     const KernelHandle& kernel, Commands* commands);
  // Whether the launch's own work-groups are used; an error where they must be and cannot.
  Result<bool> UsesGroups(const Launch& launch, const KernelHandle& kernel) const;
  Status Enqueue(const Commands::Step& step, cl_event* event);
  Context* context_ = nullptr;
  const ClApi* api_ = nullptr;
  QueueHandle queue_;
  int flush_every_ = 0;
  int waiting_ = 0;  // commands since the last flush
  uint64_t uploaded_bytes_ = 0;
  uint64_t downloaded_bytes_ = 0;
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_
