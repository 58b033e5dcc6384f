// TFLite_Detection_PostProcess, a custom operator: from box encodings, class scores and anchors of
// a single-shot detector to detections.
//
// Inputs: encodings [1, boxes, >= 4] (y, x, h, w), scores [1, boxes, classes (+ 1 for background)],
// anchors [boxes, 4]; float32, or uint8 that is dequantized. Outputs (float32): corners [1, n, 4],
// classes [1, n], scores [1, n] and how many [1], n = max_detections max_classes_per_detection;
// places that are not used hold 0 (TFLite's fast variant leaves them undefined). Options: a
// FlexBuffers map. Fast suppression (the usual one) looks at each box's best classes, regular
// suppression at every class on its own.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/quantized.h"
#include "kernels/ops/shared/real_inputs.h"
#include "kernels/ops/signal/non_max_suppression.h"

namespace topwork {
namespace {

struct Detection {
  int32_t box, category;
  float score;
};

struct PostProcess : OpState {
  int32_t n_boxes = 0, n_classes = 0, n_columns = 0, code_size = 4;
  int32_t max_detections = 0, classes_per_box = 0, per_class = 100;
  bool regular = false;
  float min_score = 0.0f, max_overlap = 0.0f;
  float y_scale = 1.0f, x_scale = 1.0f, h_scale = 1.0f, w_scale = 1.0f;
};

// The memory of a run.
struct Work {
  float* boxes;              // corners
  float* scores;             // dequantized, or the input's
  float* best;               // of one class, or each box's best
  int32_t* order;            // a heap of the boxes above the least score
  int32_t* chosen;           // boxes that were kept
  int32_t* classes;          // of one box, by score
  Detection *list, *merged;  // of all classes, by score
};

// Lays the arrays into `memory`; returns the bytes needed.
uint64_t LayOut(const PostProcess& s, uint8_t* memory, Work* work) {
  uint64_t at = 0;
  const auto take = [&](auto** array, int64_t n) {
    uint8_t* start = memory == nullptr ? nullptr : memory + at;  // null: only the size is asked
    *array = reinterpret_cast<std::remove_reference_t<decltype(*array)>>(start);
    at += (static_cast<uint64_t>(n) * sizeof(**array) + 15) / 16 * 16;
  };
  take(&work->boxes, int64_t{4} * s.n_boxes);
  take(&work->scores, int64_t{s.n_columns} * s.n_boxes);
  take(&work->best, s.n_boxes);
  take(&work->order, s.n_boxes);
  take(&work->chosen, s.n_boxes);
  take(&work->classes, s.n_classes);
  take(&work->list, int64_t{2} * s.max_detections);
  take(&work->merged, int64_t{2} * s.max_detections);
  return at;
}

// What a box's scores take.
int64_t RowBytes(const PostProcess& s) { return int64_t{s.n_columns} * sizeof(float); }

Status ReadOptions(const PrepareContext& context, PostProcess* s) {
  const FlexMap options(context.params().custom_options);
  if (!options.valid()) {
    return context.Invalid("its options are not a FlexBuffers map");
  }
  s->max_detections = options.Int("max_detections", 0);
  s->classes_per_box = options.Int("max_classes_per_detection", 0);
  s->per_class = std::min(options.Int("detections_per_class", 100), s->max_detections);
  s->regular = options.Bool("use_regular_nms", false);
  s->min_score = options.Float("nms_score_threshold", 0.0f);
  s->max_overlap = options.Float("nms_iou_threshold", 0.0f);
  s->n_classes = options.Int("num_classes", 0);
  s->y_scale = options.Float("y_scale", 0.0f);
  s->x_scale = options.Float("x_scale", 0.0f);
  s->h_scale = options.Float("h_scale", 0.0f);
  s->w_scale = options.Float("w_scale", 0.0f);
  constexpr int32_t kMost = 1 << 20;
  if (s->max_detections < 1 || s->max_detections > kMost || s->classes_per_box < 1 ||
      s->classes_per_box > kMost || s->per_class < 1 || s->n_classes < 1 ||
      !(s->max_overlap > 0.0f && s->max_overlap <= 1.0f)) {
    return context.Invalid(
        "max_detections {}, max_classes_per_detection {}, detections_per_class "
        "{}, num_classes {} must be positive, nms_iou_threshold {} in (0, 1]",
        s->max_detections, s->classes_per_box, s->per_class, s->n_classes, s->max_overlap);
  }
  return Status::Ok();
}

Status CheckShapes(const PrepareContext& context, PostProcess* s) {
  const Shape& boxes = context.input(0)->shape;
  const Shape& scores = context.input(1)->shape;
  const Shape& anchors = context.input(2)->shape;
  const bool fits = boxes.rank() == 3 && scores.rank() == 3 && anchors.rank() == 2 &&
                    boxes.dim(0) == 1 && scores.dim(0) == 1 && boxes.dim(2) >= 4 &&
                    scores.dim(1) == boxes.dim(1) && anchors.dim(0) >= boxes.dim(1) &&
                    anchors.dim(1) == 4 &&
                    (scores.dim(2) == s->n_classes || scores.dim(2) == s->n_classes + 1);
  if (!fits) {
    return context.Invalid(
        "boxes {}, scores {} and anchors {} do not fit each other and {} "
        "classes; [1, n, 4 or more], [1, n, classes or one more] and [n, 4] expected",
        boxes.ToString(), scores.ToString(), anchors.ToString(), s->n_classes);
  }
  s->n_boxes = boxes.dim(1);
  s->code_size = boxes.dim(2);
  s->n_columns = scores.dim(2);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 3, 4, 3, 3, true));
  PostProcess* s = context.NewState<PostProcess>();
  TW_RETURN_IF_ERROR(ReadOptions(context, s));
  TW_RETURN_IF_ERROR(CheckShapes(context, s));
  const int64_t n = int64_t{s->max_detections} * s->classes_per_box;
  TW_RETURN_IF_ERROR(CheckDim(context, n, "the number of detections"));
  const int32_t size = static_cast<int32_t>(n);
  TW_RETURN_IF_ERROR(context.SetOutput(0, DType::kFloat32, Shape({1, size, 4})));
  TW_RETURN_IF_ERROR(context.SetOutput(1, DType::kFloat32, Shape({1, size})));
  TW_RETURN_IF_ERROR(context.SetOutput(2, DType::kFloat32, Shape({1, size})));
  TW_RETURN_IF_ERROR(context.SetOutput(3, DType::kFloat32, Shape({1})));
  Work work;
  context.RequestScratch(LayOut(*s, nullptr, &work));
  context.SetTasks(CountRowTasks(s->n_boxes, RowBytes(*s)));
  return Status::Ok();
}

