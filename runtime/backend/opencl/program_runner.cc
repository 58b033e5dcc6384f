// Loading programs, and running them in a session's own memory.
#include "runtime/backend/opencl/program_runner.h"

#include <algorithm>
#include <set>
#include <utility>

namespace topwork {
namespace opencl {

Result<std::shared_ptr<LoadedProgram>> LoadedProgram::Load(std::shared_ptr<Context> context,
                                                           GpuProgram program) {
  auto loaded = std::make_shared<LoadedProgram>();
  loaded->context = context;
  loaded->storage = program.storage;
  loaded->arena_bytes = program.arena_bytes;
  TW_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context.get(), StreamOptions()));
  std::vector<int> buffer_of(program.blocks.size(), 0);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    std::vector<uint8_t>& constant = program.blocks[b].constant;
    if (constant.empty()) continue;
    TW_ASSIGN_OR_RETURN(
        std::shared_ptr<const DeviceBuffer> shared,
        context->constants().Get(context, {constant.data(), constant.size()}, &stream));
    constant = {};
    loaded->constants.push_back(std::move(shared));
    buffer_of[b] = static_cast<int>(loaded->constants.size());
  }
  for (Launch& launch : program.launches) {
    for (LaunchArgument& argument : launch.arguments) {
      if (argument.kind != LaunchArgument::Kind::kBuffer) continue;
      const size_t b = static_cast<size_t>(argument.buffer);
      argument.buffer = buffer_of[b];
      if (buffer_of[b] != 0) continue;
      argument.offset_bytes = program.blocks[b].offset;
      argument.bytes = program.blocks[b].bytes;
    }
  }
  const auto ports = [&](const std::vector<int>& blocks, std::vector<Port>* to) {
    for (int b : blocks) {
      const GpuBlock& block = program.blocks[static_cast<size_t>(b)];
      to->push_back({block.offset, buffer_of[static_cast<size_t>(b)],
                     block.bytes / StorageBytes(program.storage)});
    }
  };
  ports(program.inputs, &loaded->inputs);
  ports(program.outputs, &loaded->outputs);
  loaded->launches = std::move(program.launches);
  TW_RETURN_IF_ERROR(stream.Check({loaded->launches.data(), loaded->launches.size()}));
  return loaded;
}

Result<std::shared_ptr<AttachedProgram>> AttachedProgram::Create(
    std::shared_ptr<const LoadedProgram> program, std::shared_ptr<SessionMemory> memory) {
  std::shared_ptr<AttachedProgram> attached(
      new AttachedProgram(std::move(program), std::move(memory)));
  const LoadedProgram& loaded = *attached->program_;
  std::vector<MemHandle>& buffers = attached->buffers_;
  buffers.emplace_back();
  if (attached->memory_->arena != nullptr) {
    TW_ASSIGN_OR_RETURN(buffers[0], ShareBuffer(attached->memory_->arena->handle()));
  }
  for (const auto& constant : loaded.constants) {
    TW_ASSIGN_OR_RETURN(MemHandle buffer, ShareBuffer(constant->handle()));
    buffers.push_back(std::move(buffer));
  }
  TW_ASSIGN_OR_RETURN(attached->commands_, attached->memory_->stream.Record(
                                               {loaded.launches.data(), loaded.launches.size()},
                                               {buffers.data(), buffers.size()}));
  return attached;
}

Status AttachedProgram::Upload(const Port& port, const float* from) {
  const void* data = from;
  if (program_->storage == Storage::kFloat16) {
    std::vector<uint16_t>& halves = memory_->halves;
    halves.resize(port.n);
    for (size_t k = 0; k < port.n; ++k) halves[k] = FloatToHalf(from[k]);
    data = halves.data();
  }
  const size_t bytes = port.n * StorageBytes(program_->storage);
  memory_->context->memory_counts().copied_bytes += bytes;
  return memory_->stream.Upload(buffers_[static_cast<size_t>(port.buffer)], port.offset, data,
                                bytes);
}

Status AttachedProgram::Download(const Port& port, float* to) {
  const bool half = program_->storage == Storage::kFloat16;
  std::vector<uint16_t>& halves = memory_->halves;
  if (half) halves.resize(port.n);
  const size_t bytes = port.n * StorageBytes(program_->storage);
  memory_->context->memory_counts().copied_bytes += bytes;
  TW_RETURN_IF_ERROR(
      memory_->stream.Download(buffers_[static_cast<size_t>(port.buffer)], port.offset,
                               half ? static_cast<void*>(halves.data()) : to, bytes));
  for (size_t k = 0; half && k < port.n; ++k) to[k] = HalfToFloat(halves[k]);
  return Status::Ok();
}

Status AttachedProgram::Run(const RunContext& context) {
  for (size_t i = 0; i < program_->inputs.size(); ++i) {
    TW_RETURN_IF_ERROR(Upload(program_->inputs[i], context.input_data<float>(static_cast<int>(i))));
  }
  TW_RETURN_IF_ERROR(memory_->stream.Submit(commands_));
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    TW_RETURN_IF_ERROR(
        Download(program_->outputs[i], context.output_data<float>(static_cast<int>(i))));
  }
  return Status::Ok();
}

Result<std::vector<std::shared_ptr<OpState>>> AttachPrograms(
    const std::shared_ptr<Context>& context, const std::vector<std::shared_ptr<OpState>>& loaded) {
  auto memory = std::make_shared<SessionMemory>();
  memory->context = context;
  TW_ASSIGN_OR_RETURN(memory->stream, Stream::Create(context.get(), StreamOptions()));
  std::vector<std::shared_ptr<const LoadedProgram>> programs;
  size_t arena_bytes = 0;
  for (const std::shared_ptr<OpState>& state : loaded) {
    programs.push_back(std::static_pointer_cast<const LoadedProgram>(state));
    arena_bytes = std::max(arena_bytes, programs.back()->arena_bytes);
  }
  if (arena_bytes > 0) {
    TW_ASSIGN_OR_RETURN(memory->arena, DeviceBuffer::Create(context, arena_bytes));
  }
  std::vector<std::shared_ptr<OpState>> states;
  for (auto& program : programs) {
    TW_ASSIGN_OR_RETURN(std::shared_ptr<AttachedProgram> attached,
                        AttachedProgram::Create(std::move(program), memory));
    states.push_back(std::move(attached));
  }
  return states;
}

size_t ProgramBytes(const std::vector<std::shared_ptr<OpState>>& loaded) {
  std::set<const DeviceBuffer*> constants;
  size_t bytes = 0, arena_bytes = 0;
  for (const std::shared_ptr<OpState>& state : loaded) {
    const auto& program = static_cast<const LoadedProgram&>(*state);
    arena_bytes = std::max(arena_bytes, program.arena_bytes);
    for (const auto& constant : program.constants) {
      if (constants.insert(constant.get()).second) bytes += constant->bytes();
    }
  }
  return bytes + arena_bytes;
}

}  // namespace opencl
}  // namespace topwork
