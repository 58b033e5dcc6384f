// OpenDevice: a context as a Device. The work is done in program_runner.cc.
#include "runtime/backend/opencl/opencl_device.h"

#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/program_runner.h"
#include "runtime/backend/opencl/tuner.h"

namespace topwork {
namespace opencl {
namespace {

class OpenClDevice final : public topwork::Device {
 public:
  OpenClDevice(std::shared_ptr<Context> context, const OpenOptions& options)
      : context_(std::move(context)),
        storage_(options.storage),
        shared_memory_(options.shared_memory),
        tuner_(kHasTrials ? MakeTuner(context_, options.tune_ms) : nullptr) {
    stream_options_.low_priority = options.low_priority;
    stream_options_.slice_nanos = options.max_kernel_nanos;
  }

  const char* name() const override { return "opencl"; }
  Storage storage() const override { return storage_; }
  bool has_half_products() const override { return context_->info().fp16; }
  const GpuFamily& family() const override { return FamilyOf(context_->info()); }
  GpuTuner* tuner() const override { return tuner_.get(); }

  DeviceLimits limits() const override {
    const DeviceInfo& info = context_->info();
    return {static_cast<size_t>(info.memory_bytes), static_cast<size_t>(info.max_allocation_bytes),
            info.image_pixels};
  }

  Status Check(const std::vector<Launch>& launches) const override {
    TW_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context_.get(), StreamOptions()));
    return stream.Check({launches.data(), launches.size()});
  }

  bool KeepsWeights() const override { return kKeepsWeights && context_->weights().is_on(); }
  std::shared_ptr<GpuWeights> FindWeights(
      const GpuProgram& trial, const std::vector<const TensorView*>& tensors) const override {
    if (!kKeepsWeights) return nullptr;
    return context_->weights().Find(trial, tensors);
  }

  Result<std::shared_ptr<const topwork::LoadedProgram>> Load(GpuProgram program) const override {
    TW_ASSIGN_OR_RETURN(std::shared_ptr<const OpenClProgram> loaded,
                        OpenClProgram::Load(context_, std::move(program)));
    return std::shared_ptr<const topwork::LoadedProgram>(std::move(loaded));
  }

  Result<std::unique_ptr<AttachedPrograms>> Attach(const LoadedPrograms& programs) const override {
    return AttachPrograms(context_, stream_options_, shared_memory_, programs);
  }

  size_t MemoryBytes(const LoadedPrograms& programs) const override {
    return ProgramBytes(programs);
  }

 private:
  const std::shared_ptr<Context> context_;
  const Storage storage_;
  const std::vector<SharedMemory> shared_memory_;
  const std::unique_ptr<GpuTuner> tuner_;
  StreamOptions stream_options_;
};

}  // namespace

std::shared_ptr<const topwork::Device> MakeDevice(std::shared_ptr<Context> context,
                                                  const OpenOptions& options) {
  return std::make_shared<OpenClDevice>(std::move(context), options);
}

std::shared_ptr<const topwork::Device> MakeDevice(std::shared_ptr<Context> context, Storage storage,
                                                  int tune_ms) {
  OpenOptions options;
  options.storage = storage;
  options.tune_ms = tune_ms;
  return MakeDevice(std::move(context), options);
}

Result<std::shared_ptr<const topwork::Device>> OpenDevice(const DeviceName& name,
                                                          const OpenOptions& options) {
  ContextOptions context_options;
  context_options.cache_folder = options.cache_folder;
  context_options.low_priority = options.low_priority;
  TW_ASSIGN_OR_RETURN(std::shared_ptr<Context> context, Context::Open(name, context_options));
  return MakeDevice(std::move(context), options);
}

}  // namespace opencl
}  // namespace topwork
