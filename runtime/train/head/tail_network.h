// TailNetwork: several last layers of a model as a Trainable; rows are the cut's values.
//
// Forward with the operators' own CPU kernels, backward with kernels/train. With the shipped
// parameters the scores are the model's logits (for the same number of classes).
// TrainerOptions::memory_limit_bytes, where it is set, bounds the activations, their gradients and
// the working memory of one mini-batch: above it activations are computed again instead of kept,
// with the same results. Parameters and their gradient, which are always held, do not count. Calls
// with more rows than options.batch_size go through in parts of that size.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_NETWORK_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/train/train_kernels.h"
#include "models/format/write.h"
#include "runtime/base/buffer.h"
#include "runtime/base/thread_pool.h"
#include "runtime/train/head/tail_plan.h"
#include "runtime/train/options.h"

namespace topwork {

// The layer that the options ask for: options.n_hidden or options.n_projected units.
AddedLayer AddedBy(const TrainerOptions& options);

class TailNetwork : public Trainable {
 public:
  // The head is zeros unless n_outputs is the shipped number of classes; layers below start as
  // shipped. Of the options it reads batch_size, memory_limit_bytes, allocator, cpu and those of
  // the added layer (AddedBy). `graph` is
  // used during the call only; `pool` and the allocator must outlive the object.
  // UNSUPPORTED when the layers mix examples, OUT_OF_MEMORY when a mini-batch exceeds the limit.
  static Result<std::unique_ptr<TailNetwork>> Create(const Graph& graph, const Head& head,
                                                     const Tail& tail, int n_outputs,
                                                     const TrainerOptions& options,
                                                     ThreadPool* pool);

  int64_t dim() const override { return graph_.dim; }
  int64_t n_outputs() const override { return graph_.n_outputs; }
  // "head/weights" and "head/bias" first, then the constants of the tail in order of execution,
  // then the added layer's.
  const std::vector<ParameterInfo>& layout() const override { return graph_.parameters; }
  Span<float> parameters() override { return View(parameters_); }
  Span<const float> parameters() const override { return View(parameters_); }
  Span<float> gradient() override { return View(gradient_); }
  void set_step(int64_t step) override { step_ = step; }
  Status ComputeGradient(const LossOptions& loss, const float* const* rows, const Targets& targets,
                         int64_t n, BatchLoss* out) override;
  Status Scores(const float* const* rows, int64_t n, float* scores) override;
  Status HeadInputs(const float* const* rows, int64_t n, float* inputs) override;
  // Weights of the added layer, [n_units, D], and its biases, empty for a projection.
  Span<const float> added_weights() const;
  Span<const float> added_bias() const;
  size_t bytes() const override {
    return parameters_.size() + gradient_.size() + memory_.size() + constant_bytes_ + PackedBytes();
  }

  // What an export must replace besides the head (HeadReplacement::constants); the values are those
  // of parameters() and valid as long as the network.
  std::vector<ConstantReplacement> Replacements() const;
  // Segments of the last ComputeGradient, 1 when all activations were kept.
  int n_segments() const { return n_segments_; }

 private:
  TailNetwork() = default;
  Span<float> View(const Buffer& buffer) const {
    return {buffer.as<float>(), static_cast<size_t>(graph_.n_parameters)};
  }
  // Runs the layers; copies from `place` of the plan, `width` floats a row.
  template <typename Place>
  Status RunForward(const float* const* rows, int64_t n, int64_t width, const Place& place,
                    float* out);
  Result<TailPlan*> PlanFor(int64_t n_rows, bool backward);
  void LoadRows(const TailPlan& plan, const float* const* rows);
  Status Forward(TailPlan* plan, const TailStep& step);
  void Backward(TailPlan* plan, const TailStep& step);
  void FillTensors(const TailNode& node, const TailStep& step, TailPlan::Prepared* prepared);
  Status RunPart(const LossOptions& loss, const float* const* rows, const Targets& targets,
                 int64_t first, int64_t n, double weight_sum, BatchLoss* out);
  void Drop(const TailNode& node, int64_t first, int64_t n_rows, float* values) const;
  void Loss(const LossOptions& loss, const Targets& targets, const TailPlan& plan,
            const TailStep& step, double weight_sum, BatchLoss* out);
  Status ExplainLoss(TailPlan* plan, const float* const* rows);
  Status CheckGradient() const;
  size_t PackedBytes() const;
  uint8_t* arena(int64_t place) const { return memory_.as<uint8_t>() + place; }

  TailGraph graph_;
  int64_t batch_size_ = 1;
  size_t limit_bytes_ = 0;
  ThreadPool* pool_ = nullptr;
  const Allocator* allocator_ = nullptr;
  const CpuKernels* cpu_ = nullptr;
  TrainLoops kernels_;
  Buffer parameters_;
  Buffer gradient_;
  Buffer memory_;                                 // arena and scratch of the largest plan
  std::vector<std::unique_ptr<TailPlan>> plans_;  // the last used one is the last
  size_t constant_bytes_ = 0;
  int n_segments_ = 1;
  int64_t step_ = -1;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_TAIL_NETWORK_H_
