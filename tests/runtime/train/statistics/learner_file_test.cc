// Memories of learners: what is read is what was written, they merge, trainers take them, and what
// does not belong is refused.
#include <catch2/catch.hpp>

#include "models/format/checkpoint_file.h"
#include "runtime/train/statistics/learner.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace learner_file_test {

using test::Images;
using test::kImageFloats;
using test::TrainerData;

struct Owner {
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Learner> learner;
  Learner* operator->() { return learner.get(); }
};

Owner NewLearner(const std::vector<std::string>& names = {}, bool keeps = true,
                 test::Tail tail = test::Tail::kDense) {
  Owner owner;
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  owner.trainer = test::NewTrainer(options, tail);
  auto learner = Learner::Create(owner.trainer.get(), names, 0.5, keeps);
  REQUIRE(learner.status().ToString() == "OK");
  owner.learner = std::move(learner.value());
  return owner;
}

TrainerData Slice(const TrainerData& data, size_t first, size_t n) {
  const auto x = data.x.begin() + static_cast<std::ptrdiff_t>(first * kImageFloats);
  const auto y = data.y.begin() + static_cast<std::ptrdiff_t>(first);
  return {{x, x + static_cast<std::ptrdiff_t>(n * kImageFloats)},
          {y, y + static_cast<std::ptrdiff_t>(n)}};
}

void Add(Owner* owner, const TrainerData& data, const std::string& prefix) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < data.y.size(); ++i) ids.push_back(prefix + std::to_string(i));
  REQUIRE((*owner)->Add(data.examples(), ids, nullptr).ToString() == "OK");
}

std::vector<float> Solved(Owner* owner) {
  REQUIRE((*owner)->Solve().ToString() == "OK");
  const Span<const float> values = owner->trainer->state().parameters();
  return {values.begin(), values.end()};
}

void RequireError(const Status& status, StatusCode code, const char* text) {
  INFO(status.ToString());
  CHECK(status.code() == code);
  CHECK(status.message().find(text) != std::string::npos);
}

double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::fabs(static_cast<double>(a[i] - b[i])));
  }
  return difference;
}

TEST_CASE("memory: what is read is what was written", "[train]") {
  const test::TempFile file("again");
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, Images(30, 3), "x");
  const std::vector<float> head = Solved(&owner);
  REQUIRE(owner->Save(file.path).ToString() == "OK");
  Owner again = NewLearner();
  REQUIRE(again->Load(file.path).ToString() == "OK");
  CHECK(again->class_names() == std::vector<std::string>{"a", "b", "c"});
  CHECK(again->id(7) == "x7");
  CHECK(again->n_kept() == 30);
  CHECK(Solved(&again) == head);
  REQUIRE(again->Remove({{"x7"}, {}, nullptr, nullptr}).ok());
  // The file is held by the first.
  RequireError(again->Save(file.path), StatusCode::kFailedPrecondition, "in use");
}

