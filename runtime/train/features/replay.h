// ReplayMemory: which examples to keep when they arrive one by one and only a limited number may
// stay.
//
// Class-balancing reservoir sampling (Chrysakis and Moens, "Online Continual Learning from
// Imbalanced Data", 2020): while there is room, everything is kept. Then a class that is smaller
// than the largest takes a slot from it, and within the largest classes each example seen has the
// same chance to be kept. It knows slots and labels; the examples lie in a FeatureCache.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_REPLAY_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_REPLAY_H_

#include <cstdint>
#include <vector>

#include "models/format/training_values.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/train/random.h"

namespace topwork {

class ReplayMemory {
 public:
  // capacity ≥ 1 slots.
  ReplayMemory(int64_t capacity, uint64_t seed);

  // Where an example of class `label` ≥ 0 goes: a new slot (size() before the call), a slot whose
  // example it replaces, or −1: it is not kept.
  int64_t Offer(int32_t label);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  int64_t capacity() const { return capacity_; }
  Span<const int32_t> labels() const { return labels_; }  // the class of every slot

  // Sets the slots to hold these examples, whose classes have been seen as often.
  void Reset(Span<const int32_t> labels);

  // For a checkpoint. SetState: CORRUPT when the slots are not those of the examples, or more than
  // there may be.
  ReplayState State() const;
  Status SetState(const ReplayState& state, Span<const int32_t> labels);

 private:
  int64_t RandomSlot(int32_t label);

  const int64_t capacity_;
  Random random_;
  std::vector<int32_t> labels_;
  std::vector<int64_t> counts_;  // slots of every class
  std::vector<int64_t> seen_;    // examples of every class that were offered
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_REPLAY_H_
