// MeasureDeviceCost: each number is the difference of two runs that differ only in what it counts.
//
//   launch       a chain of 9 additions against 1          copy    five such programs in one
//   bytes/s      the same with 4 MB tensors                flops   a chain of dense layers
//   up, down     one long tensor in, one long tensor out   round trip: the rest of the shortest run
#include "runtime/plan/measure_cost.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "ports/port.h"
#include "runtime/backend/devices.h"
#include "runtime/plan/gpu_segment.h"
#include "runtime/plan/kept_numbers.h"
#include "runtime/plan/prepare.h"

namespace topwork {
namespace {

// What is timed: an operator bound by memory, and one bound by arithmetic.
constexpr OpCode kSum = OpCode::kAdd, kDense = OpCode::kFullyConnected, kPart = OpCode::kSlice;

constexpr int32_t kFew = 64, kMany = 1 << 20;  // elements
constexpr int32_t kRows = 64, kUnits = 512;    // of the dense layers
constexpr int kChain = 9, kDenseChain = 3, kAbreast = 5;
constexpr int kMinRuns = 3, kMaxRuns = 15;
constexpr int64_t kMaxNanos = 20 * 1000 * 1000;  // of one measurement, after its third run

// A graph made by hand, and memory for all its values.
class Bench {
 public:
  explicit Bench(int n_threads) : pool_(n_threads) {
    graph_.allocator = &DefaultAllocator();
    graph_.cpu = &BestCpuKernels();
    graph_.max_threads = n_threads;
  }

  int Value(const Shape& shape) {
    graph_.values.emplace_back();
    graph_.views.emplace_back();
    graph_.views.back().shape = shape;
    graph_.origin.push_back(nullptr);
    return static_cast<int>(graph_.values.size()) - 1;
  }

  template <typename T>
  Result<int> Constant(const Shape& shape, T number) {
    const int v = Value(shape);
    TensorView& view = graph_.views[static_cast<size_t>(v)];
    view.dtype = DTypeOf<T>::kValue;
    TW_RETURN_IF_ERROR(Allocate(v));
    std::fill_n(view.as<T>(), shape.NumElements(), number);
    return v;
  }

  int Add(OpCode code, const std::vector<int>& inputs, const Shape& shape) {
    WorkOp work;
    work.op.code = code;
    work.op.def = FindOp(code);
    work.op.inputs = inputs;
    work.op.outputs = {Value(shape)};
    graph_.ops.push_back(std::move(work));
    graph_.first_deferred = graph_.ops.size();
    return graph_.ops.back().op.outputs[0];
  }

  // n additions or dense layers, one after the other. The last one's value is an output.
  Status AddChain(OpCode code, const Shape& shape, int n) {
    int v = Value(shape);
    Result<int> constant = code == kDense
                               ? Constant<float>(Shape({shape.back(), shape.back()}), 1e-3f)
                               : Constant<float>(shape, 1.0f);
    TW_RETURN_IF_ERROR(constant.status());
    for (int i = 0; i < n; ++i) v = Add(code, {v, constant.value()}, shape);
    graph_.outputs.push_back(v);
    return Status::Ok();
  }

  // Nanoseconds of a run of all ops as one program.
  Result<double> TimeProgram(const Device& device) {
    std::vector<int> inputs, outputs;
    TW_ASSIGN_OR_RETURN(GpuProgram program, PlanGpuSegment(graph_, 0, graph_.ops.size(), device,
                                                           &inputs, &outputs, nullptr, ""));
    LoadedPrograms loaded(1);
    TW_ASSIGN_OR_RETURN(loaded[0], device.Load(std::move(program)));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<AttachedPrograms> programs, device.Attach(loaded));
    bool bound = false;
    return Time(inputs, outputs, graph_.ops[0].op, nullptr, nullptr,
                [&](const RunContext& context) {
                  const ProgramTensors tensors = {context.inputs, context.outputs};
                  if (!bound) programs->Bind({tensors});
                  bound = true;
                  const Status status = programs->Run(0, tensors, nullptr);
                  return status.ok() ? status : status.WithPrefix("measuring the device: ");
                });
  }

  // Nanoseconds of the first op on the CPU.
  Result<double> TimeOnCpu() {
    const Op& op = graph_.ops[0].op;
    PlanPrepareContext prepared = MakeContext(graph_, op, PackMode::kPack);
    TW_RETURN_IF_ERROR(prepared.Prepare(*op.def));
    TW_ASSIGN_OR_RETURN(Buffer scratch, Buffer::Allocate(prepared.scratch_bytes(), "scratch memory",
                                                         DefaultAllocator()));
    return Time(op.inputs, op.outputs, op, prepared.state().get(), scratch.as<uint8_t>(),
                [&](const RunContext& context) { return op.def->run_cpu(context); });
  }

