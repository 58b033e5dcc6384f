// Trainable: what a trainer trains, a differentiable function from cached rows to scores.
//
// DenseHead is the last layer alone (rows are features); TailNetwork is several last layers (rows
// are the values at the cut). Solvers and optimizers see no more than this. One thread at a time.
// The same bits for any number of threads.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TRAINABLE_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TRAINABLE_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/train/fit/loss.h"

namespace topwork {

// The last layer's arrays, [n_outputs, D] and [n_outputs].
constexpr char kHeadWeights[] = "head/weights";
constexpr char kHeadBias[] = "head/bias";
// Those of the layer that is added in front of it, [n_units, D] and [n_units].
constexpr char kHiddenWeights[] = "hidden/weights";
constexpr char kHiddenBias[] = "hidden/bias";

// In files of heads behind a random projection: its seed, 16 bits a number.
constexpr char kProjectionSeed[] = "projection/seed";

// Adam squares the gradient; beyond this its moments would overflow.
constexpr float kGradientLimit = 1e18f;

inline bool AllFinite(Span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// One named array inside the flat vector of parameters.
struct ParameterInfo {
  std::string name;           // kHeadWeights, kHeadBias, "<tensor's name>" in deeper layers
  std::vector<int64_t> dims;  // row-major
  int64_t offset = 0;         // in floats
  int64_t size = 0;           // product of dims
  bool decays = true;         // weight decay (L2, L1) applies: weights yes, biases no
};

// Sums over the rows of a mini-batch, each before the update.
struct BatchLoss {
  double loss_sum = 0.0;    // weighted
  double weight_sum = 0.0;  // the mean loss is loss_sum / weight_sum
  double hits = 0.0;        // see LossRow; accuracy is hits / number of rows
};

class Trainable {
 public:
  virtual ~Trainable() = default;

  virtual int64_t dim() const = 0;        // floats in a row
  virtual int64_t n_outputs() const = 0;  // scores per row
  virtual const std::vector<ParameterInfo>& layout() const = 0;
  // All parameters, and the gradient of the last ComputeGradient, in layout() order without gaps.
  virtual Span<float> parameters() = 0;
  virtual Span<const float> parameters() const = 0;
  virtual Span<float> gradient() = 0;

  // The number of the step whose gradient is computed next: with the layer's seed it tells what
  // dropout leaves out. Below 0, as at first: nothing.
  virtual void set_step(int64_t) {}
  // Gradient of the mean loss of n ≥ 1 rows into gradient(). NUMERIC, with the parameters
  // untouched and the tensor named, when the loss or a gradient is not finite or above
  // kGradientLimit.
  virtual Status ComputeGradient(const LossOptions& loss, const float* const* rows,
                                 const Targets& targets, int64_t n, BatchLoss* out) = 0;
  // scores: [n, n_outputs].
  virtual Status Scores(const float* const* rows, int64_t n, float* scores) = 0;
  // The inputs of the last layer's weights: [n, D], D of kHeadWeights.
  virtual Status HeadInputs(const float* const* rows, int64_t n, float* inputs) = 0;
  // Memory held, in bytes.
  virtual size_t bytes() const = 0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TRAINABLE_H_
