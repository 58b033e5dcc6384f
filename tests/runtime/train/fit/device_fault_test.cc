// Whatever OpenCL call fails while a trainer uses a device, training ends where the CPU's does: the
// CPU takes over from where the run began. And nothing is left behind on the device.
//
// The calls go through libtopwork_fault_shim.so, in a process of its own.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "ports/port.h"
#include "runtime/backend/workspace.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace device_fault_test {

std::string ProgramPath() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

std::string ShimPath() {
  const std::string program = ProgramPath();
  return program.substr(0, program.rfind('/') + 1) + "libtopwork_fault_shim.so";
}

struct Outcome {
  Status status;
  std::vector<float> parameters;
  Placement placement;
};

Outcome Train(const test::TrainerData& data, const DeviceName& device, Optimizer optimizer) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.epochs = 2;
  options.optimizer = optimizer;
  if (optimizer == Optimizer::kAdam) options.clip_norm = 1.0f;
  options.device = device;
  Outcome outcome;
  auto trainer =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  outcome.status = trainer.status();
  if (!outcome.status.ok()) return outcome;
  REQUIRE((*trainer)->AddExamples(data.examples()).ok());
  outcome.status = (*trainer)->Train();
  outcome.parameters.assign((*trainer)->state().parameters().begin(),
                            (*trainer)->state().parameters().end());
  outcome.placement = (*trainer)->fitter().placement();
  return outcome;
}

bool Near(const std::vector<float>& a, const std::vector<float>& b) {
  bool near = a.size() == b.size();
  for (size_t i = 0; near && i < a.size(); ++i) near = std::fabs(a[i] - b[i]) <= 1e-4f;
  return near;
}

struct Shim {
  void (*fail)(long call, int code) = nullptr;
  long (*calls)() = nullptr;
  long (*objects)() = nullptr;
};

void FailEachCall(const Shim& shim, Optimizer optimizer) {
  const DeviceName name = test::TestDeviceName();
  const test::TrainerData data = test::Images(40, 3);
  const Outcome cpu = Train(data, DeviceName::Cpu(), optimizer);
  REQUIRE(Train(data, name, optimizer).placement.place() != "cpu");
  const long before = shim.objects();
  shim.fail(0, 0);
  REQUIRE(Near(Train(data, name, optimizer).parameters, cpu.parameters));
  const long n_calls = shim.calls();
  REQUIRE(n_calls > 40);
  int fallen = 0;
  for (long k = 1; k <= n_calls; k += 2) {
    const int code = k % 4 == 1 ? -5 : -36;
    shim.fail(k, code);
    const Outcome outcome = Train(data, name, optimizer);
    shim.fail(0, 0);
    INFO(OptimizerName(optimizer) << ": call " << k << " of " << n_calls << ", code " << code
                                  << ": " << outcome.status.ToString() << "; "
                                  << outcome.placement.reason());
    REQUIRE(outcome.status.ok());
    REQUIRE(Near(outcome.parameters, cpu.parameters));
    REQUIRE(shim.objects() == before);
    REQUIRE((outcome.placement.place() == "cpu") == !outcome.placement.reason().empty());
    fallen += outcome.placement.place() == "cpu" ? 1 : 0;
  }
  CHECK(fallen > n_calls / 4);
}

// Run by the next test, with TOPWORK_OPENCL_LIBRARY naming the shim.
TEST_CASE("device trainer: (calls that fail one by one)", "[.device-faults]") {
  std::string reason;
  void* library = port::LoadLibrary(ShimPath().c_str(), &reason);
  INFO(reason);
  REQUIRE(library != nullptr);
  Shim shim;
  const auto find = [&](const char* name) { return port::LibrarySymbol(library, name); };
  shim.fail = reinterpret_cast<void (*)(long, int)>(find("topwork_shim_fail"));
  shim.calls = reinterpret_cast<long (*)()>(find("topwork_shim_calls"));
  shim.objects = reinterpret_cast<long (*)()>(find("topwork_shim_objects"));
  REQUIRE((shim.fail != nullptr && shim.calls != nullptr && shim.objects != nullptr));
  const auto kept = Workspace::Open(test::TestDeviceName());  // keeps the compiled programs
  REQUIRE(kept.status().ToString() == "OK");
  FailEachCall(shim, Optimizer::kAdam);
  FailEachCall(shim, Optimizer::kRidge);
}

TEST_CASE("device trainer: whatever call fails, training ends where the CPU's does", "[opencl]") {
  TW_NEED_DEVICE(device);
  (void)device;
  std::string reason;
  if (port::LoadLibrary(ShimPath().c_str(), &reason) == nullptr) {
    TW_SKIP("no fault shim beside the test binary: " + reason);
  }
  const test::TempFolder folder;
  const std::string command = "TOPWORK_OPENCL_LIBRARY='" + ShimPath() + "' '" + ProgramPath() +
                              "' '[.device-faults]' > '" + (folder / "log") + "' 2>&1";
  const int status = std::system(command.c_str());
  INFO(test::ReadWhole(folder / "log"));
  CHECK(status == 0);
}

}  // namespace device_fault_test
}  // namespace topwork
