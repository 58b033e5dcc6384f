// Learners: what is added, removed, re-labelled and merged gives the head of the examples that
// remain, in the trainer and in the exported model.
#include "runtime/train/statistics/learner.h"

#include <catch2/catch.hpp>

#include "tests/runtime/train/statistics/ridge_reference.h"
#include "tests/runtime/train/trainer_data.h"

namespace topwork {
namespace learner_test {

using test::Images;
using test::kImageFloats;
using test::TrainerData;

const std::vector<std::string> kClasses = {"a", "b", "c"};

// A learner with the trainer that it works on.
struct Owner {
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Learner> learner;
  Learner* operator->() { return learner.get(); }
};

Owner NewLearner(double penalty = 0.5, bool keeps = true, float reject_rate = 0.0f) {
  Owner owner;
  TrainerOptions options;
  options.n_classes = 2;
  options.n_threads = 1;
  options.reject_rate = reject_rate;
  owner.trainer = test::NewTrainer(options);
  auto learner = Learner::Create(owner.trainer.get(), kClasses, penalty, keeps);
  REQUIRE(learner.status().ToString() == "OK");
  owner.learner = std::move(learner.value());
  return owner;
}

std::vector<std::string> Ids(const std::string& prefix, size_t n) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < n; ++i) ids.push_back(prefix + std::to_string(i));
  return ids;
}

TrainerData Part(const TrainerData& data, const std::vector<size_t>& which) {
  TrainerData part;
  for (const size_t i : which) {
    const auto begin = data.x.begin() + static_cast<std::ptrdiff_t>(i * kImageFloats);
    part.x.insert(part.x.end(), begin, begin + static_cast<std::ptrdiff_t>(kImageFloats));
    part.y.push_back(data.y[i]);
  }
  return part;
}

LearnerSelection OfIds(const std::vector<std::string>& ids) { return {ids, {}, nullptr, nullptr}; }

void Add(Owner* owner, const TrainerData& data, const std::vector<std::string>& ids) {
  REQUIRE((*owner)->Add(data.examples(), ids, nullptr).ToString() == "OK");
}

std::vector<float> Solved(Owner* owner) {
  REQUIRE((*owner)->Solve().ToString() == "OK");
  const Span<const float> values = owner->trainer->state().parameters();
  return {values.begin(), values.end()};
}

// The heads agree to the last digits of float32.
void CheckSame(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0.0;
  double difference = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(b[i])));
    difference =
        std::max(difference, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  CHECK(difference <= 1e-6 * most);
}

void RequireError(const Status& status, StatusCode code, const char* text) {
  INFO(status.ToString());
  CHECK(status.code() == code);
  CHECK(status.message().find(text) != std::string::npos);
}

TEST_CASE("learner: the exported model computes the head that the definition gives", "[train]") {
  const TrainerData data = Images(40, 3);
  Owner owner = NewLearner();
  Add(&owner, data, Ids("x", 40));
  const std::vector<float> head = Solved(&owner);
  // The features of the same examples, taken from a trainer.
  const std::unique_ptr<FeatureCache> cache = owner.trainer->set().NewCache(false);
  REQUIRE(owner.trainer->Extract(data.examples(), nullptr, cache.get()).ok());
  std::vector<std::vector<float>> rows;
  for (int64_t i = 0; i < 40; ++i) rows.emplace_back(cache->row(i), cache->row(i) + cache->dim());
  const test::RidgeReference anew = test::SolveRidgeAnew(rows, data.y, 3, 0.5);
  std::vector<double> weights(head.begin(),
                              head.begin() + static_cast<std::ptrdiff_t>(anew.weights.size()));
  CHECK(test::Difference(weights, anew) < 1e-6);
  const auto model = owner.trainer->Export();
  REQUIRE(model.status().ToString() == "OK");
  const auto opened = test::OpenBytes(*model);
  CHECK(opened->labels() == kClasses);
  const std::vector<float> scores = test::RunModel(opened, data.x);
  std::vector<float> predicted(40 * 3);
  REQUIRE(owner.trainer->judge().Predict(data.examples(), predicted.data()).ok());
  int n_right = 0;
  for (size_t i = 0; i < 40; ++i) {
    const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(3 * i);
    n_right += std::max_element(begin, begin + 3) - begin == data.y[i] ? 1 : 0;
    for (size_t c = 0; c < 3; ++c)
      CHECK(scores[3 * i + c] == Approx(predicted[3 * i + c]).margin(1e-5));
  }
  CHECK(n_right >= 36);
}

