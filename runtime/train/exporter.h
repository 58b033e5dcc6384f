// Exporter: the model with the new head, as bytes or as a file.
#ifndef TOPWORK_RUNTIME_TRAIN_EXPORTER_H_
#define TOPWORK_RUNTIME_TRAIN_EXPORTER_H_

#include <string>
#include <vector>

#include "runtime/train/judge/judge.h"
#include "runtime/train/reject/rejecter.h"

namespace topwork {

class Exporter {
 public:
  // `judge` and `rejecter` must outlive the object. A head that starts as the shipped one has passed
  // already.
  Exporter(const TrainingContext& context, Judge* judge, Rejecter* rejecter);

  // See Trainer.
  Result<std::vector<uint8_t>> Export();
  Status ExportFile(const std::string& path);

  // The classes or the head are others now: no parameters have passed the golden set yet.
  void ForgetAccepted() { accepted_.clear(); }
  size_t bytes() const { return accepted_.size() * sizeof(float); }

 private:
  Status PassGolden();
  Result<std::vector<uint8_t>> ExportHead();
  Result<std::vector<uint8_t>> ExportIdentity(HeadReplacement replacement) const;

  const TrainingContext context_;
  Judge& judge_;
  Rejecter& rejecter_;
  std::vector<float> accepted_;  // parameters that last passed the golden set; may be empty
  double accepted_temperature_ = 1.0;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_EXPORTER_H_
