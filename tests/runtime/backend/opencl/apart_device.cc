#include "tests/runtime/backend/opencl/apart_device.h"

#include <utility>
#include <vector>

#include "runtime/backend/opencl/stream.h"

namespace topwork {
namespace test {
namespace {

struct ApartProgram : LoadedProgram {
  Storage storage = Storage::kFloat32;
  std::vector<opencl::MemHandle> buffers;  // one for each block
  std::vector<size_t> bytes;
  std::vector<int> inputs, outputs;
  std::vector<GpuFormat> input_formats, output_formats;
  std::unique_ptr<opencl::Stream> stream;
  std::unique_ptr<opencl::Commands> commands;
};

Status RunProgram(const ApartProgram& program, const ProgramTensors& tensors) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const size_t block = static_cast<size_t>(program.inputs[i]);
    const GpuFormat& format = program.input_formats[i];
    std::vector<uint8_t> stored(program.bytes[block]);
    const size_t n = stored.size() / GpuElementBytes(format, program.storage);
    TW_RETURN_IF_ERROR(
        ToGpuFormat(format, program.storage, tensors.inputs[i]->data, n, stored.data()));
    TW_RETURN_IF_ERROR(
        program.stream->Upload(program.buffers[block], 0, stored.data(), stored.size()));
  }
  TW_RETURN_IF_ERROR(program.stream->Submit(program.commands.get()));
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const size_t block = static_cast<size_t>(program.outputs[i]);
    const GpuFormat& format = program.output_formats[i];
    std::vector<uint8_t> stored(program.bytes[block]);
    const size_t n = stored.size() / GpuElementBytes(format, program.storage);
    TW_RETURN_IF_ERROR(
        program.stream->Download(program.buffers[block], 0, stored.data(), stored.size()));
    FromGpuFormat(format, program.storage, stored.data(), n, tensors.outputs[i]->data);
  }
  return Status::Ok();
}

class ApartPrograms final : public AttachedPrograms {
 public:
  explicit ApartPrograms(LoadedPrograms programs) : programs_(std::move(programs)) {}
  Status Run(size_t k, const ProgramTensors& tensors, std::vector<int64_t>* part_nanos) override {
    if (part_nanos != nullptr) part_nanos->clear();
    return RunProgram(static_cast<const ApartProgram&>(*programs_[k]), tensors);
  }

 private:
  const LoadedPrograms programs_;
};

}  // namespace

Result<std::shared_ptr<const LoadedProgram>> ApartDevice::Load(GpuProgram program) const {
  auto loaded = std::make_shared<ApartProgram>();
  loaded->storage = program.storage;
  loaded->inputs = program.inputs;
  loaded->outputs = program.outputs;
  loaded->input_formats = program.input_formats;
  loaded->output_formats = program.output_formats;
  TW_ASSIGN_OR_RETURN(opencl::Stream stream, opencl::Stream::Create(context_.get(), {}));
  for (const GpuBlock& block : program.blocks) {
    TW_ASSIGN_OR_RETURN(opencl::MemHandle buffer,
                        opencl::CreateBuffer(context_->handle(), std::max<size_t>(block.bytes, 1)));
    TW_RETURN_IF_ERROR(stream.Upload(buffer, 0, block.constant.data(), block.constant.size()));
    loaded->buffers.push_back(std::move(buffer));
    loaded->bytes.push_back(block.bytes);
  }
  for (Launch& launch : program.launches) launch.options += options_;
  TW_ASSIGN_OR_RETURN(opencl::Commands commands,
                      stream.Record({program.launches.data(), program.launches.size()},
                                    {loaded->buffers.data(), loaded->buffers.size()}));
  loaded->stream.reset(new opencl::Stream(std::move(stream)));
  loaded->commands.reset(new opencl::Commands(std::move(commands)));
  for (const Launch& launch : program.launches) {
    entries_.insert(launch.kernel.name);
    n_with_images_ += launch.Defines().find("-DTW_WEIGHT_IMAGE") != std::string::npos ? 1 : 0;
  }
  kept_.push_back(loaded);
  return std::shared_ptr<const LoadedProgram>(std::move(loaded));
}

Result<std::unique_ptr<AttachedPrograms>> ApartDevice::Attach(
    const LoadedPrograms& programs) const {
  return std::unique_ptr<AttachedPrograms>(new ApartPrograms(programs));
}

}  // namespace test
}  // namespace topwork