TEST_CASE("learner: what goes leaves no trace in the head", "[train]") {
  const TrainerData data = Images(60, 3);
  std::vector<size_t> first, rest;
  for (size_t i = 0; i < 60; ++i) (i < 45 ? first : rest).push_back(i);
  Owner expected = NewLearner();
  Add(&expected, Part(data, first), Ids("x", 45));
  const std::vector<float> head = Solved(&expected);

  Owner owner = NewLearner();
  Add(&owner, Part(data, first), Ids("x", 45));
  Solved(&owner);
  SECTION("examples by their ids, one by one and together") {
    Add(&owner, Part(data, rest), Ids("y", 15));
    Solved(&owner);
    REQUIRE(owner->Remove(OfIds({"y3"})).ok());
    std::vector<std::string> ids = Ids("y", 15);
    ids.erase(ids.begin() + 3);
    REQUIRE(owner->Remove(OfIds(ids)).ok());
  }
  SECTION("a group") {
    Examples examples = Part(data, rest).examples();
    const TrainerData part = Part(data, rest);
    examples = part.examples();
    const auto read = examples.read;
    examples.read = [read](int64_t i, Span<void* const> inputs, ExampleTarget* target) {
      target->group = 7;
      return read(i, inputs, target);
    };
    REQUIRE(owner->Add(examples, Ids("y", 15), nullptr).ToString() == "OK");
    CHECK(owner->group(50) == 7);
    Solved(&owner);
    const LearnerSelection seventh = {{}, {7}, nullptr, nullptr};
    REQUIRE(owner->Remove(seventh).ok());
    RequireError(owner->Remove(seventh), StatusCode::kNotFound, "group 7");
  }
  SECTION("a class") {
    REQUIRE(owner->AddClass("d").ok());
    TrainerData fourth = Part(data, rest);
    for (int32_t& label : fourth.y) label = 3;
    Add(&owner, fourth, Ids("y", 15));
    Solved(&owner);
    REQUIRE(owner->SetClasses({"a", "b", "c"}).ok());
  }
  SECTION("a wrong label") {
    REQUIRE(owner->Relabel(OfIds({"x4"}), (data.y[4] + 1) % 3).ok());
    REQUIRE(owner->Relabel(OfIds({"x4"}), data.y[4]).ok());
  }
  CHECK(owner->n_kept() == 45);
  CheckSame(Solved(&owner), head);
}

TEST_CASE("learner: a class in the middle goes, and the others keep their names", "[train]") {
  const TrainerData data = Images(60, 3);
  Owner owner = NewLearner();
  Add(&owner, data, Ids("x", 60));
  Solved(&owner);
  REQUIRE(owner->SetClasses({"a", "c"}).ok());
  CHECK(owner->class_names() == std::vector<std::string>{"a", "c"});
  const std::vector<float> head = Solved(&owner);
  Owner expected = NewLearner();
  REQUIRE(expected->SetClasses({"a", "c"}).ok());
  TrainerData two;
  std::vector<size_t> which;
  for (size_t i = 0; i < 60; ++i) {
    if (data.y[i] != 1) which.push_back(i);
  }
  two = Part(data, which);
  for (int32_t& label : two.y) label /= 2;
  Add(&expected, two, Ids("x", two.y.size()));
  CheckSame(Solved(&expected), head);
  REQUIRE(owner->SetClasses({"z", "a"}, {1, 0}).ok());
  CHECK(owner->class_names() == std::vector<std::string>{"z", "a"});
  CHECK(owner->label(0) == 1);
  RequireError(owner->SetClasses({"z", "z"}), StatusCode::kInvalidArgument, "twice");
  RequireError(owner->SetClasses({"z", ""}), StatusCode::kInvalidArgument, "empty name");
}

