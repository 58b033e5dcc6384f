// OpenBackend: a context as a Backend. The work is done in program_runner.cc.
#include "runtime/backend/opencl/opencl_backend.h"

#include <utility>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/program_runner.h"
#include "runtime/backend/opencl/tuner.h"

namespace topwork {
namespace opencl {
namespace {

class OpenClBackend final : public Backend {
 public:
  OpenClBackend(std::shared_ptr<Context> context, const OpenOptions& options)
      : context_(std::move(context)),
        storage_(options.storage),
        tuner_(MakeTuner(context_, options.tune_ms)) {
    stream_options_.low_priority = options.low_priority;
    stream_options_.slice_nanos = options.max_kernel_nanos;
  }

  const char* name() const override { return "opencl"; }
  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "it runs programs only";
  }
  bool takes_programs() const override { return true; }
  Storage storage() const override { return storage_; }
  GpuTuner* tuner() const override { return tuner_.get(); }

  Result<std::shared_ptr<OpState>> Load(GpuProgram program) const override {
    TW_ASSIGN_OR_RETURN(std::shared_ptr<LoadedProgram> loaded,
                        LoadedProgram::Load(context_, std::move(program)));
    return std::shared_ptr<OpState>(std::move(loaded));
  }

  DeviceLimits limits() const override {
    const DeviceInfo& info = context_->info();
    return {static_cast<size_t>(info.memory_bytes), static_cast<size_t>(info.max_allocation_bytes)};
  }

  size_t DeviceBytes(const States& loaded) const override { return ProgramBytes(loaded); }

  Result<States> Attach(const States& loaded) const override {
    return AttachPrograms(context_, stream_options_, loaded);
  }

  void Bind(const std::vector<const RunContext*>& programs) const override {
    BindPrograms(programs);
  }

  Status Run(const OpDef& def, const RunContext& context, const std::string& where) const override {
    return RunTimed(def, context, where, nullptr);
  }

  Status RunTimed(const OpDef&, const RunContext& context, const std::string& where,
                  std::vector<int64_t>* part_nanos) const override {
    // The state is one session's, which runs on one thread: that makes running it const.
    const Status status =
        const_cast<AttachedProgram&>(context.get_state<AttachedProgram>()).Run(context, part_nanos);
    return status.ok() ? status : status.WithPrefix(where + ": ");
  }

 private:
  const std::shared_ptr<Context> context_;
  const Storage storage_;
  const std::unique_ptr<GpuTuner> tuner_;
  StreamOptions stream_options_;
};

}  // namespace

std::shared_ptr<const Backend> MakeBackend(std::shared_ptr<Context> context,
                                           const OpenOptions& options) {
  return std::make_shared<OpenClBackend>(std::move(context), options);
}

std::shared_ptr<const Backend> MakeBackend(std::shared_ptr<Context> context, Storage storage,
                                           int tune_ms) {
  OpenOptions options;
  options.storage = storage;
  options.tune_ms = tune_ms;
  return MakeBackend(std::move(context), options);
}

Result<std::shared_ptr<const Backend>> OpenBackend(const DeviceName& name,
                                                   const OpenOptions& options) {
  ContextOptions context_options;
  context_options.cache_folder = options.cache_folder;
  TW_ASSIGN_OR_RETURN(std::shared_ptr<Context> context, Context::Open(name, context_options));
  return MakeBackend(std::move(context), options);
}

}  // namespace opencl
}  // namespace topwork
