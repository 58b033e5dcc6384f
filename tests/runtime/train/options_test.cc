// Ranges of the trainer's options: every field out of range is refused by its name.
#include "runtime/train/options.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

namespace topwork {
namespace options_test {

TEST_CASE("trainer options: each field out of range is named", "[train]") {
  const auto text = [](void (*change)(TrainerOptions*)) {
    TrainerOptions options;
    change(&options);
    const Status status = CheckOptions(options);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    return status.message();
  };
  const auto names = [](const std::string& message, const char* name) {
    return message.find(name) != std::string::npos;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(CheckOptions(TrainerOptions()).ok());
  CHECK(names(text([](TrainerOptions* o) { o->learning_rate = 1e7f; }), "learning_rate"));
  CHECK(names(text([](TrainerOptions* o) { o->learning_rate = -1; }), "learning_rate"));
  TrainerOptions options;
  options.learning_rate = nan;
  CHECK(names(CheckOptions(options).message(), "learning_rate"));
  CHECK(names(text([](TrainerOptions* o) {
                o->optimizer = Optimizer::kAdam;
                o->momentum = 0.9f;
              }),
              "momentum"));
  CHECK(names(text([](TrainerOptions* o) {
                o->optimizer = Optimizer::kSgd;
                o->momentum = 1.0f;
              }),
              "momentum"));
  CHECK(names(text([](TrainerOptions* o) { o->nesterov = true; }), "nesterov"));
  CHECK(names(text([](TrainerOptions* o) { o->beta1 = 1.0f; }), "beta1"));
  CHECK(names(text([](TrainerOptions* o) { o->beta2 = -0.1f; }), "beta2"));
  CHECK(names(text([](TrainerOptions* o) { o->epsilon = 0.0f; }), "epsilon"));
  CHECK(names(text([](TrainerOptions* o) {
                o->learning_rate = 0.1f;
                o->weight_decay = 11.0f;
              }),
              "weight_decay"));
  CHECK(names(text([](TrainerOptions* o) { o->batch_size = 0; }), "batch_size"));
  CHECK(names(text([](TrainerOptions* o) { o->epochs = -1; }), "epochs"));
  CHECK(
      names(text([](TrainerOptions* o) { o->validation_fraction = 1.0f; }), "validation_fraction"));
  CHECK(names(text([](TrainerOptions* o) { o->n_threads = -1; }), "n_threads"));
  CHECK(names(text([](TrainerOptions* o) { o->optimizer = static_cast<Optimizer>(8); }),
              "optimizer"));
}

}  // namespace options_test
}  // namespace topwork