TEST_CASE("learner: classes are added together, and each name once", "[train]") {
  Owner owner = NewLearner();
  const auto labels = owner->AddClasses({"caf\xe9", "b", "x", "caf\xe9", "x"});
  REQUIRE(labels.status().ToString() == "OK");
  CHECK(labels.value() == std::vector<int32_t>{3, 1, 4, 3, 4});
  CHECK(owner->class_names().size() == 5);
  CHECK(owner->AddClass("caf\xe9").value() == 3);
  CHECK(owner->AddClasses({"new", ""}).status().code() == StatusCode::kInvalidArgument);
  CHECK(owner->class_names().size() == 5);
}

TEST_CASE("learner: classes become one, and the head is that of the joined examples", "[train]") {
  const TrainerData data = Images(60, 3);
  TrainerData joined = data;
  for (int32_t& label : joined.y) label = label == 1 ? 1 : 0;
  for (const size_t n : {size_t{6}, size_t{60}}) {  // more features than examples, and fewer
    std::vector<size_t> which;
    for (size_t i = 0; i < n; ++i) which.push_back(i);
    Owner once = NewLearner();
    REQUIRE(once->SetClasses({"ca", "b"}).ok());
    Add(&once, Part(joined, which), Ids("x", n));
    Owner owner = NewLearner();
    Add(&owner, Part(data, which), Ids("x", n));
    Solved(&owner);
    const int64_t n_solved = owner->ridge().n_solved();
    REQUIRE(owner->SetClasses({"ca", "b"}, {0, 1, 0}).ok());
    CHECK(owner->statistics().count(0) == once->statistics().count(0));
    CheckSame(Solved(&owner), Solved(&once));
    CHECK(owner->ridge().n_solved() == n_solved);
  }
}

TEST_CASE("learner: wrong use is refused and changes nothing", "[train]") {
  const TrainerData data = Images(10, 3);
  Owner owner = NewLearner();
  Add(&owner, data, Ids("x", 10));
  const std::vector<float> head = Solved(&owner);
  RequireError(owner->Add(Part(data, {1, 2}).examples(), {"n", "x3"}, nullptr),
               StatusCode::kInvalidArgument, "'x3' is there already");
  RequireError(owner->Add(Part(data, {1, 2}).examples(), {"n", "n"}, nullptr),
               StatusCode::kInvalidArgument, "given twice");
  RequireError(owner->Add(Part(data, {1}).examples(), {""}, nullptr), StatusCode::kInvalidArgument,
               "is empty");
  RequireError(owner->Add(Part(data, {1}).examples(), {}, nullptr), StatusCode::kInvalidArgument,
               "0 ids for 1");
  TrainerData wrong = Part(data, {1});
  wrong.y[0] = 3;
  RequireError(owner->Add(wrong.examples(), {"n"}, nullptr), StatusCode::kInvalidArgument,
               "label 3; there are 3 classes");
  RequireError(owner->Remove(OfIds({"x1", "nobody"})), StatusCode::kNotFound, "'nobody'");
  RequireError(owner->Relabel(OfIds({"nobody"}), 0), StatusCode::kNotFound, "'nobody'");
  for (const int32_t group : {-1, -7}) {  // examples without a group have -1
    RequireError(owner->Remove({{}, {group}, nullptr, nullptr}), StatusCode::kInvalidArgument,
                 "stands for no group");
  }
  RequireError(owner->Relabel(OfIds({"x1"}), 3), StatusCode::kInvalidArgument,
               "there are 3 classes");
  CHECK(owner->n_kept() == 10);
  CHECK(Solved(&owner) == head);
  Owner empty = NewLearner();
  RequireError(empty->Solve(), StatusCode::kFailedPrecondition, "two or more");
}

TEST_CASE("learner: statistics alone give the same head, and examples go by coming again",
          "[train]") {
  const TrainerData data = Images(60, 3);
  Owner expected = NewLearner();
  Add(&expected, data, Ids("x", 60));
  const std::vector<float> head = Solved(&expected);
  Owner owner = NewLearner(0.5, false);
  Add(&owner, data, {});
  CHECK(owner->n_kept() == 0);
  CheckSame(Solved(&owner), head);
  const TrainerData more = Images(5, 3, 99);
  Add(&owner, more, {});
  Solved(&owner);
  const Examples again = more.examples();
  const LearnerSelection given = {{}, {}, &again, nullptr};
  REQUIRE(owner->Remove(given).ToString() == "OK");
  CheckSame(Solved(&owner), head);
  RequireError(owner->SetClasses({"a", "c"}), StatusCode::kFailedPrecondition, "not kept");
  Owner none = NewLearner(0.5, false);
  RequireError(none->Remove(given), StatusCode::kFailedPrecondition, "cannot be among");
}

