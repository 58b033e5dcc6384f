// The inside of a tw_trainer.
#ifndef TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_
#define TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_

#include <memory>

#include "runtime/api/evaluation.h"
#include "runtime/api/handles.h"
#include "runtime/train/trainer.h"

struct tw_trainer {
  topwork::Allocator allocator;  // outlives `trainer`, which points to it
  std::unique_ptr<topwork::Trainer> trainer;
  int n_epochs = 0;                           // of the options
  topwork::api::EvaluationArrays evaluation;  // of the last one
  std::vector<tw_audited_example> audit;      // likewise
  tw_near_duplicates near_duplicates = {};    // likewise
  // What tw_trainer_info points to, as of the last tw_trainer_get_info.
  struct Description {
    tw_head_info head;
    std::vector<std::string> names;
    std::vector<const char*> class_names;
    std::vector<tw_parameter_info> parameters;
    std::vector<tw_feature_worker> workers;
    std::vector<tw_trainer_candidate> candidates;
    std::string device, device_reason;
    tw_rejection_summary rejection;
  };
  mutable Description description;
};

#endif  // TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_
