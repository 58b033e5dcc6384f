// Models with several outputs: one is chosen by its name and trained, the others stay as they are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "models/format/find_output.h"
#include "runtime/session/session.h"
#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace several_outputs_test {

constexpr size_t kPixels = 48;

std::vector<float> RunOutput(const std::shared_ptr<const Model>& model, int output,
                             const std::vector<float>& x) {
  SessionOptions options;
  options.n_threads = 1;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  std::vector<float> all;
  for (size_t first = 0; first < x.size(); first += kPixels) {
    std::memcpy((*session)->input(0).data, x.data() + first, kPixels * sizeof(float));
    REQUIRE((*session)->Run().ToString() == "OK");
    const TensorView& view = (*session)->output(output);
    all.insert(all.end(), view.as<float>(), view.as<float>() + view.shape.NumElements());
  }
  return all;
}

TEST_CASE("trainer: one of several outputs is trained by its name, the others stay", "[train]") {
  // Both outputs come from the same weights: what is trained becomes a copy of its own.
  const auto model = test::OpenBytes(test::ClassifierBytes(test::Tail::kDenseShared));
  std::vector<float> x;
  std::vector<int32_t> y;
  test::MakeImages(90, 3, 5, &x, &y);
  for (const char* name : {"scores", "twin"}) {
    INFO(name);
    const auto output = FindOutput(*model, name);
    REQUIRE(output.status().ToString() == "OK");
    TrainerOptions options;
    options.output = output.value();
    options.n_classes = 3;
    options.n_threads = 1;
    auto trainer = Trainer::Create(model, options);
    REQUIRE(trainer.status().ToString() == "OK");
    const Examples examples = Examples::FromArray(x.data(), kPixels * sizeof(float), y.data(), 90);
    REQUIRE((*trainer)->AddExamples(examples).ok());
    REQUIRE((*trainer)->Train().ToString() == "OK");
    CHECK((*trainer)->judge().Evaluate(ExampleSet::kAll)->accuracy > 0.9);
    const auto bytes = (*trainer)->Export();
    REQUIRE(bytes.status().ToString() == "OK");
    const auto exported = test::OpenBytes(bytes.value());
    const int other = 1 - output.value();
    CHECK(RunOutput(exported, other, x) == RunOutput(model, other, x));
    const std::vector<float> scores = RunOutput(exported, output.value(), x);
    REQUIRE(scores.size() == 3 * y.size());
    int hits = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const float* row = scores.data() + 3 * i;
      hits += std::max_element(row, row + 3) - row == y[i] ? 1 : 0;
    }
    CHECK(hits > 80);
  }
}

}  // namespace several_outputs_test
}  // namespace topwork
