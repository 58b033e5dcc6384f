// A session on whichever is faster for its model: the CPU, or a device with the CPU behind it.
#ifndef TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_
#define TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/session/session.h"

namespace topwork {

// The device that is weighed against the CPU.
struct AutoDevice {
  std::string label;     // "opencl:0", for the plan
  std::string identity;  // with its driver and their versions: another one is measured anew
  // Adds the device to a session's options. Called only when it is needed.
  std::function<Status(SessionOptions*)> add;
  std::string cache_folder;      // where answers are remembered; see NumbersFolder
  std::function<int64_t()> now;  // nanoseconds; empty: port::NowNanos
};

// Runs the model a few times on both (at most kAutoNanos each, but at least twice), on inputs of
// zeros, and keeps the faster; the session's note has the times. The answer is remembered by model,
// device, options and shapes. The CPU is taken without measuring where runs leave traces
// (variables, custom operators), for quantized models, whose answers on a device differ, and where
// the device fails or has nothing to compute.
Result<std::unique_ptr<Session>> CreateFaster(std::shared_ptr<const Model> model,
                                              const SessionOptions& options,
                                              const AutoDevice& device);

constexpr int64_t kAutoNanos = 200 * 1000 * 1000;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_AUTO_SESSION_H_
