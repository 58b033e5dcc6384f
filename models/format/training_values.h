// The numbers that training stands at, as plain data: a trainer works on them, a checkpoint stores
// them, and reports are made of them.
#ifndef TOPWORK_MODELS_FORMAT_TRAINING_VALUES_H_
#define TOPWORK_MODELS_FORMAT_TRAINING_VALUES_H_

#include <cstdint>
#include <limits>
#include <vector>

namespace topwork {

// One pass over the training examples.
struct EpochMetrics {
  int epoch = 0;  // counted from 1
  int n_epochs = 0;
  int64_t step = 0;             // optimizer steps since the start of training
  double train_loss = 0.0;      // means over the epoch's batches, each before its own update
  double train_accuracy = 0.0;  // likewise
  bool has_validation = false;
  double validation_loss = 0.0;  // after the epoch's last update
  double validation_accuracy = 0.0;
  double seconds = 0.0;
  double learning_rate = 0.0;  // of the last step; 0 where the optimizer has none
};

// How far training has come.
struct TrainingProgress {
  int epoch = 0;  // epochs completed
  int64_t step = 0;
  uint64_t random_state = 0;  // of the shuffle, at the start of the epoch in progress
  uint64_t position = 0;      // examples of the epoch in progress that were used; 0: between epochs
  double loss_sum = 0.0;      // over these examples
  double weight_sum = 0.0;
  double hits = 0.0;
  double seconds = 0.0;
  std::vector<EpochMetrics> history;
  // Early stopping.
  double best_loss = std::numeric_limits<double>::infinity();
  int best_epoch = 0;                  // 0: none yet
  std::vector<float> best_parameters;  // empty, or as many as parameters
  bool stopped_early = false;
};

// What training began from: the last fit on all examples begins there again.
struct TrainingStart {
  std::vector<float> parameters;       // given from outside; empty: what the options begin with
  std::vector<uint8_t> fresh_classes;  // as in TrainingValues; empty with parameters
  int epoch = 0;                       // epochs that were completed then
};

// Everything that the next step of training depends on beside the examples and the options.
struct TrainingValues {
  std::vector<float> parameters;
  std::vector<float> moment1;  // empty, or as many as parameters; likewise moment2
  std::vector<float> moment2;
  int64_t n_updates = 0;
  std::vector<double> solver;  // state of L-BFGS
  float learning_rate = 0.0f;  // before schedules; 0 while it is still to be chosen
  double temperature = 1.0;
  std::vector<uint8_t> fresh_classes;  // one for every class: not trained yet
  TrainingProgress progress;
  TrainingStart start;
  // After the last fit on all examples: the parameters of before, which have not seen the
  // validation examples. Empty: there was no such fit, and `parameters` are those.
  std::vector<float> validated_parameters;
#ifndef TW_NO_LEARN  // the smallest libraries go on in another order then
  // The order of the epoch in progress and progress.random_state after it, where these do not follow
  // from progress.random_state and the examples as they are now; empty: they do.
  std::vector<int32_t> order;
  uint64_t next_random_state = 0;
#endif
};

// State of a bounded memory of examples.
struct ReplayState {
  std::vector<int32_t> labels;  // class of every slot
  std::vector<int64_t> seen;    // examples of every class that were offered
  uint64_t random_state = 0;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_TRAINING_VALUES_H_
