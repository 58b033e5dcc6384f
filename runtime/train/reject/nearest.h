// The stored examples that a new one is compared with: a bounded choice of the taught ones, as unit
// vectors in int8, and the mean cosine to the nearest of them.
#ifndef TOPWORK_RUNTIME_TRAIN_REJECT_NEAREST_H_
#define TOPWORK_RUNTIME_TRAIN_REJECT_NEAREST_H_

#include <cstdint>
#include <vector>

#include "models/format/head_format.h"
#include "runtime/base/span.h"

namespace topwork {

class ThreadPool;

constexpr int kNeighbours = 5;  // whose mean similarity is the score

// Examples as rows of features, borrowed.
struct FeatureRows {
  std::vector<const float*> rows;
  int64_t dim = 0;
  Span<const int32_t> labels;  // empty: all of one class
  Span<const int32_t> groups;  // −1: of none; empty: all of none

  int64_t size() const { return static_cast<int64_t>(rows.size()); }
};

// The least size of a feature whose root is taken.
constexpr float kLeastRoot = 1e-20f;
// x / √|x| of every feature: what rows and features below are. Then a few features that are large decide
// less (Arandjelović and Zisserman 2012, RootSIFT).
void TakeRoots(float* features, int64_t n);

// What is stored. rows: as they are read again, unit length up to rounding.
struct StoredExamples {
  int64_t dim = 0;
  float scale = 1.0f;
  std::vector<float> rows;        // [n, dim]
  std::vector<int32_t> examples;  // [n], which of the examples each is

  int64_t size() const { return static_cast<int64_t>(examples.size()); }
  int n_neighbours() const { return static_cast<int>(std::min<int64_t>(kNeighbours, size())); }
  StoredConstant AsConstant() const;  // int8 [n, dim]
};

// At most max_rows (or one a class) of the examples at `candidates`, evenly over the classes; in a
// class greedily the farthest from those chosen already (k-centre; Gonzalez 1985), in order.
std::vector<int32_t> ChooseExamples(const FeatureRows& examples, Span<const int32_t> candidates,
                                    int64_t max_rows);

StoredExamples Store(const FeatureRows& examples, std::vector<int32_t> chosen);

// The mean cosine of a row of features with the kNeighbours stored ones that are nearest; those for
// which `skip` is true are left out. nearest (may be null): n_neighbours() positions among the stored
// ones, nearest first. 0 where nothing is left.
double Similarity(const StoredExamples& stored, const float* features,
                  const std::vector<uint8_t>& skip, int32_t* nearest);

// Similarity of every example with the stored ones but itself and those of its group, [n].
// `same`: the stored examples are of `examples`. The threads change no bit.
std::vector<double> LeftOutSimilarities(const StoredExamples& stored, const FeatureRows& examples,
                                        bool same, ThreadPool* pool);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_REJECT_NEAREST_H_
