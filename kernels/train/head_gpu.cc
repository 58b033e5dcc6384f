// Which kernels steps of a head take, over how many work-items, with which arguments.
#include "kernels/train/head_gpu.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

namespace topwork {
namespace {

using H = HeadLaunch;

const char kSteps[] = "head_steps";
const char kScores[] = "head_scores";
const char kGradient[] = "head_gradient";
const char kUpdate[] = "head_update";  // sees no features, so their storage does not matter
constexpr size_t kItems = 64;
constexpr int32_t kMostItems = 256;        // TW_MOST_ITEMS of head.clh
constexpr size_t kTile = 32, kSlice = 16;  // TW_TILE and TW_SLICE of head.clh
// Tiles of 32 x 32 pay when they are mostly full.
constexpr int32_t kMinTiledOutputs = 24, kMinTiledBatch = 16;
constexpr double kMostGradient = 1e18;  // TW_MAX_GRADIENT

// One group is one of a device's compute units, so it takes a head alone only where launches would
// cost more than the products: up to so many parameters, and multiply-adds a step and a launch.
constexpr int64_t kMostParameters = int64_t{1} << 16;
constexpr int64_t kMostStepProducts = int64_t{1} << 22;
constexpr int64_t kMostLaunchProducts = int64_t{1} << 26;
constexpr int32_t kMostSteps = 64;

bool Tiled(const HeadLaunch& op) {
  return op.n_outputs >= kMinTiledOutputs && op.batch >= kMinTiledBatch;
}

int32_t NumParameters(const HeadLaunch& op) { return (op.dim + 1) * op.n_outputs; }

Launch NewLaunch(const HeadLaunch& op, const char* program, KernelName kernel) {
  Launch launch;
  launch.program = program;
  launch.kernel = kernel;
  if (program != kUpdate) {
    launch.type = TypeOf(op.storage);
    if (op.dim % 4 == 0) launch.options += " -DTW_ALIGNED";
    if (op.loss == HeadLoss::kSoftmax) launch.options += " -DTW_LABELS";
  }
  for (size_t& local : launch.local) local = 1;
  return launch;
}

size_t Groups(int64_t n, size_t of) { return RoundUp(static_cast<size_t>(n), of) / of; }

void SetTiles(int64_t columns, int64_t rows, Launch* launch) {
  launch->local[0] = kItems;
  launch->global[0] = Groups(columns, kTile) * kItems;
  launch->global[1] = Groups(rows, kTile);
}

// Groups of the gradient, along both dimensions.
size_t GradientColumns(const HeadLaunch& op) {
  const int64_t columns = int64_t{op.dim} + 1;
  return Tiled(op) ? Groups(columns, kTile) : Groups((columns + 3) / 4, kItems);
}
size_t GradientRows(const HeadLaunch& op) {
  return Tiled(op) ? Groups(op.n_outputs, kTile) : static_cast<size_t>(ScorePitch(op)) / 4;
}

void SetGroups(size_t items, size_t n_groups, Launch* launch) {
  launch->local[0] = items;
  launch->global[0] = items * n_groups;
}

// The members of op that a launch is given, one after the other.
void Add(const HeadLaunch& op, std::initializer_list<LaunchArgument HeadLaunch::*> members,
         Launch* launch) {
  for (LaunchArgument HeadLaunch::*member : members) launch->arguments.push_back(op.*member);
}

void AddInts(std::initializer_list<int32_t> values, Launch* launch) {
  for (int32_t value : values) launch->arguments.push_back(LaunchArgument::Int(value));
}

void AddFloats(std::initializer_list<float> values, Launch* launch) {
  for (float value : values) launch->arguments.push_back(LaunchArgument::Float(value));
}

void AddOptimizer(const HeadLaunch& op, Launch* launch) {
  AddInts({int32_t{op.adam}, int32_t{op.nesterov}}, launch);
  AddFloats({op.adam ? op.beta1 : op.momentum, op.beta2, op.epsilon, op.weight_decay, op.l1},
            launch);
}

// How many items of a group add up four scores: those that leave the fewest operations to an item,
// five loads for four columns, and a sum of as many elements as there are lanes.
int32_t ScoreLanes(const HeadLaunch& op, int64_t n_rows) {
  const int64_t tasks = n_rows * ScorePitch(op) / 4;
  int32_t best = 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int32_t lanes = 1; lanes <= op.group; lanes *= 2) {
    const int64_t rounds = (tasks * lanes + op.group - 1) / op.group;
    const int64_t cost = rounds * (5 * ((op.dim / 4 + lanes - 1) / lanes) + lanes);
    if (cost >= least) continue;
    least = cost;
    best = lanes;
  }
  return best;
}

// As many items for each of n_rows rows as a group has for all of them, and as there are scores.
int32_t LossLanes(const HeadLaunch& op, int64_t n_rows) {
  int32_t lanes = 1;
  while (2 * lanes * n_rows <= op.group && lanes < op.n_outputs && lanes < 32) lanes *= 2;
  return lanes;
}

void AddLate(const HeadLaunch& op, Launch* launch) {
  AddInts({static_cast<int32_t>(GradientColumns(op) * GradientRows(op))}, launch);
  AddOptimizer(op, launch);
  AddFloats({op.clip_norm}, launch);
}

// Scores, and losses or their parts. Late: the update of the step before is made on the way.
Launch MakeScores(const HeadLaunch& op, bool late) {
  const bool tiled = Tiled(op);
  Launch launch = NewLaunch(op, tiled ? kScores : kSteps,
                            tiled ? KernelName{"head_scores_tiled", "tiled"} : "head_rows");
  if (late) launch.options += " -DTW_LATE";
  Add(op,
      {&H::features, &H::parameters, &H::order, &H::spans, &H::state, &H::rates, &H::targets,
       &H::class_weights, &H::scores},
      &launch);
  if (tiled) {
    Add(op, {&H::parts, &H::details}, &launch);
  } else {
    Add(op, {&H::losses}, &launch);
  }
  Add(op,
      {&H::gradient, &H::moment1, &H::moment2, &H::other_parameters, &H::other_moment1,
       &H::other_moment2, &H::sums},
      &launch);
  AddInts({op.dim, op.n_outputs, ScorePitch(op)}, &launch);
  if (!tiled) AddInts({ScoreLanes(op, 1), LossLanes(op, 1)}, &launch);
  AddInts({int32_t{op.has_class_weights}, static_cast<int32_t>(op.loss)}, &launch);
  AddFloats({op.label_smoothing, op.huber_delta}, &launch);
  AddLate(op, &launch);
  if (tiled) {
    SetTiles(op.n_outputs, op.batch, &launch);
  } else {
    SetGroups(static_cast<size_t>(op.group), static_cast<size_t>(op.batch), &launch);
  }
  return launch;
}

Launch MakeGradient(const HeadLaunch& op, bool updates_at_once) {
  const bool tiled = Tiled(op);
  Launch launch = NewLaunch(
      op, kGradient, {tiled ? "head_gradient_tiled" : "head_gradient", tiled ? "tiled" : ""});
  Add(op, {&H::features, &H::scores, &H::order, &H::spans, &H::state, &H::rates, &H::losses},
      &launch);
  if (tiled) Add(op, {&H::targets, &H::class_weights, &H::parts, &H::details}, &launch);
  Add(op, {&H::gradient, &H::parameters, &H::moment1, &H::moment2, &H::sums}, &launch);
  AddInts({op.dim, op.n_outputs, ScorePitch(op)}, &launch);
  if (tiled) {
    AddInts({int32_t{op.has_class_weights}}, &launch);
    AddFloats({op.label_smoothing}, &launch);
  }
  AddInts({int32_t{updates_at_once}}, &launch);
  AddOptimizer(op, &launch);
  SetGroups(kItems, GradientColumns(op), &launch);
  launch.global[1] = GradientRows(op);
  return launch;
}

Launch MakeTiledLosses(const HeadLaunch& op) {
  Launch launch = NewLaunch(op, kGradient, "head_losses");
  Add(op,
      {&H::order, &H::spans, &H::state, &H::targets, &H::class_weights, &H::parts, &H::details,
       &H::losses},
      &launch);
  AddInts({op.n_outputs, int32_t{op.has_class_weights}}, &launch);
  AddFloats({op.label_smoothing}, &launch);
  SetGroups(kItems, Groups(op.batch, kSlice), &launch);
  return launch;
}

std::vector<Launch> Both(Launch first, Launch second) {
  std::vector<Launch> launches;  // a list would copy them
  launches.push_back(std::move(first));
  launches.push_back(std::move(second));
  return launches;
}

}  // namespace

