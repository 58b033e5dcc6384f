// NON_MAX_SUPPRESSION_V4 and _V5 (see non_max_suppression.h).
#include "kernels/ops/signal/non_max_suppression.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// Greedy non-maximum suppression (see non_max_suppression.h), hard or soft (Bodla et al.,
// "Soft-NMS", arXiv:1704.04503): a selected box multiplies the scores of those it overlaps by
// exp(-overlap^2 / (2 sigma)).
//
// Candidates wait in a heap by score. One that comes to the top is compared with the boxes selected
// since it was last seen there, the latest first; if its score sank meanwhile it goes back.

struct Candidate {
  int32_t box;
  int32_t n_seen;  // selected boxes it was compared with
  float score;
};

bool Below(const Candidate& a, const Candidate& b) { return a.score < b.score; }

Status CheckScalars(PrepareContext& context, int n_inputs) {
  for (int i = 2; i < n_inputs; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {i == 2 ? DType::kInt32 : DType::kFloat32}));
    if (context.input(i)->shape.NumElements() != 1) {
      return context.Invalid("{} has shape {}, one value expected", context.InputName(i),
                             context.input(i)->shape.ToString());
    }
  }
  return Status::Ok();
}

struct Limits {
  float overlap = 0.0f, score = 0.0f, sigma = 0.0f;
  int32_t n_boxes = 0, n_most = 0;
};

// Takes the best candidate off the heap; true when it was selected as number n_selected.
bool TryBest(const Limits& limits, const float* boxes, Candidate* heap, int32_t* n_heap,
             int32_t* selected, int32_t n_selected, float* out_score) {
  std::pop_heap(heap, heap + *n_heap, Below);
  Candidate best = heap[--*n_heap];
  const float score = best.score;
  const float factor = limits.sigma > 0.0f ? -0.5f / limits.sigma : 0.0f;
  for (int32_t j = n_selected - 1; j >= best.n_seen; --j) {
    const float overlap = BoxOverlap(boxes + 4 * best.box, boxes + 4 * selected[j]);
    if (overlap >= limits.overlap) return false;
    if (limits.sigma > 0.0f) best.score *= std::exp(factor * overlap * overlap);
    if (best.score <= limits.score) return false;
  }
  if (best.score == score) {
    selected[n_selected] = best.box;
    *out_score = score;
    return true;
  }
  best.n_seen = n_selected;
  heap[(*n_heap)++] = best;
  std::push_heap(heap, heap + *n_heap, Below);
  return false;
}

}  // namespace

float BoxOverlap(const float* a, const float* b) {
  const float a_top = std::min(a[0], a[2]), a_bottom = std::max(a[0], a[2]);
  const float a_left = std::min(a[1], a[3]), a_right = std::max(a[1], a[3]);
  const float b_top = std::min(b[0], b[2]), b_bottom = std::max(b[0], b[2]);
  const float b_left = std::min(b[1], b[3]), b_right = std::max(b[1], b[3]);
  const float a_area = (a_bottom - a_top) * (a_right - a_left);
  const float b_area = (b_bottom - b_top) * (b_right - b_left);
  if (a_area <= 0.0f || b_area <= 0.0f) return 0.0f;
  const float height = std::max(std::min(a_bottom, b_bottom) - std::max(a_top, b_top), 0.0f);
  const float width = std::max(std::min(a_right, b_right) - std::max(a_left, b_left), 0.0f);
  const float shared = height * width;
  return shared / (a_area + b_area - shared);
}

