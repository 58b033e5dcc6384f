// C API: judging, classes, parameters and head files of a trainer.
#ifdef TW_HAVE_TRAIN
#include <algorithm>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace api_test {
namespace trainer_head_test {

// Images that are bright on the left (class 0) or on the right (class 1).
void MakePictures(std::vector<float>* data, std::vector<int64_t>* labels) {
  for (size_t i = 0; i < 40; ++i) {
    labels->push_back(static_cast<int64_t>(i % 2));
    for (size_t k = 0; k < 64; ++k) {
      const bool bright = (k % 8 < 4) == (labels->back() == 0);
      data->push_back(bright ? 0.5f + static_cast<float>((i * 5 + k) % 8) / 16.0f : 0.0f);
    }
  }
}

struct Setup {
  ModelPtr model;
  TrainerPtr trainer;
  std::vector<float> data;
  std::vector<int64_t> labels;
  tw_examples examples = {};

  Setup() {
    model = OpenModel(kDigitsModel);
    tw_trainer_options options;
    REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
    options.n_classes = 2;
    options.n_epochs = 10;
    options.n_threads = 1;
    tw_trainer* created = nullptr;
    REQUIRE(tw_trainer_create(model.get(), &options, &created) == TW_STATUS_OK);
    trainer.reset(created);
    MakePictures(&data, &labels);
    examples = ExamplesOf(data, 40, labels.data());
    REQUIRE(tw_trainer_add_examples(created, &examples) == TW_STATUS_OK);
  }
};

tw_status FitFor(tw_trainer* trainer, double max_seconds, int32_t max_epochs, int32_t* finished) {
  tw_fit_options options = {};
  options.struct_size = sizeof(options);
  options.max_seconds = max_seconds;
  options.max_epochs = max_epochs;
  return tw_trainer_fit(trainer, &options, finished);
}

tw_trainer_info InfoOf(const tw_trainer* trainer) {
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_info(trainer, &info) == TW_STATUS_OK);
  return info;
}

TEST_CASE("a trainer is trained for a bounded time, judged and calibrated", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  int32_t finished = 1;
  REQUIRE(FitFor(trainer, 0.0, 4, &finished) == TW_STATUS_OK);
  CHECK(finished == 0);
  REQUIRE(tw_trainer_fit(trainer, nullptr, &finished) == TW_STATUS_OK);
  CHECK(finished == 1);
  RequireError(FitFor(trainer, -1.0, 0, nullptr), TW_STATUS_INVALID_ARGUMENT, "max_seconds is -1");

  std::vector<float> scores(80);
  REQUIRE(tw_trainer_predict(trainer, &s.examples, scores.data(), 80) == TW_STATUS_OK);
  for (size_t i = 0; i < 40; ++i) {
    CHECK(scores[2 * i] + scores[2 * i + 1] == Approx(1.0).epsilon(1e-5));
    CHECK(scores[2 * i + static_cast<size_t>(s.labels[i])] > 0.5f);
  }
  RequireError(tw_trainer_predict(trainer, &s.examples, scores.data(), 79),
               TW_STATUS_INVALID_ARGUMENT, "n_scores is 79");
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  REQUIRE(tw_trainer_evaluate(trainer, nullptr, 3, &evaluation) == TW_STATUS_OK);
  CHECK(evaluation.accuracy == 1.0);
  CHECK(evaluation.classes[1].recall == 1.0);
  REQUIRE(evaluation.n_worst == 3);
  CHECK(evaluation.worst[0].loss >= evaluation.worst[2].loss);
  CHECK(evaluation.worst[0].label == s.labels[static_cast<size_t>(evaluation.worst[0].index)]);
  RequireError(tw_trainer_evaluate(trainer, nullptr, -1, &evaluation), TW_STATUS_INVALID_ARGUMENT,
               "n_worst is -1");
  tw_calibration calibration = {};
  calibration.struct_size = sizeof(calibration);
  REQUIRE(tw_trainer_calibrate(trainer, &calibration) == TW_STATUS_OK);
  CHECK(calibration.temperature > 0.0);
  CHECK(calibration.loss_after <= calibration.loss_before);
  tw_export_check check = {};
  check.struct_size = sizeof(check);
  REQUIRE(tw_trainer_check_export(trainer, &check) == TW_STATUS_OK);
  CHECK(check.n_examples == 8);
  CHECK(check.trained == check.exported);
  CHECK(check.n_golden == 0);
  RequireError(tw_trainer_set_golden(trainer, &s.examples), TW_STATUS_INVALID_ARGUMENT,
               "nothing to compare");
}