int64_t HeadParts(const HeadLaunch& op) {
  return Tiled(op) ? 2 * op.batch * static_cast<int64_t>(Groups(op.n_outputs, kTile)) : 1;
}

int64_t HeadDetails(const HeadLaunch& op) {
  if (!Tiled(op) || op.loss != HeadLoss::kSoftmax) return 1;
  return 3 * op.batch * static_cast<int64_t>(Groups(op.n_outputs, kTile) + 1);  // TW_DETAILS
}

int64_t HeadSums(const HeadLaunch& op) {
  return 2 * static_cast<int64_t>(GradientColumns(op) * GradientRows(op));
}

int32_t HeadGroup(size_t max_work_group) {
  int32_t group = kMostItems;
  while (group > static_cast<int32_t>(kItems) && static_cast<size_t>(group) > max_work_group) {
    group /= 2;
  }
  return static_cast<size_t>(group) <= max_work_group ? group : 0;
}

bool MayUpdateAtOnce(const HeadLaunch& op, const HeadBounds& bounds) {
  if (op.clip_norm > 0.0f) return false;
  double slope = 0.0;  // of the loss in a score, before its scale
  switch (op.loss) {
    case HeadLoss::kSoftmax:
      slope = bounds.class_weight;
      break;
    case HeadLoss::kHuber:
      slope = bounds.class_weight * static_cast<double>(op.huber_delta);
      break;
    case HeadLoss::kSigmoid:
      slope = (1.0 + bounds.class_weight) * (1.0 + bounds.target);
      break;
    case HeadLoss::kSquared:  // grows with the score
      return false;
  }
  // A NaN is not below the limit.
  return slope * bounds.scale * std::max(1.0, bounds.feature) * op.batch <= 0.5 * kMostGradient;
}