Status PrepareNonMaxSuppression(PrepareContext& context, bool soft) {
  const int n_inputs = soft ? 6 : 5;
  TW_RETURN_IF_ERROR(context.CheckInputs(n_inputs, n_inputs));
  TW_RETURN_IF_ERROR(context.CheckOutputs(soft ? 3 : 2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kFloat32}));
  const Shape& boxes = context.input(0)->shape;
  const Shape& scores = context.input(1)->shape;
  if (boxes.rank() != 2 || boxes.dim(1) != 4 || scores.rank() != 1 ||
      scores.dim(0) != boxes.dim(0)) {
    return context.Invalid("boxes have shape {} and scores {}; [n, 4] and [n] expected",
                           boxes.ToString(), scores.ToString());
  }
  TW_RETURN_IF_ERROR(CheckScalars(context, n_inputs));
  int64_t n_most = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 2, &n_most));
  TW_RETURN_IF_ERROR(CheckDim(context, n_most, "the largest number of boxes"));
  const Shape list({static_cast<int32_t>(n_most)});
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kInt32, list));
  if (soft) TW_RETURN_IF_ERROR(context.SetOutput(1, DType::kFloat32, list));
  TW_RETURN_IF_ERROR(context.SetOutput(soft ? 2 : 1, DType::kInt32, Shape()));
  context.RequestScratch(static_cast<uint64_t>(boxes.dim(0)) * sizeof(Candidate));
  return Status::Ok();
}

Status RunNonMaxSuppression(const RunContext& context, bool soft) {
  Limits limits;
  limits.n_boxes = context.in(0).shape.dim(0);
  limits.overlap = *context.input_data<float>(3);
  limits.score = *context.input_data<float>(4);
  limits.sigma = soft ? *context.input_data<float>(5) : 0.0f;
  if (limits.sigma < 0.0f) {
    return InvalidArgument("sigma is {}, but may not be negative", limits.sigma);
  }
  const float* scores = context.input_data<float>(1);
  Candidate* heap = reinterpret_cast<Candidate*>(context.scratch);
  int32_t n_heap = 0;
  for (int32_t i = 0; i < limits.n_boxes; ++i) {
    if (!(scores[i] > limits.score)) continue;
    heap[n_heap++] = {i, 0, scores[i]};
    std::push_heap(heap, heap + n_heap, Below);
  }
  const int32_t n_out = context.out(0).shape.dim(0);
  const int32_t n_most = std::min(n_heap, n_out);
  int32_t* selected = context.output_data<int32_t>(0);
  float* out_scores = soft ? context.output_data<float>(1) : nullptr;
  int32_t n_selected = 0;
  while (n_selected < n_most && n_heap > 0) {
    float score = 0.0f;
    if (!TryBest(limits, context.input_data<float>(0), heap, &n_heap, selected, n_selected,
                 &score)) {
      continue;
    }
    if (soft) out_scores[n_selected] = score;
    ++n_selected;
  }
  *context.output_data<int32_t>(soft ? 2 : 1) = n_selected;
  std::fill(selected + n_selected, selected + n_out, 0);
  if (soft) std::fill(out_scores + n_selected, out_scores + n_out, 0.0f);
  return Status::Ok();
}

namespace {

// NON_MAX_SUPPRESSION_V4: boxes of descending score that overlap none selected before them by more
// than a threshold: their positions and number (see non_max_suppression.h).

Status PrepareNonMaxSuppressionV4(PrepareContext& context) {
  return PrepareNonMaxSuppression(context, false);
}
Status RunNonMaxSuppressionV4(const RunContext& context) {
  return RunNonMaxSuppression(context, false);
}

// NON_MAX_SUPPRESSION_V5: as V4, with scores that sink where boxes overlap (soft suppression), and
// these scores as an output (see non_max_suppression.h).

Status PrepareNonMaxSuppressionV5(PrepareContext& context) {
  return PrepareNonMaxSuppression(context, true);
}
Status RunNonMaxSuppressionV5(const RunContext& context) {
  return RunNonMaxSuppression(context, true);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kNonMaxSuppressionV4)
        .Types({DType::kFloat32})
        .Options(OptionsType::kNonMaxSuppressionV4)
        .Cpu(PrepareNonMaxSuppressionV4, RunNonMaxSuppressionV4),
    OpDef(OpCode::kNonMaxSuppressionV5)
        .Types({DType::kFloat32})
        .Options(OptionsType::kNonMaxSuppressionV5)
        .Cpu(PrepareNonMaxSuppressionV5, RunNonMaxSuppressionV5),
};

Span<const OpDef> NonMaxSuppressionOps() { return Selected<kOps>(); }

}  // namespace topwork
