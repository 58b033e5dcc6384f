// What tests of FeatureExtractor share: seeded images, options, an extractor of the small
// classifier.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_FEATURES_EXTRACTOR_DATA_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_FEATURES_EXTRACTOR_DATA_H_

#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/train/features/extractor.h"
#include "runtime/train/head/head.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace test {

struct ExtractorImages {
  explicit ExtractorImages(int n) { MakeImages(n, 3, 1, &x, &y); }
  Examples examples() const {
    return Examples::FromArray(x.data(), kImageFloats * sizeof(float), y.data(),
                               static_cast<int64_t>(y.size()));
  }
  std::vector<float> x;
  std::vector<int32_t> y;
};

inline TrainerOptions ExtractorOptions(int n_threads, int batch) {
  TrainerOptions options;
  options.n_threads = n_threads;
  options.feature_batch_size = batch;
  return options;
}

inline std::unique_ptr<FeatureExtractor> NewExtractor(const TrainerOptions& options,
                                                      Tail tail = Tail::kDense) {
  const auto model = OpenBytes(ClassifierBytes(tail));
  const auto head = FindHead(model->main(), 0);
  REQUIRE(head.ok());
  Cut cut;
  cut.value = head->feature;
  cut.batch = head->batch;
  cut.dim = head->dim;
  cut.n_positions = head->n_positions;
  auto extractor = FeatureExtractor::Create(model, cut, options);
  REQUIRE(extractor.status().ToString() == "OK");
  return std::move(extractor.value());
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_FEATURES_EXTRACTOR_DATA_H_
