// Helpers of the C API's tests: owning pointers, embedded models, and two custom operators.
#ifndef TESTS_RUNTIME_API_SUPPORT_H_
#define TESTS_RUNTIME_API_SUPPORT_H_

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "topwork/topwork.h"

namespace topwork {
namespace api_test {

struct Free {
  void operator()(tw_model* model) const { tw_model_free(model); }
  void operator()(tw_session* session) const { tw_session_free(session); }
  void operator()(tw_trainer* trainer) const { tw_trainer_free(trainer); }
  void operator()(char* text) const { tw_memory_free(text); }
};
using ModelPtr = std::unique_ptr<tw_model, Free>;
using SessionPtr = std::unique_ptr<tw_session, Free>;
using TrainerPtr = std::unique_ptr<tw_trainer, Free>;
using TextPtr = std::unique_ptr<char, Free>;

// Opens a file of the test binary, borrowed.
ModelPtr OpenModel(const char* path);
constexpr const char kScaleModel[] = "tests/data/api/scale.tflite";
constexpr const char kScaleInt8Model[] = "tests/data/api/scale_int8.tflite";
constexpr const char kRepeatModel[] = "tests/data/api/repeat.tflite";
constexpr const char kSignaturesModel[] = "tests/data/api/signatures.tflite";
constexpr const char kDigitsModel[] = "models/zoo/digits_cnn_f32.tflite";

SessionPtr MakeSession(const tw_model* model, const tw_session_options* options = nullptr);
tw_session_options DefaultSessionOptions();
tw_model_info ModelInfo(const tw_model* model);
tw_session_info SessionInfo(const tw_session* session);
tw_tensor_info InputInfo(const tw_session* session, size_t index);
tw_tensor_info OutputInfo(const tw_session* session, size_t index);

// n examples as one array of floats; labels may be null. Borrowed.
inline tw_examples ExamplesOf(const std::vector<float>& data, int64_t n, const int64_t* labels) {
  tw_examples examples = {};
  examples.struct_size = sizeof(examples);
  examples.n_examples = n;
  examples.data = data.data();
  examples.data_bytes = data.size() * sizeof(float);
  examples.dtype = TW_DTYPE_FLOAT32;
  examples.labels = labels;
  return examples;
}

// A custom operator of the tests and what happened to it.
struct OpLog {
  std::atomic<int> n_init{0}, n_free{0}, n_prepare{0}, n_run{0};
  std::atomic<bool> fail_prepare{false}, fail_run{false};
};
// Registers TopworkScale (y = factor * x, float32 or int8) and TopworkRepeat (y = x, n times).
OpLog& RegisterTestOps();

// REQUIREs the status and that the error's text contains `part`.
void RequireError(tw_status got, tw_status want, const std::string& part);

}  // namespace api_test
}  // namespace topwork

#endif  // TESTS_RUNTIME_API_SUPPORT_H_
