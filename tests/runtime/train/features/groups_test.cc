// Groups of examples: how they are split, and who keeps them.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "runtime/train/auto/left_out_loss.h"
#include "runtime/train/auto/loo.h"
#include "runtime/train/features/near_duplicates.h"
#include "runtime/train/features/split.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace groups_test {

using test::Images;
using test::NewTrainer;
using test::TrainerData;

std::set<int32_t> GroupsOf(const std::vector<int32_t>& indices,
                           const std::vector<int32_t>& groups) {
  std::set<int32_t> found;
  for (int32_t i : indices) found.insert(groups[static_cast<size_t>(i)]);
  return found;
}

TEST_CASE("split: the examples of a group stay together", "[train]") {
  std::vector<int32_t> labels, groups;
  for (int32_t i = 0; i < 400; ++i) {  // ten writers of four digits
    labels.push_back(i % 4);
    groups.push_back(i / 40);
  }
  const SplitOptions options = {4, 0.2f, 1};
  const Split split = GroupSplit(labels, groups, {}, options);
  CHECK(split.validation.size() == 80);
  CHECK(split.train.size() == 320);
  CHECK(GroupsOf(split.validation, groups).size() == 2);
  CHECK(GroupsOf(split.train, groups).size() == 8);
  CHECK(GroupSplit(labels, groups, {}, options).validation == split.validation);
  CHECK(GroupSplit(labels, groups, {}, {4, 0.2f, 2}).validation != split.validation);
  CHECK(GroupSplit(labels, groups, {}, {4, 0.0f, 1}).validation.empty());
  // Groups that were split before stay where they are.
  const std::map<int64_t, int64_t> before = {{0, 0}, {1, 1}, {2, 1}};
  const Split later = GroupSplit(labels, groups, before, options);
  CHECK(GroupsOf(later.validation, groups) == std::set<int32_t>{1, 2});
}

TEST_CASE("split: each class keeps examples on both sides where its groups allow it", "[train]") {
  // Class 0 has three large groups, class 1 one group, class 2 single examples.
  std::vector<int32_t> labels, groups;
  for (int32_t i = 0; i < 30; ++i) labels.push_back(0), groups.push_back(i / 10);
  for (int32_t i = 0; i < 10; ++i) labels.push_back(1), groups.push_back(7);
  for (int32_t i = 0; i < 10; ++i) labels.push_back(2), groups.push_back(-1);
  const Split split = GroupSplit(labels, groups, {}, {3, 0.2f, 1});
  std::vector<int> n_validation(3, 0);
  for (int32_t i : split.validation)
    ++n_validation[static_cast<size_t>(labels[static_cast<size_t>(i)])];
  CHECK(n_validation == std::vector<int>{10, 0, 2});
  // One group alone cannot be split: then its examples are.
  const std::vector<int32_t> one(20, 3);
  const std::vector<int32_t> halves = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  CHECK(GroupSplit(halves, one, {}, {2, 0.2f, 1}).validation.size() == 4);
}

// Seven groups; every eighth example has none.
Examples WithGroups(const TrainerData& data) {
  Examples examples = data.examples();
  examples.read = [read = examples.read](int64_t i, Span<void* const> inputs, ExampleTarget* out) {
    out->group = static_cast<int32_t>(i % 8) - 1;
    return read(i, inputs, out);
  };
  return examples;
}

std::vector<int32_t> Groups(const Trainer& trainer) {
  std::vector<int32_t> groups;
  for (int64_t i = 0; i < trainer.set().size(); ++i) {
    groups.push_back(trainer.set().cache().group(i));
  }
  return groups;
}

