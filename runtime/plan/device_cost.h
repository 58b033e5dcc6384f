// DeviceCost: how fast a device and the processor beside it are, as far as the planner cares.
//
// An operator of W operations on B bytes is assumed to last start_ns + max(W / flops, B / bytes). A
// segment on the device adds one round trip, and a copy for each tensor that crosses its border.
// This is rough on purpose: it decides whether work is worth moving, not how long a run lasts.
#ifndef TOPWORK_RUNTIME_PLAN_DEVICE_COST_H_
#define TOPWORK_RUNTIME_PLAN_DEVICE_COST_H_

namespace topwork {

struct Rates {
  double start_ns = 0.0;      // an operator on the CPU, a launch within a program on a device
  double flops_per_ns = 1.0;  // of dense layers: GFLOP/s
  double bytes_per_ns = 1.0;  // of elementwise operators: GB/s read and written
};

struct DeviceCost {
  Rates device;
  double round_trip_ns = 0.0;  // starting a program and waiting for its end
  double copy_ns = 0.0;        // for each tensor, however small
  double up_bytes_per_ns = 1.0;
  double down_bytes_per_ns = 1.0;
  Rates cpu_one;  // with one thread
  Rates cpu_all;  // with n_cpus threads
  double n_cpus = 1.0;

  // The CPU's rates with that many threads, between those of one thread and of all.
  Rates Cpu(int n_threads) const;
};

// Nanoseconds for n_starts starts and the work.
double NanosOf(const Rates& rates, int n_starts, double flops, double bytes);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_DEVICE_COST_H_
