// What an export does to the numbers that were trained: the temperature goes into the last layer,
// and everything is rounded to the types that the model stores.
#ifndef TOPWORK_RUNTIME_TRAIN_STORED_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_STORED_HEAD_H_

#include <vector>

#include "runtime/train/training_context.h"

namespace topwork {

// The format that an export stores the last layer in.
HeadFormat StoredFormat(const TrainingContext& context);

// The last layer divided by the temperature.
void ScaledHead(const TrainingState& state, std::vector<float>* weights, std::vector<float>* bias);

// While it lives, the network has its parameters as an export stores them, the temperature inside.
class AsStored {
 public:
  explicit AsStored(const TrainingContext& context);
  ~AsStored();
  AsStored(const AsStored&) = delete;
  AsStored& operator=(const AsStored&) = delete;

  // The range of the scores over all examples, for the scale that an integer head writes them in.
  Status MeasureScores(float* out_min, float* out_max) const;

 private:
  const TrainingContext context_;
  const std::vector<float> kept_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_STORED_HEAD_H_
