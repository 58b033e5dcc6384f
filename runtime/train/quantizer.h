// Quantizer: runs a float model on examples, notes the range of each activation, and writes the
// model with fewer bits (models/format/quantize).
//
// The means of channels that layers with weights read correct their biases (QuantizeSpec::means).
// The range is the smallest and the largest value seen. With a percentile P below 100, only those
// values of an example's activation count that lie between its percentiles 100 − P and P. Ranges are
// widened, and means rounded, to eight significant bits: so the same examples give the same model on
// every processor, though it rounds otherwise. One thread at a time; Cancel() alone may be called
// from any thread.
#ifndef TOPWORK_RUNTIME_TRAIN_QUANTIZER_H_
#define TOPWORK_RUNTIME_TRAIN_QUANTIZER_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/compress/quantize.h"
#include "runtime/session/session.h"
#include "runtime/train/features/examples.h"

namespace topwork {

struct QuantizerOptions {
  QuantizeTarget target = QuantizeTarget::kDynamicRange;
  QuantizeIo io = QuantizeIo::kFloat32;  // kInt8
  int64_t min_elements = 1024;           // kDynamicRange; see QuantizeSpec
  double percentile = 100.0;             // kInt8; in (50, 100]
  int n_threads = 0;                     // 0: see ChooseThreads
  const Allocator* allocator = nullptr;
};

class Quantizer {
 public:
  static Result<std::unique_ptr<Quantizer>> Create(std::shared_ptr<const Model> model,
                                                   const QuantizerOptions& options);

  // What AddExamples takes; 0 inputs where the target needs no examples.
  int n_inputs() const { return session_ == nullptr ? 0 : session_->n_inputs(); }
  const TensorView& input(int i) const { return session_->input(i); }
  const std::string& input_name(int i) const { return session_->input_name(i); }

  // Runs every example, each filling the model's inputs; targets are not asked for. An example
  // whose activations are not all finite is NUMERIC and leaves the ranges as they were before it.
  // On other failures the examples before count.
  Status AddExamples(const Examples& examples, const FeatureProgress& progress);
  // Makes the AddExamples() in progress return CANCELLED; does nothing where there is none.
  void Cancel() {
    cancellation_.Request();
    if (session_ != nullptr) session_->Cancel();
  }

  // FAILED_PRECONDITION: kInt8 without an example.
  Result<std::vector<uint8_t>> Export();
  Status ExportFile(const std::string& path);
  // Of the last Export().
  const QuantizeReport& report() const { return report_; }
  int64_t n_examples() const { return n_examples_; }

 private:
  Quantizer() = default;
  Status Observe();
  bool RangeOf(const TensorView& view, ValueRange* out);
  void AddMeans(const TensorView& view, size_t value);

  std::shared_ptr<const Model> model_;
  QuantizerOptions options_;
  std::unique_ptr<Session> session_;  // kInt8: with every activation as an output
  std::vector<int> watched_;          // values after the session's outputs
  QuantizeSpec spec_;
  QuantizeReport report_;
  int64_t n_examples_ = 0;
  Cancellation cancellation_;
  std::vector<float> sorted_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_QUANTIZER_H_
