// C API: groups of examples, near-duplicates across the split, intervals.
#ifdef TW_HAVE_TRAIN
#include "tests/runtime/api/trainer_data.h"

namespace topwork {
namespace api_test {

TEST_CASE("groups of examples come as an array or one by one", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const Pictures pictures;
  std::vector<int32_t> groups(kExamples);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int32_t>(i / 8);
  const TrainerPtr trainer = MakeTrainer(model.get(), TwoClasses());
  tw_examples examples = pictures.examples();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  CHECK(Info(trainer.get()).n_groups == 0);
  examples.groups = groups.data();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  CHECK(Info(trainer.get()).n_groups == 5);
  examples.groups = nullptr;
  examples.group = [](void*, int64_t index, int32_t* out_group) {
    *out_group = index < 30 ? static_cast<int32_t>(100 + index / 10) : -1;
    return TW_STATUS_OK;
  };
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  CHECK(Info(trainer.get()).n_groups == 8);
  examples.group = [](void*, int64_t index, int32_t*) {
    return index == 3 ? TW_STATUS_IO : TW_STATUS_OK;
  };
  RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_IO,
               "tw_examples.group gave IO for example 3");
  groups[2] = -7;
  examples.group = nullptr;
  examples.groups = groups.data();
  RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_INVALID_ARGUMENT,
               "example 2 has group -7");
}

TEST_CASE("near-duplicates across the split are told, and the worst group", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const Pictures pictures;
  const TrainerPtr trainer = MakeTrainer(model.get(), TwoClasses());
  tw_examples examples = pictures.examples();
  tw_audit audit = {};
  audit.struct_size = sizeof(audit);
  tw_audit_options options = {};
  options.struct_size = sizeof(options);
  options.duplicates_only = 1;
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  REQUIRE(tw_trainer_audit(trainer.get(), &options, &audit) == TW_STATUS_OK);
  CHECK(audit.n_examples == 0);
  REQUIRE(audit.near_duplicates != nullptr);
  const tw_near_duplicates found = *audit.near_duplicates;
  CHECK(found.n_checked == Info(trainer.get()).n_validation);
  CHECK(found.n_found > 0);
  CHECK(found.cosine > 0.98);
  CHECK(found.held_back != found.trained);
  tw_trainer_options whole = TwoClasses();
  whole.validation_fraction = 0.0f;
  const TrainerPtr unsplit = MakeTrainer(model.get(), whole);
  REQUIRE(tw_trainer_add_examples(unsplit.get(), &examples) == TW_STATUS_OK);
  REQUIRE(tw_trainer_audit(unsplit.get(), &options, &audit) == TW_STATUS_OK);
  CHECK(audit.near_duplicates == nullptr);
  REQUIRE(Fit(trainer.get(), 5) == TW_STATUS_OK);
  std::vector<int32_t> groups(kExamples);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = i < 10 ? 7 : -1;
  examples.groups = groups.data();
  std::vector<int64_t> wrong = pictures.labels;
  for (size_t i = 0; i < 10; ++i) wrong[i] = 1 - wrong[i];
  examples.labels = wrong.data();
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  REQUIRE(tw_trainer_evaluate(trainer.get(), &examples, 0, &evaluation) == TW_STATUS_OK);
  REQUIRE(evaluation.n_groups == 1);
  CHECK(evaluation.groups[0].group == 7);
  CHECK(evaluation.groups[0].n_examples == 10);
  CHECK(evaluation.groups[0].accuracy < 0.2);
}

TEST_CASE("intervals of a regression", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const Pictures pictures;
  tw_trainer_options options = TwoClasses();
  options.n_classes = 1;
  options.loss.kind = TW_LOSS_MSE;
  options.optimizer.kind = TW_OPTIMIZER_RIDGE;
  const TrainerPtr trainer = MakeTrainer(model.get(), options);
  tw_examples examples = pictures.examples();
  std::vector<float> targets, lower(kExamples), upper(kExamples);
  for (int i = 0; i < kExamples; ++i) {
    targets.push_back(static_cast<float>(i % 2) + 0.1f * static_cast<float>(i % 7));
  }
  examples.targets = targets.data();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  tw_interval_check check = {};
  check.struct_size = sizeof(check);
  const auto check_alone = [&](double coverage, tw_interval_check* to) {
    return tw_trainer_predict_intervals(trainer.get(), nullptr, coverage, nullptr, nullptr, 0, to);
  };
  REQUIRE(check_alone(0.8, &check) == TW_STATUS_OK);
  CHECK(check.n_examples == 8);
  CHECK(check.mean_width > 0.0);
  const auto predict = [&](size_t n) {
    return tw_trainer_predict_intervals(trainer.get(), &examples, 0.8, lower.data(), upper.data(),
                                        n, &check);
  };
  REQUIRE(predict(kExamples) == TW_STATUS_OK);
  for (size_t i = 0; i < kExamples; ++i) CHECK(lower[i] < upper[i]);
  RequireError(predict(3), TW_STATUS_INVALID_ARGUMENT, "n_values is 3");
  RequireError(check_alone(2.0, &check), TW_STATUS_INVALID_ARGUMENT, "coverage is 2");
  RequireError(check_alone(0.8, nullptr), TW_STATUS_INVALID_ARGUMENT, "examples is NULL");
}

}  // namespace api_test
}  // namespace topwork
#endif
