// Segments for a GPU, planned without one: memory never clashes, every launch finds its blocks, and
// what the device cannot compute stays on the CPU with its reason.
#include "runtime/plan/gpu_segment.h"

#include <catch2/catch.hpp>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/net.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace test {
namespace gpu_segment_test {

// Takes programs and looks at them.
class Watcher final : public FakeGpu {
 public:
  explicit Watcher(Storage storage) : storage_(storage) {}
  const char* name() const override { return "watcher"; }
  Storage storage() const override { return storage_; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    CheckProgram(program);
    n_launches += program.launches.size();
    ++n_programs;
    return FakeGpu::Load(std::move(program));
  }

  DeviceLimits limits() const override { return allowed; }
  size_t MemoryBytes(const LoadedPrograms& programs) const override { return programs.size(); }

  DeviceLimits allowed;
  mutable size_t n_programs = 0, n_launches = 0;

 private:
  void CheckProgram(const GpuProgram& program) const {
    REQUIRE(!program.is_trial);
    REQUIRE(program.storage == storage_);
    const int n = static_cast<int>(program.launches.size());
    for (int i = 0; i < n; ++i) {
      const Launch& launch = program.launches[static_cast<size_t>(i)];
      const bool on_ints = launch.type == KernelType::kI32 || launch.type == KernelType::kI8;
      REQUIRE((on_ints || launch.type == TypeOf(storage_)));
      for (const LaunchArgument& arg : launch.arguments) {
        if (arg.kind != LaunchArgument::Kind::kBuffer) continue;
        REQUIRE(arg.buffer >= 0);
        REQUIRE(static_cast<size_t>(arg.buffer) < program.blocks.size());
        const GpuBlock& block = program.blocks[static_cast<size_t>(arg.buffer)];
        REQUIRE(block.bytes > 0);
        if (!block.constant.empty()) continue;
        REQUIRE(block.first <= i);
        REQUIRE(i <= block.last);
        REQUIRE(block.offset + block.bytes <= program.arena_bytes);
      }
    }
    REQUIRE(program.inputs.size() == program.input_formats.size());
    REQUIRE(program.outputs.size() == program.output_formats.size());
    for (int k : program.inputs) REQUIRE(program.blocks[static_cast<size_t>(k)].first == 0);
    for (int k : program.outputs) {
      const GpuBlock& block = program.blocks[static_cast<size_t>(k)];
      REQUIRE((!block.constant.empty() || block.last >= n - 1));
    }
    CheckOverlaps(program);
  }

  static void CheckOverlaps(const GpuProgram& program) {
    for (size_t i = 0; i < program.blocks.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const GpuBlock& a = program.blocks[i];
        const GpuBlock& b = program.blocks[j];
        if (!a.constant.empty() || !b.constant.empty()) continue;
        const bool together = a.first <= b.last && b.first <= a.last;
        const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        if (together && overlap) FAIL("blocks " << j << " and " << i << " overlap");
      }
    }
  }

  Storage storage_;
};

// What the watcher takes, it takes as programs, and what it does not take has a reason.
void CheckSteps(const Plan& plan, const Watcher& watcher) {
  for (const Step& step : plan.steps) {
    const bool watched = step.device == &watcher;
    REQUIRE(watched == !step.parts.empty());
    REQUIRE(watched == step.reason.empty());
    for (int v : step.inputs) {
      if (v < 0) continue;
      const PlanValue& input = plan.values[static_cast<size_t>(v)];
      REQUIRE_FALSE((watched && input.view.dtype == DType::kString));
    }
  }
}

TEST_CASE("gpu segments of every golden model fit together", "[plan]") {
  const Watcher of_floats(Storage::kFloat32), of_halves(Storage::kFloat16);
  ForEachCase(OpensModel, [&](const OpCase& op_case) {
    const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
    REQUIRE(model.ok());
    const bool on_cpu = BuildPlan(model.value(), PlanOptions()).ok();
    for (const Watcher* watcher : {&of_floats, &of_halves}) {
      PlanOptions options;
      options.devices = {Borrow(*watcher)};
      const auto plan = BuildPlan(model.value(), options);
      REQUIRE(plan.ok() == on_cpu);
      if (on_cpu) CheckSteps(*plan.value(), *watcher);
    }
  });
  for (const Watcher* watcher : {&of_floats, &of_halves}) {
    CHECK(watcher->n_programs > 500);
    CHECK(watcher->n_launches > 1000);
  }
}

