// Placement: where something runs, and why. A session has one for its model, a trainer one for the
// steps of its head. Both decide in the same order and give their reasons in the same words:
//
//  1. The caller named the CPU or a device: it runs there, and no reason is given.
//  2. The caller said "auto", and the CPU is the right place before a device is touched: there is
//     little work (WhyTooLittle), or the work cannot be tried or would give other results
//     (StayOnCpu).
//  3. FindAutoDevice finds no device: the CPU.
//  4. Both have been measured, now or earlier: the faster one (Decide).
//  5. The device cannot be opened, or fails then or later: the CPU, for good (GiveUp).
//
// A session on a device still leaves single operators to the CPU: those that are pinned, that the
// device cannot compute, that its memory has no room for, or that are not worth their transfers.
// Their reasons stand in the plan's steps.
#ifndef TOPWORK_RUNTIME_BACKEND_PLACEMENT_H_
#define TOPWORK_RUNTIME_BACKEND_PLACEMENT_H_

#include <string>
#include <utility>

#include "runtime/backend/device_name.h"

namespace topwork {

// Why so little work is not worth trying a device for; "" when there is enough, and for any amount
// where the environment variable TOPWORK_AUTO_DEVICE names the device.
std::string WhyTooLittle(double flops, double least_flops);

class Placement {
 public:
  Placement() = default;
  explicit Placement(DeviceName wanted) : wanted_(std::move(wanted)) {}

  const DeviceName& wanted() const { return wanted_; }
  // False: "auto", and nothing final is known yet.
  bool is_final() const { return is_final_ || !wanted_.is_auto(); }
  bool on_device() const { return on_device_; }
  // "cpu", or what `Use` was given.
  const std::string& place() const { return place_; }
  // Why it is there, or what was measured; "" where nothing had to be decided.
  const std::string& reason() const { return reason_; }
  // The decision of "auto" as one line, "auto: cpu 1 ms, opencl:0 0.6 ms"; "" where the caller
  // named the place or there is no reason.
  std::string Note() const;

  // The device is used from now on; for "auto" until Decide.
  void Use(const std::string& device);
  // The CPU is the place as things are now. More work may change that for a trainer.
  void StayOnCpu(const std::string& reason);
  // The faster of the CPU and the device in use, by nanoseconds of `what`: "run" or "step". source:
  // goes behind the times (", measured before"). Returns on_device().
  bool Decide(double cpu_nanos, double device_nanos, const std::string& what,
              const std::string& source = "");
  // The CPU, for good: `device` (by default the one in use) cannot be used.
  void GiveUp(const std::string& why, const std::string& device = "");

 private:
  DeviceName wanted_;
  bool is_final_ = false;
  bool on_device_ = false;
  std::string place_ = "cpu";
  std::string reason_;
  std::string note_;  // the place and the reason
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BACKEND_PLACEMENT_H_
