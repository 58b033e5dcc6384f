// C API: models that refuse what they were not taught.
#ifdef TW_HAVE_TRAIN
#include <cstring>
#include <string>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace reject_api_test {

using api_test::MakeSession;
using api_test::ModelPtr;
using api_test::OpenModel;
using api_test::RequireError;
using api_test::SessionPtr;
using api_test::TrainerPtr;

constexpr size_t kExamples = 60;
constexpr size_t kPixels = 64;

// Bright on the left (class 0) or on the right (class 1), each a little otherwise.
struct Pictures {
  std::vector<float> data = std::vector<float>(kExamples * kPixels);
  std::vector<int64_t> labels = std::vector<int64_t>(kExamples);

  Pictures() {
    for (size_t i = 0; i < kExamples; ++i) {
      labels[i] = static_cast<int64_t>(i % 2);
      for (size_t k = 0; k < kPixels; ++k) {
        const bool bright = (k % 8 < 4) == (labels[i] == 0);
        const float noise = static_cast<float>((i * 37 + k * 11) % 23) / 46.0f;
        data[i * kPixels + k] = bright ? 0.5f + noise : 0.2f * noise;
      }
    }
  }
  tw_examples examples() const {
    return api_test::ExamplesOf(data, static_cast<int64_t>(kExamples), labels.data());
  }
};

TrainerPtr Taught(const tw_model* model, float rate, const Pictures& pictures,
                  const char* const* ids = nullptr) {
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  const char* names[] = {"left", "right"};
  options.n_classes = 2;
  options.class_names = names;
  options.n_epochs = 10;
  options.n_threads = 1;
  options.reject_rate = rate;
  tw_trainer* trainer = nullptr;
  REQUIRE(tw_trainer_create(model, &options, &trainer) == TW_STATUS_OK);
  tw_examples examples = pictures.examples();
  examples.ids = ids;
  REQUIRE(tw_trainer_add_examples(trainer, &examples) == TW_STATUS_OK);
  REQUIRE(tw_trainer_fit(trainer, nullptr, nullptr) == TW_STATUS_OK);
  return TrainerPtr(trainer);
}

ModelPtr Exported(tw_trainer* trainer) {
  tw_model* model = nullptr;
  const tw_status status = tw_trainer_export(trainer, &model);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return ModelPtr(model);
}

const tw_rejection_summary* SummaryOf(const tw_trainer* trainer) {
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_info(trainer, &info) == TW_STATUS_OK);
  return info.rejection;
}

tw_rejection Verdict(tw_session* session, const float* picture) {
  REQUIRE(tw_session_write_input(session, 0, picture, kPixels * sizeof(float)) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session) == TW_STATUS_OK);
  tw_rejection verdict = {};
  verdict.struct_size = sizeof(verdict);
  REQUIRE(tw_session_get_rejection(session, 0, &verdict) == TW_STATUS_OK);
  return verdict;
}

TEST_CASE("api reject: an exported model knows what was taught, and what was not", "[api]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  const Pictures pictures;
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  for (size_t i = 0; i < kExamples; ++i) names.push_back("picture " + std::to_string(i));
  for (const std::string& name : names) pointers.push_back(name.c_str());
  const TrainerPtr trainer = Taught(model.get(), 0.1f, pictures, pointers.data());
  CHECK(SummaryOf(trainer.get()) == nullptr);
  const ModelPtr exported = Exported(trainer.get());
  REQUIRE(SummaryOf(trainer.get()) != nullptr);
  const tw_rejection_summary summary = *SummaryOf(trainer.get());
  CHECK(summary.n_calibrated == static_cast<int64_t>(kExamples));
  CHECK(summary.n_stored == static_cast<int64_t>(kExamples));
  CHECK(summary.n_negatives == 0);
  CHECK(summary.known_refused <= 0.1001);

  const SessionPtr session = MakeSession(exported.get());
  const tw_rejection known = Verdict(session.get(), pictures.data.data() + 6 * kPixels);
  CHECK(known.is_unknown == 0);
  CHECK(known.promised == Approx(0.1));
  REQUIRE(known.n_nearest == 3);
  CHECK(std::strncmp(known.nearest[0], "left\tpicture ", 13) == 0);
  std::vector<float> upper(kPixels, 0.0f);  // bright above: of neither class
  for (size_t k = 0; k < kPixels / 2; ++k) upper[k] = 1.0f;
  const tw_rejection unknown = Verdict(session.get(), upper.data());
  CHECK(unknown.is_unknown == 1);
  CHECK(unknown.p_value <= 0.1001);
  CHECK(unknown.p_value < known.p_value);
}

TEST_CASE("api reject: negatives join, faults are said", "[api]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  const Pictures pictures;
  const TrainerPtr trainer = Taught(model.get(), 0.1f, pictures);
  std::vector<float> noise(20 * kPixels);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<float>(i * 31 % 17) / 17.0f;
  tw_examples negatives = pictures.examples();
  negatives.n_examples = 20;
  negatives.data = noise.data();
  negatives.data_bytes = noise.size() * sizeof(float);
  negatives.labels = nullptr;
  negatives.are_negatives = 1;
  const tw_status added = tw_trainer_add_examples(trainer.get(), &negatives);
  INFO(tw_last_error());
  REQUIRE(added == TW_STATUS_OK);
  const ModelPtr exported = Exported(trainer.get());
  REQUIRE(SummaryOf(trainer.get()) != nullptr);
  CHECK(SummaryOf(trainer.get())->n_negatives == 17);  // pictures that differ
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  RequireError(tw_trainer_evaluate(trainer.get(), &negatives, 0, &evaluation),
               TW_STATUS_INVALID_ARGUMENT, "are_negatives");

  const char* broken[] = {"two\nlines"};
  tw_examples one = pictures.examples();
  one.n_examples = 1;
  one.data_bytes = kPixels * sizeof(float);
  one.ids = broken;
  RequireError(tw_trainer_add_examples(trainer.get(), &one), TW_STATUS_INVALID_ARGUMENT,
               "ids[0] holds a line break");
  broken[0] = nullptr;
  RequireError(tw_trainer_add_examples(trainer.get(), &one), TW_STATUS_INVALID_ARGUMENT,
               "ids[0] is NULL");
  const SessionPtr session = MakeSession(exported.get());
  tw_rejection verdict = {};
  verdict.struct_size = sizeof(verdict);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  RequireError(tw_session_get_rejection(session.get(), 1, &verdict), TW_STATUS_INVALID_ARGUMENT,
               "no row 1");
  const SessionPtr plain = MakeSession(model.get());
  RequireError(tw_session_get_rejection(plain.get(), 0, &verdict), TW_STATUS_NOT_FOUND,
               "refuses nothing");
}

}  // namespace reject_api_test
}  // namespace topwork
#endif