TEST_CASE("a trainer's classes change through the C API", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  REQUIRE(FitFor(trainer, 0.0, 2, nullptr) == TW_STATUS_OK);
  std::vector<float> before(130), after(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);

  // Names alone: nothing that was learnt changes.
  const char* const renamed[] = {"left", "right"};
  const int64_t same[] = {0, 1};
  REQUIRE(tw_trainer_set_classes(trainer, renamed, same, 2) == TW_STATUS_OK);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, after.data(), 130) == TW_STATUS_OK);
  CHECK(after == before);
  CHECK(std::string(InfoOf(trainer).class_names[1]) == "right");

  // Two change places, one of them under another name, and a third joins.
  const char* const three[] = {"RIGHT", "left", "new"};
  const int64_t swapped[] = {1, 0};
  REQUIRE(tw_trainer_set_classes(trainer, three, swapped, 3) == TW_STATUS_OK);
  CHECK(InfoOf(trainer).n_classes == 3);
  CHECK(InfoOf(trainer).n_examples == 40);
  std::vector<float> weights(3 * 64);
  REQUIRE(tw_trainer_read_parameter(trainer, "head/weights", weights.data(), weights.size()) ==
          TW_STATUS_OK);
  CHECK(std::equal(weights.begin(), weights.begin() + 64, before.begin() + 64));
  CHECK(std::equal(weights.begin() + 64, weights.begin() + 128, before.begin()));

  // By name: "new" goes.
  const char* const two[] = {"left", "RIGHT"};
  REQUIRE(tw_trainer_set_classes(trainer, two, nullptr, 2) == TW_STATUS_OK);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, after.data(), 130) == TW_STATUS_OK);
  CHECK(after == before);
  const tw_trainer_info info = InfoOf(trainer);
  CHECK(info.memory_bytes ==
        info.backbone_bytes + info.cache_bytes + info.training_bytes + info.working_bytes);
  REQUIRE(tw_trainer_fit(trainer, nullptr, nullptr) == TW_STATUS_OK);
}

TEST_CASE("classes that do not fit are refused, and nothing is changed", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  const auto refuse = [&](std::vector<const char*> names, std::vector<int64_t> becomes,
                          const char* part) {
    RequireError(tw_trainer_set_classes(trainer, names.data(),
                                        becomes.empty() ? nullptr : becomes.data(), names.size()),
                 TW_STATUS_INVALID_ARGUMENT, part);
    CHECK(InfoOf(trainer).n_classes == 2);
    CHECK(InfoOf(trainer).class_names == nullptr);
  };
  refuse({"a", "a"}, {}, "'a' twice");
  refuse({"a", "a"}, {0, 1}, "'a' twice");
  refuse({"a", "b"}, {0, 2}, "becomes[1] is 2; there are 2 names");
  refuse({"a", "b"}, {0, -2}, "becomes[1] is -2");
  refuse({"a", nullptr}, {0, 1}, "names[1] is NULL");
  refuse({"a", ""}, {0, 1}, "an empty name");
  refuse({"a"}, {-1, 0}, "two are needed");
  refuse({"a"}, {0, 0}, "two are needed");
}

TEST_CASE("classes become one, and their weights begin with the mean", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  REQUIRE(FitFor(trainer, 0.0, 2, nullptr) == TW_STATUS_OK);
  std::vector<float> before(130), after(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  const char* const names[] = {"new", "all"};
  const int64_t becomes[] = {1, 1};
  REQUIRE(tw_trainer_set_classes(trainer, names, becomes, 2) == TW_STATUS_OK);
  CHECK(InfoOf(trainer).n_examples == 40);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, after.data(), 130) == TW_STATUS_OK);
  for (size_t k = 0; k < 64; ++k) {
    CHECK(after[64 + k] == Approx(0.5f * (before[k] + before[64 + k])).margin(1e-7));
  }
  // One of them goes with its examples.
  const int64_t first_goes[] = {-1, 0};
  REQUIRE(tw_trainer_set_classes(trainer, names, first_goes, 2) == TW_STATUS_OK);
  CHECK(InfoOf(trainer).n_examples == 40);
  const int64_t second_goes[] = {-1, 1};
  REQUIRE(tw_trainer_set_classes(trainer, names, second_goes, 2) == TW_STATUS_OK);
  CHECK(InfoOf(trainer).n_examples == 0);
}

TEST_CASE("a trainer's parameters and heads go out and in", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  const tw_trainer_info info = InfoOf(trainer);
  REQUIRE(info.n_parameters == 2);
  CHECK(std::string(info.parameters[0].name) == "head/weights");
  CHECK(info.parameters[0].rank == 2);
  CHECK(info.parameters[0].n_values == 128);
  CHECK(info.n_values == 130);
  std::vector<float> before(130), after(130), update(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  REQUIRE(FitFor(trainer, 0.0, 3, nullptr) == TW_STATUS_OK);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, after.data(), 130) == TW_STATUS_OK);
  CHECK(before != after);
  REQUIRE(tw_trainer_compute_update(trainer, before.data(), 130, 0.0, 0.0, 1, update.data()) ==
          TW_STATUS_OK);
  for (size_t i = 0; i < 130; ++i) REQUIRE(update[i] == after[i] - before[i]);
  RequireError(tw_trainer_read_parameter(trainer, "none", after.data(), 130), TW_STATUS_NOT_FOUND,
               "head/bias");

  const test::TempFolder folder;
  const std::string head = folder / "head", checkpoint = folder / "checkpoint";
  REQUIRE(tw_trainer_save_head(trainer, head.c_str()) == TW_STATUS_OK);
  REQUIRE(tw_trainer_save_checkpoint(trainer, checkpoint.c_str(), 1) == TW_STATUS_OK);
  REQUIRE(tw_trainer_write_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  REQUIRE(tw_trainer_load(trainer, head.c_str()) == TW_STATUS_OK);
  std::vector<float> loaded(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, loaded.data(), 130) == TW_STATUS_OK);
  CHECK(loaded == after);
  REQUIRE(tw_trainer_write_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  REQUIRE(tw_trainer_load(trainer, checkpoint.c_str()) == TW_STATUS_OK);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, loaded.data(), 130) == TW_STATUS_OK);
  CHECK(loaded == after);
  test::WriteWhole(head, "neither a head nor a checkpoint");
  RequireError(tw_trainer_load(trainer, head.c_str()), TW_STATUS_CORRUPT, "not a Topwork");
}

}  // namespace trainer_head_test
}  // namespace api_test
}  // namespace topwork
#endif
