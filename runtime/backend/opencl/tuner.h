// The tuner of an OpenCL device: measures programs within a time budget; what it learns is the
// context's TuneTable, which all sessions of the device share.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_TUNER_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_TUNER_H_

#include <memory>

#include "kernels/gpu/gpu_program.h"

namespace topwork {
namespace opencl {

class Context;

// `budget_ms` 0: nothing is measured, what is known is used. The context lives as long.
std::unique_ptr<GpuTuner> MakeTuner(std::shared_ptr<Context> context, int budget_ms);

// The least time of some runs of the program on the device, whose inputs and arena are zeros.
Result<int64_t> MeasureProgram(Context* context, GpuProgram program);

}  // namespace opencl
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_TUNER_H_
