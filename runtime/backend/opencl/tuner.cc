// Measuring: a program gets buffers of its own, runs once to warm up, then until its time has been
// seen often enough.
#include "runtime/backend/opencl/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "ports/port.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/stream.h"
#include "runtime/backend/opencl/tune_table.h"

namespace topwork {
namespace opencl {
namespace {

// Runs that are timed: at most so many, and no more than that long together.
constexpr int kMostRuns = 10;
constexpr int64_t kMostNanos = 20'000'000;

// m * n * k of the smallest product from which on the BLAS library won all that were measured.
double CrossoverOf(const TuneTable& table) {
  std::map<double, bool> wins;
  for (const auto& work : table.Begin("PRODUCT ")) {
    double m = 0, n = 0, k = 0;
    const auto blas = work.second.find("sgemm");
    if (blas == work.second.end() || work.second.size() < 2) continue;
    if (std::sscanf(work.first.c_str(), "PRODUCT %lf %lf %lf", &m, &n, &k) != 3) continue;
    wins[m * n * k] = table.Best(work.first) == blas->first;
  }
  double crossover = std::numeric_limits<double>::infinity();
  for (auto it = wins.rbegin(); it != wins.rend() && it->second; ++it) crossover = it->first;
  return crossover;
}

// How long a session waits for CLBlast: its programs come from the disk sooner than that. One that
// does not find it ready uses own kernels.
constexpr int64_t kWaitNanos = 500'000'000;

class OpenClTuner final : public GpuTuner {
 public:
  OpenClTuner(std::shared_ptr<Context> context, int budget_ms)
      : context_(std::move(context)), budget_nanos_(int64_t{budget_ms} * 1'000'000) {
    if (!std::isinf(BlasCrossover())) context_->blas().Warm();
  }

  std::string Best(const std::string& work) const override { return context_->tuning().Best(work); }
  bool IsMeasured(const std::string& work, const std::string& variant) const override {
    return context_->tuning().Nanos(work, variant) >= 0;
  }
  bool HasBlas() override {
    if (!context_->blas().exists()) return false;
    if (HasTime()) return context_->blas().EnsureReady().ok();
    return !std::isinf(BlasCrossover()) && context_->blas().WaitReady(kWaitNanos);
  }
  double BlasCrossover() const override { return CrossoverOf(context_->tuning()); }
  bool HasTime() override {
    if (budget_nanos_ == 0) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t now = port::NowNanos();
    if (end_nanos_ == 0) end_nanos_ = now + budget_nanos_;
    return now < end_nanos_;
  }
  Result<int64_t> MeasureNanos(GpuProgram program) override {
    return MeasureProgram(context_.get(), std::move(program));
  }
  void Keep(const std::string& work, const std::string& variant, int64_t nanos) override {
    context_->tuning().Keep(work, variant, nanos);
  }

 private:
  const std::shared_ptr<Context> context_;
  const int64_t budget_nanos_;
  std::mutex mutex_;
  int64_t end_nanos_ = 0;
};

// Buffer 0 is the arena, the others are the constants; launches' blocks become their numbers.
Status MakeBuffers(GpuProgram* program, const Context& context, Stream* stream,
                   std::vector<MemHandle>* buffers) {
  const auto add = [&](Span<const uint8_t> bytes) -> Status {
    TW_ASSIGN_OR_RETURN(MemHandle buffer, CreateBuffer(context.handle(), bytes.size()));
    TW_RETURN_IF_ERROR(stream->Upload(buffer, 0, bytes.data(), bytes.size()));
    buffers->push_back(std::move(buffer));
    return Status::Ok();
  };
  const std::vector<uint8_t> arena(std::max<size_t>(program->arena_bytes, 1));
  TW_RETURN_IF_ERROR(add(arena));
  std::vector<int> numbers(program->blocks.size(), 0);
  for (size_t b = 0; b < program->blocks.size(); ++b) {
    if (!program->blocks[b].is_constant()) continue;
    numbers[b] = static_cast<int>(buffers->size());
    TW_RETURN_IF_ERROR(add(program->blocks[b].constant_bytes()));
  }
  for (Launch& launch : program->launches) {
    for (LaunchArgument& argument : launch.arguments) {
      if (argument.kind != LaunchArgument::Kind::kBuffer) continue;
      const size_t b = static_cast<size_t>(argument.buffer);
      argument.buffer = numbers[b];
      if (numbers[b] != 0) continue;
      argument.offset_bytes = program->blocks[b].offset;
      argument.bytes = program->blocks[b].bytes;
    }
  }
  return Status::Ok();
}

}  // namespace

Result<int64_t> MeasureProgram(Context* context, GpuProgram program) {
  StreamOptions options;
  options.profile = true;
  TW_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context, options));
  std::vector<MemHandle> buffers;
  TW_RETURN_IF_ERROR(MakeBuffers(&program, *context, &stream, &buffers));
  TW_ASSIGN_OR_RETURN(Commands commands,
                      stream.Record({program.launches.data(), program.launches.size()},
                                    {buffers.data(), buffers.size()}));
  TW_RETURN_IF_ERROR(stream.Submit(&commands));
  TW_RETURN_IF_ERROR(stream.Finish());
  int64_t least = std::numeric_limits<int64_t>::max(), total = 0;
  for (int run = 0; run < kMostRuns && total < kMostNanos; ++run) {
    std::vector<int64_t> nanos;
    TW_RETURN_IF_ERROR(stream.SubmitTimed(&commands, &nanos));
    int64_t sum = 0;
    for (const int64_t one : nanos) sum += one;
    least = std::min(least, sum);
    total += std::max<int64_t>(sum, 1);
  }
  return least;
}

std::unique_ptr<GpuTuner> MakeTuner(std::shared_ptr<Context> context, int budget_ms) {
  return std::make_unique<OpenClTuner>(std::move(context), budget_ms);
}

}  // namespace opencl
}  // namespace topwork
