// EMBEDDING_LOOKUP, EMBEDDING_LOOKUP_SPARSE and HASHTABLE_LOOKUP: rows of a table by id or key.
#include <algorithm>
#include <cmath>

#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

// EMBEDDING_LOOKUP: the rows of the table (input 1) that the ids (input 0) name.
//
// The output has the table's type. A quantized table may also give float32 or float16: int8, int4,
// int2, or uint8 whose bytes are those of int8. Its rows are then multiplied by its scale (one, or
// one for each row; zero point 0). A float32 table gives float16, too; tables with a scale for each
// block become float32 when a model is opened. Ids are checked at run time.

constexpr int64_t kAtATime = 512;  // elements at a time

// A quantized table with a float output: its scales must be usable.
Status CheckDynamicRange(const PrepareContext& context) {
  const TensorView& table = *context.input(1);
  const Quantization* q = table.quantization;
  const size_t n_rows = static_cast<size_t>(table.shape.dim(0));
  bool usable = q != nullptr && (q->scales.size() == 1 || q->scales.size() == n_rows);
  if (usable && q->scales.size() > 1) usable = q->axis == 0;
  for (size_t i = 0; usable && i < q->zero_points.size(); ++i) usable = q->zero_points[i] == 0;
  if (usable) return Status::Ok();
  return context.Invalid(
      "{} needs one scale, or one per row, and zero point 0 to be looked up as {}",
      context.InputName(1), DTypeName(context.output(0).dtype));
}

bool IsDynamicRange(DType table, DType output) {
  if (output == DType::kFloat16 && table == DType::kFloat32) return true;
  return (output == DType::kFloat32 || output == DType::kFloat16) &&
         (table == DType::kInt8 || table == DType::kUInt8 || table == DType::kInt4 ||
          table == DType::kInt2);
}

// Rows of whole bytes are moved as they lie.
bool HasWholeBytes(const TensorView& table) {
  return table.shape.Product(1, table.shape.rank()) * DTypeBits(table.dtype) % 8 == 0;
}

Status PrepareEmbeddingLookup(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, 1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 1, {DType::kInt2, DType::kInt4, DType::kUInt4}));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 2, kMaxRank));
  const TensorView& table = *context.input(1);
  Shape shape = table.shape;
  shape.set_dim(0, context.input(0)->shape.dim(0));
  const DType dtype = context.output(0).dtype;
  if (IsDynamicRange(table.dtype, dtype)) {
    if (!IsFloat(table.dtype)) TW_RETURN_IF_ERROR(CheckDynamicRange(context));
    context.SetVariant("table to real");
    return context.SetOutput(0, dtype, shape);
  }
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  const Status set = context.SetOutput(0, table.dtype, shape);
  return HasWholeBytes(table) ? set : RequestWidening(context, set);
}

// Row `id` of `row` elements times its scale, to row k of the output.
void LookUpReal(const TensorView& table, int64_t id, int64_t row, int64_t k,
                const TensorView& out) {
  float reals[kAtATime];
  int8_t bytes[kAtATime];
  float scale = 1.0f;
  if (!IsFloat(table.dtype)) {
    const Span<const float> scales = table.quantization->scales;
    scale = scales[scales.size() > 1 ? static_cast<size_t>(id) : 0];
  }
  for (int64_t at = 0; at < row; at += kAtATime) {
    const int64_t n = std::min(row - at, kAtATime), from = id * row + at, to = k * row + at;
    const int8_t* values = table.as<int8_t>() + from;
    if (IsPacked(table.dtype)) {
      Unpack(table.dtype, table.data, from, n, bytes);
      values = bytes;
    }
    float* real = out.dtype == DType::kFloat32 ? out.as<float>() + to : reals;
    for (int64_t i = 0; i < n; ++i) {
      real[i] = IsFloat(table.dtype) ? table.as<float>()[from + i]
                                     : static_cast<float>(values[i]) * scale;
    }
    for (int64_t i = 0; real == reals && i < n; ++i) {
      out.as<uint16_t>()[to + i] = FloatToHalf(reals[i]);
    }
  }
}

Status LookUp(const RunContext& context) {
  const TensorView& ids = context.in(0);
  const TensorView& table = context.in(1);
  const TensorView& out = context.out(0);
  const int64_t n = ids.shape.dim(0);
  for (int64_t k = 0; k < n; ++k) {
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(ids, k), table.shape.dim(0), k));
  }
  if (out.bytes() == 0) return Status::Ok();
  const int64_t row = table.shape.Product(1, table.shape.rank());
  const int64_t bytes = row * DTypeBits(table.dtype) / 8;
  ParallelRows(context.pool, n, std::max<int64_t>(bytes, row), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      if (table.dtype != out.dtype) {
        LookUpReal(table, IntAt(ids, k), row, k, out);
      } else {
        std::memcpy(out.as<uint8_t>() + k * bytes, table.as<uint8_t>() + IntAt(ids, k) * bytes,
                    static_cast<size_t>(bytes));
      }
    }
  });
  return Status::Ok();
}

