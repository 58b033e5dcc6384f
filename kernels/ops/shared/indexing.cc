// Checks and small loops of the operators that only move data.
#include "kernels/ops/shared/indexing.h"

#include <algorithm>
#include <limits>

#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

bool IsQuantizedInteger(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16 ||
         IsPacked(dtype);
}

bool HasScale(const TensorView& view) {
  return view.quantization != nullptr && !view.quantization->scales.empty();
}

template <typename T>
bool Equal(Span<const T> a, Span<const T> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

Status CheckMovable(const PrepareContext& context, int i, std::initializer_list<DType> packed) {
  const DType dtype = context.input(i)->dtype;
  const int bits = DTypeBits(dtype);
  if (bits > 0 && bits % 8 == 0 && dtype != DType::kString) return Status::Ok();
  if (std::find(packed.begin(), packed.end(), dtype) != packed.end()) return Status::Ok();
  return context.Unsupported("{} is {}, which this operator does not support here",
                             context.InputName(i), DTypeName(dtype));
}

Status CheckMovableOrStrings(const PrepareContext& context, int i,
                             std::initializer_list<DType> packed) {
  return context.input(i)->dtype == DType::kString ? Status::Ok()
                                                   : CheckMovable(context, i, packed);
}

Status CheckSized(const PrepareContext& context, int i) {
  return CheckMovableOrStrings(context, i, {DType::kInt2, DType::kInt4, DType::kUInt4});
}

Status CheckSameDType(const PrepareContext& context, int a, int b) {
  if (context.input(a)->dtype == context.input(b)->dtype) return Status::Ok();
  return context.Invalid("{} is {} but {} is {}; they must agree", context.InputName(a),
                         DTypeName(context.input(a)->dtype), context.InputName(b),
                         DTypeName(context.input(b)->dtype));
}

bool HasSameQuantization(const TensorView& in, const TensorView& out) {
  if (!IsQuantizedInteger(in.dtype) || !HasScale(in) || !HasScale(out)) return true;
  return Equal(in.quantization->scales, out.quantization->scales) &&
         Equal(in.quantization->zero_points, out.quantization->zero_points);
}

Status CheckSameQuantization(const PrepareContext& context, int input, int output) {
  const TensorView& in = *context.input(input);
  const TensorView& out = context.output(output);
  if (HasSameQuantization(in, out)) return Status::Ok();
  return context.Unsupported(
      "{} and output {} have different scales or zero points ({}, {} and {}, "
      "{}); this operator does not rescale",
      context.InputName(input), output, in.quantization->scales[0], ZeroPoint(in),
      out.quantization->scales[0], ZeroPoint(out));
}

int64_t ZeroPoint(const TensorView& view) {
  if (!IsQuantizedInteger(view.dtype) || view.quantization == nullptr) return 0;
  return view.quantization->zero_points.empty() ? 0 : view.quantization->zero_points[0];
}

Status NormalizeAxis(const PrepareContext& context, int64_t axis, int rank, const char* what,
                     int* out) {
  if (axis < -rank || axis >= rank) {
    return context.Invalid("{} {} is outside [{}, {}) of a tensor of rank {}", what, axis, -rank,
                           rank, rank);
  }
  *out = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status::Ok();
}

Status ReadInts(PrepareContext& context, int i, std::vector<int64_t>* out) {
  TW_RETURN_IF_ERROR(context.CheckDType(
      i, {DType::kInt32, DType::kInt64, DType::kInt16, DType::kInt8, DType::kBool}));
  TW_RETURN_IF_ERROR(context.NeedValue(i));
  const TensorView& view = *context.input(i);
  const int64_t n = view.shape.NumElements();
  // Every operator here reads a few values per dimension; more is a defect of the file.
  if (n > 32) {
    return context.Invalid("{} has {} values, at most 32 are possible", context.InputName(i), n);
  }
  out->clear();
  for (int64_t k = 0; k < n; ++k) out->push_back(IntAt(view, k));
  return Status::Ok();
}

Status ReadInt(PrepareContext& context, int i, int64_t* out) {
  std::vector<int64_t> values;
  TW_RETURN_IF_ERROR(ReadInts(context, i, &values));
  if (values.size() != 1) {
    return context.Invalid("{} has shape {}, one value expected", context.InputName(i),
                           context.input(i)->shape.ToString());
  }
  *out = values[0];
  return Status::Ok();
}

Status ReadShape(PrepareContext& context, int i, Shape* out) {
  TW_RETURN_IF_ERROR(context.CheckDType(i, {DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
  std::vector<int64_t> values;
  TW_RETURN_IF_ERROR(ReadInts(context, i, &values));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, static_cast<int>(values.size())));
  *out = Shape();
  for (int64_t value : values) {
    TW_RETURN_IF_ERROR(CheckDim(context, value, "a dimension of the output"));
    out->Append(static_cast<int32_t>(value));
  }
  return Status::Ok();
}

Status CheckDim(const PrepareContext& context, int64_t value, const char* what) {
  if (value >= 0 && value <= std::numeric_limits<int32_t>::max()) return Status::Ok();
  return context.Invalid("{} is {}, outside [0, 2147483647]", what, value);
}

Status CheckOutputRank(const PrepareContext& context, int rank) {
  if (rank <= kMaxRank) return Status::Ok();
  return context.Unsupported("its output has rank {}, at most {} is supported", rank, kMaxRank);
}

Status ParseDims(const OptionsView& options, int field, const char* what, OpParams* params) {
  const Span<const int32_t> values = options.IntVector(field);
  if (values.data() == nullptr) return Status::Ok();
  if (values.size() > static_cast<size_t>(kMaxRank)) {
    return Unsupported("{} has {} values, at most {} are supported", what, values.size(), kMaxRank);
  }
  params->n_dims = static_cast<int32_t>(values.size());
  std::copy(values.begin(), values.end(), params->dims);
  return Status::Ok();
}

int64_t IntAt(const TensorView& view, int64_t k) {
  if (view.dtype == DType::kBool) return view.as<uint8_t>()[k] != 0;
  return VisitDType<int64_t, int16_t, int8_t, int32_t>(
      view.dtype, [&](auto type) { return int64_t{view.as<decltype(type)>()[k]}; });
}

namespace {

int64_t RowsOfTask(int64_t row_bytes) {
  return std::max<int64_t>(1, kCopyPieceBytes / std::max<int64_t>(1, row_bytes));
}

}  // namespace

int64_t CountRowTasks(int64_t n_rows, int64_t row_bytes) {
  const int64_t group = RowsOfTask(row_bytes);
  return (n_rows + group - 1) / group;
}

void ParallelRowsOfThreads(ThreadPool* pool, int64_t n_rows, int64_t row_bytes,
                           FunctionRef<void(int64_t, int64_t, int)> body) {
  if (n_rows <= 0) return;
  const int64_t group = RowsOfTask(row_bytes);
  const int64_t n_tasks = CountRowTasks(n_rows, row_bytes);
  if (pool == nullptr || n_tasks == 1) return body(0, n_rows, 0);
  pool->ParallelFor(n_tasks, [&](int64_t task, int thread) {
    body(task * group, std::min(n_rows, (task + 1) * group), thread);
  });
}

void ParallelRows(ThreadPool* pool, int64_t n_rows, int64_t row_bytes,
                  FunctionRef<void(int64_t, int64_t)> body) {
  ParallelRowsOfThreads(pool, n_rows, row_bytes,
                        [&](int64_t begin, int64_t end, int) { body(begin, end); });
}

void ParallelCopy(ThreadPool* pool, void* destination, const void* source, int64_t bytes) {
  if (destination == source || bytes == 0) return;
  uint8_t* to = static_cast<uint8_t*>(destination);
  const uint8_t* from = static_cast<const uint8_t*>(source);
  ParallelRows(pool, bytes, 1, [&](int64_t begin, int64_t end) {
    std::memmove(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

Status RunByteCopy(const RunContext& context) {
  ParallelCopy(context.pool, context.out(0).data, context.in(0).data,
               static_cast<int64_t>(context.out(0).bytes()));
  return Status::Ok();
}

void FillElements(void* destination, int64_t n, const void* value, int64_t element_bytes) {
  if (n <= 0 || element_bytes <= 0) return;
  uint8_t* to = static_cast<uint8_t*>(destination);
  const uint8_t* from = static_cast<const uint8_t*>(value);
  const int64_t bytes = n * element_bytes;
  if (std::all_of(from, from + element_bytes, [&](uint8_t b) { return b == from[0]; })) {
    std::memset(to, from[0], static_cast<size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<size_t>(element_bytes));
  // Doubling, with a block that stays in the first-level cache.
  int64_t done = element_bytes;
  const int64_t largest = element_bytes * std::max<int64_t>(1, 8192 / element_bytes);
  while (done < bytes) {
    const int64_t block = std::min({done, largest, bytes - done});
    std::memcpy(to + done, to, static_cast<size_t>(block));
    done += block;
  }
}

}  // namespace topwork