TEST_CASE("groups: the split keeps them together, checkpoints keep them", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  TrainerOptions options;
  options.n_classes = 3;
  options.epochs = 2;
  const TrainerData data = Images(120, 3);
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(WithGroups(data)).ToString() == "OK");
  CHECK(trainer->set().cache().n_groups() == 7);
  REQUIRE(trainer->Train().ToString() == "OK");
  const std::vector<int32_t> groups = Groups(*trainer);
  std::set<int32_t> held_back = GroupsOf(trainer->set().validation(), groups);
  for (int32_t group : GroupsOf(trainer->set().train(), groups)) {
    CHECK((group < 0 || held_back.count(group) == 0));
  }
  CHECK(held_back.size() >= 1);
  // More examples of the same groups go where their group is.
  REQUIRE(trainer->AddExamples(WithGroups(Images(40, 3, 9))).ToString() == "OK");
  REQUIRE(trainer->judge().Evaluate(ExampleSet::kValidation).ok());
  held_back = GroupsOf(trainer->set().validation(), Groups(*trainer));
  for (int32_t group : GroupsOf(trainer->set().train(), Groups(*trainer))) {
    CHECK((group < 0 || held_back.count(group) == 0));
  }
  REQUIRE(trainer->SaveCheckpoint(path, true).ToString() == "OK");
  const auto second = NewTrainer(options);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(Groups(*second) == Groups(*trainer));
  // Without the examples in the file, they must be the same: the same groups, too.
  REQUIRE(trainer->SaveCheckpoint(path, false).ToString() == "OK");
  const auto third = NewTrainer(options);
  REQUIRE(third->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE(third->AddExamples(Images(40, 3, 9).examples()).ToString() == "OK");
  CHECK(third->RestoreCheckpoint(path).code() == StatusCode::kFailedPrecondition);
  // A class that goes takes its examples' groups along.
  REQUIRE(second->classes().Remove(1).ToString() == "OK");
  std::vector<int32_t> kept;
  for (int64_t i = 0; i < trainer->set().size(); ++i) {
    if (trainer->set().cache().label(i) != 1) kept.push_back(trainer->set().cache().group(i));
  }
  CHECK(Groups(*second) == kept);
}

TEST_CASE("groups: a bounded memory keeps them with their examples", "[train]") {
  TrainerOptions options;
  options.n_classes = 2;
  options.replay_capacity = 20;
  const auto trainer = NewTrainer(options);
  TrainerData data = Images(100, 2);
  Examples examples = data.examples();  // the group tells the class
  examples.read = [&](int64_t i, Span<void* const> inputs, ExampleTarget* out) {
    TW_RETURN_IF_ERROR(data.examples().read(i, inputs, out));
    out->group = 10 + out->label;
    return Status::Ok();
  };
  REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
  const FeatureCache& cache = trainer->set().cache();
  REQUIRE(cache.size() == 20);
  for (int64_t i = 0; i < cache.size(); ++i) CHECK(cache.group(i) == 10 + cache.label(i));
}

// Groups that are in both parts.
std::vector<int32_t> Torn(const Trainer& trainer) {
  const TrainingSet& set = trainer.set();
  std::set<int32_t> trained, torn;
  for (int32_t i : set.train()) trained.insert(set.cache().group(i));
  for (int32_t i : set.validation()) {
    if (trained.count(set.cache().group(i)) > 0) torn.insert(set.cache().group(i));
  }
  return {torn.begin(), torn.end()};
}

TEST_CASE("groups: an example that takes another one's place joins its group", "[train]") {
  TrainerOptions options;
  options.n_classes = 2;
  options.replay_capacity = 24;
  options.validation_fraction = 0.3f;
  options.optimizer = Optimizer::kAdam;
  options.batch_size = 4;
  options.epochs = 2;
  const auto trainer = NewTrainer(options);
  for (int round = 0; round < 6; ++round) {
    const TrainerData data = Images(60, 2, static_cast<uint64_t>(round) + 1);
    Examples examples = data.examples();  // twelve groups, of both classes
    examples.read = [&](int64_t i, Span<void* const> inputs, ExampleTarget* out) {
      TW_RETURN_IF_ERROR(data.examples().read(i, inputs, out));
      out->group = static_cast<int32_t>(i / 5);
      return Status::Ok();
    };
    REQUIRE(trainer->AddExamples(examples).ToString() == "OK");
    double loss = 0.0;
    bool done = false;
    REQUIRE(trainer->Step(&loss, &done).ToString() == "OK");  // in the middle of an epoch
    CHECK(Torn(*trainer).empty());
    CHECK(trainer->set().train().size() + trainer->set().validation().size() == 24);
  }
  REQUIRE(trainer->Train().ToString() == "OK");
}

