// Loading programs, and running them in a session's own memory.
#include "runtime/backend/opencl/program_runner.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "runtime/base/log.h"

namespace topwork {
namespace opencl {

Result<std::shared_ptr<const OpenClProgram>> OpenClProgram::Load(std::shared_ptr<Context> context,
                                                                 GpuProgram program) {
  auto loaded = std::make_shared<OpenClProgram>();
  loaded->context = context;
  loaded->storage = program.storage;
  loaded->arena_bytes = program.arena_bytes;
  TW_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context.get(), StreamOptions()));
  // Nothing is kept or uploaded for a program that does not compile.
  TW_RETURN_IF_ERROR(stream.Check({program.launches.data(), program.launches.size()}));
  if (kKeepsWeights && program.weights != nullptr && program.weights->constants.empty() &&
      !context->weights().Keep(&program)) {
    Log(LogLevel::kDebug, "OpenCL: arranged weights are not kept on disk");
  }
  std::vector<int> buffer_of(program.blocks.size(), 0);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    GpuBlock& block = program.blocks[b];
    const std::vector<uint8_t> constant = std::move(block.constant);  // freed when it is uploaded
    const Span<const uint8_t> bytes = block.is_kept() ? block.kept : constant;
    if (bytes.empty()) continue;
    MemoryCounts& counts = context->memory_counts();
    if (block.is_kept()) counts.kept_bytes += bytes.size();
    if (block.is_arranged) counts.arranged_bytes += bytes.size();
    TW_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceBuffer> shared,
                        context->constants().Get(context, bytes, &stream, block.hash));
    loaded->constants.push_back(std::move(shared));
    buffer_of[b] = loaded->n_buffers++;
  }
  loaded->AddPorts(program, &buffer_of);
  const int n_constants = static_cast<int>(loaded->constants.size());
  for (Launch& launch : program.launches) {
    for (LaunchArgument& argument : launch.arguments) {
      if (argument.kind != LaunchArgument::Kind::kBuffer) continue;
      const GpuBlock& block = program.blocks[static_cast<size_t>(argument.buffer)];
      argument.buffer = buffer_of[static_cast<size_t>(argument.buffer)];
      if (argument.buffer >= 1 && argument.buffer <= n_constants) continue;
      argument.offset_bytes = block.offset;
      argument.bytes = block.bytes;
    }
  }
  loaded->launches = std::move(program.launches);
  loaded->part_ends = std::move(program.part_ends);
  return std::shared_ptr<const OpenClProgram>(std::move(loaded));
}

void OpenClProgram::AddPorts(const GpuProgram& program, std::vector<int>* buffer_of) {
  std::vector<int> uses(program.blocks.size(), 0);
  for (int b : program.inputs) ++uses[static_cast<size_t>(b)];
  for (int b : program.outputs) ++uses[static_cast<size_t>(b)];
  const auto add = [&](int b, const GpuFormat& format, std::vector<Port>* to) {
    const GpuBlock& block = program.blocks[static_cast<size_t>(b)];
    int& buffer = (*buffer_of)[static_cast<size_t>(b)];
    Port port;
    port.offset = block.offset;
    port.n = block.bytes / GpuElementBytes(format, storage);
    port.format = format;
    port.in_place =
        buffer == 0 && uses[static_cast<size_t>(b)] == 1 && IsSameOnHost(format, storage);
    if (port.in_place) buffer = n_buffers++;
    port.buffer = buffer;
    to->push_back(port);
  };
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    add(program.inputs[i], program.input_formats[i], &inputs);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    add(program.outputs[i], program.output_formats[i], &outputs);
  }
  if (program.error_block < 0) return;
  const GpuBlock& block = program.blocks[static_cast<size_t>(program.error_block)];
  Port error;
  error.offset = block.offset;
  error.n = 1;
  error.format.dtype = DType::kInt32;
  error.format.is_real = false;
  errors.push_back(error);
}

Result<std::unique_ptr<AttachedProgram>> AttachedProgram::Create(
    std::shared_ptr<const OpenClProgram> program, std::shared_ptr<SessionMemory> memory) {
  std::unique_ptr<AttachedProgram> attached(
      new AttachedProgram(std::move(program), std::move(memory)));
  const OpenClProgram& loaded = *attached->program_;
  const auto add = [&](const DeviceBuffer* buffer) -> Status {
    attached->buffers_.emplace_back();
    if (buffer == nullptr) return Status::Ok();
    TW_ASSIGN_OR_RETURN(attached->buffers_.back(), ShareBuffer(buffer->handle()));
    return Status::Ok();
  };
  const DeviceBuffer* arena = attached->memory_->arena.get();
  TW_RETURN_IF_ERROR(add(arena));
  for (const auto& constant : loaded.constants) TW_RETURN_IF_ERROR(add(constant.get()));
  while (static_cast<int>(attached->buffers_.size()) < loaded.n_buffers) {
    TW_RETURN_IF_ERROR(add(arena));
  }
  attached->regions_.resize(attached->buffers_.size());
  return attached;
}