  WorkGraph& graph() { return graph_; }

 private:
  Status Allocate(int v) {
    TensorView& view = graph_.views[static_cast<size_t>(v)];
    if (view.data != nullptr) return Status::Ok();
    TW_ASSIGN_OR_RETURN(Buffer buffer,
                        Buffer::Allocate(view.bytes(), "measuring the device", DefaultAllocator()));
    view.data = buffer.data();
    std::fill_n(static_cast<uint8_t*>(view.data), view.bytes(), uint8_t{0});
    memory_.push_back(std::move(buffer));
    return Status::Ok();
  }

  Result<double> Time(const std::vector<int>& inputs, const std::vector<int>& outputs, const Op& op,
                      const OpState* state, uint8_t* scratch,
                      const std::function<Status(const RunContext&)>& run) {
    std::vector<const TensorView*> in;
    std::vector<TensorView*> out;
    for (int v : inputs) TW_RETURN_IF_ERROR(Allocate(v));
    for (int v : outputs) TW_RETURN_IF_ERROR(Allocate(v));
    for (int v : inputs) in.push_back(&graph_.views[static_cast<size_t>(v)]);
    for (int v : outputs) out.push_back(&graph_.views[static_cast<size_t>(v)]);
    RunContext context;
    context.params = &op.params;
    context.inputs = {in.data(), in.size()};
    context.outputs = {out.data(), out.size()};
    context.state = state;
    context.scratch = scratch;
    context.pool = &pool_;
    context.cpu = graph_.cpu;
    TW_RETURN_IF_ERROR(run(context));  // warms caches and lazy drivers
    double best = std::numeric_limits<double>::infinity();
    const int64_t begin = port::NowNanos();
    for (int i = 0; i < kMaxRuns; ++i) {
      const int64_t start = port::NowNanos();
      if (i >= kMinRuns && start - begin > kMaxNanos) break;
      TW_RETURN_IF_ERROR(run(context));
      best = std::min(best, static_cast<double>(port::NowNanos() - start));
    }
    return best;
  }

  WorkGraph graph_;
  ThreadPool pool_;
  std::vector<Buffer> memory_;
};

Result<double> TimeChain(const Device& device, OpCode code, const Shape& shape, int n,
                         int abreast = 1) {
  Bench bench(1);
  for (int i = 0; i < abreast; ++i) TW_RETURN_IF_ERROR(bench.AddChain(code, shape, n));
  return bench.TimeProgram(device);
}

// A long tensor of which little is read back.
Result<double> TimeUp(const Device& device) {
  Bench bench(1);
  const int x = bench.Value(Shape({kMany}));
  TW_ASSIGN_OR_RETURN(const int begin, bench.Constant<int32_t>(Shape({1}), 0));
  TW_ASSIGN_OR_RETURN(const int size, bench.Constant<int32_t>(Shape({1}), kFew));
  bench.graph().outputs = {bench.Add(kPart, {x, begin, size}, Shape({kFew}))};
  return bench.TimeProgram(device);
}

// One number in, a long tensor out.
Result<double> TimeDown(const Device& device) {
  Bench bench(1);
  const int x = bench.Value(Shape({1}));
  TW_ASSIGN_OR_RETURN(const int constant, bench.Constant<float>(Shape({kMany}), 1.0f));
  bench.graph().outputs = {bench.Add(kSum, {x, constant}, Shape({kMany}))};
  return bench.TimeProgram(device);
}

// A difference of two times; noise must not make a rate negative or infinite.
double Positive(double nanos) { return std::max(nanos, 1.0); }

constexpr double kAddBytes = 3.0 * sizeof(float) * kMany;
constexpr double kDenseFlops = 2.0 * kRows * kUnits * kUnits;

Result<Rates> MeasureCpu(int n_threads) {
  const auto time = [&](OpCode code, const Shape& shape) -> Result<double> {
    Bench bench(n_threads);
    TW_RETURN_IF_ERROR(bench.AddChain(code, shape, 1));
    return bench.TimeOnCpu();
  };
  Rates rates;
  TW_ASSIGN_OR_RETURN(rates.start_ns, time(kSum, Shape({kFew})));
  TW_ASSIGN_OR_RETURN(const double add, time(kSum, Shape({kMany})));
  TW_ASSIGN_OR_RETURN(const double dense, time(kDense, Shape({kRows, kUnits})));
  rates.bytes_per_ns = kAddBytes / Positive(add - rates.start_ns);
  rates.flops_per_ns = kDenseFlops / Positive(dense - rates.start_ns);
  return rates;
}

using Numbers = std::array<double, 14>;

Numbers ToNumbers(const DeviceCost& cost) {
  const Rates &d = cost.device, &one = cost.cpu_one, &all = cost.cpu_all;
  return {d.start_ns,       d.flops_per_ns,       d.bytes_per_ns,         cost.round_trip_ns,
          cost.copy_ns,     cost.up_bytes_per_ns, cost.down_bytes_per_ns, one.start_ns,
          one.flops_per_ns, one.bytes_per_ns,     all.start_ns,           all.flops_per_ns,
          all.bytes_per_ns, cost.n_cpus};
}

DeviceCost FromNumbers(const Numbers& n) {
  DeviceCost cost;
  cost.device = {n[0], n[1], n[2]};
  cost.round_trip_ns = n[3];
  cost.copy_ns = n[4];
  cost.up_bytes_per_ns = n[5];
  cost.down_bytes_per_ns = n[6];
  cost.cpu_one = {n[7], n[8], n[9]};
  cost.cpu_all = {n[10], n[11], n[12]};
  cost.n_cpus = n[13];
  return cost;
}

}  // namespace

