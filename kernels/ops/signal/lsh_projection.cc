// LSH_PROJECTION: locality-sensitive hashes of a tensor's rows.
//
// Inputs: hash functions [n, bits] (float32 seeds), data [rows, ..] (any type of whole bytes;
// of strings their table, see strings.h, is cut into as many rows, as TFLite does),
// weights [rows] (float32, optional: all 1). A seed's bit is the sign of
//   sum over rows of weight * fingerprint(bytes of the seed, then of the row)
// with FarmHash's 64-bit fingerprint taken as a signed integer. SPARSE (1) gives one number for
// each hash function, its bits plus n * 2^bits for function n; DENSE (2) gives all bits. int32.
#include <cmath>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/signal/farm_hash.h"
#include "kernels/state/resources.h"
#include "runtime/tensor/strings.h"

namespace topwork {
namespace {

enum Type : uint8_t { kSparse = 1, kDense = 2 };

Status Parse(const OptionsView& options, OpParams* params) {
  const int8_t type = options.Byte(0, 0);
  if (type != kSparse && type != kDense) {
    return InvalidModel("type {} is neither 1 SPARSE nor 2 DENSE", type);
  }
  params->mode = static_cast<uint8_t>(type);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  TW_RETURN_IF_ERROR(CheckMovableOrStrings(context, 1));
  TW_RETURN_IF_ERROR(context.CheckRank(1, 1, kMaxRank));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kFloat32}));
  const Shape& hash = context.input(0)->shape;
  const Shape& data = context.input(1)->shape;
  if (hash.dim(1) > 32 || data.dim(0) < 1) {
    return context.Invalid("{} bits (at most 32) of {} rows (at least 1)", hash.dim(1),
                           data.dim(0));
  }
  const TensorView* weights = context.input(2);
  if (weights != nullptr && weights->shape != Shape({data.dim(0)})) {
    return context.Invalid("{} has shape {}, one weight for each of {} rows expected",
                           context.InputName(2), weights->shape.ToString(), data.dim(0));
  }
  const int64_t row_bytes = data.Product(1, data.rank()) * ElementBytes(*context.input(1));
  context.RequestScratch(sizeof(float) + static_cast<uint64_t>(row_bytes));
  const bool sparse = context.params().mode == kSparse;
  const int64_t n = sparse ? hash.dim(0) : hash.NumElements();
  TW_RETURN_IF_ERROR(CheckDim(context, n, "the output's size"));
  return context.SetOutput(0, DType::kInt32, Shape({static_cast<int32_t>(n)}));
}

// The bit of one seed; scratch has room for the seed and a row.
uint32_t SignBit(const RunContext& context, float seed, const uint8_t* rows, int64_t row_bytes,
                 uint8_t* scratch) {
  const int64_t n_rows = context.in(1).shape.dim(0);
  const float* weights = context.input_data<float>(2);
  std::memcpy(scratch, &seed, sizeof(seed));
  double score = 0.0;
  for (int64_t r = 0; r < n_rows; ++r) {
    CopyBytes(scratch + sizeof(seed), rows + r * row_bytes, row_bytes);
    const int64_t hash = static_cast<int64_t>(
        FarmFingerprint64(scratch, sizeof(seed) + static_cast<size_t>(row_bytes)));
    const double value = static_cast<double>(hash);
    score += weights == nullptr ? value : static_cast<double>(weights[r]) * value;
  }
  return score > 0.0 ? 1 : 0;
}

Status RunRows(const RunContext& context, const uint8_t* rows, size_t bytes, uint8_t* scratch) {
  const int64_t row_bytes = static_cast<int64_t>(bytes) / context.in(1).shape.dim(0);
  const Shape& hash = context.in(0).shape;
  const float* seeds = context.input_data<float>(0);
  int32_t* out = context.output_data<int32_t>(0);
  const uint32_t bits = static_cast<uint32_t>(hash.dim(1));
  for (int32_t i = 0; i < hash.dim(0); ++i) {
    uint32_t signature = 0;
    for (uint32_t j = 0; j < bits; ++j) {
      const uint32_t bit = SignBit(context, *seeds++, rows, row_bytes, scratch);
      signature = signature << 1 | bit;
      if (context.params->mode == kDense) *out++ = static_cast<int32_t>(bit);
    }
    const uint32_t offset = bits < 32 ? static_cast<uint32_t>(i) << bits : 0;
    if (context.params->mode == kSparse) *out++ = static_cast<int32_t>(signature + offset);
  }
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const TensorView& data = context.in(1);
  if (data.dtype != DType::kString) {
    return RunRows(context, data.as<uint8_t>(), data.bytes(), context.scratch);
  }
  const size_t bytes = StringTableBytes(StringsOf(data));
  if (bytes == 0 || bytes > SIZE_MAX / 4) {
    return InvalidArgument("the strings of its input have too many bytes");
  }
  const Allocator& allocator =
      context.resources == nullptr ? DefaultAllocator() : context.resources->allocator();
  TW_ASSIGN_OR_RETURN(Buffer table, Buffer::Allocate(2 * bytes + sizeof(float),
                                                     "the strings of LSH_PROJECTION", allocator));
  WriteStringTable(StringsOf(data), table.as<uint8_t>());
  return RunRows(context, table.as<uint8_t>(), bytes, table.as<uint8_t>() + bytes);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kLshProjection)
        .Types({DType::kFloat32, DType::kInt32, DType::kInt64, DType::kString, DType::kInt8})
        .DataInput(1)
        .Options(OptionsType::kLSHProjection, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> LshProjectionOps() { return Selected<kOps>(); }

}  // namespace topwork
