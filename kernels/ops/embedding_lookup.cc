// EMBEDDING_LOOKUP: the rows of the table (input 1) that the ids (input 0) name.
//
// The output has the table's type, or float32 for an int8 table, whose rows are then multiplied by
// the table's scale (one, or one per row; zero point 0). Ids are checked at run time.
#include "kernels/ops/indexing.h"

namespace topwork {
namespace {

// An int8 table with a float output: its scales must be usable.
Status CheckHybrid(const PrepareContext& context) {
  const TensorView& table = *context.input(1);
  const Quantization* q = table.quantization;
  const size_t n_rows = static_cast<size_t>(table.shape.dim(0));
  bool usable = q != nullptr && (q->scales.size() == 1 || q->scales.size() == n_rows);
  if (usable && q->scales.size() > 1) usable = q->axis == 0;
  for (size_t i = 0; usable && i < q->zero_points.size(); ++i) usable = q->zero_points[i] == 0;
  if (usable) return Status::Ok();
  return InvalidModel(
      "%s: %s needs one scale, or one per row, and zero point 0 to be looked up as "
      "float32",
      context.Where().c_str(), context.InputName(1).c_str());
}

Status PrepareEmbeddingLookup(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, 1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 1));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 2, kMaxRank));
  const TensorView& table = *context.input(1);
  DType dtype = table.dtype;
  if (dtype == DType::kInt8 && context.output(0).dtype == DType::kFloat32) {
    TW_RETURN_IF_ERROR(CheckHybrid(context));
    dtype = DType::kFloat32;
    context.SetVariant("int8 table");
  } else {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  }
  Shape shape = table.shape;
  shape.set_dim(0, context.input(0)->shape.dim(0));
  return context.SetOutput(0, dtype, shape);
}

Status RunEmbeddingLookup(const RunContext& context) {
  const TensorView& ids = context.in(0);
  const TensorView& table = context.in(1);
  const int64_t n = ids.shape.dim(0);
  for (int64_t k = 0; k < n; ++k) {
    TW_RETURN_IF_ERROR(CheckIndex(IntAt(ids, k), table.shape.dim(0), k));
  }
  if (context.out(0).bytes() == 0) return Status::Ok();
  const int64_t row = table.shape.Product(1, table.shape.rank());
  const int64_t bytes = row * ElementBytes(table);
  const bool hybrid = table.dtype != context.out(0).dtype;
  ParallelRows(context.pool, n, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t id = IntAt(ids, k);
      if (!hybrid) {
        std::memcpy(context.output_data<uint8_t>(0) + k * bytes, table.as<uint8_t>() + id * bytes,
                    static_cast<size_t>(bytes));
        continue;
      }
      const Span<const float> scales = table.quantization->scales;
      const float scale = scales[scales.size() > 1 ? static_cast<size_t>(id) : 0];
      const int8_t* from = table.as<int8_t>() + id * row;
      float* to = context.output_data<float>(0) + k * row;
      for (int64_t i = 0; i < row; ++i) to[i] = static_cast<float>(from[i]) * scale;
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpEmbeddingLookup;
const OpDef kOpEmbeddingLookup = {OpCode::kEmbeddingLookup, "EMBEDDING_LOOKUP", 0, 5, nullptr,
                                  PrepareEmbeddingLookup,   RunEmbeddingLookup};

}  // namespace topwork
