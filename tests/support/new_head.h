// New heads for the tests of export: parameters from a seed, and the steps to an exported model.
#ifndef TOPWORK_TESTS_SUPPORT_NEW_HEAD_H_
#define TOPWORK_TESTS_SUPPORT_NEW_HEAD_H_

#include <catch2/catch.hpp>

#include "models/format/write.h"
#include "runtime/train/head/head.h"
#include "runtime/train/random.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace test {

struct NewHead {
  int n_classes;
  std::vector<float> weights, bias;
};

inline NewHead MakeHead(int n_classes, int dim, uint64_t seed) {
  Random random(seed);
  const auto noise = [&] { return static_cast<float>(random.Next() % 2001) / 1000.0f - 1.0f; };
  NewHead head = {n_classes, {}, {}};
  for (int i = 0; i < n_classes * dim; ++i) {
    // Rows of different sizes: one scale for all is not enough.
    head.weights.push_back(noise() * (i / dim % 2 == 0 ? 1.0f : 0.05f));
  }
  for (int i = 0; i < n_classes; ++i) head.bias.push_back(noise());
  return head;
}

inline Head Found(const Model& model) {
  const auto head = FindHead(model.main(), 0);
  REQUIRE(head.status().ToString() == "OK");
  return head.value();
}

inline HeadReplacement Replacement(const Model& model, const NewHead& new_head, Loss loss) {
  HeadReplacement replacement = ReplacementFor(model.main(), Found(model), loss);
  replacement.n_classes = new_head.n_classes;
  replacement.weights = new_head.weights;
  replacement.bias = new_head.bias;
  replacement.scores_min = -7.0f;
  replacement.scores_max = 5.0f;
  return replacement;
}

inline std::shared_ptr<const Model> Export(const Model& model, const HeadReplacement& replacement) {
  const auto bytes = ExportWithHead(model, replacement);
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(bytes.value());
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_NEW_HEAD_H_
