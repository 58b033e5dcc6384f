// Class activation maps: their mean is the score, for every head behind pooling.
#include "runtime/train/head/activation_map.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tests/support/classifiers.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace activation_map_test {

using test::Tail;

// What the operators after the last layer make of the scores.
std::vector<float> Activated(Tail tail, std::vector<float> scores) {
  if (tail == Tail::kDenseLogits) return scores;
  double sum = 0.0;
  for (float score : scores) sum += std::exp(static_cast<double>(score));
  for (float& score : scores) {
    const double exp = std::exp(static_cast<double>(score));
    score = static_cast<float>(tail == Tail::kDenseLogistic ? exp / (1.0 + exp)
                               : tail == Tail::kConvMean    ? std::log(exp / sum)
                                                            : exp / sum);
  }
  return scores;
}

TEST_CASE("activation map: its mean is the score of each class", "[train]") {
  for (Tail tail : test::kAllTails) {
    INFO(test::TailName(tail));
    const test::Bytes bytes = test::ClassifierBytes(tail);
    const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(model.ok());
    const auto mapped = ExportWithActivationMap(**model, 0);
    REQUIRE(mapped.status().ToString() == "OK");
    const auto opened = Model::OpenMemory(mapped->data(), mapped->size(), true);
    REQUIRE(opened.status().ToString() == "OK");
    auto before = test::OpenSession(*model);
    auto session = test::OpenSession(*opened);
    const size_t n = before->input(0).bytes() / sizeof(float);
    const std::vector<float> input = test::RandomFloats(n, 7);
    test::SetInput(before.get(), 0, input);
    test::SetInput(session.get(), 0, input);
    REQUIRE(before->Run().ok());
    REQUIRE(session->Run().ok());
    const int last = before->n_outputs();
    REQUIRE(session->n_outputs() == last + 1);
    CHECK(test::GetOutput<float>(*session, 0) == test::GetOutput<float>(*before, 0));
    const Shape& shape = session->output(last).shape;
    REQUIRE(shape == Shape{1, 2, 2, 5});
    const std::vector<float> map = test::GetOutput<float>(*session, last);
    std::vector<float> scores(5, 0.0f);
    for (size_t i = 0; i < map.size(); ++i) scores[i % 5] += map[i] / 4.0f;
    // Dynamic range rounds what it multiplies; the map is float32.
    const bool rounds = tail == Tail::kDenseInt8 || tail == Tail::kDenseInt2;
    CHECK(test::LargestDifference(Activated(tail, scores), test::GetOutput<float>(*before, 0)) <
          (rounds ? 2e-3 : 1e-5));
  }
}

TEST_CASE("activation map: a head that reads no mean of a map is refused by name", "[train]") {
  test::ModelSpec spec = test::ClassifierSpec(Tail::kDense);
  for (auto& code : spec.codes) {
    if (code.builtin != static_cast<int32_t>(OpCode::kMean)) continue;
    code.builtin = code.deprecated = static_cast<int8_t>(OpCode::kSum);
  }
  const auto model = test::OpenBytes(test::BuildModel(spec));
  const auto mapped = ExportWithActivationMap(*model, 0);
  REQUIRE_FALSE(mapped.ok());
  CHECK(mapped.status().ToString().find("made by SUM") != std::string::npos);
  CHECK_FALSE(ExportWithActivationMap(*model, 1).ok());
}

}  // namespace activation_map_test
}  // namespace topwork
