// Stream: an in-order queue of one user on a context. It copies data, and runs Launch records.
//
// Record() makes kernels with their arguments set, once; Submit() only enqueues them, as often as
// wanted: by one call where the device keeps command buffers. With a slice, launches that were
// measured to take longer are cut into pieces, so that others get their turn on the device. Not
// thread-safe; streams of one context are independent of each other.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "kernels/gpu/launch.h"
#include "runtime/backend/opencl/command_buffer.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/base/span.h"

namespace topwork {
namespace opencl {

// Launches made ready. Keeps the parts of buffers that they use; the buffers themselves must
// outlive it.
class Commands {
 public:
  size_t size() const { return steps_.size(); }
  // Into how many pieces launch i is cut now.
  size_t n_pieces(size_t i) const;
  bool has_command_buffer() const { return static_cast<bool>(buffer_); }

 private:
  friend class Stream;
  struct Step {
    KernelHandle kernel;
    std::shared_ptr<const Blas::Product> product;  // in place of a kernel; its memory is in parts_
    size_t global[3];
    size_t local[3];
    bool has_local;
    // Pieces of `piece` work-items along dimension `cut`; 0: not cut.
    int cut = 0;
    size_t piece = 0;
    int64_t nanos = 0;  // the shortest time measured; 0: none
  };
  std::vector<Step> steps_;
  // What the stream learns while it runs them.
  int n_measured_ = 0;
  uint64_t submitted_ = 0;  // Stream::waits_ when the command buffer was last enqueued
  NewestFirst<MemHandle> parts_;
  // Those of buffers, by buffer, offset and size: one object for all launches, since drivers' work
  // for a launch grows with a buffer's parts.
  std::map<std::tuple<cl_mem, size_t, size_t>, cl_mem> part_at_;
  CommandBuffer buffer_;  // of all steps; empty where there is none
};

struct StreamOptions {
  bool profile = false;        // its own queue takes times; otherwise SubmitTimed uses another one
  bool low_priority = false;   // gives way to others where the driver can: cl_khr_priority_hints
  int64_t slice_nanos = 0;     // > 0: no launch shall take longer, see Submit
  bool command_buffer = true;  // where the device has them, and nothing is cut
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
  // Starts them and does not wait. With a slice the first two times are measured (and waited for);
  // launches that take longer than a slice are then cut along their outermost dimension that has
  // enough work-groups, and work is sent to the device slice by slice. send = false: what is
  // short may wait for the next flush.
  Status Submit(Commands* commands, bool send = true);
  // Starts them, waits, and appends the time that each took on the device.
  Status SubmitTimed(Commands* commands, std::vector<int64_t>* nanos);
  // Waits until all is done.
  Status Finish();
  // The same after a failure, on all queues, as far as the driver can.
  void Drain();

  // Bytes that Upload and Download have moved so far.
  uint64_t uploaded_bytes() const { return uploaded_bytes_; }
  uint64_t downloaded_bytes() const { return downloaded_bytes_; }
  // Whether the driver took the wish for a low priority.
  bool is_low_priority() const { return is_low_priority_; }

 private:
  Result<QueueHandle> MakeQueue(bool profile);
  // The launch's kernel. Its weights become buffers where the device compiles none for images, or
  // makes no image. `commands` null: no image is made.
  Result<KernelHandle> MakeKernel(Launch* launch, Span<const MemHandle> buffers,
                                  Commands* commands) const;
  // The memory that a launch's argument means; parts of buffers and images are kept in commands.
  Result<cl_mem> MemoryOf(const Launch& launch, size_t index, Span<const MemHandle> buffers,
                          Commands* commands) const;
  // A launch of kind kGemm, with working memory of its own.
  Status RecordProduct(const Launch& launch, Span<const MemHandle> buffers, Commands* commands);
  Status SetArgument(const Launch& launch, cl_uint index, Span<const MemHandle> buffers,
                     const KernelHandle& kernel, Commands* commands);
  // Whether the launch's own work-groups are used, which may have shrunk; an error where they must
  // be and cannot.
  Result<bool> UsesGroups(const KernelHandle& kernel, Launch* launch) const;
  Status RecordBuffer(Commands* commands) const;
  // events null: none are made.
  Status Enqueue(const Commands::Step& step, const QueueHandle& queue,
                 std::vector<EventHandle>* events);
  Status FlushIfDue(const QueueHandle& queue, int64_t nanos);
  void Cut(Commands::Step* step) const;
  Context* context_ = nullptr;
  const ClApi* api_ = nullptr;
  StreamOptions options_;
  QueueHandle queue_;
  QueueHandle timed_queue_;  // made when it is first needed
  CommandBufferApi command_buffers_;
  bool is_low_priority_ = false;
  int flush_every_ = 0;
  uint64_t uploaded_bytes_ = 0;
  uint64_t downloaded_bytes_ = 0;
  int waiting_ = 0;            // commands since the last flush
  int64_t waiting_nanos_ = 0;  // and their time, where it is known
  uint64_t waits_ = 1;         // how often all before was waited for
};

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_STREAM_H_
