// EMBEDDING_LOOKUP_SPARSE: weighted sums of embeddings, one for each row of a sparse tensor.
//
// Inputs: ids [n] of embeddings, indices [n, rank] of the sparse tensor's elements, its dense shape
// [rank] (all int32), weights [n] and embeddings [rows, ..] (float32). The last dimension of the
// dense shape becomes the embedding. The combiner divides a sum by the total weight (MEAN) or the
// root of the summed squares of the weights (SQRTN). As in TFLite elements of one row are expected
// to follow each other: where another row lies between them, each run of them is divided alone.
#include <algorithm>
#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

enum Combiner : uint8_t { kSum = 0, kMean = 1, kSqrtN = 2 };

Status Parse(const OptionsView& options, OpParams* params) {
  const int8_t combiner = options.Byte(0, 0);
  if (combiner < kSum || combiner > kSqrtN) {
    return InvalidModel("combiner %d does not exist (0 SUM, 1 MEAN, 2 SQRTN)", combiner);
  }
  params->mode = static_cast<uint8_t>(combiner);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(5, 5));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  for (int i = 0; i < 5; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {i < 3 ? DType::kInt32 : DType::kFloat32}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, i == 1 || i == 4 ? 2 : 1,
                                         i == 1   ? 2
                                         : i == 4 ? kMaxRank
                                                  : 1));
  }
  const Shape& indices = context.input(1)->shape;
  const Shape& embeddings = context.input(4)->shape;
  Shape dense;
  TW_RETURN_IF_ERROR(ReadShape(context, 2, &dense));
  const int32_t n = context.input(0)->shape.dim(0);
  if (indices.dim(0) != n || context.input(3)->shape.dim(0) != n ||
      indices.dim(1) != dense.rank() || dense.rank() < 1) {
    return InvalidModel(
        "%s: %d ids, indices of shape %s, %d weights and a dense shape of rank %d "
        "do not fit each other",
        context.Where().c_str(), n, indices.ToString().c_str(), context.input(3)->shape.dim(0),
        dense.rank());
  }
  TW_RETURN_IF_ERROR(CheckOutputRank(context, dense.rank() + embeddings.rank() - 2));
  Shape out;
  for (int d = 0; d + 1 < dense.rank(); ++d) out.Append(dense.dim(d));
  for (int d = 1; d < embeddings.rank(); ++d) out.Append(embeddings.dim(d));
  return context.SetOutput(0, DType::kFloat32, out);
}

// The sum of one row so far.
struct Bucket {
  float* sum = nullptr;
  float weight = 0.0f, squares = 0.0f;
};

void Finish(uint8_t combiner, const Bucket& bucket, int64_t n) {
  if (combiner == kSum || bucket.sum == nullptr) return;
  const float divisor = combiner == kMean ? bucket.weight : std::sqrt(bucket.squares);
  for (int64_t k = 0; k < n; ++k) bucket.sum[k] /= divisor;
}

// The row of element i; −1 when an index is outside the dense shape.
int64_t RowOf(const RunContext& context, int64_t i) {
  const int64_t rank = context.in(1).shape.dim(1);
  const int32_t* index = context.input_data<int32_t>(1) + i * rank;
  const int32_t* dense = context.input_data<int32_t>(2);
  int64_t row = 0;
  for (int64_t d = 0; d + 1 < rank; ++d) {
    if (index[d] < 0 || index[d] >= dense[d]) return -1;
    row = row * dense[d] + index[d];
  }
  return row;
}

Status Run(const RunContext& context) {
  const int64_t n = context.in(0).shape.dim(0);
  const Shape& embeddings = context.in(4).shape;
  const int64_t size = embeddings.Product(1, embeddings.rank());
  float* out = context.output_data<float>(0);
  std::fill(out, out + context.out(0).shape.NumElements(), 0.0f);
  Bucket bucket;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t id = context.input_data<int32_t>(0)[i];
    TW_RETURN_IF_ERROR(CheckIndex(id, embeddings.dim(0), i));
    const int64_t row = RowOf(context, i);
    if (row < 0) {
      return InvalidArgument("element %lld lies outside the dense shape",
                             static_cast<long long>(i));
    }
    if (bucket.sum != out + row * size) {
      Finish(context.params->mode, bucket, size);
      bucket = {out + row * size, 0.0f, 0.0f};
    }
    const float weight = context.input_data<float>(3)[i];
    bucket.weight += weight;
    bucket.squares += weight * weight;
    const float* embedding = context.input_data<float>(4) + id * size;
    for (int64_t k = 0; k < size; ++k) bucket.sum[k] += embedding[k] * weight;
  }
  Finish(context.params->mode, bucket, size);
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpEmbeddingLookupSparse;
const OpDef kOpEmbeddingLookupSparse = {
    OpCode::kEmbeddingLookupSparse, "EMBEDDING_LOOKUP_SPARSE", 20, 1, Parse, Prepare, Run};

}  // namespace topwork
