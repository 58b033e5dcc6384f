// StridedCopy: copies a box of elements between two memory layouts; the engine of the operators
// that only rearrange data (TRANSPOSE, SLICE, STRIDED_SLICE, CONCATENATION, TILE ...).
//
//   for all i:  dst[sum(i[d] * dst_stride[d])] = src[src_offset + sum(i[d] * src_stride[d])]
//
// Source strides may be negative (reversal) or zero (broadcast). Dimensions that lie after each
// other in both layouts are merged, an innermost run that is contiguous in both becomes one
// element, and a transposition is done in square tiles. The work is cut by size, so any number of
// threads gives the same bytes. Source and destination must not overlap, except that a contiguous
// copy onto itself does nothing.
#ifndef TOPWORK_KERNELS_OPS_SHARED_STRIDED_COPY_H_
#define TOPWORK_KERNELS_OPS_SHARED_STRIDED_COPY_H_

#include <vector>

#include "kernels/contract/kernel.h"

namespace topwork {

class StridedCopy : public OpState {
 public:
  // Twice the tensor rank: TILE and the block operators split every dimension in two.
  static constexpr int kMaxDims = 2 * kMaxRank;

  explicit StridedCopy(int64_t element_bytes = 1) : element_(element_bytes) {}

  // Dimensions from the outermost to the innermost; strides in bytes. At most kMaxDims.
  void AddDim(int64_t n, int64_t src_stride, int64_t dst_stride);
  // Bytes from the source (destination) pointer of Run to the element with index 0.
  void set_src_offset(int64_t bytes) { src_offset_ = bytes; }
  void set_dst_offset(int64_t bytes) { dst_offset_ = bytes; }
  // Once, after the last AddDim.
  void Finish();

  // The dimensions after merging, outermost first, the run of elements innermost: sizes in
  // iterations (the run's: in units of `unit` bytes), strides in bytes.
  struct Loop {
    int64_t n, src, dst;
  };
  std::vector<Loop> Loops(int64_t unit) const;

  int64_t src_offset() const { return src_offset_; }
  int64_t dst_offset() const { return dst_offset_; }
  bool empty() const { return empty_; }
  // The copy is one run of bytes in both layouts: a candidate for a zero-copy view.
  bool contiguous() const { return kind_ == Kind::kRun; }
  const char* variant() const;
  int64_t n_tasks() const;  // that Run shares

  void Run(const void* src, void* dst, ThreadPool* pool) const;

 private:
  enum class Kind { kRun, kPieces, kBlocks, kElements, kTiles };
  struct Dim {
    int64_t n = 1;
    int64_t src = 0;
    int64_t dst = 0;
  };
  void ChooseLoops();
  void RunUnits(const uint8_t* src, uint8_t* dst, int64_t begin, int64_t end) const;
  void RunStrip(const uint8_t* src, uint8_t* dst, int64_t strip) const;

  int64_t element_;
  int64_t src_offset_ = 0;
  int64_t dst_offset_ = 0;
  bool empty_ = false;
  int n_dims_ = 0;
  Dim dims_[kMaxDims];  // after Finish: the outer loops
  Dim middle_, inner_;  // the loops inside one unit of work
  Kind kind_ = Kind::kRun;
  int64_t strip_ = 1;  // iterations of middle_ (bytes for kPieces) in one unit
  int64_t strips_per_outer_ = 1;
  int64_t n_units_ = 1;
  int64_t unit_bytes_ = 1;
};

// Strides in bytes of a contiguous tensor, one per dimension.
void ContiguousStrides(const Shape& shape, int64_t element_bytes, int64_t* strides);

// `n_rows` rows of `row_bytes` bytes that begin `src_stride` and `dst_stride` bytes apart.
StridedCopy RowsCopy(int64_t n_rows, int64_t row_bytes, int64_t src_stride, int64_t dst_stride);

// prepare of an operator whose output 0 is a strided selection of input 0: adds one dimension per
// output dimension with those source strides (bytes), finishes the copy, sets the output, and
// allows a view where the selection is contiguous. `copy` must be the context's state.
Status SetStridedOutput(PrepareContext& context, StridedCopy* copy, const Shape& shape,
                        const int64_t* src_strides);
// run of such an operator: the state is a StridedCopy from input 0 to output 0.
Status RunStridedCopy(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SHARED_STRIDED_COPY_H_