TEST_CASE("memory: one that names examples and has none is refused", "[train]") {
  const test::TempFile file("rowless");
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, Images(30, 3), "x");
  REQUIRE(owner->Save(file.path).ToString() == "OK");
  const std::string text = file.Read();
  const auto data = DecodeCheckpoint({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  REQUIRE(data.status().ToString() == "OK");
  CheckpointData wrong = *data;
  wrong.rows.clear();
  const std::vector<uint8_t> bytes = EncodeCheckpoint(wrong).value();
  const test::TempFile damaged("rowless_damaged");
  damaged.Write(std::string(bytes.begin(), bytes.end()));
  Owner other = NewLearner();
  RequireError(other->Load(damaged.path), StatusCode::kCorrupt,
               "contradicts itself: 0 floats, 30 labels");
  CHECK(other->n_kept() == 0);
}

TEST_CASE("memory: scores of few examples stay as sure as they are", "[train]") {
  // One class, of which no head is made: the memory has the temperature that a new learner has.
  const TrainerData data = Images(9, 3);
  const test::TempFile file("one_class");
  Owner stays = NewLearner({"a", "b", "c"}), saves = NewLearner({"a", "b", "c"});
  for (Owner* owner : {&stays, &saves}) Add(owner, Slice(data, 0, 1), "one");
  REQUIRE(saves->Save(file.path, false).ToString() == "OK");
  Owner reopened = NewLearner();
  REQUIRE(reopened->Open(file.path, true).ToString() == "OK");
  for (Owner* owner : {&stays, &reopened}) {
    Add(owner, Slice(data, 1, 2), "two");
    Solved(owner);
  }
  CHECK(reopened.trainer->state().temperature == stays.trainer->state().temperature);
}

TEST_CASE("memory: five devices that merge have the head of all their examples", "[train]") {
  const TrainerData data = Images(100, 3);
  Owner centre = NewLearner({"a", "b", "c"});
  for (size_t k = 0; k < 5; ++k) Add(&centre, Slice(data, 20 * k, 20), std::to_string(k) + "/");
  const std::vector<float> head = Solved(&centre);
  for (const bool keeps : {true, false}) {
    Owner merged = NewLearner({"a", "b", "c"});
    for (size_t k = 0; k < 5; ++k) {
      const test::TempFile file("device");
      // The devices know the classes in another order.
      Owner device = NewLearner({"c", "a", "b"});
      TrainerData part = Slice(data, 20 * k, 20);
      for (int32_t& label : part.y) label = (label + 1) % 3;
      Add(&device, part, std::to_string(k) + "/");
      REQUIRE(device->Save(file.path, !keeps).ToString() == "OK");
      CHECK(device->n_kept() == 20);  // its own features stay
      int64_t n_same = -1;
      REQUIRE(merged->Merge(file.path, &n_same).ToString() == "OK");
      CHECK(n_same == 0);
    }
    CHECK(merged->statistics().size() == 100);
    CHECK(merged->n_kept() == (keeps ? 100 : 0));
    CHECK(Difference(Solved(&merged), head) < 1e-6);
  }
}

TEST_CASE("memory: examples in both count once, and others of one id are refused", "[train]") {
  const test::TempFile file("both");
  const TrainerData data = Images(30, 3);
  Owner other = NewLearner({"a", "b", "c"});
  Add(&other, data, "x");
  REQUIRE(other->Save(file.path).ok());
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, Slice(data, 0, 10), "x");
  int64_t n_same = 0;
  REQUIRE(owner->Merge(file.path, &n_same).ToString() == "OK");
  CHECK(n_same == 10);
  CHECK(owner->n_kept() == 30);
  REQUIRE(owner->Relabel({{"x3"}, {}, nullptr, nullptr}, (data.y[3] + 1) % 3).ok());
  RequireError(owner->Merge(file.path, &n_same), StatusCode::kFailedPrecondition, "'x3'");
  CHECK(owner->n_kept() == 30);
}

TEST_CASE("memory: a trainer goes on from it, and a learner from a trainer's", "[train]") {
  const test::TempFile file("both_ways");
  const TrainerData data = Images(40, 3);
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, data, "x");
  const std::vector<float> head = Solved(&owner);
  REQUIRE(owner->Save(file.path).ok());
  owner.learner.reset();  // gives the file back

  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  auto trainer = test::NewTrainer(options);
  REQUIRE(trainer->RestoreCheckpoint(file.path).ToString() == "OK");
  CHECK(trainer->options().class_names == std::vector<std::string>{"a", "b", "c"});
  CHECK(trainer->set().size() == 40);
  const Span<const float> restored = trainer->state().parameters();
  CHECK(std::vector<float>(restored.begin(), restored.end()) == head);
  REQUIRE(trainer->Train().ToString() == "OK");
  REQUIRE(trainer->SaveCheckpoint(file.path, true).ToString() == "OK");
  options.replay_capacity = 39;
  RequireError(test::NewTrainer(options)->RestoreCheckpoint(file.path),
               StatusCode::kFailedPrecondition, "replay_capacity");
  trainer.reset();

  Owner again = NewLearner();
  REQUIRE(again->Load(file.path).ToString() == "OK");
  CHECK(again->n_kept() == 40);
  CHECK(again->id(3) == "x3");
  CHECK(Difference(Solved(&again), head) < 1e-6);
}