// n elements from element `first` on as real numbers.
void ReadReals(const TensorView& view, int64_t first, int64_t n, float* out) {
  if (view.dtype == DType::kFloat32) {
    std::copy_n(view.as<float>() + first, n, out);
    return;
  }
  const float zero = static_cast<float>(ZeroPoint(view)), scale = view.quantization->scales[0];
  const uint8_t* bytes = view.as<uint8_t>() + first;
  for (int64_t k = 0; k < n; ++k) out[k] = (static_cast<float>(bytes[k]) - zero) * scale;
}

// The corners of box i. False: they are in the wrong order.
bool DecodeBox(const PostProcess& s, const RunContext& context, int64_t i, float* out) {
  const float scales[4] = {s.y_scale, s.x_scale, s.h_scale, s.w_scale};
  float code[4], anchor[4];
  ReadReals(context.in(0), i * s.code_size, 4, code);
  ReadReals(context.in(2), 4 * i, 4, anchor);
  for (int k = 0; k < 2; ++k) {
    const double size = static_cast<double>(anchor[k + 2]);
    const double shift = static_cast<double>(code[k]) / static_cast<double>(scales[k]);
    const double growth = static_cast<double>(code[k + 2]) / static_cast<double>(scales[k + 2]);
    const float center = static_cast<float>(shift * size + static_cast<double>(anchor[k]));
    const float half = static_cast<float>(0.5 * std::exp(growth) * size);
    out[k] = center - half;
    out[k + 2] = center + half;
  }
  return !(out[0] > out[2] || out[1] > out[3]);
}

// The largest of n numbers, several at once.
float Largest(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float most[kLanes];
  std::fill_n(most, kLanes, x[0]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
  }
  for (; i < n; ++i) most[0] = std::max(most[0], x[i]);
  return *std::max_element(most, most + kLanes);
}

// Corners, scores and best score of every box.
Status DecodeBoxes(const PostProcess& s, const RunContext& context, const Work& work) {
  const int64_t first = s.n_columns - s.n_classes;
  std::atomic<int64_t> wrong{s.n_boxes};
  ParallelRows(context.pool, s.n_boxes, RowBytes(s), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* scores = work.scores + i * s.n_columns;
      ReadReals(context.in(1), i * s.n_columns, s.n_columns, scores);
      work.best[i] = Largest(scores + first, s.n_classes);
      if (DecodeBox(s, context, i, work.boxes + 4 * i)) continue;
      int64_t before = wrong.load();
      while (i < before && !wrong.compare_exchange_weak(before, i)) {
      }
    }
  });
  if (wrong == s.n_boxes) return Status::Ok();
  return InvalidArgument("box {} has a negative height or width", wrong.load());
}