TEST_CASE("learner: examples without features get another class by coming again", "[train]") {
  const TrainerData data = Images(60, 3), more = Images(5, 3, 99);
  TrainerData third = more;
  for (int32_t& label : third.y) label = 2;
  Owner expected = NewLearner(0.5, false);
  Add(&expected, data, {});
  Add(&expected, third, {});
  Owner owner = NewLearner(0.5, false);
  Add(&owner, data, {});
  Add(&owner, more, {});
  Solved(&owner);
  const Examples again = more.examples();
  REQUIRE(owner->Relabel({{}, {}, &again, nullptr}, 2).ToString() == "OK");
  CHECK(owner->statistics().count(2) == expected->statistics().count(2));
  CheckSame(Solved(&owner), Solved(&expected));
}

TEST_CASE("learner: the penalty is chosen where none is given", "[train]") {
  const TrainerData data = Images(60, 3);
  Owner owner = NewLearner(0.0);
  Add(&owner, data, Ids("x", 60));
  Solved(&owner);
  CHECK(owner->penalty() > 0.0);
  CHECK(owner->n_chosen() == 60);
  const double chosen = owner->penalty();
  REQUIRE(owner->Remove(OfIds({"x1"})).ok());
  Solved(&owner);
  CHECK(owner->penalty() == chosen);
  CHECK(owner->n_chosen() == 60);
  std::vector<std::string> half = Ids("x", 32);  // until half of them are gone
  half.erase(half.begin() + 1);
  REQUIRE(owner->Remove(OfIds(half)).ok());
  Solved(&owner);
  CHECK(owner->n_chosen() == 28);
  Add(&owner, Part(data, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                          16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}),
      Ids("y", 32));  // or their number has doubled
  Solved(&owner);
  CHECK(owner->n_chosen() == 60);
  // One example a class: nothing to leave out.
  Owner few = NewLearner(0.0);
  Add(&few, Images(3, 3), Ids("x", 3));
  Solved(&few);
  CHECK(few->penalty() > 0.0);
  // 40 new examples: as accurate as a trained head.
  CHECK(test::Accuracy(owner.trainer.get(), Images(40, 3, 77)) >= 0.9);
}

// The names of taught examples in a model that refuses.
std::string TaughtNames(const std::vector<uint8_t>& bytes) {
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.ok());
  CHECK((FindRejection(**model) >= 0) == ((*model)->main().outputs.size() == 2));
  for (const AssociatedFile& file : (*model)->associated_files()) {
    if (file.name == kStoredNames) return file.content;
  }
  return "";
}

TEST_CASE("learner: its models refuse by the examples that remain", "[train]") {
  Owner owner = NewLearner(0.0, true, 0.1f);
  const std::vector<std::string> ids = Ids("x", 60);
  Add(&owner, Images(60, 3), ids);
  REQUIRE(owner->Remove(OfIds({"x7"})).ok());
  const auto bytes = owner->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const std::string names = TaughtNames(*bytes);
  CHECK(names.find("reject_rate\t0.1\n") == 0);
  CHECK(names.find("\tx8\n") != std::string::npos);
  CHECK(names.find("\tx7\n") == std::string::npos);
  CHECK(owner.trainer->rejecter().summary().n_calibrated == 59);
  CHECK(owner.trainer->rejecter().summary().known_refused <= 6.01 / 59);  // 6 of 59 + 1 are a tenth
  // What was lent for it is gone: the next export is made of what is there then.
  CHECK(owner.trainer->set().size() == 0);
  REQUIRE(owner->Remove(OfIds({"x8"})).ok());
  const auto next = owner->Export();
  REQUIRE(next.status().ToString() == "OK");
  CHECK(TaughtNames(*next).find("\tx8\n") == std::string::npos);
  Owner sums = NewLearner(0.5, false, 0.1f);
  Add(&sums, Images(60, 3), ids);
  CHECK(TaughtNames(*sums->Export()).empty());
}

}  // namespace learner_test
}  // namespace topwork
