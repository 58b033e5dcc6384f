// Which kernels a step of a head takes, over how many work-items, with which arguments.
#include "kernels/train/head_gpu.h"

#include <initializer_list>

namespace topwork {
namespace {

const char kGradient[] = "head_gradient";
const char kUpdate[] = "head_update";  // sees no features, so their storage does not matter
constexpr size_t kItems = 64;
constexpr size_t kTile = 32, kTileItems = 8;
// Tiles of 32 x 32 pay when they are mostly full.
constexpr int32_t kMinTiledOutputs = 24, kMinTiledBatch = 16;

bool Tiled(const HeadLaunch& op) {
  return op.n_outputs >= kMinTiledOutputs && op.batch >= kMinTiledBatch;
}

Launch NewLaunch(const HeadLaunch& op, const char* program, KernelName kernel) {
  Launch launch;
  launch.program = program;
  launch.kernel = kernel;
  if (program == kGradient) launch.type = TypeOf(op.storage);
  for (size_t& local : launch.local) local = 1;
  return launch;
}

void SetTiles(size_t columns, size_t rows, Launch* launch) {
  launch->global[0] = RoundUp(columns, kTile) / kTile * kTileItems;
  launch->global[1] = RoundUp(rows, kTile) / kTile * kTileItems;
  launch->local[0] = launch->local[1] = kTileItems;
}

void AddInts(std::initializer_list<int32_t> values, Launch* launch) {
  for (int32_t value : values) launch->arguments.push_back(LaunchArgument::Int(value));
}

void AddFloats(std::initializer_list<float> values, Launch* launch) {
  for (float value : values) launch->arguments.push_back(LaunchArgument::Float(value));
}

Launch MakeScores(const HeadLaunch& op) {
  const bool tiled = Tiled(op);
  Launch launch =
      NewLaunch(op, kGradient, {tiled ? "head_scores_tiled" : "head_scores", tiled ? "tiled" : ""});
  launch.arguments = {op.features, op.parameters, op.order, op.spans, op.state, op.scores};
  AddInts({op.dim, op.n_outputs}, &launch);
  const size_t n_outputs = static_cast<size_t>(op.n_outputs), batch = static_cast<size_t>(op.batch);
  if (tiled) {
    SetTiles(n_outputs, batch, &launch);
    return launch;
  }
  launch.global[0] = n_outputs * kItems;
  launch.global[1] = batch;
  launch.local[0] = kItems;
  return launch;
}

Launch MakeLoss(const HeadLaunch& op) {
  const bool softmax = op.loss == HeadLoss::kSoftmax;
  Launch launch = NewLaunch(op, kGradient, softmax ? "head_loss_softmax" : "head_loss_outputs");
  launch.arguments = {op.scores, op.order,   op.spans,         op.state,
                      op.rates,  op.targets, op.class_weights, op.losses};
  AddInts({op.n_outputs, int32_t{op.has_class_weights}}, &launch);
  const float n = static_cast<float>(op.n_outputs);
  if (softmax) {
    AddFloats({op.label_smoothing, op.label_smoothing / n}, &launch);
  } else {
    AddInts({static_cast<int32_t>(op.loss)}, &launch);
    AddFloats({op.label_smoothing, op.huber_delta, 1.0f / n}, &launch);
  }
  // Small groups where there are few scores a row.
  size_t items = kItems / 8;
  while (items < kItems && items < static_cast<size_t>(op.n_outputs)) items *= 2;
  launch.global[0] = launch.local[0] = items;
  launch.global[1] = static_cast<size_t>(op.batch);
  return launch;
}

Launch MakeGradient(const HeadLaunch& op) {
  const bool tiled = Tiled(op);
  Launch launch = NewLaunch(
      op, kGradient, {tiled ? "head_gradient_tiled" : "head_gradient", tiled ? "tiled" : ""});
  launch.arguments = {op.features, op.scores, op.order, op.spans, op.state, op.gradient};
  AddInts({op.dim, op.n_outputs}, &launch);
  const size_t columns = static_cast<size_t>(op.dim) + 1;
  const size_t n_outputs = static_cast<size_t>(op.n_outputs);
  if (tiled) {
    SetTiles(columns, n_outputs, &launch);
    return launch;
  }
  launch.global[0] = RoundUp(columns, kItems);
  launch.global[1] = n_outputs;
  launch.local[0] = kItems;
  return launch;
}

Launch MakeUpdate(const HeadLaunch& op, int32_t n, int32_t n_weights) {
  Launch launch = NewLaunch(op, kUpdate, op.adam ? "head_adam" : "head_sgd");
  launch.arguments = {op.gradient, op.parameters, op.moment1};
  if (op.adam) launch.arguments.push_back(op.moment2);
  for (const LaunchArgument& argument : {op.state, op.rates, op.sums}) {
    launch.arguments.push_back(argument);
  }
  AddInts({n, n_weights, int32_t{op.clip_norm > 0.0f}}, &launch);
  if (op.adam) {
    AddFloats({op.beta1, op.beta2, op.epsilon}, &launch);
  } else {
    AddFloats({op.momentum}, &launch);
    AddInts({int32_t{op.nesterov}}, &launch);
  }
  AddFloats({op.weight_decay, op.l1}, &launch);
  launch.global[0] = RoundUp(static_cast<size_t>(n), kItems);
  launch.local[0] = kItems;
  return launch;
}

}  // namespace

std::vector<Launch> MakeHeadStep(const HeadLaunch& op) {
  const int32_t n_weights = op.n_outputs * op.dim;
  const int32_t n = n_weights + op.n_outputs;
  std::vector<Launch> launches = {MakeScores(op), MakeLoss(op), MakeGradient(op)};
  if (op.clip_norm > 0.0f) {
    Launch squares = NewLaunch(op, kUpdate, "head_squares");
    squares.arguments = {op.gradient, op.sums};
    AddInts({n}, &squares);
    squares.global[0] = kItems * kItems;
    squares.local[0] = kItems;
    launches.push_back(squares);
    Launch clip = NewLaunch(op, kUpdate, "head_clip");
    clip.arguments = {op.sums};
    AddFloats({op.clip_norm}, &clip);
    launches.push_back(clip);
  }
  launches.push_back(MakeUpdate(op, n, n_weights));
  return launches;
}

std::vector<Launch> MakeHeadEvaluation(const HeadLaunch& op) {
  Launch next = NewLaunch(op, kUpdate, "head_next");
  next.arguments = {op.state};
  return {MakeScores(op), MakeLoss(op), next};
}

}  // namespace topwork