// The boxes to keep by score (work.best), at most n_most, into work.chosen; returns how many.
int32_t Suppress(const PostProcess& s, const Work& work, int32_t n_most) {
  int32_t n = 0;
  for (int32_t i = 0; i < s.n_boxes; ++i) {
    if (work.best[i] >= s.min_score) work.order[n++] = i;
  }
  const auto later = [&](int32_t a, int32_t b) {
    return work.best[a] < work.best[b] || (work.best[a] == work.best[b] && a > b);
  };
  std::make_heap(work.order, work.order + n, later);
  int32_t n_chosen = 0;
  while (n > 0 && n_chosen < n_most) {
    std::pop_heap(work.order, work.order + n, later);
    const int32_t next = work.order[--n];
    const bool overlaps = std::any_of(work.chosen, work.chosen + n_chosen, [&](int32_t kept) {
      return BoxOverlap(work.boxes + 4 * kept, work.boxes + 4 * next) > s.max_overlap;
    });
    if (!overlaps) work.chosen[n_chosen++] = next;
  }
  return n_chosen;
}

void Write(const RunContext& context, const Work& work, int64_t at, const Detection& found) {
  std::copy_n(work.boxes + 4 * found.box, 4, context.output_data<float>(0) + 4 * at);
  context.output_data<float>(1)[at] = static_cast<float>(found.category);
  context.output_data<float>(2)[at] = found.score;
}

// Every class on its own; of all that are kept the best ones.
int32_t RunRegular(const PostProcess& s, const RunContext& context, Work* work) {
  const int32_t first = s.n_columns - s.n_classes;
  int32_t n_list = 0;
  const auto better = [](const Detection& a, const Detection& b) { return a.score > b.score; };
  for (int32_t c = 0; c < s.n_classes; ++c) {
    for (int64_t i = 0; i < s.n_boxes; ++i)
      work->best[i] = work->scores[i * s.n_columns + first + c];
    const int32_t n = Suppress(s, *work, s.per_class);
    Detection* added = work->list + n_list;  // room for max_detections >= per_class
    for (int32_t k = 0; k < n; ++k) added[k] = {work->chosen[k], c, work->best[work->chosen[k]]};
    std::merge(work->list, added, added, added + n, work->merged, better);
    std::swap(work->list, work->merged);
    n_list = std::min(n_list + n, s.max_detections);
  }
  for (int32_t k = 0; k < n_list; ++k) Write(context, *work, k, work->list[k]);
  return n_list;
}

// The best classes of every box that is kept for its best one.
int32_t RunFast(const PostProcess& s, const RunContext& context, Work* work) {
  const int32_t first = s.n_columns - s.n_classes;
  const int32_t n_best = std::min(s.classes_per_box, s.n_classes);
  const int32_t n = Suppress(s, *work, s.max_detections);
  for (int32_t k = 0; k < n; ++k) {
    const float* scores = work->scores + int64_t{work->chosen[k]} * s.n_columns + first;
    std::iota(work->classes, work->classes + s.n_classes, 0);
    std::partial_sort(work->classes, work->classes + n_best, work->classes + s.n_classes,
                      [&](int32_t a, int32_t b) {
                        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                      });
    for (int32_t c = 0; c < n_best; ++c) {
      Write(context, *work, int64_t{s.classes_per_box} * k + c,
            {work->chosen[k], work->classes[c], scores[work->classes[c]]});
    }
  }
  return n;
}

Status Run(const RunContext& context) {
  const PostProcess& s = context.get_state<PostProcess>();
  Work work;
  LayOut(s, context.scratch, &work);
  TW_RETURN_IF_ERROR(DecodeBoxes(s, context, work));
  for (int o = 0; o < 3; ++o) {
    float* out = context.output_data<float>(o);
    std::fill(out, out + context.out(o).shape.NumElements(), 0.0f);
  }
  const int32_t n = s.regular ? RunRegular(s, context, &work) : RunFast(s, context, &work);
  *context.output_data<float>(3) = static_cast<float>(n);
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("TFLite_Detection_PostProcess").Cpu(Prepare, Run).Effects(),
};

Span<const OpDef> DetectionPostProcessOps() { return Selected<kOps>(); }

}  // namespace topwork
