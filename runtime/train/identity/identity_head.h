// IdentityHead: nearest neighbours as a Trainable. A class scores by those of its stored examples
// that are most like the example, so that a person of few pictures needs no fit:
//   similarity[r] = rows[r] · x / |x|         rows of unit length: a cosine
//   score[c]      = scale · mean of the min(k, n_c) largest similarities among class c's n_c rows
// With k = 1 the best class is that of the nearest row. A class without rows scores kNoSimilarity · scale.
//
// All parameters have a place whether rows are there or not, so that their number never changes: a
// checkpoint, a validated copy and a head file are what they are for other heads.
#ifndef TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_HEAD_H_

#include <memory>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/base/buffer.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/options.h"

namespace topwork {

constexpr char kIdentityRows[] = "identity/rows";        // [max_rows, dim]
constexpr char kIdentityClasses[] = "identity/classes";  // [max_rows]; −1: no row, at the end
constexpr char kIdentityScale[] = "identity/scale";      // [1]
constexpr char kIdentityNeighbours[] = "identity/neighbours";  // [1]: k

// Below every cosine.
constexpr float kNoSimilarity = -2.0f;

// What IdentityHead's parameters say; rows borrowed from them.
struct IdentityView {
  Span<const float> rows;        // [size(), dim]
  std::vector<int32_t> classes;  // −1 for a number that is no class
  int64_t dim = 0;
  int n_classes = 0;
  int n_neighbours = 1;
  float scale = 1.0f;

  int64_t size() const { return static_cast<int64_t>(classes.size()); }
};
// `parameters` in the order of the names above.
IdentityView ViewIdentity(Span<const float> parameters, int64_t dim, int n_classes);

// Turns similarities to rows of the given classes (−1: the row does not count) into the n_classes
// class scores before the scale.
void ReduceToClasses(const float* similarities, Span<const int32_t> classes, int n_neighbours,
                     int n_classes, float* out);

// out[b, r]: similarities of n examples with n_stored rows of unit length, [n_stored, dim]. The
// same bits for any number of threads.
void Similarities(const TrainKernels& kernels, const float* stored, int64_t n_stored, int64_t dim,
                  const float* const* examples, int64_t n, ThreadPool* pool, float* out);

// The network of Optimizer::kKnn, without rows. INVALID_ARGUMENT where its size is not possible.
Result<std::unique_ptr<Trainable>> NewIdentityHead(int64_t dim, int n_classes,
                                                   const TrainerOptions& options, ThreadPool* pool);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_HEAD_H_
