// Squeezes: the launches' arguments are read by their places in gemm.cl, pool.cl and reduce.cl.
#include "kernels/ops/products/squeeze_gpu.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch_arguments.h"
#include "kernels/ops/products/weighted_gpu.h"

namespace topwork {
namespace {

constexpr int64_t kMostRows = 8, kMostSize = 1024;  // TW_MOST of squeeze.cl
// What one work-group may load: more is faster in several launches.
constexpr int64_t kMostWeights = 65536, kMostPixels = 65536;
constexpr int64_t kItems = 256;  // TW_GROUP of squeeze.cl
constexpr int64_t kMostFours =
    static_cast<int64_t>(kLeastShrunkGroup);  // every group has a lane for each
constexpr char kSqueeze[] = "squeeze", kTwo[] = " -DTW_TWO", kAligned[] = " -DTW_ALIGNED";

bool Is(const Launch& launch, const char* program) {
  return std::strcmp(launch.program, program) == 0;
}

int64_t At(const Launch& launch, size_t i) { return launch.arguments[i].integer; }

// Arguments of gemm.cl.
enum Gemm : size_t { kA, kB, kBias, kResidual, kC, kM, kN, kK, kHasResidual, kLo, kHi, kEnd };
// Arguments of squeeze.cl; the layers' follow.
enum Squeeze : size_t { kX, kY, kPixels, kDepth, kFours, kMeanLo, kMeanHi, kLayers };

int64_t FoursAtOnce(int64_t n) {
  int64_t fours = 1;
  while (fours < Fours(n) && 2 * fours <= kMostFours) fours *= 2;
  return fours;
}

// Rounds for n columns of a sum over `depth`, the tree included.
int64_t Rounds(int64_t n, int64_t depth) {
  const int64_t fours = FoursAtOnce(n), lanes = kItems / fours;
  int64_t rounds = (depth + lanes - 1) / lanes;
  for (int64_t half_way = kItems / 2; half_way >= fours; half_way /= 2) ++rounds;
  return (Fours(n) + fours - 1) / fours * rounds;
}

void AddWork(int64_t n, int64_t depth, double multiply_adds, Launch* squeeze) {
  LaunchWork& work = squeeze->work;
  const double rows = static_cast<double>(work.items / kItems);
  const double terms = static_cast<double>(Fours(n) * 4 * depth) * rows;
  work.steps += Rounds(n, depth);
  work.loads += terms;
  work.multiply_adds += terms * multiply_adds;
}

void AddLayer(const Launch& dense, Launch* squeeze) {
  const int64_t n = At(dense, kN);
  for (const LaunchArgument& argument :
       {dense.arguments[kB], dense.arguments[kBias], IntArg(n), IntArg(FoursAtOnce(n)),
        dense.arguments[kLo], dense.arguments[kHi]}) {
    squeeze->arguments.push_back(argument);
    squeeze->arguments.back().pixels = 0;
  }
  squeeze->arguments[kY] = dense.arguments[kC];
  for (size_t i = kEnd; i < dense.arguments.size(); ++i) {
    squeeze->arguments.push_back(dense.arguments[i]);
  }
  squeeze->stages = dense.stages;
  squeeze->columns = n;
  AddWork(n, At(dense, kK), 1.0, squeeze);
}

// The layer alone.
Launch SqueezeOf(const Launch& dense) {
  Launch squeeze;
  squeeze.program = kSqueeze;
  squeeze.kernel = kSqueeze;
  squeeze.type = dense.type;
  const float infinity = std::numeric_limits<float>::infinity();
  const int64_t m = At(dense, kM), k = At(dense, kK);
  squeeze.arguments = {dense.arguments[kA],    dense.arguments[kC], IntArg(1),         IntArg(k),
                       IntArg(FoursAtOnce(k)), FloatArg(-infinity), FloatArg(infinity)};
  squeeze.global[0] = squeeze.local[0] = static_cast<size_t>(kItems);
  squeeze.global[1] = static_cast<size_t>(m);
  squeeze.local[1] = squeeze.local[2] = 1;
  squeeze.local_shrinks = true;
  squeeze.output = static_cast<int>(kY);
  squeeze.work.items = kItems * m;
  squeeze.work.steps = 0;
  AddLayer(dense, &squeeze);
  return squeeze;
}

// Images of so many pixels, whose channels' means `launch` takes.
struct Means {
  int64_t images = 0, pixels = 0, channels = 0;
  LaunchArgument from, lo, hi;
};

bool FindMeans(const Launch& launch, Means* means) {
  const float infinity = std::numeric_limits<float>::infinity();
  if (!launch.stages.empty()) return false;
  means->from = launch.arguments[0];
  means->images = static_cast<int64_t>(launch.global[2]);
  if (Is(launch, "pool")) {
    const bool whole = At(launch, 6) == 1 && At(launch, 7) == 1 && At(launch, 12) == 0 &&
                       At(launch, 13) == 0 && At(launch, 8) >= At(launch, 3) &&
                       At(launch, 9) >= At(launch, 4);
    means->pixels = At(launch, 3) * At(launch, 4);
    means->channels = At(launch, 5);
    means->lo = launch.arguments[15];
    means->hi = launch.arguments[16];
    return whole && At(launch, 2) == static_cast<int>(PoolKind::kAverage);
  }
  if (!Is(launch, "reduce")) return false;
  const bool by_groups = *launch.kernel.assumption != '\0';
  means->pixels = At(launch, by_groups ? 3 : 4);
  means->channels = At(launch, by_groups ? 4 : 5);
  means->images = by_groups ? static_cast<int64_t>(launch.global[1]) : At(launch, 3);
  means->lo = FloatArg(-infinity);
  means->hi = FloatArg(infinity);
  return At(launch, 2) == static_cast<int>(ReduceKind::kMean);
}

bool JoinMeans(const Launch& maker, const Launch& dense, Launch* joined) {
  Means means;
  if (!FindMeans(maker, &means)) return false;
  if (means.channels != At(dense, kK) || means.images != At(dense, kM) ||
      means.pixels * means.channels > kMostPixels) {
    return false;
  }
  *joined = SqueezeOf(dense);
  joined->arguments[kX] = means.from;
  joined->arguments[kPixels] = IntArg(means.pixels);
  joined->arguments[kMeanLo] = means.lo;
  joined->arguments[kMeanHi] = means.hi;
  joined->options = " -DTW_MEANS";
  const bool aligned = means.channels % 4 == 0 && At(dense, kN) % 4 == 0;
  if (aligned) joined->options += kAligned;
  AddWork(means.channels, means.pixels, 0.0, joined);
  return true;
}

bool JoinLayers(const Launch& first, const Launch& dense, Launch* joined) {
  if (first.options.find(kTwo) != std::string::npos || first.stages.size() > 1) return false;
  Launch squeeze = Is(first, kSqueeze) ? first : SqueezeOf(first);
  if (squeeze.global[1] != static_cast<size_t>(At(dense, kM)) || squeeze.columns != At(dense, kK)) {
    return false;
  }
  if (!squeeze.stages.empty()) {
    // Functions of a parameter would need one.
    const std::string function = squeeze.stages[0].function;
    const bool plain = function != "TW_LEAKY_RELU";
    if (std::strcmp(squeeze.stages[0].form, "value") != 0 || !plain) return false;
    squeeze.options += " -DTW_MIDDLE=" + function;
    squeeze.arguments.resize(squeeze.arguments.size() - 3);
  }
  const size_t aligned = squeeze.options.find(kAligned);
  if (At(dense, kN) % 4 != 0 && aligned != std::string::npos) {
    squeeze.options.erase(aligned, std::strlen(kAligned));
  }
  squeeze.options += kTwo;
  AddLayer(dense, &squeeze);
  *joined = std::move(squeeze);
  return true;
}

}  // namespace

bool IsSqueezable(int64_t m, int64_t n, int64_t k) {
  return m <= kMostRows && n <= kMostSize && k <= kMostSize && n * k <= kMostWeights;
}

int SqueezeInput(const Launch& dense) {
  const bool plain = Is(dense, "gemm") && At(dense, kHasResidual) == 0 &&
                     dense.options.find("-DTW_COLUMNS=4") != std::string::npos &&
                     dense.options.find("-DTW_SCALED") == std::string::npos;
  const bool fits = plain && IsSqueezable(At(dense, kM), At(dense, kN), At(dense, kK));
  return fits ? dense.arguments[kA].buffer : -1;
}

bool JoinSqueeze(const Launch& maker, const Launch& dense, Launch* joined) {
  if (Is(maker, kSqueeze) || SqueezeInput(maker) >= 0) return JoinLayers(maker, dense, joined);
  return JoinMeans(maker, dense, joined);
}

}  // namespace topwork
