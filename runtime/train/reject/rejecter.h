// Rejecter: makes a trainer's Rejection, for the head that it has now and from all its examples.
#ifndef TOPWORK_RUNTIME_TRAIN_REJECT_REJECTER_H_
#define TOPWORK_RUNTIME_TRAIN_REJECT_REJECTER_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/reject/rejection.h"
#include "runtime/train/training_context.h"

namespace topwork {

// Stored examples, of the taught ones and of the negatives: they bound the size of what is exported.
constexpr int64_t kMaxStored = 512;
constexpr int64_t kMaxNegatives = 256;

// How the trainer's own examples fare, each left out.
struct RejectionSummary {
  int64_t n_calibrated = 0;  // examples whose p-values the thresholds come from
  int64_t n_stored = 0, n_negatives = 0;
  double known_refused = 0.0;      // share of these examples
  double negatives_refused = 0.0;  // share of the negatives; 0 where there are none
};

class Rejecter {
 public:
  explicit Rejecter(const TrainingContext& context) : context_(context) {}

  // UNSUPPORTED for a reject_rate, and for a model that refuses, in a library that was built without
  // TOPWORK_LEARN.
  static Status CheckOptions(const Model& model, const TrainerOptions& options);

  // True where options.reject_rate asks for it, there are examples and the head is one of classes.
  bool wanted() const;
  // Examples of no class: what else is seen where the model works. Their features are kept, without
  // targets, and the same ones once. All or nothing.
  Status AddNegatives(const Examples& examples, const FeatureProgress& progress);
  // Their features, [n, dim]; and those of a checkpoint in addition: CORRUPT for a part of a row.
  std::vector<float> NegativeRows() const;
  Status AddNegativeRows(const std::vector<float>& rows);
  // Scores the examples by heads that were fitted without them (LeaveOneOutScores) and chooses what
  // is stored. Up to kMaxStored examples all are stored and each is judged without itself and its
  // group. Of more, half may be stored and the others calibrate. Where deeper layers are trained, the
  // validation examples calibrate: FAILED_PRECONDITION where there are none.
  Result<Rejection> Make();
  const RejectionSummary& summary() const { return summary_; }  // of the last Make

  size_t bytes() const { return negatives_ == nullptr ? 0 : negatives_->bytes(); }

 private:
  struct Logits;
  struct Material;
  Result<Logits> LeftOutLogits() const;
  void DropRepeated();
  Status ReadFeatures(const FeatureCache& cache, std::vector<float>* out, FeatureRows* rows) const;
  void Choose(const std::vector<uint8_t>& calibrates, const Material& material,
              Rejection* rejection) const;
  Status JudgeNegatives(const Material& material, const Rejection& rejection);
  std::string NameOf(int32_t example) const;

  const TrainingContext context_;
  std::unique_ptr<FeatureCache> negatives_;
  RejectionSummary summary_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_REJECT_REJECTER_H_