int32_t StepsPerLaunch(const HeadLaunch& op) {
  const int64_t n = (int64_t{op.dim} + 1) * op.n_outputs;
  const int64_t products = 2 * n * op.batch;
  if (n > kMostParameters || products > kMostStepProducts) return 0;
  int32_t n_steps = 1;
  while (n_steps < kMostSteps && 2 * n_steps * products <= kMostLaunchProducts) n_steps *= 2;
  return n_steps;
}

Launch MakeHeadSteps(const HeadLaunch& op, int32_t n_steps, bool trains) {
  Launch launch = NewLaunch(op, kSteps, "head_steps");
  Add(op,
      {&H::features, &H::parameters, &H::order, &H::spans, &H::state, &H::rates, &H::targets,
       &H::class_weights, &H::scores, &H::losses, &H::gradient, &H::moment1, &H::moment2},
      &launch);
  AddInts({op.dim, op.n_outputs, ScorePitch(op), ScoreLanes(op, op.batch), LossLanes(op, op.batch),
           n_steps, int32_t{trains}, int32_t{op.has_class_weights}, static_cast<int32_t>(op.loss),
           int32_t{op.adam}, int32_t{op.nesterov}},
          &launch);
  AddFloats({op.label_smoothing, op.huber_delta, op.adam ? op.beta1 : op.momentum, op.beta2,
             op.epsilon, op.weight_decay, op.l1, op.clip_norm},
            &launch);
  SetGroups(static_cast<size_t>(op.group), 1, &launch);
  return launch;
}

std::vector<Launch> MakeHeadStep(const HeadLaunch& op, bool updates_at_once) {
  return Both(MakeScores(op, !updates_at_once), MakeGradient(op, updates_at_once));
}

Launch MakeHeadEnd(const HeadLaunch& op) {
  Launch launch = NewLaunch(op, kUpdate, "head_update");
  const int32_t n = NumParameters(op);
  Add(op,
      {&H::parameters, &H::state, &H::rates, &H::gradient, &H::moment1, &H::moment2,
       &H::other_parameters, &H::other_moment1, &H::other_moment2, &H::sums},
      &launch);
  AddInts({n, n - op.n_outputs}, &launch);
  AddLate(op, &launch);
  SetGroups(kItems, Groups(n, kItems), &launch);
  return launch;
}

std::vector<Launch> MakeHeadEvaluation(const HeadLaunch& op) {
  if (Tiled(op)) return Both(MakeScores(op, false), MakeTiledLosses(op));
  Launch next = NewLaunch(op, kUpdate, "head_next");
  Add(op, {&H::state}, &next);
  return Both(MakeScores(op, false), std::move(next));
}

Launch MakeSquare(int32_t n_rows, int32_t pitch, LaunchArgument x, LaunchArgument high,
                  LaunchArgument low) {
  Launch launch;
  launch.program = launch.kernel.name = "square";
  launch.arguments = {x, high, low};
  AddInts({n_rows, pitch}, &launch);
  const size_t size = static_cast<size_t>(pitch);
  const size_t global[3] = {size / 4, size / 2, 1}, local[3] = {8, 8, 1};
  std::copy_n(global, 3, launch.global);
  std::copy_n(local, 3, launch.local);
  return launch;
}

}  // namespace topwork