TEST_CASE("gpu segments are printed with their parts", "[plan]") {
  const Watcher watcher(Storage::kFloat32);
  const OpCase op_case = CasesOf("conv_2d")[0];
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  REQUIRE(model.ok());
  PlanOptions options;
  options.devices = {test::Borrow(watcher)};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.ok());
  const std::string text = PrintPlan(*plan.value());
  CHECK(text.find("CONV_2D") != std::string::npos);
  CHECK(text.find("watcher") != std::string::npos);
  CHECK(text.find("on the device") != std::string::npos);
  CHECK(PlanToJson(*plan.value()).find("\"parts\"") != std::string::npos);
  CHECK(plan.value()->gpu_bytes > 0);
}

TEST_CASE("gpu segments beyond a device's memory are left to the CPU", "[plan]") {
  const OpCase op_case = CasesOf("conv_2d")[0];
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  REQUIRE(model.ok());
  for (const DeviceLimits& allowed : {DeviceLimits{100, 0}, DeviceLimits{0, 100}}) {
    Watcher watcher(Storage::kFloat32);
    watcher.allowed = allowed;
    PlanOptions options;
    options.devices = {test::Borrow(watcher)};
    const auto plan = BuildPlan(model.value(), options);
    REQUIRE(plan.ok());
    CHECK(watcher.n_programs == 0);
    CHECK(plan.value()->gpu_bytes == 0);
    const std::string text = PrintPlan(*plan.value());
    CHECK(text.find("it alone needs") != std::string::npos);
    CHECK(text.find("100") != std::string::npos);
  }
  Watcher watcher(Storage::kFloat32);
  PlanOptions options;
  options.devices = {test::Borrow(watcher)};
  options.device_memory_limit_bytes = size_t{1} << 30;
  REQUIRE(BuildPlan(model.value(), options).ok());
  CHECK(watcher.n_programs == 1);
}

// Cannot compile unary.cl, nor, if that is asked for, launches with stages.
class NoUnary final : public FakeGpu {
 public:
  explicit NoUnary(bool has_stages = true, const char* missing = "unary")
      : has_stages_(has_stages), missing_(missing) {}
  Status Check(const std::vector<Launch>& launches) const override {
    for (const Launch& launch : launches) {
      if (std::string(launch.program) == missing_) return Unsupported("no {}.cl here", missing_);
      if (!has_stages_ && !launch.stages.empty()) return Unsupported("no stages here");
    }
    return Status::Ok();
  }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    TW_RETURN_IF_ERROR(Check(program.launches));
    return FakeGpu::Load(std::move(program));
  }

 private:
  bool has_stages_;
  const char* missing_;
};

TEST_CASE("gpu segment: what does not compile goes to the CPU alone", "[plan]") {
  ModelSpec spec;
  spec.AddInput("x", DType::kFloat32, {2, 8});
  for (const char* name : {"a", "b", "y"}) spec.AddTensor(name, DType::kFloat32, {2, 8});
  spec.main().outputs = {3};
  spec.AddOp(OpCode::kSoftmax, {0}, {1});
  spec.AddOp(OpCode::kAbs, {1}, {2});
  spec.AddOp(OpCode::kSoftmax, {2}, {3});
  const Bytes bytes = BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const NoUnary device;
  PlanOptions options;
  options.devices = {Borrow<Device>(device)};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  const std::vector<Step>& steps = plan.value()->steps;
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].device == &device);
  CHECK(steps[1].device == nullptr);
  CHECK(steps[1].reason.find("no unary.cl here") != std::string::npos);
  CHECK(steps[2].device == &device);
}

// How many operators the device has, and the number of launches.
std::pair<size_t, size_t> Placed(const Bytes& bytes, const Device& device) {
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  PlanOptions options;
  options.devices = {Borrow<Device>(device)};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  std::pair<size_t, size_t> placed{0, 0};
  for (const Step& step : plan.value()->steps) {
    placed.first += step.parts.size();
    for (const Step& part : step.parts) placed.second += part.launches.size();
  }
  return placed;
}

TEST_CASE("gpu segment: what does not compile when it is joined is launched by itself", "[plan]") {
  Net net;
  const int x = net.Op(OpCode::kTanh, {net.Conv(net.Input({1, 6, 5, 8}), 8, 3)});
  const int y = net.Op(OpCode::kExp, {net.Op(OpCode::kSoftmax, {x})});
  const Bytes bytes = net.Build(net.Op(OpCode::kAbs, {y}));
  // Joined: a convolution, softmax, two functions.
  CHECK(Placed(bytes, FakeGpu()) == std::make_pair(size_t{3}, size_t{3}));
  // Each by itself.
  CHECK(Placed(bytes, NoUnary(false, "")) == std::make_pair(size_t{5}, size_t{5}));
  // The functions do not compile by themselves either: the CPU has them.
  CHECK(Placed(bytes, NoUnary(false)) == std::make_pair(size_t{2}, size_t{2}));
}

}  // namespace gpu_segment_test
}  // namespace test
}  // namespace topwork
