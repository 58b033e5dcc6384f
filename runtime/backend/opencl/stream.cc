// Commands to a device. GPUs of phones start late, or use much memory, when hundreds of commands
// gather before a flush.
#include "runtime/backend/opencl/stream.h"

#include <algorithm>
#include <string>

#include "kernels/contract/selection.h"

namespace topwork {
namespace opencl {
namespace {

// Times of a first run may hold the driver's own preparations.
constexpr int kMeasurings = 2;
constexpr size_t kInnermostUnit = 64;

Result<int64_t> EventNanos(const EventHandle& event) {
  cl_ulong begin = 0, end = 0;
  for (const auto& ask : {std::make_pair(CL_PROFILING_COMMAND_START, &begin),
                          std::make_pair(CL_PROFILING_COMMAND_END, &end)}) {
    TW_RETURN_IF_ERROR(ClStatus(
        event.api()->clGetEventProfilingInfo(event.get(), static_cast<cl_profiling_info>(ask.first),
                                             sizeof(cl_ulong), ask.second, nullptr),
        "clGetEventProfilingInfo"));
  }
  return static_cast<int64_t>(end - begin);
}

std::string NameOf(const Launch& launch) {
  return "kernel " + launch.Entry() + " of " + launch.program + ".cl";
}

}  // namespace

size_t Commands::n_pieces(size_t i) const {
  const Step& step = steps_[i];
  return step.piece == 0 ? 1 : (step.global[step.cut] + step.piece - 1) / step.piece;
}

Result<Stream> Stream::Create(Context* context, const StreamOptions& options) {
  Stream stream;
  stream.context_ = context;
  stream.api_ = &context->api();
  stream.options_ = options;
  stream.flush_every_ = FamilyOf(context->info()).flush_every;
  if (options.command_buffer && options.slice_nanos == 0 && !options.profile) {
    stream.command_buffers_ = CommandBufferApi::Find(context->device());
  }
  TW_ASSIGN_OR_RETURN(stream.queue_, stream.MakeQueue(options.profile));
  return stream;
}

Result<QueueHandle> Stream::MakeQueue(bool profile) {
  if (options_.low_priority && context_->info().priority_hints) {
    Result<QueueHandle> low =
        CreateLowPriorityQueue(context_->handle(), context_->device().id, profile);
    is_low_priority_ = low.ok();
    if (low.ok()) return low;
  }
  return CreateQueue(context_->handle(), context_->device().id,
                     profile ? CL_QUEUE_PROFILING_ENABLE : 0);
}

Status Stream::Upload(const MemHandle& to, size_t offset_bytes, const void* data, size_t bytes) {
  if (bytes == 0) return Status::Ok();
  uploaded_bytes_ += bytes;
  ++waits_;
  return ClStatus(api_->clEnqueueWriteBuffer(queue_.get(), to.get(), CL_TRUE, offset_bytes, bytes,
                                             data, 0, nullptr, nullptr),
                  StrFormat("clEnqueueWriteBuffer of {} bytes", bytes));
}

Status Stream::Download(const MemHandle& from, size_t offset_bytes, void* data, size_t bytes) {
  if (bytes == 0) return Finish();
  ++waits_;
  waiting_ = 0;
  downloaded_bytes_ += bytes;
  return ClStatus(api_->clEnqueueReadBuffer(queue_.get(), from.get(), CL_TRUE, offset_bytes, bytes,
                                            data, 0, nullptr, nullptr),
                  StrFormat("clEnqueueReadBuffer of {} bytes", bytes));
}

Status Stream::Copy(const MemHandle& from, size_t from_bytes, const MemHandle& to, size_t to_bytes,
                    size_t bytes) {
  if (bytes == 0) return Status::Ok();
  return ClStatus(api_->clEnqueueCopyBuffer(queue_.get(), from.get(), to.get(), from_bytes,
                                            to_bytes, bytes, 0, nullptr, nullptr),
                  StrFormat("clEnqueueCopyBuffer of {} bytes", bytes));
}

Result<void*> Stream::Map(const MemHandle& buffer, size_t offset_bytes, size_t bytes) {
  ++waits_;
  waiting_ = 0;
  cl_int error = CL_SUCCESS;
  void* mapped =
      api_->clEnqueueMapBuffer(queue_.get(), buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                               offset_bytes, bytes, 0, nullptr, nullptr, &error);
  TW_RETURN_IF_ERROR(ClStatus(error, StrFormat("clEnqueueMapBuffer of {} bytes", bytes)));
  if (mapped == nullptr) return InternalError("OpenCL: clEnqueueMapBuffer gave nothing");
  return mapped;
}

Status Stream::Unmap(const MemHandle& buffer, void* mapped) {
  return ClStatus(
      api_->clEnqueueUnmapMemObject(queue_.get(), buffer.get(), mapped, 0, nullptr, nullptr),
      "clEnqueueUnmapMemObject");
}

Result<cl_mem> Stream::MemoryOf(const Launch& launch, size_t index, Span<const MemHandle> buffers,
                                Commands* commands) const {
  const LaunchArgument& argument = launch.arguments[index];
  if (argument.buffer < 0 || static_cast<size_t>(argument.buffer) >= buffers.size()) {
    return InternalError("{}: argument {} is buffer {} of {}", NameOf(launch), index,
                         argument.buffer, buffers.size());
  }
  const MemHandle& whole = buffers[static_cast<size_t>(argument.buffer)];
  if (argument.pixels > 0) {
    const size_t pixels = static_cast<size_t>(argument.pixels);
    cl_mem& known = commands->part_at_[{whole.get(), SIZE_MAX, pixels}];
    if (known == nullptr) {
      TW_ASSIGN_OR_RETURN(MemHandle image, CreateImage(context_->handle(), whole, pixels,
                                                       launch.type == KernelType::kF16));
      known = image.get();
      commands->parts_.Add(std::move(image));
    }
    return known;
  }
  if (argument.bytes == 0 && argument.offset_bytes == 0) return whole.get();
  if (argument.bytes == 0) {
    return InternalError("{}: argument {} has an offset but no size", NameOf(launch), index);
  }
  cl_mem& known = commands->part_at_[{whole.get(), argument.offset_bytes, argument.bytes}];
  if (known == nullptr) {
    TW_ASSIGN_OR_RETURN(MemHandle part,
                        CreateSubBuffer(whole, argument.offset_bytes, argument.bytes));
    known = part.get();
    commands->parts_.Add(std::move(part));
  }
  return known;
}

Result<KernelHandle> Stream::MakeKernel(Launch* launch, Span<const MemHandle> buffers,
                                        Commands* commands) const {
  const auto make = [&] {
    return context_->MakeKernel(launch->program, launch->Defines(), launch->Entry().c_str());
  };
  Result<KernelHandle> kernel = make();
  bool has_images = false, fails = !kernel.ok();
  for (size_t i = 0; i < launch->arguments.size(); ++i) {
    if (launch->arguments[i].pixels == 0) continue;
    has_images = true;
    if (commands != nullptr) fails = fails || !MemoryOf(*launch, i, buffers, commands).ok();
  }
  if (!has_images || !fails) return kernel;
  for (LaunchArgument& argument : launch->arguments) argument.pixels = 0;
  return make();
}

Status Stream::RecordProduct(const Launch& launch, Span<const MemHandle> buffers,
                             Commands* commands) {
  Blas& blas = context_->blas();
  TW_RETURN_IF_ERROR(blas.EnsureReady());
  const auto size = [&](size_t i) { return static_cast<size_t>(launch.arguments[i].integer); };
  Blas::Product product = {size(3), size(4), size(5), nullptr, nullptr, nullptr, nullptr};
  TW_ASSIGN_OR_RETURN(product.a, MemoryOf(launch, 0, buffers, commands));
  TW_ASSIGN_OR_RETURN(product.b, MemoryOf(launch, 1, buffers, commands));
  TW_ASSIGN_OR_RETURN(product.c, MemoryOf(launch, 2, buffers, commands));
  TW_ASSIGN_OR_RETURN(const size_t temp_bytes, blas.TempBytes(product, queue_.get()));
  TW_ASSIGN_OR_RETURN(MemHandle temp, CreateBuffer(context_->handle(), temp_bytes));
  product.temp = temp.get();
  commands->parts_.Add(std::move(temp));
  Commands::Step step{};
  step.product = std::make_shared<const Blas::Product>(product);
  commands->steps_.push_back(std::move(step));
  return Status::Ok();
}

Status Stream::SetArgument(const Launch& launch, cl_uint index, Span<const MemHandle> buffers,
                           const KernelHandle& kernel, Commands* commands) {
  const LaunchArgument& argument = launch.arguments[index];
  const void* value = &argument.integer;
  size_t bytes = sizeof(cl_int);
  cl_mem memory = nullptr;
  if (argument.kind == LaunchArgument::Kind::kFloat) {
    value = &argument.real;
    bytes = sizeof(cl_float);
  } else if (argument.kind == LaunchArgument::Kind::kBuffer) {
    TW_ASSIGN_OR_RETURN(memory, MemoryOf(launch, index, buffers, commands));
    value = &memory;
    bytes = sizeof(memory);
  }
  return ClStatus(api_->clSetKernelArg(kernel.get(), index, bytes, value),
                  StrFormat("clSetKernelArg {} of {}", index, NameOf(launch)));
}

Result<bool> Stream::UsesGroups(const KernelHandle& kernel, Launch* wanted) const {
  Launch& launch = *wanted;
  size_t most = 0;
  TW_RETURN_IF_ERROR(ClStatus(
      api_->clGetKernelWorkGroupInfo(kernel.get(), context_->device().id, CL_KERNEL_WORK_GROUP_SIZE,
                                     sizeof(most), &most, nullptr),
      "clGetKernelWorkGroupInfo of " + NameOf(launch)));
  while (launch.local_shrinks && launch.local[0] > std::max(most, kLeastShrunkGroup)) {
    launch.local[0] /= 2;
    launch.global[0] /= 2;
  }
  const size_t items = launch.local[0] * launch.local[1] * launch.local[2];
  if (items > most) {
    if (launch.local_is_hint) return false;
    return Unsupported("{}: work-groups of {} items are wanted, this device allows {}",
                       NameOf(launch), items, most);
  }
  for (int i = 0; i < 3 && items > 0; ++i) {
    if (launch.global[i] % launch.local[i] != 0) {
      return InternalError("{}: {} work-items are no multiple of {}", NameOf(launch),
                           launch.global[i], launch.local[i]);
    }
  }
  return items > 0;
}

Result<Commands> Stream::Record(Span<const Launch> launches, Span<const MemHandle> buffers) {
  Commands commands;
  for (Launch launch : launches) {
    if (kHasTrials && launch.kind == Launch::Kind::kGemm) {
      TW_RETURN_IF_ERROR(RecordProduct(launch, buffers, &commands));
      continue;
    }
    TW_ASSIGN_OR_RETURN(KernelHandle kernel, MakeKernel(&launch, buffers, &commands));
    Commands::Step step;
    TW_ASSIGN_OR_RETURN(step.has_local, UsesGroups(kernel, &launch));
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      TW_RETURN_IF_ERROR(SetArgument(launch, static_cast<cl_uint>(i), buffers, kernel, &commands));
    }
    step.kernel = std::move(kernel);
    std::copy(launch.global, launch.global + 3, step.global);
    std::copy(launch.local, launch.local + 3, step.local);
    commands.steps_.push_back(std::move(step));
  }
  // Without one the commands are enqueued each time.
  if (command_buffers_.ok() && !RecordBuffer(&commands).ok()) commands.buffer_ = CommandBuffer();
  return commands;
}

Status Stream::Check(Span<const Launch> launches) {
  for (Launch launch : launches) {
    if (kHasTrials && launch.kind == Launch::Kind::kGemm) {
      TW_RETURN_IF_ERROR(context_->blas().EnsureReady());
      continue;
    }
    TW_ASSIGN_OR_RETURN(const KernelHandle kernel, MakeKernel(&launch, {}, nullptr));
    TW_RETURN_IF_ERROR(UsesGroups(kernel, &launch).status());
  }
  return Status::Ok();
}

Status Stream::RecordBuffer(Commands* commands) const {
  if (commands->steps_.size() < 2) return Status::Ok();
  TW_ASSIGN_OR_RETURN(commands->buffer_, CommandBuffer::Create(command_buffers_, context_->handle(),
                                                               context_->device().id, queue_));
  for (const Commands::Step& step : commands->steps_) {
    if (step.product != nullptr) return Unsupported("a library's product");
    TW_RETURN_IF_ERROR(
        commands->buffer_.Add(step.kernel, step.global, step.has_local ? step.local : nullptr));
  }
  return commands->buffer_.Finalize();
}

// A kernel asks for its ids, offset included, and never for its group's number (see common.clh).
Status Stream::Enqueue(const Commands::Step& step, const QueueHandle& queue,
                       std::vector<EventHandle>* events) {
  if (kHasTrials &&
      step.product != nullptr) {  // CLBlast's own kernels; the event is the last one's
    cl_event event = nullptr;
    TW_RETURN_IF_ERROR(
        context_->blas().Enqueue(*step.product, queue.get(), events != nullptr ? &event : nullptr));
    if (events != nullptr) events->emplace_back(api_, event);
    return FlushIfDue(queue, step.nanos);
  }
  const size_t items = step.global[step.cut];
  const size_t piece = step.piece == 0 ? items : step.piece;
  for (size_t at = 0; at < items; at += piece) {
    size_t offset[3] = {0, 0, 0};
    size_t global[3] = {step.global[0], step.global[1], step.global[2]};
    offset[step.cut] = at;
    global[step.cut] = std::min(piece, items - at);
    cl_event event = nullptr;
    const cl_int error = api_->clEnqueueNDRangeKernel(
        queue.get(), step.kernel.get(), 3, step.piece == 0 ? nullptr : offset, global,
        step.has_local ? step.local : nullptr, 0, nullptr, events != nullptr ? &event : nullptr);
    if (events != nullptr) events->emplace_back(api_, event);
    TW_RETURN_IF_ERROR(ClStatus(error, "clEnqueueNDRangeKernel"));
    const double part = static_cast<double>(global[step.cut]) / static_cast<double>(items);
    TW_RETURN_IF_ERROR(
        FlushIfDue(queue, static_cast<int64_t>(static_cast<double>(step.nanos) * part)));
  }
  return Status::Ok();
}

Status Stream::FlushIfDue(const QueueHandle& queue, int64_t nanos) {
  waiting_nanos_ += nanos;
  ++waiting_;
  const bool due = (flush_every_ > 0 && waiting_ >= flush_every_) ||
                   (options_.slice_nanos > 0 && waiting_nanos_ >= options_.slice_nanos);
  if (!due) return Status::Ok();
  waiting_ = 0;
  waiting_nanos_ = 0;
  return ClStatus(api_->clFlush(queue.get()), "clFlush");
}

Status Stream::Submit(Commands* commands, bool send) {
  if (options_.slice_nanos > 0 && commands->n_measured_ < kMeasurings) {
    std::vector<int64_t> nanos;
    return SubmitTimed(commands, &nanos);
  }
  // Where a command buffer may be pending only once, plain launches follow one that may still run.
  if (commands->buffer_ && (command_buffers_.may_repeat || commands->submitted_ != waits_)) {
    TW_RETURN_IF_ERROR(commands->buffer_.Enqueue(queue_));
    commands->submitted_ = waits_;
  } else {
    for (const Commands::Step& step : commands->steps_) {
      TW_RETURN_IF_ERROR(Enqueue(step, queue_, nullptr));
    }
  }
  if (!send) return Status::Ok();
  waiting_ = 0;
  waiting_nanos_ = 0;
  return ClStatus(api_->clFlush(queue_.get()), "clFlush");
}

Status Stream::SubmitTimed(Commands* commands, std::vector<int64_t>* nanos) {
  const QueueHandle* queue = &queue_;
  if (!options_.profile) {
    TW_RETURN_IF_ERROR(Finish());  // the other queue does not wait for this one
    if (!timed_queue_) {
      TW_ASSIGN_OR_RETURN(timed_queue_, MakeQueue(true));
    }
    queue = &timed_queue_;
  }
  std::vector<EventHandle> events;
  std::vector<size_t> ends;  // of each launch's events
  for (const Commands::Step& step : commands->steps_) {
    TW_RETURN_IF_ERROR(Enqueue(step, *queue, &events));
    ends.push_back(events.size());
  }
  ++waits_;
  waiting_ = 0;
  TW_RETURN_IF_ERROR(ClStatus(api_->clFinish(queue->get()), "clFinish"));
  size_t e = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    int64_t sum = 0;
    for (; e < ends[i]; ++e) {
      TW_ASSIGN_OR_RETURN(const int64_t took, EventNanos(events[e]));
      sum += took;
    }
    nanos->push_back(sum);
    Commands::Step& step = commands->steps_[i];
    if (step.nanos == 0 || sum < step.nanos) step.nanos = sum;
    if (options_.slice_nanos > 0 && commands->n_measured_ < kMeasurings) Cut(&step);
  }
  ++commands->n_measured_;
  return Status::Ok();
}

void Stream::Cut(Commands::Step* step) const {
  step->piece = 0;
  const size_t wanted =
      static_cast<size_t>((step->nanos + options_.slice_nanos - 1) / options_.slice_nanos);
  if (wanted <= 1 || step->product != nullptr) return;
  size_t most = 1;
  for (int d = 2; d >= 0 && most < wanted; --d) {
    // Where the driver chooses groups, pieces of the innermost dimension stay good to divide.
    const size_t unit = step->has_local ? step->local[d] : d == 0 ? kInnermostUnit : 1;
    const size_t groups = step->global[d] / unit;
    if (groups <= most) continue;
    most = groups;
    step->cut = d;
    step->piece = (groups + std::min(wanted, groups) - 1) / std::min(wanted, groups) * unit;
  }
}

Status Stream::Finish() {
  ++waits_;
  waiting_ = 0;
  return ClStatus(api_->clFinish(queue_.get()), "clFinish");
}

void Stream::Drain() {
  (void)Finish();
  if (timed_queue_) (void)api_->clFinish(timed_queue_.get());
}

}  // namespace opencl
}  // namespace topwork
