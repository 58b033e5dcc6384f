// ChooseThreads: how many threads, and why, for machines of several kinds.
#include "runtime/plan/thread_choice.h"

#include <catch2/catch.hpp>

namespace topwork {
namespace thread_choice_test {
namespace {

// n processors on n_cores cores, n_fast of them fast.
std::string Choose(int n, int n_cores, int n_fast, double quota = 0.0, double flops = 1e9) {
  port::Processors processors;
  processors.n = n;
  processors.n_cores = n_cores;
  processors.n_fast = n_fast;
  processors.quota = quota;
  return ChooseThreads(processors, flops).ToString();
}

}  // namespace

TEST_CASE("threads: one for each fast core, at most four", "[plan]") {
  CHECK(Choose(1, 1, 1) == "1 thread: this program may use one processor");
  CHECK(Choose(2, 2, 2) == "2 threads: this program may use 2 processors");
  CHECK(Choose(16, 16, 16) ==
        "4 threads: this program may use 16 processors, and more than 4 seldom pay");
  CHECK(Choose(8, 8, 4) == "4 threads: 4 of 8 cores are fast");
  CHECK(Choose(8, 8, 1) == "1 thread: 1 of 8 cores are fast");
  CHECK(Choose(4, 2, 2) == "2 threads: 4 processors are on 2 cores");
  CHECK(Choose(16, 8, 8) == "4 threads: 16 processors are on 8 cores, and more than 4 seldom pay");
}

TEST_CASE("threads: no more than the quota of the container pays for", "[plan]") {
  CHECK(Choose(8, 8, 8, 1.0) == "1 thread: the container may take the time of 1 processor");
  CHECK(Choose(8, 8, 8, 1.5) == "1 thread: the container may take the time of 1.5 processors");
  CHECK(Choose(8, 8, 8, 0.25) == "1 thread: the container may take the time of 0.25 processors");
  CHECK(Choose(8, 8, 8, 3.0) == "3 threads: the container may take the time of 3 processors");
  CHECK(Choose(2, 2, 2, 6.0) == "2 threads: this program may use 2 processors");
}

TEST_CASE("threads: one for a model that is too small to gain", "[plan]") {
  CHECK(Choose(4, 4, 4, 0.0, 5e5) == "1 thread: a run is only 0.5 million operations");
  CHECK(Choose(4, 4, 4, 0.0, 5e6) == "4 threads: this program may use 4 processors");
  // What a run computes may not be known.
  CHECK(Choose(4, 4, 4, 0.0, -1.0) == "4 threads: this program may use 4 processors");
}

TEST_CASE("threads: independent work has one for each processor that is paid for", "[plan]") {
  port::Processors processors;
  processors.n = 12;
  processors.n_cores = 8;
  processors.n_fast = 2;
  CHECK(CountIndependentThreads(processors) == 12);
  processors.quota = 2.5;
  CHECK(CountIndependentThreads(processors) == 2);
  processors.quota = 0.5;
  CHECK(CountIndependentThreads(processors) == 1);
}

}  // namespace thread_choice_test
}  // namespace topwork
