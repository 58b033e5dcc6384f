// What stays on the CPU because moving it would cost more than it saves: with injected costs, by
// hand and on random graphs.
#include "runtime/plan/partition.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/digits_model.h"

namespace topwork {
namespace partition_test {

// Only what is counted matters: no work, no bytes.
DeviceCost Counted(double cpu_op, double launch, double round_trip, double copy) {
  DeviceCost cost;
  const double fast = 1e30;
  cost.device = {launch, fast, fast};
  cost.cpu_one = cost.cpu_all = {cpu_op, fast, fast};
  cost.up_bytes_per_ns = cost.down_bytes_per_ns = fast;
  cost.round_trip_ns = round_trip;
  cost.copy_ns = copy;
  return cost;
}

// Value 0 is the input; op i reads `reads[i]` and makes value i + 1.
WorkGraph Chain(const Device& gpu, const std::vector<std::vector<int>>& reads,
                const std::vector<bool>& on_gpu, const std::vector<int>& outputs) {
  WorkGraph graph;
  graph.values.resize(reads.size() + 1);
  graph.views.resize(reads.size() + 1);
  for (TensorView& view : graph.views) view.shape = Shape({10});
  graph.inputs = {0};
  graph.outputs = outputs;
  for (size_t i = 0; i < reads.size(); ++i) {
    WorkOp work;
    work.op.code = OpCode::kAdd;
    work.op.def = FindOp(work.op.code);
    work.op.file_index = static_cast<int>(i);
    work.op.inputs = reads[i];
    work.op.outputs = {static_cast<int>(i) + 1};
    work.device = on_gpu[i] ? &gpu : nullptr;
    work.n_launches = 1;
    graph.ops.push_back(std::move(work));
  }
  graph.first_deferred = graph.ops.size();
  return graph;
}

// "GCC": where the operators are, in the file's order.
std::string Places(const WorkGraph& graph) {
  std::string places(graph.ops.size(), '?');
  for (const WorkOp& work : graph.ops) {
    places[static_cast<size_t>(work.op.file_index)] = work.device != nullptr ? 'G' : 'C';
  }
  return places;
}

TEST_CASE("partition: a segment is kept when it saves more than it costs", "[plan]") {
  const test::FakeGpu gpu;
  // Two operators of 100 on the CPU and 10 there, with one round trip of 50 and two copies.
  for (const double copy : {64.0, 66.0}) {
    WorkGraph graph = Chain(gpu, {{0}, {1}}, {true, true}, {2});
    const DeviceCost cost = Counted(100, 10, 50, copy);
    CHECK(EstimatePlan(graph, cost).nanos == Approx(20 + 50 + 2 * copy));
    Partition(&cost, &graph);
    CHECK(Places(graph) == (copy == 64.0 ? "GG" : "CC"));
    const PlanEstimate estimate = EstimatePlan(graph, cost);
    CHECK(estimate.cpu_nanos == Approx(200));
    CHECK(estimate.nanos == Approx(copy == 64.0 ? 198 : 200));
    CHECK((graph.ops[0].reason.find("not worth its transfers to fake: saves 0.2 us") == 0) ==
          (copy != 64.0));
  }
}

TEST_CASE("partition: work and bytes count at their rates", "[plan]") {
  const test::FakeGpu gpu;
  WorkGraph graph = Chain(gpu, {{0}}, {true}, {1});
  DeviceCost cost = Counted(0, 0, 0, 0);
  cost.cpu_one = cost.cpu_all = {0, 1e30, 0.5};  // 80 bytes: 160
  cost.device = {0, 1e30, 4};                    // 20
  cost.up_bytes_per_ns = 1;                      // 40 bytes: 40
  cost.down_bytes_per_ns = 0.4;                  // 100
  CHECK(EstimatePlan(graph, cost).nanos == Approx(160));
  CHECK(EstimatePlan(graph, cost).cpu_nanos == Approx(160));
  cost.device.flops_per_ns = 0.1;  // 10 operations: 100
  CHECK(EstimatePlan(graph, cost).nanos == Approx(240));
  graph.ops[0].n_launches = 0;  // a view
  CHECK(EstimatePlan(graph, cost).nanos == Approx(140));
  cost.n_cpus = 5;
  cost.cpu_all.bytes_per_ns = 1.5;
  CHECK(cost.Cpu(1).bytes_per_ns == Approx(0.5));
  CHECK(cost.Cpu(3).bytes_per_ns == Approx(1.0));
  CHECK(cost.Cpu(50).bytes_per_ns == Approx(1.5));
}

TEST_CASE("partition: parts of a segment are judged on their own", "[plan]") {
  const test::FakeGpu gpu;
  // 0 → 1 → … → 4 pays. 5 alone would not; but its input is there already for 0.
  const std::vector<std::vector<int>> reads = {{0}, {1}, {2}, {3}, {4}, {0}};
  for (const double copy : {60.0, 95.0}) {
    WorkGraph graph = Chain(gpu, reads, std::vector<bool>(6, true), {5, 6});
    const DeviceCost cost = Counted(100, 10, 50, copy);
    Partition(&cost, &graph);
    CHECK(Places(graph) == (copy == 60.0 ? "GGGGGG" : "GGGGGC"));
    for (const WorkOp& work : graph.ops) {
      CHECK((work.reason.find("not worth") == 0) == (work.device == nullptr));
    }
  }
}

TEST_CASE("partition: segments join where nothing is left between them", "[plan]") {
  const test::FakeGpu gpu;
  // A chain on the device; beside it one operator there that hangs between two of the CPU.
  const std::vector<std::vector<int>> reads = {{0}, {0}, {1}, {3}, {2}, {5}, {4, 6}};
  WorkGraph graph = Chain(gpu, reads, {true, false, true, true, true, false, true}, {7});
  const DeviceCost cost = Counted(100, 1, 10, 55);
  Partition(&cost, &graph);
  CHECK(Places(graph) == "GCGGCCG");
  CHECK(EstimatePlan(graph, cost).nanos == Approx(3 * 100 + 4 + 10 + 3 * 55));
}

TEST_CASE("partition: a plan's estimate never exceeds the CPU's", "[plan]") {
  const test::FakeGpu gpu;
  std::mt19937 random(30);
  std::uniform_real_distribution<double> exponent(0, 5);
  const auto any = [&] { return std::pow(10.0, exponent(random)); };
  size_t n_kept = 0, n_back = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const size_t n = 1 + random() % 40;
    std::vector<std::vector<int>> reads(n);
    std::vector<bool> on_gpu(n);
    for (size_t i = 0; i < n; ++i) {
      reads[i] = {static_cast<int>(random() % (i + 1)), static_cast<int>(random() % (i + 1))};
      on_gpu[i] = random() % 4 != 0;
    }
    WorkGraph graph = Chain(gpu, reads, on_gpu, {static_cast<int>(n)});
    for (TensorView& view : graph.views) {
      view.shape = Shape({static_cast<int32_t>(1 + random() % 100000)});
    }
    DeviceCost cost;
    cost.device = {any(), any() / 10, any() / 10};
    cost.cpu_one = cost.cpu_all = {any(), any() / 1000, any() / 1000};
    cost.round_trip_ns = any();
    cost.copy_ns = any();
    cost.up_bytes_per_ns = any() / 100;
    cost.down_bytes_per_ns = any() / 100;
    const double on_cpu = EstimatePlan(graph, cost).cpu_nanos;
    Partition(&cost, &graph);
    const PlanEstimate estimate = EstimatePlan(graph, cost);
    INFO("trial " << trial << " " << Places(graph));
    REQUIRE(estimate.cpu_nanos == Approx(on_cpu));
    REQUIRE(estimate.nanos <= on_cpu * (1 + 1e-9));
    for (const WorkOp& work : graph.ops) {
      const size_t i = static_cast<size_t>(work.op.file_index);
      const bool back = on_gpu[i] && work.device == nullptr;
      REQUIRE((work.reason.find("not worth its transfers") == 0) == back);
      n_back += back;
      n_kept += work.device != nullptr;
    }
  }
  CHECK(n_kept > 500);
  CHECK(n_back > 500);
}

TEST_CASE("partition: plans show estimates and reasons", "[plan]") {
  const test::FakeGpu gpu;
  PlanOptions options;
  options.devices = {test::Borrow(gpu)};
  for (const bool dear : {false, true}) {
    options.device_cost = std::make_shared<const DeviceCost>(Counted(1000, 1, dear ? 1e9 : 1, 1));
    const auto plan = BuildPlan(test::DigitsModel(), options);
    REQUIRE(plan.ok());
    const std::string text = PrintPlan(*plan.value());
    INFO(text);
    CHECK(plan.value()->steps[0].parts.empty() == dear);
    CHECK((text.find("not worth its transfers to fake") != std::string::npos) == dear);
    CHECK(text.find("on the CPU alone") != std::string::npos);
    CHECK((plan.value()->estimated_ns < plan.value()->estimated_cpu_ns) == !dear);
    CHECK(PlanToJson(*plan.value()).find("\"estimated_cpu_ns\"") != std::string::npos);
  }
}

}  // namespace partition_test
}  // namespace topwork
