// EMBEDDING_LOOKUP: the rows of the table (input 1) that the ids (input 0) name.
//
// The output has the table's type, or float32 or float16 for a quantized table (int8, int4, int2;
// uint8 whose bytes are those of int8), whose rows are then multiplied by its scale (one, or one
// per row; zero point 0). A float32 table, which tables with a scale a block become when a model is
// opened, gives float16, too. Ids are checked at run time.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/packed_moves.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

constexpr int64_t kAtATime = 512;  // elements at a time

// A quantized table with a float output: its scales must be usable.
Status CheckHybrid(const PrepareContext& context) {
  const TensorView& table = *context.input(1);
  const Quantization* q = table.quantization;
  const size_t n_rows = static_cast<size_t>(table.shape.dim(0));
  bool usable = q != nullptr && (q->scales.size() == 1 || q->scales.size() == n_rows);
  if (usable && q->scales.size() > 1) usable = q->axis == 0;
  for (size_t i = 0; usable && i < q->zero_points.size(); ++i) usable = q->zero_points[i] == 0;
  if (usable) return Status::Ok();
  return InvalidModel(
      "%s: %s needs one scale, or one per row, and zero point 0 to be looked up as %s",
      context.Where().c_str(), context.InputName(1).c_str(), DTypeName(context.output(0).dtype));
}

bool IsHybrid(DType table, DType output) {
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
  if (IsHybrid(table.dtype, dtype)) {
    if (!IsFloat(table.dtype)) TW_RETURN_IF_ERROR(CheckHybrid(context));
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

}  // namespace

extern const OpDef kOpEmbeddingLookup;
const OpDef kOpEmbeddingLookup = {OpCode::kEmbeddingLookup, "EMBEDDING_LOOKUP", 0, 5, nullptr,
                                  PrepareEmbeddingLookup,   RunEmbeddingLookup};

}  // namespace topwork
