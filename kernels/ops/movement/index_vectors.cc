// Index vectors: checks, and the steps that find them (see index_vectors.h).
#include "kernels/ops/movement/index_vectors.h"

#include <algorithm>

#include "kernels/ops/shared/indexing.h"

namespace topwork {

bool Contains(const std::vector<int>& dims, int d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

Status ReadDims(const PrepareContext& context, int field, const char* name, int rank,
                std::vector<int>* dims) {
  const LongList list = context.params().options.LongVector(field);
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t d = list[i];
    if (d < 0 || d >= rank || Contains(*dims, static_cast<int>(d))) {
      return context.Invalid("its option {} has {}; different numbers in [0, {}) expected", name, d,
                             rank);
    }
    dims->push_back(static_cast<int>(d));
  }
  return Status::Ok();
}

Status PlanIndexVectors(const PrepareContext& context, int64_t dim, const std::vector<int>& map,
                        IndexVectors* vectors) {
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32, DType::kInt64}));
  const Shape& shape = context.input(1)->shape;
  const int64_t n = dim >= 0 && dim < shape.rank() ? shape.dim(static_cast<int>(dim)) : 1;
  if (dim < 0 || dim > shape.rank() || n < static_cast<int64_t>(map.size())) {
    return context.Invalid("{} of shape {} has no {} coordinates along dimension {}",
                           context.InputName(1), shape.ToString(), map.size(), dim);
  }
  vectors->rank = context.input(0)->shape.rank();
  vectors->n = static_cast<int>(map.size());
  std::copy(map.begin(), map.end(), vectors->map);
  vectors->n_batch = shape.rank() - (dim < shape.rank() ? 1 : 0);
  int64_t step = 1;
  for (int d = shape.rank() - 1, b = vectors->n_batch; d >= 0; step *= shape.dim(d--)) {
    if (d == dim) {
      vectors->step = step;
      continue;
    }
    --b;
    vectors->batch[b] = shape.dim(d);
    vectors->batch_step[b] = step;
  }
  return Status::Ok();
}

void IndexVectors::Read(const TensorView& indices, int64_t at, int64_t* start) const {
  constexpr int64_t kMost = int64_t{1} << 32;
  std::fill(start, start + rank, 0);
  for (int i = 0; i < n; ++i) {
    start[map[i]] = std::clamp(IntAt(indices, at + i * step), -kMost, kMost);
  }
}

}  // namespace topwork
