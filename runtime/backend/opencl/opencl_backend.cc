// OpenBackend: a loaded program is one arena with its constants and its recorded launches.
//
// Inputs go up and outputs come down at the program's borders only; float16 is converted on the
// host there. A program has one queue and one arena: two threads take turns.
#include "runtime/backend/opencl/opencl_backend.h"

#include <mutex>
#include <utility>
#include <vector>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/stream.h"

namespace topwork {
namespace opencl {
namespace {

// Where a program's tensors cross its border.
struct Port {
  size_t offset = 0;
  int buffer = 0;
  size_t n = 0;  // elements
};

struct LoadedProgram : OpState {
  std::shared_ptr<Context> context;  // outlives the members below
  Storage storage = Storage::kFloat32;
  std::vector<MemHandle> buffers;  // 0: the arena; then the constants
  Stream stream;
  Commands commands;
  std::vector<Port> inputs, outputs;
  mutable std::mutex mutex;
  mutable std::vector<uint16_t> halves;  // staging of float16
};

class OpenClBackend final : public Backend {
 public:
  OpenClBackend(std::shared_ptr<Context> context, Storage storage)
      : context_(std::move(context)), storage_(storage) {}

  const char* name() const override { return "opencl"; }
  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "it runs programs only";
  }
  bool takes_programs() const override { return true; }
  Storage storage() const override { return storage_; }

  Result<std::shared_ptr<OpState>> Load(GpuProgram program) const override {
    auto loaded = std::make_shared<LoadedProgram>();
    loaded->context = context_;
    loaded->storage = program.storage;
    TW_ASSIGN_OR_RETURN(loaded->stream, Stream::Create(context_.get(), StreamOptions()));
    TW_RETURN_IF_ERROR(MakeBuffers(program, loaded.get()));
    TW_ASSIGN_OR_RETURN(loaded->commands,
                        loaded->stream.Record({program.launches.data(), program.launches.size()},
                                              {loaded->buffers.data(), loaded->buffers.size()}));
    return std::shared_ptr<OpState>(std::move(loaded));
  }

  Status Run(const OpDef&, const RunContext& context, const std::string& where) const override {
    // The state is this program's alone; its own mutex makes running it const.
    LoadedProgram& program = const_cast<LoadedProgram&>(context.get_state<LoadedProgram>());
    const std::lock_guard<std::mutex> lock(program.mutex);
    const Status status = RunLocked(context, &program);
    return status.ok() ? status : status.WithPrefix(where + ": ");
  }

 private:
  // Turns the program's blocks into buffers, and its launches' block numbers into theirs.
  Status MakeBuffers(GpuProgram& program, LoadedProgram* loaded) const {
    loaded->buffers.emplace_back();
    if (program.arena_bytes > 0) {
      TW_ASSIGN_OR_RETURN(loaded->buffers[0],
                          CreateBuffer(context_->handle(), program.arena_bytes));
    }
    std::vector<int> buffer_of(program.blocks.size(), 0);
    for (size_t b = 0; b < program.blocks.size(); ++b) {
      const std::vector<uint8_t>& constant = program.blocks[b].constant;
      if (constant.empty()) continue;
      TW_ASSIGN_OR_RETURN(MemHandle buffer, CreateBuffer(context_->handle(), constant.size()));
      TW_RETURN_IF_ERROR(loaded->stream.Upload(buffer, 0, constant.data(), constant.size()));
      buffer_of[b] = static_cast<int>(loaded->buffers.size());
      loaded->buffers.push_back(std::move(buffer));
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
    return Status::Ok();
  }

  static Status RunLocked(const RunContext& context, LoadedProgram* program) {
    const bool half = program->storage == Storage::kFloat16;
    for (size_t i = 0; i < program->inputs.size(); ++i) {
      const Port& port = program->inputs[i];
      const float* from = context.input_data<float>(static_cast<int>(i));
      const void* data = from;
      if (half) {
        program->halves.resize(port.n);
        for (size_t k = 0; k < port.n; ++k) program->halves[k] = FloatToHalf(from[k]);
        data = program->halves.data();
      }
      TW_RETURN_IF_ERROR(program->stream.Upload(program->buffers[static_cast<size_t>(port.buffer)],
                                                port.offset, data,
                                                port.n * StorageBytes(program->storage)));
    }
    TW_RETURN_IF_ERROR(program->stream.Submit(program->commands));
    for (size_t i = 0; i < program->outputs.size(); ++i) {
      const Port& port = program->outputs[i];
      float* to = context.output_data<float>(static_cast<int>(i));
      void* data = to;
      if (half) {
        program->halves.resize(port.n);
        data = program->halves.data();
      }
      TW_RETURN_IF_ERROR(
          program->stream.Download(program->buffers[static_cast<size_t>(port.buffer)], port.offset,
                                   data, port.n * StorageBytes(program->storage)));
      for (size_t k = 0; half && k < port.n; ++k) to[k] = HalfToFloat(program->halves[k]);
    }
    return Status::Ok();
  }

  const std::shared_ptr<Context> context_;
  const Storage storage_;
};

}  // namespace

std::shared_ptr<const Backend> MakeBackend(std::shared_ptr<Context> context, Storage storage) {
  return std::make_shared<OpenClBackend>(std::move(context), storage);
}

Result<std::shared_ptr<const Backend>> OpenBackend(const std::string& choice, Storage storage,
                                                   const std::string& cache_folder) {
  ContextOptions options;
  options.cache_folder = cache_folder;
  TW_ASSIGN_OR_RETURN(std::shared_ptr<Context> context, Context::Open(choice, options));
  return MakeBackend(std::move(context), storage);
}

}  // namespace opencl
}  // namespace topwork
