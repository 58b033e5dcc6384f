// HeadExchange: heads alone, as bytes or files, for many heads on one backbone.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_EXCHANGE_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_EXCHANGE_H_

#include <string>
#include <vector>

#include "runtime/train/exporter.h"
#include "runtime/train/judge/judge.h"
#include "runtime/train/training_context.h"

namespace topwork {

struct HeadData;

// A file has 50 KiB for 1280 features × 10 classes. Loading changes the classes to the file's, and
// sets the optimizer and the record of the best epoch back. Errors: CORRUPT; FAILED_PRECONDITION
// for a head of another model or layer, and for one of other classes than the examples, the golden
// set or class_weights.
class HeadExchange {
 public:
  // `judge` and `exporter` must outlive the object.
  HeadExchange(const TrainingContext& context, Judge* judge, Exporter* exporter)
      : context_(context), judge_(*judge), exporter_(*exporter) {}

  std::vector<uint8_t> Encode() const;
  Status Decode(Span<const uint8_t> bytes);
  Status Save(const std::string& path) const;
  Status Load(const std::string& path);

 private:
  Status CheckBelongs(const HeadData& data) const;
  Status CheckClasses(const HeadData& data, bool same) const;

  const TrainingContext context_;
  Judge& judge_;
  Exporter& exporter_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_EXCHANGE_H_
