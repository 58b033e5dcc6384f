// PosenetDecoderOp, Coral's custom operator: from the maps of a PoseNet to the poses of people.
//
// PersonLab's greedy decoding (Papandreou et al. 2018, arXiv:1803.08225), with the arithmetic and
// the order of Coral's libcoral. Inputs: heat maps [n, h, w, 17] as log-odds, short offsets
// [n, h, w, 34] (all y, then all x), mid offsets [n, h, w, 64] (y and x of the forward edges, then
// of the backward ones), maybe long offsets [n, h', w', 34]; offsets are pixels; float32, or uint8
// that is dequantized. Outputs, float32: keypoints [n, most, 17, 2] as (y, x) in pixels, their
// scores [n, most, 17], the poses' scores [n, most], how many [n], and with long offsets a mask
// [n, most, h', w'] for each pose (Coral's is 33 x 33 for any map). Places that are not used hold 0
// (Coral leaves them undefined). Options: a FlexBuffers map.
#include <algorithm>
#include <cmath>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/real_inputs.h"
#include "kernels/ops/signal/offset_map.h"

namespace topwork {
namespace {

// Nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left before right.
constexpr int kPoints = 17, kEdges = 16;
constexpr int kRefinements = 5, kMaskRefinements = 3;

// The edges of their tree, from the nose outwards, and then back.
constexpr uint8_t kFrom[2 * kEdges] = {0, 1, 0, 2, 0, 5, 7, 5,  11, 13, 0, 6, 8,  6,  12, 14,
                                       1, 3, 2, 4, 5, 7, 9, 11, 13, 15, 6, 8, 10, 12, 14, 16};
constexpr uint8_t kTo[2 * kEdges] = {1, 3, 2, 4, 5, 7, 9, 11, 13, 15, 6, 8, 10, 12, 14, 16,
                                     0, 1, 0, 2, 0, 5, 7, 5,  11, 13, 0, 6, 8,  6,  12, 14};

struct Pose {
  MapPoint points[kPoints];
  float scores[kPoints];
  float total;
};

struct Candidate {
  float score;
  int32_t place;  // in the heat maps
};

struct Decoder {
  int32_t most = 0, stride = 1;
  float least = 0.0f, least_logit = 0.0f;
  float near = 0.0f;  // the square of the radius, in pixels of the maps
  int64_t n_places = 0;
};

constexpr int32_t kMost = 1 << 20;
// What a pixel of a mask counts for among threads.
constexpr int64_t kPixelBytes = 4096;

Decoder ReadOptions(const OpParams& params, const Shape& scores) {
  const FlexMap options(params.custom_options);
  Decoder s;
  s.most = options.Int("max_detections", 0);
  s.stride = options.Int("stride", 0);
  s.least = options.Float("score_threshold", 0.0f);
  const float radius = options.Float("nms_radius", 0.0f) / static_cast<float>(s.stride);
  s.near = radius * radius;
  s.least_logit = static_cast<float>(-std::log(1.0 / (static_cast<double>(s.least) + 1e-6) - 1.0));
  s.n_places = scores.Product(1, 4);
  return s;
}

Status CheckMaps(const PrepareContext& context) {
  constexpr int32_t kChannels[4] = {kPoints, 2 * kPoints, 4 * kEdges, 2 * kPoints};
  const Shape& first = context.input(0)->shape;
  for (int i = 0; i < context.n_inputs(); ++i) {
    const Shape& map = context.input(i)->shape;
    Shape expected = i < 3 || map.rank() != 4 ? first : map;  // masks have a size of their own
    expected.set_dim(0, first[0]);
    expected.set_dim(3, kChannels[i]);
    if (map == expected && map.Product(1, 3) > 0) continue;
    return context.Invalid("{} has shape {}; {} expected", context.InputName(i), map.ToString(),
                           expected.ToString());
  }
  return Status::Ok();
}

// Memory of a run: the poses, the order in which they are written, the heap of candidates. A score
// is the root of one pose at most.
uint64_t CountPoses(const Decoder& s) {
  return static_cast<uint64_t>(std::min<int64_t>(s.most, s.n_places));
}
uint64_t OrderOffset(const Decoder& s) { return CountPoses(s) * sizeof(Pose); }
uint64_t HeapOffset(const Decoder& s) { return OrderOffset(s) + CountPoses(s) * sizeof(int32_t); }

Status Prepare(PrepareContext& context) {
  const bool masks = context.n_inputs() > 3;
  TW_RETURN_IF_ERROR(CheckReals(context, masks ? 4 : 3, masks ? 5 : 4, 4, 4, true));
  TW_RETURN_IF_ERROR(CheckMaps(context));
  const Shape& maps = context.input(0)->shape;
  const Decoder s = ReadOptions(context.params(), maps);
  if (s.most < 0 || s.most > kMost || s.stride < 1) {
    return context.Invalid(
        "its options, {} bytes, are no FlexBuffers map with a stride above 0 and "
        "max_detections up to {}",
        context.params().custom_options.size(), kMost);
  }
  TW_RETURN_IF_ERROR(CheckDim(context, s.n_places, "the number of scores"));
  int32_t dims[4] = {maps[0], s.most, kPoints, 2};
  for (int i = 0; i < 4; ++i) {
    TW_RETURN_IF_ERROR(context.SetOutput(i, DType::kFloat32, Shape(dims, 4 - i)));
  }
  if (masks) {
    Shape out = context.input(3)->shape;
    out.set_dim(3, out[2]);
    out.set_dim(2, out[1]);
    out.set_dim(1, s.most);
    TW_RETURN_IF_ERROR(context.SetOutput(4, DType::kFloat32, out));
    context.SetTasks(CountRowTasks(out[2], out[3] * kPixelBytes));
  }
  context.RequestScratch(HeapOffset(s) + static_cast<uint64_t>(s.n_places) * sizeof(Candidate));
  return Status::Ok();
}

// A heap by score, the highest first. It leaves equal scores, which bytes often have, in the order
// in which libstdc++'s priority queue does, as Coral's binaries do.
void Push(Candidate* heap, int64_t hole, Candidate added) {
  for (; hole > 0 && heap[(hole - 1) / 2].score < added.score; hole = (hole - 1) / 2) {
    heap[hole] = heap[(hole - 1) / 2];
  }
  heap[hole] = added;
}

Candidate Pop(Candidate* heap, int64_t n) {
  const Candidate top = heap[0], last = heap[n - 1];
  int64_t hole = 0;
  for (int64_t child = 2; child <= n - 1; child = 2 * hole + 2) {
    if (child == n - 1 || heap[child].score < heap[child - 1].score) --child;
    heap[hole] = heap[child];
    hole = child;
  }
  Push(heap, hole, last);
  return top;
}

struct Maps {
  OffsetMap scores, shorts, mids;
};

// Whether score i of the pixel is the highest of its keypoint among the pixel and its neighbours.
bool IsPeak(const OffsetMap& map, int64_t y, int64_t x, int64_t i, float score) {
  for (int64_t v = std::max<int64_t>(y - 1, 0); v < std::min(y + 2, map.height); ++v) {
    for (int64_t u = std::max<int64_t>(x - 1, 0); u < std::min(x + 2, map.width); ++u) {
      if (map.At((v * map.width + u) * kPoints + i) > score) return false;
    }
  }
  return true;
}

// All peaks with enough score; returns how many.
int64_t FindCandidates(const Decoder& s, const OffsetMap& scores, Candidate* heap) {
  int64_t n = 0;
  for (int64_t k = 0; k < s.n_places; ++k) {
    const float score = scores.At(k);
    const int64_t pixel = k / kPoints;
    if (score >= s.least_logit &&
        IsPeak(scores, pixel / scores.width, pixel % scores.width, k % kPoints, score)) {
      Push(heap, n++, {score, static_cast<int32_t>(k)});
    }
  }
  return n;
}

// Finds all keypoints of a pose from its first one. A tree has one way to each, so their order does
// not matter; Coral takes the highest score first.
void Follow(const Maps& maps, int32_t first, const MapPoint& at, Pose* pose) {
  int32_t queue[kPoints] = {first};
  bool found[kPoints] = {};
  found[first] = true;
  pose->points[first] = at;
  for (int32_t i = 0, n = 1; i < n; ++i) {
    const int32_t here = queue[i];
    const MapPoint& from = pose->points[here];
    pose->scores[here] = Sample(maps.scores, from, here);
    for (int32_t edge = 0; edge < 2 * kEdges; ++edge) {
      const int32_t to = kTo[edge], y = edge < kEdges ? edge : edge + kEdges;
      if (kFrom[edge] != here || found[to]) continue;
      MapPoint end = Moved(maps.mids, from, y, y + kEdges);
      for (int k = 0; k < kRefinements; ++k) end = Moved(maps.shorts, end, to, kPoints + to);
      pose->points[to] = end;
      found[to] = true;
      queue[n++] = to;
    }
  }
}

float SquaredDistance(const MapPoint& a, const MapPoint& b) {
  const float dy = b.y - a.y, dx = b.x - a.x;
  return dy * dy + dx * dx;
}

// The mean of the pose's scores, 0 for hidden keypoints, added from the highest on.
float MeanScore(const Pose& pose, const bool* hidden) {
  float sorted[kPoints];
  int n = 0;
  for (int k = 0; k < kPoints; ++k) {
    if (hidden[k]) continue;
    int at = n++;
    for (; at > 0 && sorted[at - 1] < pose.scores[k]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = pose.scores[k];
  }
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += sorted[i];
  return sum / kPoints;
}

// Poses 0 to n - 1 by their scores, the highest first.
void Sort(const Pose* poses, int32_t n, int32_t* order) {
  for (int32_t i = 0; i < n; ++i) {
    int32_t at = i;
    for (; at > 0 && poses[order[at - 1]].total < poses[i].total; --at) order[at] = order[at - 1];
    order[at] = i;
  }
}

// Decodes poses from candidates that lie apart from the poses before; returns how many.
int32_t FindPoses(const Decoder& s, const Maps& maps, Candidate* heap, Pose* poses) {
  int64_t n_heap = FindCandidates(s, maps.scores, heap);
  int32_t n = 0;
  while (n < s.most && n_heap > 0) {
    const int32_t place = Pop(heap, n_heap--).place, keypoint = place % kPoints;
    const int64_t pixel = place / kPoints, width = maps.scores.width;
    const MapPoint root =
        Moved(maps.shorts, {static_cast<float>(pixel / width), static_cast<float>(pixel % width)},
              keypoint, kPoints + keypoint);
    bool known = false;
    for (int32_t i = 0; i < n; ++i) {
      known |= SquaredDistance(root, poses[i].points[keypoint]) <= s.near;
    }
    if (known) continue;
    Pose* pose = poses + n;
    Follow(maps, keypoint, root, pose);
    for (float& score : pose->scores) score = 1.0f / (1.0f + std::exp(-score));
    const bool hidden[kPoints] = {};
    pose->total = MeanScore(*pose, hidden);
    n += pose->total >= s.least;
  }
  return n;
}

// Scores each pose again without the keypoints that a better pose has, too.
void Rescore(const Decoder& s, const int32_t* order, int32_t n, Pose* poses) {
  for (int32_t i = 0; i < n; ++i) {
    Pose& pose = poses[order[i]];
    bool hidden[kPoints] = {};
    for (int32_t j = 0; j < i; ++j) {
      for (int k = 0; k < kPoints; ++k) {
        hidden[k] |= SquaredDistance(pose.points[k], poses[order[j]].points[k]) <= s.near;
      }
    }
    pose.total = MeanScore(pose, hidden);
  }
}

// Writes the poses with enough score; returns how many.
int32_t Write(const RunContext& context, const Decoder& s, int64_t item, const int32_t* order,
              int32_t n, const Pose* poses) {
  int32_t i = 0;
  for (; i < n && poses[order[i]].total >= s.least; ++i) {
    const Pose& pose = poses[order[i]];
    const int64_t at = item * s.most + i;
    float* points = context.output_data<float>(0) + at * 2 * kPoints;
    for (int k = 0; k < kPoints; ++k) {
      points[2 * k] = pose.points[k].y * static_cast<float>(s.stride);
      points[2 * k + 1] = pose.points[k].x * static_cast<float>(s.stride);
    }
    std::copy_n(pose.scores, kPoints, context.output_data<float>(1) + at * kPoints);
    context.output_data<float>(2)[at] = pose.total;
  }
  context.output_data<float>(3)[item] = static_cast<float>(i);
  return i;
}

// Gives each pixel to the pose that its long offsets lead to, the nearest of n.
void WriteMasks(const RunContext& context, const Decoder& s, int64_t item, int32_t n) {
  const float stride = static_cast<float>(s.stride);
  const OffsetMap map = MapOf(context.in(3), item, static_cast<float>(1.0 / s.stride));
  const float* poses = context.output_data<float>(0) + item * s.most * 2 * kPoints;
  const int64_t size = map.height * map.width;
  float* masks = context.output_data<float>(4) + item * s.most * size;
  ParallelRows(context.pool, map.height, map.width * kPixelBytes, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin * map.width; pixel < end * map.width; ++pixel) {
      MapPoint ends[kPoints];
      for (int k = 0; k < kPoints; ++k) {
        MapPoint at = {static_cast<float>(pixel / map.width),
                       static_cast<float>(pixel % map.width)};
        for (int i = 0; i < kMaskRefinements; ++i) at = Moved(map, at, k, kPoints + k);
        ends[k] = {at.y * stride, at.x * stride};
      }
      int32_t nearest = 0;
      float least = 0.0f;
      for (int32_t i = 0; i < n; ++i) {
        const float* points = poses + int64_t{2} * kPoints * i;
        float sum = 0.0f;
        for (int k = 0; k < kPoints; ++k) {
          sum += SquaredDistance(ends[k], {points[2 * k], points[2 * k + 1]});
        }
        if (i > 0 && !(sum < least)) continue;
        nearest = i;
        least = sum;
      }
      masks[nearest * size + pixel] = 1.0f;
    }
  });
}

Status Run(const RunContext& context) {
  const Decoder s = ReadOptions(*context.params, context.in(0).shape);
  Pose* poses = reinterpret_cast<Pose*>(context.scratch);
  int32_t* order = reinterpret_cast<int32_t*>(context.scratch + OrderOffset(s));
  Candidate* heap = reinterpret_cast<Candidate*>(context.scratch + HeapOffset(s));
  for (TensorView* out : context.outputs) {
    std::fill_n(out->as<float>(), out->shape.NumElements(), 0.0f);
  }
  const float blocks = static_cast<float>(1.0 / s.stride);
  for (int64_t item = 0; item < context.in(0).shape[0]; ++item) {
    const Maps maps = {MapOf(context.in(0), item, 1.0f), MapOf(context.in(1), item, blocks),
                       MapOf(context.in(2), item, blocks)};
    int32_t n = FindPoses(s, maps, heap, poses);
    Sort(poses, n, order);
    Rescore(s, order, n, poses);
    Sort(poses, n, order);
    n = Write(context, s, item, order, n, poses);
    if (context.has_input(3) && n > 0) WriteMasks(context, s, item, n);
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kCustom).Name("PosenetDecoderOp").Cpu(Prepare, Run),
};

Span<const OpDef> PosenetDecoderOps() { return Selected<kOps>(); }

}  // namespace topwork
