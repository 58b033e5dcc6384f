// A session on whichever is faster for its model: the CPU, or a device with the CPU behind it.
#ifndef TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_
#define TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/session/session.h"

namespace topwork {

// The device that is weighed against the CPU.
struct Weighed {
  std::string label;     // "opencl:0", for the plan
  std::string identity;  // with its driver and their versions: another one is measured anew
  // Adds the device to a session's options. Called only when it is needed.
  std::function<Status(SessionOptions*)> add;
  std::string cache_folder;      // where answers are remembered; see DeviceCacheFolder
  std::function<int64_t()> now;  // nanoseconds; empty: port::NowNanos
};

// Runs the model a few times on the CPU and on the device that `find` returns (at most kAutoNanos
// each, but at least twice), on inputs of zeros, and keeps the faster; the session's note has the
// times. The answer is remembered by model, device, options and shapes. The CPU is taken without
// measuring where runs leave traces (variables, custom operators), for quantized models, whose
// answers on a device differ, for models of fewer than min_flops operations, all this before `find`
// is called; and where there is no device, or it fails, or has nothing to compute.
Result<std::unique_ptr<Session>> CreateFaster(std::shared_ptr<const Model> model,
                                              const SessionOptions& options, double min_flops,
                                              const std::function<Result<Weighed>()>& find);

constexpr int64_t kAutoNanos = 200 * 1000 * 1000;
// A processor of a phone does this in less than a millisecond, about what starting a GPU and
// waiting for it takes; loading OpenCL takes tens of milliseconds and megabytes.
constexpr double kAutoFlops = 1e7;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_