void AttachedProgram::Release() {
  commands_ = Commands();
  recorded_ = InternalError("the program is not bound to memory");
  for (size_t b = 0; b < regions_.size(); ++b) {
    if (regions_[b] == nullptr) continue;
    regions_[b] = nullptr;
    Result<MemHandle> arena = ShareBuffer(buffers_[0]);
    if (arena.ok()) buffers_[b] = std::move(arena.value());
    if (!arena.ok()) released_ = arena.status();
  }
}

std::shared_ptr<HostRegion> AttachedProgram::RegionAt(void* data, size_t bytes) {
  auto& regions = memory_->regions;
  for (auto it = regions.begin(); it != regions.end();) {
    it = it->second.expired() ? regions.erase(it) : std::next(it);
  }
  std::weak_ptr<HostRegion>& known = regions[data];
  std::shared_ptr<HostRegion> region = known.lock();
  if (region == nullptr) {
    const auto& all = memory_->shared;
    const auto shared = std::find_if(all.begin(), all.end(), [&](const SharedMemory& memory) {
      return memory.data == data && memory.bytes >= bytes;
    });
    region = HostRegion::Import(memory_->context, data, bytes,
                                shared == all.end() ? nullptr : &*shared, &memory_->stream);
    known = region;
  }
  return region != nullptr && region->bytes() == bytes ? region : nullptr;
}

void AttachedProgram::Import(const Port& port, void* data, std::vector<Launch>* launches) {
  if (!port.in_place) return;
  std::shared_ptr<HostRegion> region =
      RegionAt(data, port.n * GpuElementBytes(port.format, program_->storage));
  if (region == nullptr) return;
  Result<MemHandle> buffer = ShareBuffer(region->handle());
  if (!buffer.ok()) return;
  buffers_[static_cast<size_t>(port.buffer)] = std::move(buffer.value());
  regions_[static_cast<size_t>(port.buffer)] = std::move(region);
  for (Launch& launch : *launches) {
    for (LaunchArgument& argument : launch.arguments) {
      const bool is_port =
          argument.kind == LaunchArgument::Kind::kBuffer && argument.buffer == port.buffer;
      if (is_port) argument.offset_bytes = argument.bytes = 0;
    }
  }
}

void AttachedProgram::Bind(const ProgramTensors& tensors) {
  recorded_ = released_;
  if (!recorded_.ok()) return;
  std::vector<Launch> launches = program_->launches;
  for (size_t i = 0; i < program_->inputs.size(); ++i) {
    Import(program_->inputs[i], tensors.inputs[i]->data, &launches);
  }
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    Import(program_->outputs[i], tensors.outputs[i]->data, &launches);
  }
  Result<Commands> commands = memory_->stream.Record({launches.data(), launches.size()},
                                                     {buffers_.data(), buffers_.size()});
  recorded_ = commands.status();
  if (commands.ok()) commands_ = std::move(commands.value());
}

Status AttachedProgram::Upload(const Port& port, const void* from) {
  Stream& stream = memory_->stream;
  const Storage storage = program_->storage;
  const MemHandle& to = buffers_[static_cast<size_t>(port.buffer)];
  const size_t bytes = port.n * GpuElementBytes(port.format, storage);
  memory_->context->memory_counts().copied_bytes += bytes;
  if (IsSameOnHost(port.format, storage)) return stream.Upload(to, port.offset, from, bytes);
  if (!memory_->context->info().host_unified) {
    std::vector<uint8_t>& staging = memory_->staging;
    staging.resize(bytes);
    TW_RETURN_IF_ERROR(ToGpuFormat(port.format, storage, from, port.n, staging.data()));
    return stream.Upload(to, port.offset, staging.data(), bytes);
  }
  TW_ASSIGN_OR_RETURN(void* mapped, stream.Map(to, port.offset, bytes));
  const Status converted = ToGpuFormat(port.format, storage, from, port.n, mapped);
  TW_RETURN_IF_ERROR(stream.Unmap(to, mapped));
  return converted;
}

