// The bounded memory of examples: bounds, balance, and equal chances within a class.
#include "runtime/train/features/replay.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace topwork {
namespace replay_test {

// What the slots hold: number of the example, in the order of arrival.
struct Memory {
  ReplayMemory replay;
  std::vector<int> examples;

  Memory(int64_t capacity, uint64_t seed) : replay(capacity, seed) {}
  void Add(int example, int32_t label) {
    const int64_t slot = replay.Offer(label);
    if (slot == static_cast<int64_t>(examples.size())) {
      examples.push_back(example);
    } else if (slot >= 0) {
      examples[static_cast<size_t>(slot)] = example;
    }
  }
  int64_t Count(int32_t label) const {
    return std::count(replay.labels().begin(), replay.labels().end(), label);
  }
};

TEST_CASE("replay: everything is kept while there is room", "[train]") {
  ReplayMemory memory(10, 1);
  for (int i = 0; i < 10; ++i) CHECK(memory.Offer(i % 3) == i);
  CHECK(memory.size() == 10);
  for (int i = 0; i < 100; ++i) {
    const int64_t slot = memory.Offer(i % 3);
    CHECK(slot < 10);
    CHECK(slot >= -1);
  }
  CHECK(memory.size() == 10);
}

TEST_CASE("replay: a rare class keeps its examples among many of another", "[train]") {
  Memory memory(20, 3);
  int example = 0;
  for (int i = 0; i < 500; ++i) memory.Add(example++, 0);
  for (int i = 0; i < 4; ++i) memory.Add(example++, 1);
  for (int i = 0; i < 500; ++i) memory.Add(example++, 0);
  for (int i = 0; i < 300; ++i) memory.Add(example++, 2);
  CHECK(memory.Count(1) == 4);
  CHECK(memory.Count(0) == 8);
  CHECK(memory.Count(2) == 8);
  for (int i = 0; i < 300; ++i) memory.Add(example++, 1);
  CHECK(memory.Count(0) >= 6);
  CHECK(memory.Count(1) >= 6);
  CHECK(memory.Count(2) >= 6);
}

TEST_CASE("replay: every example of a class has the same chance to stay", "[train]") {
  constexpr int kExamples = 60;
  constexpr int kCapacity = 12;
  constexpr int kRounds = 4000;
  std::vector<int> kept(kExamples, 0);
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    Memory memory(kCapacity, seed);
    for (int i = 0; i < kExamples; ++i) memory.Add(i, 0);
    for (int example : memory.examples) ++kept[static_cast<size_t>(example)];
  }
  // Chi-square against 1 in 5: 59 degrees of freedom, of which 1 in 1000 exceeds 98.3. The variance
  // of a count is that of drawing without replacement.
  const double expected = static_cast<double>(kRounds) * kCapacity / kExamples;
  double chi = 0.0;
  for (int count : kept) {
    chi += (count - expected) * (count - expected) / (expected * (1.0 - 1.0 / 5.0));
  }
  CHECK(chi < 98.3);
  CHECK(chi > 20.0);
}

TEST_CASE("replay: the saved state goes on alike, and a false one is refused", "[train]") {
  ReplayMemory first(7, 11);
  for (int i = 0; i < 50; ++i) first.Offer(i % 4);
  ReplayMemory second(7, 99);
  REQUIRE(second.SetState(first.State(), first.labels()).ToString() == "OK");
  for (int i = 0; i < 200; ++i) {
    const int32_t label = (i * 7) % 5;
    REQUIRE(second.Offer(label) == first.Offer(label));
  }
  ReplayState state = first.State();
  ReplayMemory third(7, 1);
  state.labels[0] = 100;
  CHECK(third.SetState(state, first.labels()).code() == StatusCode::kCorrupt);
  CHECK(third.SetState(state, state.labels).code() == StatusCode::kCorrupt);
  state = first.State();
  state.seen[0] = 0;
  CHECK(third.SetState(state, first.labels()).code() == StatusCode::kCorrupt);
  CHECK(ReplayMemory(6, 1).SetState(first.State(), first.labels()).code() == StatusCode::kCorrupt);
  CHECK(third.size() == 0);
}

}  // namespace replay_test
}  // namespace topwork