TEST_CASE(
    "names: they stay with their examples in a bounded memory, a checkpoint, a class that goes",
    "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  TrainerOptions options;
  options.n_classes = 3;
  options.replay_capacity = 20;
  const auto trainer = NewTrainer(options);
  const auto names_of = [](const TrainerData& data, int round) {
    std::vector<std::string> names;
    for (const int32_t label : data.y) names.push_back(StrFormat("{} of {}", label, round));
    return names;
  };
  for (int round = 0; round < 3; ++round) {
    const TrainerData data = Images(40, 3, static_cast<uint64_t>(5 + round));
    REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");
    if (round == 1) continue;  // these have none
    REQUIRE(trainer->SetExampleNames(names_of(data, round)).ToString() == "OK");
  }
  CHECK(trainer->SetExampleNames({"one"}).code() == StatusCode::kInvalidArgument);
  REQUIRE(trainer->Train().ToString() == "OK");
  REQUIRE(trainer->SaveCheckpoint(path, true).ToString() == "OK");
  const auto second = NewTrainer(options);
  REQUIRE(second->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(second->set().cache().names() == trainer->set().cache().names());
  REQUIRE(second->classes().Remove(0).ToString() == "OK");
  const FeatureCache& cache = second->set().cache();
  size_t n_named = 0, n_last = 0;
  REQUIRE(cache.names().size() == static_cast<size_t>(cache.size()));
  for (int64_t i = 0; i < cache.size(); ++i) {
    const std::string& name = cache.names()[static_cast<size_t>(i)];
    CHECK((name.empty() || name.substr(0, 1) == std::to_string(cache.label(i) + 1)));
    n_named += name.empty() ? 0 : 1;
    n_last += name.find("of 2") != std::string::npos ? 1 : 0;
  }
  CHECK(n_named > 0);
  CHECK(n_last > 0);
  CHECK(n_named < cache.names().size());
}

TEST_CASE("groups: a number below -1 is refused", "[train]") {
  TrainerOptions options;
  options.n_classes = 2;
  const auto trainer = NewTrainer(options);
  const TrainerData data = Images(4, 2);
  Examples examples = data.examples();
  examples.read = [&](int64_t i, Span<void* const> inputs, ExampleTarget* out) {
    out->group = -2;
    return data.examples().read(i, inputs, out);
  };
  const Status status = trainer->AddExamples(examples);
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK_THAT(status.message(), Catch::Matchers::Contains("example 0 has group -2"));
}

// `n` examples of two classes and two groups; three quarters of a class are in the group of its number.
TrainerData Unbalanced(std::vector<int32_t>* groups, bool repeated) {
  TrainerData data = Images(80, 2, 3);
  TrainerData all;
  for (size_t i = 0; i < 80; ++i) {
    const bool rare = i % 8 < 2;
    for (int k = 0; k < (rare && repeated ? 3 : 1); ++k) {
      const auto begin = data.x.begin() + static_cast<ptrdiff_t>(i * test::kImageFloats);
      all.x.insert(all.x.end(), begin, begin + test::kImageFloats);
      all.y.push_back(static_cast<int32_t>(i % 2));
      groups->push_back(rare ? 1 - all.y.back() : all.y.back());
    }
  }
  return all;
}

// Of those numbers of groups.
Examples Grouped(const TrainerData& data, const std::vector<int32_t>& groups) {
  Examples examples = data.examples();
  examples.read = [&groups, read = examples.read](int64_t i, Span<void* const> inputs,
                                                  ExampleTarget* out) {
    out->group = groups[static_cast<size_t>(i)];
    return read(i, inputs, out);
  };
  return examples;
}

// Trained on unbalanced groups: with weights that balance them, or on examples that are repeated instead.
std::unique_ptr<Trainer> Balanced(TrainerOptions options, bool repeated) {
  std::vector<int32_t> groups;
  const TrainerData data = Unbalanced(&groups, repeated);
  options.n_classes = 2;
  options.validation_fraction = 0.0f;
  options.balance_groups = !repeated;
  auto trainer = NewTrainer(options);
  REQUIRE(trainer->AddExamples(Grouped(data, groups)).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  return trainer;
}

TEST_CASE("groups: balanced weights are those of repeated examples", "[train]") {
  for (const Optimizer optimizer : {Optimizer::kRidge, Optimizer::kLbfgs, Optimizer::kSgd}) {
    for (const int n_layers : {1, 2}) {
      if (n_layers == 2 && optimizer == Optimizer::kRidge) continue;
      std::vector<std::vector<float>> parameters;
      for (const bool repeated : {false, true}) {
        TrainerOptions options;
        options.optimizer = optimizer;
        options.weight_decay = 0.1f;
        options.learning_rate = 0.01f;
        options.batch_size = 1000;
        options.epochs = 10;
        options.n_layers = n_layers;
        const auto trainer = Balanced(options, repeated);
        const Span<const float> got = trainer->state().parameters();
        parameters.emplace_back(got.begin(), got.end());
      }
      REQUIRE(parameters[0].size() == parameters[1].size());
      float difference = 0.0f, largest = 0.0f;
      for (size_t k = 0; k < parameters[0].size(); ++k) {
        difference = std::max(difference, std::fabs(parameters[0][k] - parameters[1][k]));
        largest = std::max(largest, std::fabs(parameters[0][k]));
      }
      CAPTURE(static_cast<int>(optimizer), n_layers, largest);
      CHECK(difference < 1e-3f * largest);
    }
  }
}

// What Optimizer::kAuto fits its logistic head with, and judges heads by.
TEST_CASE("groups: balanced weights count in the automatic head, too", "[train]") {
  std::vector<std::vector<float>> parameters;
  for (const bool repeated : {false, true}) {
    const auto trainer = Balanced(TrainerOptions(), repeated);
    const TrainingContext context = trainer->context();
    const Result<HeadDesign> design = HeadDesign::Gather(context, trainer->set().train());
    REQUIRE(design.status().ToString() == "OK");
    HeadChoice choice;
    choice.kind = HeadKind::kLogistic;
    choice.logistic_penalty = repeated ? 1.5 : 1.0;  // a half more examples than there is weight
    HeadStart start;
    parameters.emplace_back();
    REQUIRE(FitHead(context, *design, choice, &start, &parameters.back()).ToString() == "OK");
    if (repeated) continue;
    std::vector<float> scores;
    for (const float* row : design->rows) scores.insert(scores.end(), {row[0], row[1]});
    const auto figures = FiguresOfLeftOut(context, *design, scores);
    const auto rough = LossOfLeftOut(context, *design, {}, scores, kRoughScale);
    REQUIRE((figures.ok() && rough.ok()));
    double sum = 0.0, weights = 0.0;
    for (size_t b = 0; b < design->rows.size(); ++b) {
      const double margin =
          static_cast<double>(scores[2 * b]) - static_cast<double>(scores[2 * b + 1]);
      const double sign = design->labels[b] == 0 ? -1.0 : 1.0;
      const double weight = b % 8 < 2 ? 2.0 : 2.0 / 3.0;
      sum += weight * std::log1p(std::exp(sign * margin * figures->mean.scale));
      weights += weight;
    }
    CHECK(figures->mean.loss == Approx(sum / weights));
    CHECK(rough->loss == Approx(sum / weights).epsilon(1e-3));
  }
  REQUIRE(parameters[0].size() == parameters[1].size());
  for (size_t k = 0; k < parameters[0].size(); ++k) {
    CHECK(parameters[0][k] == Approx(parameters[1][k]).epsilon(1e-3).margin(1e-4));
  }
}

TEST_CASE("near-duplicates: found across the split, whatever the number of features", "[train]") {
  for (const int64_t dim : {10, 200}) {
    FeatureCacheOptions options;
    options.dim = dim;
    FeatureCache cache(options);
    Random random(4);
    std::vector<std::vector<float>> rows;
    std::vector<int32_t> trained, held_back;
    for (int32_t i = 0; i < 300; ++i) {
      std::vector<float> row;
      for (int64_t d = 0; d < dim; ++d) row.push_back(static_cast<float>(5.0 + random.Gaussian()));
      // 200 and 201 are copies of training examples with a little and with more noise.
      const double noise = i == 200 ? 0.05 : 0.6;
      for (size_t d = 0; d < row.size() && (i == 200 || i == 201); ++d) {
        row[d] =
            rows[static_cast<size_t>(i - 150)][d] + static_cast<float>(noise * random.Gaussian());
      }
      REQUIRE(cache.Append(row.data(), ExampleTarget()).ok());
      rows.push_back(row);
      (i < 200 ? trained : held_back).push_back(i);
    }
    const NearDuplicates found = FindNearDuplicates(cache, held_back, trained);
    CHECK(found.n_checked == 100);
    CHECK(found.n_found == 1);
    CHECK(found.held_back == 200);
    CHECK(found.trained == 50);
    CHECK(found.cosine > 0.98);
    CHECK(found.cosine < 0.9999);
    // On the same side of the split they do no harm.
    trained.push_back(200);
    held_back.erase(held_back.begin());
    CHECK(FindNearDuplicates(cache, held_back, trained).n_found == 0);
  }
}

}  // namespace groups_test
}  // namespace topwork
