// What a step in bands keeps between planning and running, and its run (bands.h).
#ifndef TOPWORK_RUNTIME_PLAN_BAND_PROGRAM_H_
#define TOPWORK_RUNTIME_PLAN_BAND_PROGRAM_H_

#include <memory>
#include <vector>

#include "kernels/contract/kernel.h"
#include "runtime/plan/band_schedule.h"

namespace topwork {

constexpr size_t kMostBandOps = 8, kMostBandInputs = 4;

struct BandProgram : OpState {
  struct Input {
    bool given = false;      // it is a value of the step: constants and images
    int maker = -1;          // it is made by this op of the chain
    size_t row_bytes = 0;    // of an image; 0 of a constant
    size_t image_bytes = 0;  // to the next image of a batch; 0 of a constant
  };
  struct Part {
    const OpDef* def = nullptr;
    size_t first_input = 0;  // of the step's
    std::vector<Input> inputs;
    size_t row_bytes = 0;      // of the output
    size_t buffer_offset = 0;  // of the output's rows in a thread's scratch
  };
  // A part as it was prepared for BandSchedule::shapes.
  struct Prepared {
    OpParams params;
    std::shared_ptr<OpState> state;
    std::vector<TensorView> inputs;  // without data
    TensorView output;
  };

  std::vector<Part> parts;
  std::vector<Prepared> prepared;
  BandSchedule schedule;
  int64_t batch = 0, out_h = 0;
  bool wants_range = false;  // of the step's input 0, which the first part quantizes
  size_t part_scratch_offset = 0, thread_bytes = 0;  // of scratch
  mutable ThreadPool alone{1};                       // for the parts: strips are the tasks
  int64_t n_strips() const { return static_cast<int64_t>(schedule.strips.size()); }
};

Status RunBands(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_BAND_PROGRAM_H_
