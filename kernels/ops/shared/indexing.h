// What the operators that only move data share: element sizes, axes, shapes read from tensors,
// run-time indices, and loops over rows cut into fixed pieces.
//
// Every Check/Read function here is for prepare and returns a message that names the operator and
// the tensor. Nothing here knows an operator's semantics.
#ifndef TOPWORK_KERNELS_OPS_SHARED_INDEXING_H_
#define TOPWORK_KERNELS_OPS_SHARED_INDEXING_H_

#include <cstring>
#include <vector>

#include "kernels/contract/kernel.h"

namespace topwork {

// One parallel task moves about this many bytes, whatever the number of threads.
constexpr int64_t kCopyPieceBytes = 32 * 1024;

// Bytes of one element of `view`; its dtype must have passed CheckMovable. A packed one is moved as
// a byte (packed_moves.h).
inline int64_t ElementBytes(const TensorView& view) {
  return IsPacked(view.dtype) ? 1 : DTypeBits(view.dtype) / 8;
}

// Input i holds elements of whole bytes (not strings or variants), or of one of the packed types
// that are listed.
Status CheckMovable(const PrepareContext& context, int i, std::initializer_list<DType> packed = {});
// The same, and strings: for the operators that TFLite moves them by.
Status CheckMovableOrStrings(const PrepareContext& context, int i,
                             std::initializer_list<DType> packed = {});
// Any type but variants, packed ones included: for operators that copy the whole tensor.
Status CheckSized(const PrepareContext& context, int i);
// Both inputs have the same dtype.
Status CheckSameDType(const PrepareContext& context, int a, int b);
// Whether both mean the same numbers by their values; a side without quantization makes no claim.
bool HasSameQuantization(const TensorView& in, const TensorView& out);
// Quantized values pass unchanged only where input and output mean the same numbers by them.
Status CheckSameQuantization(const PrepareContext& context, int input, int output);
// Zero point of a quantized integer tensor, 0 for all others.
int64_t ZeroPoint(const TensorView& view);

// `axis` in [-rank, rank) made non-negative; `what` names it in the message.
Status NormalizeAxis(const PrepareContext& context, int64_t axis, int rank, const char* what,
                     int* out);

// Values of input i, an integer tensor (bool, int8, int16, int32 or int64) known at plan time.
Status ReadInts(PrepareContext& context, int i, std::vector<int64_t>* out);
// The same for a tensor that must hold exactly one value.
Status ReadInt(PrepareContext& context, int i, int64_t* out);
// Input i as a shape: one-dimensional, int32 or int64, at most kMaxRank values in [0, 2^31).
Status ReadShape(PrepareContext& context, int i, Shape* out);
// `value` fits a dimension: 0 <= value < 2^31.
Status CheckDim(const PrepareContext& context, int64_t value, const char* what);
// An output rank of at most kMaxRank.
Status CheckOutputRank(const PrepareContext& context, int rank);

// A vector of int32 of the options as params->dims; an absent one leaves n_dims at −1.
Status ParseDims(const OptionsView& options, int field, const char* what, OpParams* params);

// Element k of an integer tensor whose data is set (int8 to int64, bool).
int64_t IntAt(const TensorView& view, int64_t k);

// For run: an index of the data (found at `position` of its tensor) must lie in [0, dim).
inline Status CheckIndex(int64_t index, int64_t dim, int64_t position) {
  if (index >= 0 && index < dim) return Status::Ok();
  return InvalidArgument("index {} at position {} of the indices is outside [0, {})", index,
                         position, dim);
}

// Calls body(begin, end, thread) for consecutive ranges that cover [0, n_rows), in parallel; a range
// has about kCopyPieceBytes.
void ParallelRowsOfThreads(ThreadPool* pool, int64_t n_rows, int64_t row_bytes,
                           FunctionRef<void(int64_t begin, int64_t end, int thread)> body);
// The same without the thread's number.
void ParallelRows(ThreadPool* pool, int64_t n_rows, int64_t row_bytes,
                  FunctionRef<void(int64_t begin, int64_t end)> body);
// The number of those ranges.
int64_t CountRowTasks(int64_t n_rows, int64_t row_bytes);
// run of an operator that gives input 0's bytes a new shape: a copy unless the planner made a view.
Status RunByteCopy(const RunContext& context);
// memcpy of a large block in parallel pieces; nothing when both pointers are equal.
void ParallelCopy(ThreadPool* pool, void* destination, const void* source, int64_t bytes);
// Writes n copies of the element of `element_bytes` bytes at `value`.
void FillElements(void* destination, int64_t n, const void* value, int64_t element_bytes);

// A copy of few bytes without a call for the usual sizes.
inline void CopyBytes(void* destination, const void* source, int64_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(destination, source, 1);
      return;
    case 2:
      std::memcpy(destination, source, 2);
      return;
    case 4:
      std::memcpy(destination, source, 4);
      return;
    case 8:
      std::memcpy(destination, source, 8);
      return;
    default:
      std::memcpy(destination, source, static_cast<size_t>(bytes));
  }
}

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_INDEXING_H_
