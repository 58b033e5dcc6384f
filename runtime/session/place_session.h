// PlaceSession: a session where the caller wants it: on the CPU, on a device, or on the faster one.
#ifndef TOPWORK_RUNTIME_SESSION_PLACE_SESSION_H_
#define TOPWORK_RUNTIME_SESSION_PLACE_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/backend/devices.h"
#include "runtime/backend/placement.h"
#include "runtime/session/session.h"

namespace topwork {

struct DeviceOptions : OpenOptions {
  bool all_there = false;  // whatever it can compute, whether or not that is worth its transfers
  bool check_first_answer = false;  // see Session::CheckFirstAnswer; a wrong one is remembered
  bool half_if_it_agrees = false;   // instead of float32, see PlaceSession
};

struct PlacedSession {
  std::unique_ptr<Session> session;
  Placement placement;
};

// `options` says all that does not depend on devices. An OpenCL name must stand for a device that
// is there. "auto" runs the model a few times on the CPU and on the device that FindAutoDevice
// finds (at most kTrialNanos each, but at least twice), on inputs of zeros, and keeps the faster
// session. The times are remembered by model, device, options and shapes. The CPU is taken without
// measuring where runs leave traces (variables, custom operators), for models of fewer than
// kTrialFlops operations (nothing of OpenCL is loaded then), and where there is no device, or it
// fails, or has nothing to compute. The device gets no operator whose integers it would compute as
// real numbers: quantized models give the CPU's integers wherever they run.
// With half_if_it_agrees a device that multiplies float16 stores that where it is faster, and where
// all operators agree with the CPU (Verify, on made-up inputs); also a device that was named.
Result<PlacedSession> PlaceSession(std::shared_ptr<const Model> model,
                                   const SessionOptions& options, const DeviceName& device,
                                   const DeviceOptions& device_options);

// Adds the device that an OpenCL name stands for to a session's options, with what is known of its
// speed, and where some operators need float32, a second one that stores that. What is left to the
// CPU is then computed in float32.
Status AddDevice(const DeviceOptions& device, const DeviceName& name, SessionOptions* options);

// What PlaceSession does for "auto", with any device and clock.

// The device that is tried against the CPU.
struct Candidate {
  DeviceName name;
  std::string identity;  // with its driver and their versions: another one is measured anew
  // Adds the device to a session's options. Called only when it is needed.
  std::function<Status(SessionOptions*)> add;
  // The same, storing float16; UNSUPPORTED where the device does not multiply it. Empty: not asked for.
  std::function<Status(SessionOptions*)> add_half;
  std::string cache_folder;  // where answers are remembered; see DeviceCacheFolder
  bool check_first_answer = false;
  std::function<int64_t()> now;  // nanoseconds; empty: port::NowNanos
};

// `find` is called only where the model is worth a trial.
Result<PlacedSession> PlaceByTrial(std::shared_ptr<const Model> model,
                                   const SessionOptions& options, double least_flops,
                                   const std::function<Result<Candidate>()>& find);

constexpr int64_t kTrialNanos = 200 * 1000 * 1000;
// A processor of a phone does this in less than a millisecond, about what starting a GPU and
// waiting for it takes; loading OpenCL takes tens of milliseconds and megabytes.
constexpr double kTrialFlops = 1e7;

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_PLACE_SESSION_H_