TEST_CASE("memory: negatives of a trainer stay in it, and join those of another one", "[train]") {
  const TrainerData data = Images(24, 2), other = Images(12, 2, 9);
  const test::TempFile first("first"), second("second"), statistics("statistics");
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  const auto trainer = test::Trained(options, data);
  REQUIRE(trainer->rejecter().AddNegatives(Slice(other, 0, 8).examples(), nullptr).ok());
  const std::vector<float> rows = trainer->rejecter().NegativeRows();
  REQUIRE(trainer->SaveCheckpoint(first.path, true).ToString() == "OK");
  Owner learner = NewLearner();
  REQUIRE(learner->Load(first.path).ToString() == "OK");
  CHECK(learner.trainer->rejecter().NegativeRows() == rows);
  REQUIRE(learner->Save(second.path, false).ToString() == "OK");
  REQUIRE(learner->Save(statistics.path, true).ToString() == "OK");
  Owner again = NewLearner();
  REQUIRE(again->Load(second.path).ToString() == "OK");
  CHECK(again.trainer->rejecter().NegativeRows() == rows);
  // Four of these are in both.
  Owner merged = NewLearner({"0", "1"});
  REQUIRE(merged.trainer->rejecter().AddNegatives(Slice(other, 4, 8).examples(), nullptr).ok());
  int64_t n_same = 0;
  REQUIRE(merged->Merge(second.path, &n_same).ToString() == "OK");
  CHECK(merged.trainer->rejecter().NegativeRows().size() == rows.size() / 8 * 12);
  Owner without = NewLearner();
  REQUIRE(without->Load(statistics.path).ToString() == "OK");
  CHECK(without.trainer->rejecter().NegativeRows().empty());
}

TEST_CASE("memory: what a trainer cannot use it refuses by its reason", "[train]") {
  const test::TempFile file("refused");
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, Images(20, 3), "x");
  REQUIRE(owner->Save(file.path).ok());
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  options.replay_capacity = 19;
  RequireError(test::NewTrainer(options)->RestoreCheckpoint(file.path),
               StatusCode::kFailedPrecondition, "20 examples; at most 19");
  options.replay_capacity = 0;
  REQUIRE(owner->Save(file.path, true).ok());
  RequireError(test::NewTrainer(options)->RestoreCheckpoint(file.path),
               StatusCode::kFailedPrecondition, "features are not kept");
}

TEST_CASE("memory: foreign and damaged files are refused, and change nothing", "[train]") {
  const test::TempFile file("foreign");
  Owner owner = NewLearner({"a", "b", "c"});
  Add(&owner, Images(20, 3), "x");
  const std::vector<float> head = Solved(&owner);
  REQUIRE(owner->Save(file.path).ok());
  Owner other = NewLearner({}, true, test::Tail::kDenseNoBias);
  RequireError(other->Load(file.path), StatusCode::kFailedPrecondition, "belongs to the model");
  int64_t n_same = 0;
  RequireError(other->Merge(file.path, &n_same), StatusCode::kFailedPrecondition,
               "belongs to the model");
  RequireError(other->Load("learner_file_test_nowhere"), StatusCode::kIo, "nowhere");

  REQUIRE(owner->Remove({{"x0"}, {}, nullptr, nullptr}).ok());
  REQUIRE(owner->Save(file.path).ok());
  const std::string good = file.Read();
  size_t n_noticed = 0;
  size_t n_tried = 0;
  for (size_t at = 0; at < good.size(); at += 37, ++n_tried) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    file.Write(bad);
    Owner reader = NewLearner();
    const Status status = reader->Load(file.path);
    n_noticed += status.code() == StatusCode::kCorrupt &&
                         status.message().find(".previous', is sound") != std::string::npos
                     ? 1
                     : 0;
    CHECK(reader->n_kept() == 0);
  }
  CHECK(n_noticed == n_tried);
  for (size_t n = 0; n < good.size(); n += 101) {
    file.Write(good.substr(0, n));
    CHECK_FALSE(NewLearner()->Load(file.path).ok());
  }
  Owner before = NewLearner();
  REQUIRE(before->Load(file.path + ".previous").ok());
  CHECK(Solved(&before) == head);
}

TEST_CASE("memory: a checkpoint without examples, or of numbers, is refused", "[train]") {
  const test::TempFile file("without");
  const TrainerData data = Images(20, 3);
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  auto trainer = test::NewTrainer(options);
  REQUIRE(trainer->AddExamples(data.examples()).ok());
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  RequireError(NewLearner()->Load(file.path), StatusCode::kFailedPrecondition,
               "without its examples");
  trainer.reset();
  options.loss.loss = Loss::kMeanSquaredError;
  options.n_classes = 2;
  trainer = test::NewTrainer(options);
  const std::vector<float> values(40, 0.5f);
  REQUIRE(trainer
              ->AddExamples(Examples::FromArray(data.x.data(), kImageFloats * sizeof(float),
                                                values.data(), 2, 20))
              .ok());
  REQUIRE(trainer->SaveCheckpoint(file.path, true).ok());
  RequireError(NewLearner()->Load(file.path), StatusCode::kFailedPrecondition, "numbers");
}

}  // namespace learner_file_test
}  // namespace topwork