Status AttachedProgram::Download(const Port& port, void* to) {
  Stream& stream = memory_->stream;
  const Storage storage = program_->storage;
  const MemHandle& from = buffers_[static_cast<size_t>(port.buffer)];
  const size_t bytes = port.n * GpuElementBytes(port.format, storage);
  memory_->context->memory_counts().copied_bytes += bytes;
  if (IsSameOnHost(port.format, storage)) return stream.Download(from, port.offset, to, bytes);
  if (!memory_->context->info().host_unified) {
    std::vector<uint8_t>& staging = memory_->staging;
    staging.resize(bytes);
    TW_RETURN_IF_ERROR(stream.Download(from, port.offset, staging.data(), bytes));
    FromGpuFormat(port.format, storage, staging.data(), port.n, to);
    return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(void* mapped, stream.Map(from, port.offset, bytes));
  FromGpuFormat(port.format, storage, mapped, port.n, to);
  return stream.Unmap(from, mapped);
}

Status AttachedProgram::Start(std::vector<int64_t>* part_nanos) {
  if (part_nanos == nullptr) return memory_->stream.Submit(&commands_);
  std::vector<int64_t> nanos;
  TW_RETURN_IF_ERROR(memory_->stream.SubmitTimed(&commands_, &nanos));
  part_nanos->clear();
  size_t k = 0;
  for (const int end : program_->part_ends) {
    part_nanos->push_back(0);
    for (; k < static_cast<size_t>(end); ++k) part_nanos->back() += nanos[k];
  }
  return Status::Ok();
}

Status AttachedProgram::Compute(const ProgramTensors& tensors, std::vector<int64_t>* part_nanos) {
  for (const std::shared_ptr<HostRegion>& region : regions_) {
    if (region != nullptr) TW_RETURN_IF_ERROR(region->Give());
  }
  for (size_t i = 0; i < program_->inputs.size(); ++i) {
    if (IsInPlace(program_->inputs[i])) continue;
    TW_RETURN_IF_ERROR(Upload(program_->inputs[i], tensors.inputs[i]->data));
  }
  TW_RETURN_IF_ERROR(Start(part_nanos));
  for (const Port& port : program_->errors) {
    int32_t error = 0;
    TW_RETURN_IF_ERROR(Download(port, &error));
    if (error != 0) return InvalidArgument("an index is outside its tensor");
  }
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    if (IsInPlace(program_->outputs[i])) continue;
    TW_RETURN_IF_ERROR(Download(program_->outputs[i], tensors.outputs[i]->data));
  }
  return Status::Ok();
}

// Whatever happens, the memory in place is the host's again.
Status AttachedProgram::Run(const ProgramTensors& tensors, std::vector<int64_t>* part_nanos) {
  TW_RETURN_IF_ERROR(recorded_);
  Status status = Compute(tensors, part_nanos);
  for (const std::shared_ptr<HostRegion>& region : regions_) {
    if (region == nullptr) continue;
    const Status taken = region->Take();
    if (status.ok()) status = taken;
  }
  // What was started may still run: the CPU goes on with the memory, and drivers do not keep images (PoCL 3.1).
  if (!status.ok()) memory_->stream.Drain();
  return status;
}

namespace {

class SessionPrograms final : public AttachedPrograms {
 public:
  explicit SessionPrograms(NewestFirst<std::unique_ptr<AttachedProgram>> programs)
      : programs_(std::move(programs)) {}

  void Bind(const std::vector<ProgramTensors>& tensors) override {
    for (size_t k = programs_.size(); k > 0; --k) programs_[k - 1]->Release();
    for (size_t k = 0; k < programs_.size(); ++k) programs_[k]->Bind(tensors[k]);
  }
  Status Run(size_t k, const ProgramTensors& tensors, std::vector<int64_t>* part_nanos) override {
    return programs_[k]->Run(tensors, part_nanos);
  }

 private:
  NewestFirst<std::unique_ptr<AttachedProgram>> programs_;
};

// A device is given its own programs only.
std::shared_ptr<const OpenClProgram> Own(const std::shared_ptr<const LoadedProgram>& program) {
  return std::static_pointer_cast<const OpenClProgram>(program);
}

}  // namespace

Result<std::unique_ptr<AttachedPrograms>> AttachPrograms(const std::shared_ptr<Context>& context,
                                                         const StreamOptions& stream_options,
                                                         const std::vector<SharedMemory>& shared,
                                                         const LoadedPrograms& loaded) {
  auto memory = std::make_shared<SessionMemory>();
  memory->shared = shared;
  memory->context = context;
  TW_ASSIGN_OR_RETURN(memory->stream, Stream::Create(context.get(), stream_options));
  size_t arena_bytes = 0;
  for (const auto& program : loaded) {
    arena_bytes = std::max(arena_bytes, Own(program)->arena_bytes);
  }
  // Where memory is one, this is what the host maps without a copy.
  const cl_mem_flags flags =
      CL_MEM_READ_WRITE | (context->info().host_unified ? CL_MEM_ALLOC_HOST_PTR : 0);
  if (arena_bytes > 0) {
    TW_ASSIGN_OR_RETURN(memory->arena, DeviceBuffer::Create(context, arena_bytes, flags));
  }
  NewestFirst<std::unique_ptr<AttachedProgram>> programs;
  for (const auto& program : loaded) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<AttachedProgram> attached,
                        AttachedProgram::Create(Own(program), memory));
    programs.Add(std::move(attached));
  }
  return std::unique_ptr<AttachedPrograms>(new SessionPrograms(std::move(programs)));
}

size_t ProgramBytes(const LoadedPrograms& loaded) {
  std::set<const DeviceBuffer*> constants;
  size_t bytes = 0, arena_bytes = 0;
  for (const auto& program : loaded) {
    const std::shared_ptr<const OpenClProgram> own = Own(program);
    arena_bytes = std::max(arena_bytes, own->arena_bytes);
    for (const auto& constant : own->constants) {
      if (constants.insert(constant.get()).second) bytes += constant->bytes();
    }
  }
  return bytes + arena_bytes;
}

}  // namespace opencl
}  // namespace topwork
