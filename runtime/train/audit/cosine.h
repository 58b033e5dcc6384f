// Cosines between rows of features, a block of rows against all.
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_COSINE_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_COSINE_H_

#include <vector>

#include "kernels/train/train_kernels.h"
#include "runtime/base/span.h"
#include "runtime/base/thread_pool.h"

namespace topwork {

// One thread at a time; the rows are borrowed. The same bits for any number of threads.
class Cosines {
 public:
  static constexpr int64_t kBlock = 32;  // queries at a time

  // rows: [n] pointers to dim floats. A row of zeros has the cosine 0 with every row.
  Cosines(const float* const* rows, int64_t n, int64_t dim, ThreadPool* pool);

  // out[i · queries.size() + q]: the cosine of row i and query q. At most kBlock queries, each a
  // pointer to dim floats.
  void Of(Span<const float* const> queries, float* out);

 private:
  float InverseNorm(const float* row) const;

  const float* const* const rows_;
  const int64_t n_, dim_;
  ThreadPool* const pool_;
  const TrainKernels& kernels_;
  std::vector<float> inverse_norms_;
  std::vector<float> block_;  // the queries, of length 1
  const std::vector<float> zeros_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_COSINE_H_
