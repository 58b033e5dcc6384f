// The inside of a tw_trainer.
#ifndef TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_
#define TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_

#include <memory>

#include "runtime/api/handles.h"
#include "runtime/train/trainer.h"

struct tw_trainer {
  topwork::Allocator allocator;  // outlives `trainer`, which points to it
  std::unique_ptr<topwork::Trainer> trainer;
  int n_epochs = 0;  // of the options
};

#endif  // TOPWORK_RUNTIME_API_TRAINER_HANDLE_H_
