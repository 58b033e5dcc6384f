// What tests of tw_trainer share: pictures of two classes, a trainer of the digits model for them.
#ifndef TOPWORK_TESTS_RUNTIME_API_TRAINER_DATA_H_
#define TOPWORK_TESTS_RUNTIME_API_TRAINER_DATA_H_

#include <vector>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {

constexpr int kExamples = 40;

// Images that are bright on the left (class 0) or on the right (class 1).
struct Pictures {
  Pictures() : data(kExamples * 64), labels(kExamples) {
    for (size_t i = 0; i < kExamples; ++i) {
      labels[i] = static_cast<int64_t>(i % 2);
      for (size_t k = 0; k < 64; ++k) {
        const bool bright = (k % 8 < 4) == (labels[i] == 0);
        data[i * 64 + k] = bright ? 0.5f + static_cast<float>((i * 5 + k) % 8) / 16.0f : 0.0f;
      }
    }
  }
  tw_examples examples() const { return ExamplesOf(data, kExamples, labels.data()); }
  std::vector<float> data;
  std::vector<int64_t> labels;
};

inline tw_trainer_options TwoClasses() {
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  options.n_classes = 2;
  options.optimizer.learning_rate = 0.02f;
  options.n_epochs = 10;
  options.n_threads = 2;
  return options;
}

inline TrainerPtr MakeTrainer(const tw_model* model, const tw_trainer_options& options) {
  tw_trainer* trainer = nullptr;
  const tw_status status = tw_trainer_create(model, &options, &trainer);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return TrainerPtr(trainer);
}

inline tw_trainer_info Info(const tw_trainer* trainer) {
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_trainer_get_info(trainer, &info) == TW_STATUS_OK);
  return info;
}

inline tw_status Fit(tw_trainer* trainer, int32_t n_epochs, tw_progress_function progress = nullptr,
                     void* user_data = nullptr) {
  tw_fit_options options = {};
  options.struct_size = sizeof(options);
  options.n_epochs = n_epochs;
  options.progress = progress;
  options.user_data = user_data;
  return tw_trainer_fit(trainer, &options, nullptr);
}

}  // namespace api_test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_API_TRAINER_DATA_H_
