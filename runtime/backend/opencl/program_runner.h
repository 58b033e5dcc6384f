// A plan's programs on a device, in two halves: OpenClProgram is what all sessions of the plan
// share (constants, launches), AttachedProgram what a session makes of it. The programs of one
// session never run at the same time and share its queue and its arena, as large as the largest
// needs; those of several sessions do.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_RUNNER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_RUNNER_H_

#include <map>
#include <memory>
#include <vector>

#include "runtime/backend/device.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/host_region.h"
#include "runtime/backend/opencl/stream.h"

namespace topwork {
namespace opencl {

// Where a tensor crosses a program's border.
struct Port {
  int buffer = 0;  // as in the launches
  size_t offset = 0;
  size_t n = 0;  // elements
  GpuFormat format;
  bool in_place = false;  // the host's memory may stand for the block
};

// Immutable once made.
struct OpenClProgram : topwork::LoadedProgram {
  // Compiles the kernels and uploads the constants that the context has not yet. Errors: those of
  // the driver, UNSUPPORTED where a kernel does not fit the device.
  static Result<std::shared_ptr<const OpenClProgram>> Load(std::shared_ptr<Context> context,
                                                           GpuProgram program);

  std::shared_ptr<Context> context;
  Storage storage = Storage::kFloat32;
  size_t arena_bytes = 0;
  std::vector<std::shared_ptr<const DeviceBuffer>> constants;
  // Buffer 0 is the arena, 1 + k is constants[k]; those of ports that may be in place have buffers
  // of their own after, which are the arena until the host's memory takes their place.
  std::vector<Launch> launches;
  std::vector<int> part_ends;  // GpuProgram::part_ends
  std::vector<Port> inputs, outputs;
  std::vector<Port> errors;  // GpuProgram::error_block, where there is one
  int n_buffers = 1;

 private:
  void AddPorts(const GpuProgram& program, std::vector<int>* buffer_of);
};

// What the programs of one session share.
struct SessionMemory {
  std::shared_ptr<Context> context;
  std::unique_ptr<DeviceBuffer> arena;  // null where no program needs one
  Stream stream;
  std::vector<uint8_t> staging;  // a tensor as the device holds it
  // By address; programs that meet in a tensor share its region.
  std::map<const void*, std::weak_ptr<HostRegion>> regions;
  std::vector<SharedMemory> shared;
};

// One thread at a time for all programs of a session.
class AttachedProgram {
 public:
  // Runs after Bind.
  static Result<std::unique_ptr<AttachedProgram>> Create(
      std::shared_ptr<const OpenClProgram> program, std::shared_ptr<SessionMemory> memory);
  // The tensors lie there from now on, where the device can use them in place it does. Release
  // comes first, for all programs of the session, the last one first: the old places are the
  // host's again, and what was recorded is gone.
  void Bind(const ProgramTensors& tensors);
  void Release();
  // Inputs go up and outputs come down in between, unless they are in place; others are converted
  // on the host (GpuFormat). part_nanos: see AttachedPrograms::Run.
  Status Run(const ProgramTensors& tensors, std::vector<int64_t>* part_nanos);

 private:
  AttachedProgram(std::shared_ptr<const OpenClProgram> program,
                  std::shared_ptr<SessionMemory> memory)
      : program_(std::move(program)), memory_(std::move(memory)) {}
  Status Start(std::vector<int64_t>* part_nanos);
  Status Upload(const Port& port, const void* from);
  Status Download(const Port& port, void* to);
  std::shared_ptr<HostRegion> RegionAt(void* data, size_t bytes);
  void Import(const Port& port, void* data, std::vector<Launch>* launches);
  Status Compute(const ProgramTensors& tensors, std::vector<int64_t>* part_nanos);
  // Whether the host's memory stands for the port's block.
  bool IsInPlace(const Port& port) const {
    return regions_[static_cast<size_t>(port.buffer)] != nullptr;
  }

  const std::shared_ptr<const OpenClProgram> program_;
  const std::shared_ptr<SessionMemory> memory_;
  std::vector<MemHandle> buffers_;                    // as the launches number them
  std::vector<std::shared_ptr<HostRegion>> regions_;  // likewise; null where there is none
  Commands commands_;
  Status recorded_ = InternalError("the program is not bound to memory");
  Status released_;  // a failure of Release
};

// A session's programs; `loaded` are OpenClPrograms of the context. `shared`: OpenOptions::shared_memory.
Result<std::unique_ptr<AttachedPrograms>> AttachPrograms(const std::shared_ptr<Context>& context,
                                                         const StreamOptions& stream_options,
                                                         const std::vector<SharedMemory>& shared,
                                                         const LoadedPrograms& loaded);

// What a session's programs and their constants hold on the device; a constant that several
// programs use is counted once.
size_t ProgramBytes(const LoadedPrograms& loaded);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_PROGRAM_RUNNER_H_
