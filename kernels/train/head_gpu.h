// Training a dense head on an accelerator: the launches of optimizer steps, over
// kernels/train/head_*.cl.
//
// No argument changes from step to step, so launches are recorded once: a counter in `state` lives
// on the device and says which row of the tables a step uses. Steps of n_outputs scores from dim
// features, for at most `batch` examples, are taken in one of three ways:
//   small heads    head_steps: one group takes up to 64 whole steps a launch
//   few outputs    head_rows → head_gradient
//   many outputs   head_scores → head_gradient, both in tiles
// head_gradient updates the parameters, too, if no element of the gradient can be too large and
// nothing is clipped (MayUpdateAtOnce). Otherwise updates are late: the next step's first launch
// makes them, from one set of buffers into the other, and a last launch after all steps.
#ifndef TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_
#define TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_

#include <vector>

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch.h"

namespace topwork {

struct HeadLaunch {
  int32_t dim = 0, n_outputs = 0, batch = 0;  // all ≥ 1; batch: most examples of a step
  int32_t group = 64;                         // items of the largest groups: HeadGroup
  Storage storage = Storage::kFloat32;        // of features; all else is float32
  HeadLoss loss = HeadLoss::kSoftmax;
  float label_smoothing = 0.0f;
  float huber_delta = 1.0f;
  bool has_class_weights = false;
  bool adam = false;  // else SGD
  float momentum = 0.0f;
  bool nesterov = false;
  float beta1 = 0.0f, beta2 = 0.0f, epsilon = 0.0f;
  float weight_decay = 0.0f;  // through the gradient; AdamW's is in the rates
  float l1 = 0.0f;
  float clip_norm = 0.0f;  // 0: not clipped

  LaunchArgument features;       // [rows x dim]
  LaunchArgument targets;        // softmax: int [examples]; else [examples x n_outputs]
  LaunchArgument class_weights;  // [n_outputs]
  LaunchArgument parameters;     // [n_outputs x dim], then [n_outputs]; so the next three
  LaunchArgument gradient;
  LaunchArgument moment1, moment2;  // any buffer where the optimizer has none
  // The second set for late updates; any buffers where there are none.
  LaunchArgument other_parameters, other_moment1, other_moment2;
  LaunchArgument scores;  // [batch x ScorePitch]
  // What tiles of scores leave of each row: [HeadParts], [HeadDetails].
  LaunchArgument parts, details;
  LaunchArgument order;   // int [2 x positions]: row of features, target's number
  LaunchArgument spans;   // int [2 x steps]: first position, number of them
  LaunchArgument rates;   // [kNumHeadRates x steps]
  LaunchArgument state;   // int [kNumHeadStates]
  LaunchArgument losses;  // [2 x positions]: loss and hit of each, its weight included
  LaunchArgument sums;    // [HeadSums]: the gradient's squares, for clipping
};

// Floats from a row of scores to the next.
inline int32_t ScorePitch(const HeadLaunch& op) { return (op.n_outputs + 3) / 4 * 4; }

// Floats in `parts`, `details` and `sums`.
int64_t HeadParts(const HeadLaunch& op);
int64_t HeadDetails(const HeadLaunch& op);
int64_t HeadSums(const HeadLaunch& op);

// Items of a group for a device that allows so many; 0: too few for training.
int32_t HeadGroup(size_t max_work_group);

// What bounds the gradient's elements: the largest magnitudes of features, of targets that are
// values, of class weights (1 where there are none), and of the mini-batches' scales.
struct HeadBounds {
  double feature = 0.0, target = 0.0, class_weight = 1.0, scale = 0.0;
};
// True when no step can have an element that is too large, and none is clipped: then a step is
// taken as a whole though its parameters change one by one.
bool MayUpdateAtOnce(const HeadLaunch& op, const HeadBounds& bounds);

// How many steps head_steps takes in a launch at most, a power of two: as many as keep it short on
// a small device. 0: the head is too large for one group.
int32_t StepsPerLaunch(const HeadLaunch& op);
// n_steps steps in one launch; trains = false: their losses alone.
Launch MakeHeadSteps(const HeadLaunch& op, int32_t n_steps, bool trains);

// One step by many groups.
std::vector<Launch> MakeHeadStep(const HeadLaunch& op, bool updates_at_once);
// After steps whose updates are late: makes the last one. Parameters and moments lie in the first set.
Launch MakeHeadEnd(const HeadLaunch& op);
// Computes losses of the next mini-batch alone; scores are overwritten.
std::vector<Launch> MakeHeadEvaluation(const HeadLaunch& op);

// XᵀX of a matrix X by kernels/train/square.cl. Numbers are sums of two parts: x is [n_rows, 2, pitch];
// high and low [pitch, pitch], on and below the diagonal, grow. pitch: RoundUp(columns, kSquareTile).
constexpr int32_t kSquareTile = 32;
Launch MakeSquare(int32_t n_rows, int32_t pitch, LaunchArgument x, LaunchArgument high,
                  LaunchArgument low);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_