Result<DeviceCost> MeasureDeviceCost(const Device& device) {
  for (OpCode code : {kSum, kDense, kPart}) {
    if (FindOp(code) == nullptr) {
      return Unsupported("{}, which measures the device, is left out of this build",
                         OpCodeName(code));
    }
  }
  const Shape few({kFew}), many({kMany}), dense({kRows, kUnits});
  TW_ASSIGN_OR_RETURN(const double one, TimeChain(device, kSum, few, 1));
  TW_ASSIGN_OR_RETURN(const double chain, TimeChain(device, kSum, few, kChain));
  TW_ASSIGN_OR_RETURN(const double abreast, TimeChain(device, kSum, few, 1, kAbreast));
  TW_ASSIGN_OR_RETURN(const double long_one, TimeChain(device, kSum, many, 1));
  TW_ASSIGN_OR_RETURN(const double long_chain, TimeChain(device, kSum, many, kChain));
  TW_ASSIGN_OR_RETURN(const double up, TimeUp(device));
  TW_ASSIGN_OR_RETURN(const double down, TimeDown(device));
  TW_ASSIGN_OR_RETURN(const double dense_one, TimeChain(device, kDense, dense, 1));
  TW_ASSIGN_OR_RETURN(const double dense_chain, TimeChain(device, kDense, dense, kDenseChain));
  DeviceCost cost;
  const double launch = Positive((chain - one) / (kChain - 1));
  const double copies = Positive((abreast - one) / (kAbreast - 1) - launch);  // one up, one down
  const double add = Positive((long_chain - long_one) / (kChain - 1) - launch);
  const double layer = Positive((dense_chain - dense_one) / (kDenseChain - 1) - launch);
  const double element = static_cast<double>(StorageBytes(device.storage()));
  cost.device = {launch, kDenseFlops / layer, kAddBytes / add};
  cost.copy_ns = copies / 2;
  cost.round_trip_ns = Positive(one - launch - copies);
  cost.up_bytes_per_ns = element * kMany / Positive(up - one);
  cost.down_bytes_per_ns = element * kMany / Positive(down - one - add * 2 / 3);
  TW_ASSIGN_OR_RETURN(cost.cpu_one, MeasureCpu(1));
  const int n_cpus = port::NumCpus();
  cost.cpu_all = cost.cpu_one;
  if (n_cpus > 1) {
    TW_ASSIGN_OR_RETURN(cost.cpu_all, MeasureCpu(n_cpus));
  }
  cost.n_cpus = n_cpus;
  return cost;
}

Result<std::shared_ptr<const DeviceCost>> KnownDeviceCost(const Device& device,
                                                          const std::string& identity,
                                                          const std::string& cache_folder) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::map<std::string, std::shared_ptr<const DeviceCost>>;
  const std::string key =
      StrFormat("device cost 1, {}, storage {}, {} with {}", identity,
                StorageBytes(device.storage()), BestCpuKernels().isa, port::NumCpus());
  const std::lock_guard<std::mutex> lock(*mutex);
  const std::string folder = DeviceCacheFolder(cache_folder, "measured");
  std::shared_ptr<const DeviceCost>& slot = (*known)[folder + "\n" + key];
  if (slot != nullptr) return slot;
  Numbers numbers{};
  if (!LoadNumbers(folder, key, {numbers.data(), numbers.size()})) {
    TW_ASSIGN_OR_RETURN(const DeviceCost cost, MeasureDeviceCost(device));
    numbers = ToNumbers(cost);
    KeepNumbers(folder, key, {numbers.data(), numbers.size()});
  }
  slot = std::make_shared<const DeviceCost>(FromNumbers(numbers));
  return slot;
}

}  // namespace topwork
