// GroupByDevice on random graphs: an order that is allowed, the same each time, with as few
// segments as any order has.
#include "runtime/plan/order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/runtime/plan/fake_gpu.h"

namespace topwork {
namespace order_test {

// Ops 0 … n−1 in the file's order; op i makes value i + 1 and reads earlier ones. Op kinds: on the
// GPU, on the CPU, or on the CPU with effects.
WorkGraph RandomGraph(std::mt19937* random, const Device* gpu, size_t n) {
  const auto below = [&](size_t limit) { return static_cast<int>((*random)() % limit); };
  WorkGraph graph;
  graph.values.resize(n + 1);
  graph.views.resize(n + 1);
  for (TensorView& view : graph.views) view.shape = Shape({2, 3});
  graph.inputs = {0};
  for (size_t i = 0; i < n; ++i) {
    WorkOp work;
    work.op.file_index = static_cast<int>(i);
    work.op.outputs = {static_cast<int>(i) + 1};
    for (int k = 1 + below(2); k > 0; --k) work.op.inputs.push_back(below(i + 1));
    const int kind = below(5);
    work.device = kind < 3 ? gpu : nullptr;
    work.op.code = kind == 4 ? OpCode::kRandomUniform : OpCode::kAdd;
    work.op.def = FindOp(work.op.code);
    graph.ops.push_back(std::move(work));
  }
  graph.outputs = {static_cast<int>(n)};
  graph.first_deferred = n - static_cast<size_t>(below(std::min<size_t>(n, 3)));
  return graph;
}

std::vector<int> FileIndices(const WorkGraph& graph) {
  std::vector<int> order;
  for (const WorkOp& work : graph.ops) order.push_back(work.op.file_index);
  return order;
}

bool IsAllowed(const WorkGraph& original, const std::vector<int>& order) {
  std::set<int> known = {0};
  int last_effect = -1;
  for (size_t at = 0; at < order.size(); ++at) {
    const WorkOp& work = original.ops[static_cast<size_t>(order[at])];
    for (int v : work.op.inputs) {
      if (known.count(v) == 0) return false;
    }
    known.insert(work.op.outputs[0]);
    if (work.op.code != OpCode::kRandomUniform) continue;
    if (work.op.file_index < last_effect) return false;
    last_effect = work.op.file_index;
  }
  return true;
}

size_t Segments(const WorkGraph& original, const std::vector<int>& order) {
  size_t n = 0;
  bool on_gpu = false;
  for (size_t at = 0; at < original.first_deferred; ++at) {
    const bool was_on_gpu = on_gpu;
    on_gpu = original.ops[static_cast<size_t>(order[at])].device != nullptr;
    n += on_gpu && !was_on_gpu;
  }
  return n;
}

// Over every allowed order.
size_t FewestSegments(const WorkGraph& original) {
  std::vector<int> order = FileIndices(original);
  size_t fewest = Segments(original, order);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(original.first_deferred);
  while (std::next_permutation(order.begin(), end)) {
    if (IsAllowed(original, order)) fewest = std::min(fewest, Segments(original, order));
  }
  return fewest;
}

TEST_CASE("order: random graphs are gathered into as few segments as can be", "[plan]") {
  const test::FakeGpu gpu;
  std::mt19937 random(20);
  size_t n_improved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const WorkGraph original = RandomGraph(&random, &gpu, 1 + random() % 7);
    WorkGraph graph = original;
    GroupByDevice(&graph);
    const std::vector<int> order = FileIndices(graph);
    INFO("trial " << trial);
    REQUIRE(IsAllowed(original, order));
    const size_t segments = Segments(original, order);
    REQUIRE(segments == FewestSegments(original));
    n_improved += segments < Segments(original, FileIndices(original));
  }
  CHECK(n_improved > 20);
}

TEST_CASE("order: large random graphs keep every rule", "[plan]") {
  const test::FakeGpu gpu;
  std::mt19937 random(21);
  for (int trial = 0; trial < 100; ++trial) {
    const WorkGraph original = RandomGraph(&random, &gpu, 1 + random() % 200);
    WorkGraph graph = original, again = original;
    GroupByDevice(&graph);
    GroupByDevice(&again);
    const std::vector<int> order = FileIndices(graph);
    INFO("trial " << trial);
    REQUIRE(FileIndices(again) == order);
    REQUIRE(std::set<int>(order.begin(), order.end()).size() == original.ops.size());
    REQUIRE(IsAllowed(original, order));
    REQUIRE(Segments(original, order) <= Segments(original, FileIndices(original)));
    for (size_t i = original.first_deferred; i < order.size(); ++i) {
      REQUIRE(order[i] == static_cast<int>(i));
    }
    GroupByDevice(&graph);  // what is in order stays so
    REQUIRE(Segments(original, FileIndices(graph)) == Segments(original, order));
  }
}

TEST_CASE("order: without a GPU the file's order stays", "[plan]") {
  std::mt19937 random(22);
  WorkGraph graph = RandomGraph(&random, nullptr, 50);
  const std::vector<int> before = FileIndices(graph);
  GroupByDevice(&graph);
  CHECK(FileIndices(graph) == before);
}

}  // namespace order_test
}  // namespace topwork
