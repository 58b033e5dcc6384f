// LoopCosts: which loops of a run are shared.
#include "runtime/base/loop_costs.h"

#include <catch2/catch.hpp>
#include <vector>

#include "ports/port.h"

namespace topwork {
namespace test {
namespace {

void SpinFor(int64_t nanos) {
  const int64_t end = port::NowNanos() + nanos;
  while (port::NowNanos() < end) {
  }
}

struct Loop {
  double task_ns;
  int64_t shared_ns, kept_ns;  // what it takes
  int64_t n_tasks = 8;
  bool keeps = false;  // in the last run
};

void Run(LoopCosts* costs, std::vector<Loop>* loops, bool tries) {
  costs->BeginRun(tries);
  for (Loop& loop : *loops) {
    LoopCost* cost = costs->Next(loop.n_tasks);
    if (cost->task_ns == 0.0) cost->task_ns = loop.task_ns;
    loop.keeps = costs->Keeps(*cost);
    SpinFor(loop.keeps ? loop.kept_ns : loop.shared_ns);
  }
  costs->EndRun();
}

}  // namespace

TEST_CASE("loop costs: each loop is run in the way that takes less", "[base]") {
  LoopCosts costs(16);
  std::vector<Loop> loops = {{1000.0, 40'000, 4'000}, {1000.0, 4'000, 40'000},
                             {1000.0, 40'000, 4'000}, {100.0, 4'000, 4'000},
                             {9000.0, 40'000, 4'000}, {1000.0, 4'000, 40'000}};
  for (int i = 0; i < 400; ++i) Run(&costs, &loops, true);
  Run(&costs, &loops, false);
  CHECK(loops[0].keeps);
  CHECK_FALSE(loops[1].keeps);
  CHECK(loops[2].keeps);
  CHECK(loops[3].keeps);        // too short to be shared
  CHECK_FALSE(loops[4].keeps);  // too long to be kept
  CHECK_FALSE(loops[5].keeps);
  CHECK(costs.HaveChanged());
  CHECK_FALSE(costs.HaveChanged());
  // Another network takes the place: what was learnt of its predecessor is gone.
  for (Loop& loop : loops) loop.n_tasks = 4;
  loops[0].shared_ns = 4'000;
  Run(&costs, &loops, false);
  CHECK(costs.HaveChanged());
  CHECK_FALSE(loops[0].keeps);
}

TEST_CASE("loop costs: the delay that a loop causes in the next one counts", "[base]") {
  LoopCosts costs(4);
  std::vector<Loop> loops = {
      {1000.0, 8'000, 4'000}, {5000.0, 10'000, 10'000}, {5000.0, 5'000, 5'000}};
  for (int i = 0; i < 200; ++i) {
    costs.BeginRun(true);
    for (Loop& loop : loops) {
      LoopCost* cost = costs.Next(loop.n_tasks);
      cost->task_ns = loop.task_ns;
      loop.keeps = costs.Keeps(*cost);
      if (&loop == &loops[1]) loop.shared_ns = loops[0].keeps ? 60'000 : 10'000;
      SpinFor(loop.keeps ? loop.kept_ns : loop.shared_ns);
    }
    costs.EndRun();
  }
  Run(&costs, &loops, false);
  CHECK_FALSE(loops[0].keeps);
}

TEST_CASE("loop costs: loops beyond the most are not remembered", "[base]") {
  LoopCosts costs(2);
  costs.BeginRun(false);
  CHECK(costs.Next(3) != nullptr);
  CHECK(costs.Next(3) != nullptr);
  CHECK(costs.Next(3) == nullptr);
  costs.EndRun();
  costs.BeginRun(true);
  CHECK(costs.Next(3) != nullptr);
  costs.EndRun();
}

}  // namespace test
}  // namespace topwork
