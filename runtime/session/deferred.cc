// DeferredRunner: prepare, allocate, run, one operator after the other.
#include "runtime/session/deferred.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/prepare.h"

namespace topwork {

DeferredRunner::DeferredRunner(const Plan& plan, const Allocator& allocator, const CpuKernels& cpu,
                               size_t limit_bytes)
    : allocator_(allocator), cpu_(cpu), limit_bytes_(limit_bytes), buffers_(plan.values.size()) {}

size_t DeferredRunner::bytes() const {
  size_t total = 0;
  for (const Buffer& buffer : buffers_) total += buffer.size();
  return total;
}

Status DeferredRunner::Run(const Plan& plan, ThreadPool* pool, std::atomic<bool>* cancel,
                           std::vector<TensorView>* views) {
  for (const Op& op : plan.deferred) {
    if (cancel->exchange(false, std::memory_order_relaxed)) {
      return Cancelled("the run was cancelled before %s", op.name());
    }
    TW_RETURN_IF_ERROR(RunOp(plan, op, pool, views));
  }
  return Status::Ok();
}

Status DeferredRunner::RunOp(const Plan& plan, const Op& op, ThreadPool* pool,
                             std::vector<TensorView>* views) {
  const auto view = [&](int v) { return &(*views)[static_cast<size_t>(v)]; };
  std::vector<const TensorView*> inputs;
  std::vector<const std::string*> names;
  for (int v : op.inputs) {
    inputs.push_back(v < 0 ? nullptr : view(v));
    names.push_back(v < 0 ? nullptr : &plan.values[static_cast<size_t>(v)].name);
  }
  std::vector<TensorView> declared;
  for (int v : op.outputs) {
    declared.push_back(v < 0 ? TensorView() : plan.values[static_cast<size_t>(v)].view);
  }
  const int first = op.outputs.empty() ? -1 : op.outputs[0];
  PlanPrepareContext context(
      op, inputs, std::move(declared), std::move(names),
      StrFormat("operator #%d %s (output '%s')", op.file_index, op.name(),
                first < 0 ? "" : plan.values[static_cast<size_t>(first)].name.c_str()),
      cpu_, pool->n_threads());
  context.SetPacking(PackMode::kPack, nullptr, {}, allocator_);
  TW_RETURN_IF_ERROR(context.Prepare(*op.def));

  std::vector<TensorView*> outputs;
  for (size_t o = 0; o < op.outputs.size(); ++o) {
    const int v = op.outputs[o];
    if (v < 0) {
      outputs.push_back(nullptr);
      continue;
    }
    *view(v) = context.outputs()[o];
    Buffer& buffer = buffers_[static_cast<size_t>(v)];
    const size_t bytes = std::max<size_t>(view(v)->bytes(), 1);
    if (buffer.size() < bytes) {
      const size_t total = this->bytes() - buffer.size() + bytes;
      if (limit_bytes_ != 0 && total > limit_bytes_) {
        return OutOfMemory(
            "%s: its output of shape %s brings the run to %zu bytes, the memory limit "
            "leaves %zu",
            context.Where().c_str(), view(v)->shape.ToString().c_str(), total, limit_bytes_);
      }
      TW_ASSIGN_OR_RETURN(buffer, Buffer::Allocate(bytes, context.Where().c_str(), allocator_));
    }
    view(v)->data = buffer.data();
    outputs.push_back(view(v));
  }
  TW_ASSIGN_OR_RETURN(Buffer scratch,
                      Buffer::Allocate(context.scratch_bytes(), "scratch memory", allocator_));
  RunContext run;
  run.params = &op.params;
  run.inputs = {inputs.data(), inputs.size()};
  run.outputs = {outputs.data(), outputs.size()};
  run.state = context.state().get();
  run.scratch = scratch.as<uint8_t>();
  run.pool = pool;
  run.cpu = &cpu_;
  return CpuBackend().Run(*op.def, run, context.Where());
}

}  // namespace topwork