Status RunEmbeddingLookup(const RunContext& context) {
  return HasWholeBytes(context.in(1)) ? LookUp(context) : RunWidened(context, LookUp);
}

// EMBEDDING_LOOKUP_SPARSE: weighted sums of embeddings, one for each row of a sparse tensor.
//
// Inputs: ids [n] of embeddings, indices [n, rank] of the sparse tensor's elements, its dense shape
// [rank] (all int32), weights [n] and embeddings [rows, ..] (float32). The last dimension of the
// dense shape becomes the embedding. The combiner divides a sum by the total weight (MEAN) or the
// root of the summed squares of the weights (SQRTN). As in TFLite elements of one row are expected
// to follow each other: where another row lies between them, each run of them is divided alone.

enum Combiner : uint8_t { kSum = 0, kMean = 1, kSqrtN = 2 };

Status ParseEmbeddingLookupSparse(const OptionsView& options, OpParams* params) {
  const int8_t combiner = options.Byte(0, 0);
  if (combiner < kSum || combiner > kSqrtN) {
    return InvalidModel("combiner {} does not exist (0 SUM, 1 MEAN, 2 SQRTN)", combiner);
  }
  params->mode = static_cast<uint8_t>(combiner);
  return Status::Ok();
}

Status PrepareEmbeddingLookupSparse(PrepareContext& context) {
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
    return context.Invalid(
        "{} ids, indices of shape {}, {} weights and a dense shape of rank {} "
        "do not fit each other",
        n, indices.ToString(), context.input(3)->shape.dim(0), dense.rank());
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

Status RunEmbeddingLookupSparse(const RunContext& context) {
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
      return InvalidArgument("element {} lies outside the dense shape", i);
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

// HASHTABLE_LOOKUP: for each key (input 0) the row of values (input 2) whose key (input 1, int32,
// ascending) is equal, and 1 in output 1 (uint8); a missing key gives a row of zero bytes and 0.

Status PrepareHashtableLookup(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(2));
  for (int i = 0; i < 2; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  }
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 2));
  TW_RETURN_IF_ERROR(context.CheckRank(2, 1, kMaxRank));
  const Shape& values = context.input(2)->shape;
  const int32_t n_keys = context.input(1)->shape.dim(0);
  if (values.dim(0) != n_keys || n_keys == 0) {
    return context.Invalid("{} keys for values of shape {}; as many expected, and not none", n_keys,
                           values.ToString());
  }
  const int32_t n_lookups = context.input(0)->shape.dim(0);
  Shape out = values;
  out.set_dim(0, n_lookups);
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(2)->dtype, out));
  return context.SetOutput(1, DType::kUInt8, Shape({n_lookups}));
}

Status RunHashtableLookup(const RunContext& context) {
  const int64_t n_keys = context.in(1).shape.dim(0);
  const int64_t row_bytes = static_cast<int64_t>(context.in(2).bytes()) / n_keys;
  const int32_t* keys = context.input_data<int32_t>(1);
  const int32_t* lookups = context.input_data<int32_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  uint8_t* hits = context.output_data<uint8_t>(1);
  for (int64_t i = 0; i < context.in(0).shape.dim(0); ++i, out += row_bytes) {
    const int32_t* found = std::lower_bound(keys, keys + n_keys, lookups[i]);
    hits[i] = found != keys + n_keys && *found == lookups[i] ? 1 : 0;
    if (hits[i] != 0) {
      CopyBytes(out, context.input_data<uint8_t>(2) + (found - keys) * row_bytes, row_bytes);
    } else {
      std::memset(out, 0, static_cast<size_t>(row_bytes));
    }
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kEmbeddingLookup)
        .Versions(5)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kInt4,
                DType::kBFloat16, DType::kInt2, DType::kUInt4})
        .DataInput(1)
        .Cpu(PrepareEmbeddingLookup, RunEmbeddingLookup)
        .Gpu(PlanEmbeddingLookup, GpuTypes::kAny),
    OpDef(OpCode::kEmbeddingLookupSparse)
        .Types({DType::kFloat32})
        .DataInput(4)
        .Options(OptionsType::kEmbeddingLookupSparse, ParseEmbeddingLookupSparse)
        .Cpu(PrepareEmbeddingLookupSparse, RunEmbeddingLookupSparse),
    OpDef(OpCode::kHashtableLookup)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64, DType::kString, DType::kInt8})
        .DataInput(2)
        .Cpu(PrepareHashtableLookup, RunHashtableLookup),
};

Span<const OpDef> EmbeddingLookupOps() { return Selected<kOps>(); }

}  // namespace topwork
