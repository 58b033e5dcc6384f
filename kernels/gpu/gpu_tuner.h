// GpuTuner: measured times of the ways to compute a piece of work on a device.
//
// An operator with several kernels for the same answer names the work (its kind and sizes) and the
// variants that fit; the tuner knows which was the fastest. It keeps names, not numbers, so a
// library with other variants still understands an old table.
#ifndef TOPWORK_KERNELS_GPU_GPU_TUNER_H_
#define TOPWORK_KERNELS_GPU_GPU_TUNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace topwork {

struct GpuProgram;

// A choice that an operator made while it was planned.
struct GpuChoice {
  std::string work;
  std::vector<const char*> variants;  // those that fit; literals
  const char* usual = "";             // the one that is taken when nothing is known
  const char* chosen = "";
};

class GpuTuner {
 public:
  virtual ~GpuTuner() = default;

  // The fastest variant measured so far; "" when none was.
  virtual std::string Best(const std::string& work) const = 0;
  virtual bool IsMeasured(const std::string& work, const std::string& variant) const = 0;
  // Whether the device has a BLAS library that is ready for use, or worth waiting for because there
  // is time to measure.
  virtual bool HasBlas() = 0;
  // The least m * n * k from which on float32 products go to the device's BLAS library (a Launch of
  // kind kGemm), as far as measured; infinite: never.
  virtual double BlasCrossover() const = 0;

  // Whether the time given for measuring lasts; it begins at the first call.
  virtual bool HasTime() = 0;
  // Runs the program several times on the device, on whatever data lies in its memory, and returns
  // the least time.
  virtual Result<int64_t> MeasureNanos(GpuProgram program) = 0;
  // Remembers a time, also on disk where that works. INT64_MAX stands for a variant that failed, so
  // that it is not tried again.
  virtual void Keep(const std::string& work, const std::string& variant, int64_t nanos) = 0;
};

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_GPU_TUNER_H_
