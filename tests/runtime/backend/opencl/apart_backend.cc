#include "tests/runtime/backend/opencl/apart_backend.h"

#include <utility>
#include <vector>

#include "runtime/backend/opencl/stream.h"

namespace topwork {
namespace test {
namespace {

struct ApartProgram : OpState {
  Storage storage = Storage::kFloat32;
  std::vector<opencl::MemHandle> buffers;  // one for each block
  std::vector<size_t> bytes;
  std::vector<int> inputs, outputs;
  std::vector<GpuFormat> input_formats, output_formats;
  mutable opencl::Stream stream;
  opencl::Commands commands;
};

}  // namespace

Result<std::shared_ptr<OpState>> ApartBackend::Load(GpuProgram program) const {
  auto loaded = std::make_shared<ApartProgram>();
  loaded->storage = program.storage;
  loaded->inputs = program.inputs;
  loaded->outputs = program.outputs;
  loaded->input_formats = program.input_formats;
  loaded->output_formats = program.output_formats;
  TW_ASSIGN_OR_RETURN(loaded->stream, opencl::Stream::Create(context_.get(), {}));
  for (const GpuBlock& block : program.blocks) {
    TW_ASSIGN_OR_RETURN(opencl::MemHandle buffer,
                        opencl::CreateBuffer(context_->handle(), block.bytes));
    TW_RETURN_IF_ERROR(
        loaded->stream.Upload(buffer, 0, block.constant.data(), block.constant.size()));
    loaded->buffers.push_back(std::move(buffer));
    loaded->bytes.push_back(block.bytes);
  }
  TW_ASSIGN_OR_RETURN(loaded->commands,
                      loaded->stream.Record({program.launches.data(), program.launches.size()},
                                            {loaded->buffers.data(), loaded->buffers.size()}));
  for (const Launch& launch : program.launches) entries_.insert(launch.kernel.name);
  kept_.push_back(loaded);
  return std::shared_ptr<OpState>(std::move(loaded));
}

Status ApartBackend::Run(const OpDef&, const RunContext& context, const std::string&) const {
  const ApartProgram& program = context.get_state<ApartProgram>();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const size_t block = static_cast<size_t>(program.inputs[i]);
    const GpuFormat& format = program.input_formats[i];
    std::vector<uint8_t> stored(program.bytes[block]);
    const size_t n = stored.size() / GpuElementBytes(format, program.storage);
    TW_RETURN_IF_ERROR(ToGpuFormat(format, program.storage, context.in(static_cast<int>(i)).data, n,
                                   stored.data()));
    TW_RETURN_IF_ERROR(
        program.stream.Upload(program.buffers[block], 0, stored.data(), stored.size()));
  }
  TW_RETURN_IF_ERROR(program.stream.Submit(program.commands));
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const size_t block = static_cast<size_t>(program.outputs[i]);
    const GpuFormat& format = program.output_formats[i];
    std::vector<uint8_t> stored(program.bytes[block]);
    const size_t n = stored.size() / GpuElementBytes(format, program.storage);
    TW_RETURN_IF_ERROR(
        program.stream.Download(program.buffers[block], 0, stored.data(), stored.size()));
    FromGpuFormat(format, program.storage, stored.data(), n, context.out(static_cast<int>(i)).data);
  }
  return Status::Ok();
}

}  // namespace test
}  // namespace topwork
