// DeviceHead: the steps of a dense head on an OpenCL device, where features, targets, parameters,
// moments and gradient stay.
//
// Features and targets of a whole FeatureCache go up once. A run of steps begins with its tables
// (which rows each step takes, its learning rate) and with parameters and moments where those there
// are not the host's; the steps themselves move nothing; at the end losses, parameters and moments
// come down. What an optimizer does is that of OptimizerState, in float32 with other roundings.
// One thread at a time. Knows nothing of models, epochs or early stopping.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_HEAD_H_

#include <memory>
#include <string>
#include <vector>

#include "kernels/train/head_gpu.h"
#include "runtime/backend/workspace.h"
#include "runtime/train/features/feature_cache.h"
#include "runtime/train/fit/optimizer.h"

namespace topwork {

// The mini-batches of a run and what each step multiplies with.
struct DeviceSteps {
  std::vector<int32_t> order;   // two numbers a position: row among all rows, example
  std::vector<int32_t> spans;   // two numbers a step: its first position, how many
  std::vector<float> rates;     // kNumHeadRates a step
  std::vector<double> weights;  // one a step: of its rows, together

  int64_t n_positions() const { return static_cast<int64_t>(order.size() / 2); }
  int64_t n_steps() const { return static_cast<int64_t>(spans.size() / 2); }
  // Row `variant` of `example` in the cache; a step is made of what was added since the last one.
  void AddPosition(const FeatureCache& cache, int32_t example, int variant);
  void AddStep(const OptimizerState::Rates& rates, double weight_sum);
};

// The host's side of a head; spans of the same sizes all along, empty where there is no moment.
struct HeadValues {
  Span<float> parameters, moment1, moment2;
};

// Bytes that crossed the bus, by what they were. The total is counted where they cross.
struct DeviceTraffic {
  uint64_t features = 0;  // with targets
  uint64_t values = 0;    // parameters and moments, both ways
  uint64_t tables = 0;    // of steps, class weights, the state word
  uint64_t losses = 0;
  uint64_t total = 0;
};

class DeviceHead {
 public:
  // Who takes a step: one group of work-items, for heads that are small enough, or many of them.
  enum class Groups { kBest, kMany };

  // Opens the device that `name` stands for, uploads all rows of `cache` and compiles the steps of
  // `options`. n_positions: the most of a run. The errors are reasons not to train there:
  // NOT_FOUND, UNSUPPORTED, OUT_OF_MEMORY, or the driver's.
  static Result<std::unique_ptr<DeviceHead>> Create(const DeviceName& name,
                                                    const TrainerOptions& options,
                                                    const FeatureCache& cache, int64_t n_outputs,
                                                    bool has_class_weights, int64_t n_positions,
                                                    Groups groups = Groups::kBest);

  // True when this object can run so many positions on what the cache now holds.
  bool Fits(const FeatureCache& cache, int64_t n_outputs, bool has_class_weights,
            int64_t n_positions) const;

  // Makes a run ready: tables, class weights (as many as were announced), values.
  Status Begin(const DeviceSteps& steps, Span<const float> class_weights, const HeadValues& values);
  // The next n steps; waits for them. A step that must not be taken ends the run, and the rest of
  // it changes nothing.
  Status Run(int64_t n_steps);

  struct Outcome {
    int64_t n_steps = 0;        // taken
    HeadHalt halt = kHeadGoes;  // why the next one was not
    std::vector<float> losses;  // of the positions of n_steps steps, and of the refused one's:
                                // loss and hit, see BatchLoss
  };
  // Ends the run. Nothing is written to `values` when it fails.
  Status End(const HeadValues& values, Outcome* out);

  // Losses and hits of the steps' rows without label smoothing; nothing changes.
  Status Evaluate(const DeviceSteps& steps, Span<const float> class_weights,
                  const HeadValues& values, std::vector<float>* out_losses);

  const std::string& name() const { return workspace_->info().name; }
  size_t bytes() const { return workspace_->bytes(); }  // of the device's memory
  DeviceTraffic traffic() const;
  int64_t n_launches() const { return n_launches_; }  // of all runs and evaluations so far

 private:
  DeviceHead() = default;
  Status AddBuffers(const TrainerOptions& options, const FeatureCache& cache);
  Status UploadFeatures(const FeatureCache& cache);
  Status UploadTargets(const FeatureCache& cache);
  Status Record(Groups groups);
  Status RecordLateSteps();
  Status RecordLaunches(Span<const Launch> launches, std::vector<int>* recordings);
  Status Submit(int recording);
  // Recording i of `doublings` takes 2^i steps.
  Status SubmitSteps(const std::vector<int>& doublings, int64_t n_steps);
  Status UploadValues(const HeadValues& values);
  Status UploadTables(const DeviceSteps& steps, Span<const float> class_weights);
  Status Up(const LaunchArgument& to, const void* data, size_t bytes, uint64_t* kind);
  Status Down(const LaunchArgument& from, void* data, size_t bytes, uint64_t* kind);
  Result<LaunchArgument> NewBuffer(int64_t n, const char* what);

  std::unique_ptr<Workspace> workspace_;
  HeadLaunch launch_;
  HeadBounds bounds_;
  // Recordings, of which entry i takes 2^i steps: several by one group, one by many. Many groups
  // update at once where no gradient can be too large, else late; late_end_ then makes the last
  // update. late_steps_ are recorded when a run first needs them.
  std::vector<int> steps_, late_steps_, late_end_, evaluations_;
  std::vector<int64_t> recorded_launches_;  // of each recording
  bool is_late_ = false;                    // in this run
  bool one_group_ = false;
  int64_t n_launches_ = 0, n_unsent_ = 0;
  int64_t n_positions_ = 0;  // room for them
  uint64_t cache_version_ = 0;
  bool has_moment1_ = false, has_moment2_ = false;
  bool holds_values_ = false;
  uint64_t values_hash_ = 0;  // of the values on the device, when it holds them
  int64_t n_begun_ = 0;       // steps started in this run
  std::vector<int32_t> spans_;
  DeviceTraffic traffic_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_HEAD_H_
