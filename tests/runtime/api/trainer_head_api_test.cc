// C API: judging, classes, parameters and head files of a trainer.
#ifdef TW_HAVE_TRAIN
#include <cstdio>
#include <nlohmann/json.hpp>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"

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
    examples.struct_size = sizeof(examples);
    examples.n_examples = 40;
    examples.data = data.data();
    examples.data_bytes = data.size() * sizeof(float);
    examples.dtype = TW_DTYPE_FLOAT32;
    examples.labels = labels.data();
    REQUIRE(tw_trainer_add_examples(created, &examples) == TW_STATUS_OK);
  }
};

TEST_CASE("a trainer is trained for a bounded time, judged and calibrated", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  int32_t finished = 1;
  REQUIRE(tw_trainer_fit_for(trainer, 0.0, 4, nullptr, nullptr, &finished) == TW_STATUS_OK);
  CHECK(finished == 0);
  REQUIRE(tw_trainer_fit_for(trainer, 0.0, 0, nullptr, nullptr, &finished) == TW_STATUS_OK);
  CHECK(finished == 1);
  RequireError(tw_trainer_fit_for(trainer, -1.0, 0, nullptr, nullptr, nullptr),
               TW_STATUS_INVALID_ARGUMENT, "max_seconds is -1");

  std::vector<float> scores(80);
  REQUIRE(tw_trainer_predict(trainer, &s.examples, scores.data(), 80) == TW_STATUS_OK);
  for (size_t i = 0; i < 40; ++i) {
    CHECK(scores[2 * i] + scores[2 * i + 1] == Approx(1.0).epsilon(1e-5));
    CHECK(scores[2 * i + static_cast<size_t>(s.labels[i])] > 0.5f);
  }
  RequireError(tw_trainer_predict(trainer, &s.examples, scores.data(), 79),
               TW_STATUS_INVALID_ARGUMENT, "n_scores is 79");
  char* text = nullptr;
  REQUIRE(tw_trainer_describe_evaluation(trainer, nullptr, 3, &text) == TW_STATUS_OK);
  const nlohmann::json json = nlohmann::json::parse(text);
  tw_memory_free(text);
  CHECK(json["accuracy"] == 1.0);
  CHECK(json["classes"].size() == 2);
  CHECK(json["worst"].size() == 3);
  CHECK(json["worst"][0]["loss"] >= json["worst"][2]["loss"]);
  tw_calibration calibration = {};
  calibration.struct_size = sizeof(calibration);
  REQUIRE(tw_trainer_calibrate(trainer, &calibration) == TW_STATUS_OK);
  CHECK(calibration.temperature > 0.0);
  CHECK(calibration.loss_after <= calibration.loss_before);
  tw_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  REQUIRE(tw_trainer_check_export(trainer, &comparison) == TW_STATUS_OK);
  CHECK(comparison.before == comparison.after);
  RequireError(tw_trainer_check_golden(trainer, &comparison), TW_STATUS_FAILED_PRECONDITION,
               "no golden set");
  RequireError(tw_trainer_set_golden(trainer, &s.examples), TW_STATUS_INVALID_ARGUMENT,
               "nothing to compare");
}

TEST_CASE("a trainer's classes change through the C API", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  REQUIRE(tw_trainer_fit(trainer, 2, nullptr, nullptr) == TW_STATUS_OK);
  REQUIRE(tw_trainer_add_class(trainer, "third") == TW_STATUS_OK);
  RequireError(tw_trainer_add_class(trainer, "third"), TW_STATUS_INVALID_ARGUMENT, "already");
  REQUIRE(tw_trainer_rename_class(trainer, 0, "left") == TW_STATUS_OK);
  RequireError(tw_trainer_rename_class(trainer, 3, "x"), TW_STATUS_INVALID_ARGUMENT,
               "class 3 does not exist");
  REQUIRE(tw_trainer_remove_class(trainer, 2) == TW_STATUS_OK);
  RequireError(tw_trainer_remove_class(trainer, 0), TW_STATUS_INVALID_ARGUMENT, "two are needed");
  const char* names[] = {"1", "left", "new"};
  REQUIRE(tw_trainer_set_classes(trainer, names, 3) == TW_STATUS_OK);
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_info(trainer, &info) == TW_STATUS_OK);
  CHECK(info.n_classes == 3);
  CHECK(info.n_examples == 40);
  CHECK(info.memory_bytes ==
        info.backbone_bytes + info.cache_bytes + info.training_bytes + info.working_bytes);
  REQUIRE(tw_trainer_fit(trainer, 10, nullptr, nullptr) == TW_STATUS_OK);
}

TEST_CASE("a trainer's parameters and heads go out and in", "[api][train]") {
  Setup s;
  tw_trainer* trainer = s.trainer.get();
  size_t n = 0;
  REQUIRE(tw_trainer_count_parameters(trainer, &n) == TW_STATUS_OK);
  REQUIRE(n == 2);
  tw_parameter_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_parameter_info(trainer, 0, &info) == TW_STATUS_OK);
  CHECK(std::string(info.name) == "head/weights");
  CHECK(info.rank == 2);
  CHECK(info.n_values == 128);
  RequireError(tw_trainer_get_parameter_info(trainer, 2, &info), TW_STATUS_INVALID_ARGUMENT,
               "parameter 2 does not exist");
  std::vector<float> before(130), after(130), update(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  REQUIRE(tw_trainer_fit(trainer, 3, nullptr, nullptr) == TW_STATUS_OK);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, after.data(), 130) == TW_STATUS_OK);
  CHECK(before != after);
  REQUIRE(tw_trainer_compute_update(trainer, before.data(), 130, 0.0, 0.0, 1, update.data()) ==
          TW_STATUS_OK);
  for (size_t i = 0; i < 130; ++i) REQUIRE(update[i] == after[i] - before[i]);
  RequireError(tw_trainer_read_parameter(trainer, "none", after.data(), 130), TW_STATUS_NOT_FOUND,
               "head/bias");

  const std::string head = "trainer_head_api_test_head";
  const std::string checkpoint = "trainer_head_api_test_checkpoint";
  REQUIRE(tw_trainer_save_head(trainer, head.c_str()) == TW_STATUS_OK);
  REQUIRE(tw_trainer_save_with_examples(trainer, checkpoint.c_str()) == TW_STATUS_OK);
  REQUIRE(tw_trainer_write_parameter(trainer, nullptr, before.data(), 130) == TW_STATUS_OK);
  REQUIRE(tw_trainer_load_head(trainer, head.c_str()) == TW_STATUS_OK);
  std::vector<float> loaded(130);
  REQUIRE(tw_trainer_read_parameter(trainer, nullptr, loaded.data(), 130) == TW_STATUS_OK);
  CHECK(loaded == after);
  REQUIRE(tw_trainer_restore(trainer, checkpoint.c_str()) == TW_STATUS_OK);
  RequireError(tw_trainer_load_head(trainer, checkpoint.c_str()), TW_STATUS_CORRUPT,
               "not a Topwork head");
  std::remove(head.c_str());
  std::remove(checkpoint.c_str());
}

}  // namespace trainer_head_test
}  // namespace api_test
}  // namespace topwork
#endif
