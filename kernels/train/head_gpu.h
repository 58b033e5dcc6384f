// Training a dense head on an accelerator: the launches of one optimizer step, over
// kernels/train/head_gradient.cl and head_update.cl.
//
// No argument changes from step to step, so launches are recorded once: a counter in `state` lives
// on the device and says which row of the tables a step uses. A step of n_outputs scores from dim
// features, for at most `batch` examples, is
//   head_scores → head_loss_* → head_gradient → (head_squares → head_clip →) head_sgd | head_adam
#ifndef TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_
#define TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_

#include <vector>

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch.h"

namespace topwork {

// Floats in `sums`.
constexpr int kNumHeadSums = 129;

struct HeadLaunch {
  int32_t dim = 0, n_outputs = 0, batch = 0;  // all ≥ 1; batch: most examples of a step
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
  LaunchArgument scores;            // [batch x n_outputs]
  LaunchArgument order;             // int [2 x positions]: row of features, target's number
  LaunchArgument spans;             // int [2 x steps]: first position, number of them
  LaunchArgument rates;             // [kNumHeadRates x steps]
  LaunchArgument state;             // int [kNumHeadStates]
  LaunchArgument losses;            // [2 x positions]: loss and hit of each, its weight included
  LaunchArgument sums;              // [kNumHeadSums]
};

std::vector<Launch> MakeHeadStep(const HeadLaunch& op);
// Computes scores and losses of the next mini-batch alone; scores become d loss / d score.
std::vector<Launch> MakeHeadEvaluation(const HeadLaunch& op);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_HEAD_GPU_H_
