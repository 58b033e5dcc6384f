// Measured costs: plausible on a real device, kept on disk, measured anew when the file is damaged.
#include "runtime/plan/measure_cost.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "ports/port.h"
#include "runtime/backend/devices.h"
#include "runtime/plan/kept_numbers.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace measure_cost_test {

// Runs everything at once, and counts.
class Counting final : public test::FakeGpu {
 public:
  Status Run(const ProgramTensors& tensors) const override {
    ++n_runs;
    for (const TensorView* input : tensors.inputs) {
      if (input->data == nullptr) return InternalError("an input has no memory");
    }
    for (const TensorView* output : tensors.outputs) {
      if (output->data == nullptr) return InternalError("an output has no memory");
    }
    return Status::Ok();
  }
  mutable int n_runs = 0;
};

void CheckRates(const Rates& rates) {
  CHECK(rates.start_ns > 0);
  CHECK(rates.flops_per_ns > 0);
  CHECK(std::isfinite(rates.flops_per_ns));
  CHECK(rates.bytes_per_ns > 0);
  CHECK(std::isfinite(rates.bytes_per_ns));
}

TEST_CASE("measured costs are kept, by device and storage", "[plan]") {
  const test::TempFolder folder;
  const Counting gpu;
  const auto first = KnownDeviceCost(gpu, "a device", folder / "cache");
  REQUIRE(first.status().ToString() == "OK");
  const DeviceCost& cost = *first.value();
  CheckRates(cost.device);
  CheckRates(cost.cpu_one);
  CheckRates(cost.cpu_all);
  CHECK(cost.n_cpus == port::NumCpus());
  CHECK(cost.up_bytes_per_ns > 0);
  CHECK(cost.down_bytes_per_ns > 0);
  CHECK(cost.copy_ns > 0);
  CHECK(cost.round_trip_ns > 0);
  const int n_runs = gpu.n_runs;
  CHECK(n_runs > 20);
  CHECK(KnownDeviceCost(gpu, "a device", folder / "cache").value() == first.value());
  CHECK(gpu.n_runs == n_runs);
  REQUIRE(KnownDeviceCost(gpu, "another device", folder / "cache").ok());
  CHECK(gpu.n_runs > n_runs);
  std::vector<port::FolderEntry> files;
  REQUIRE(port::ListFiles(DeviceCacheFolder(folder / "cache", "measured").c_str(), &files) == 0);
  CHECK(files.size() == 2);
}

TEST_CASE("measured costs report a device that fails", "[plan]") {
  const test::FakeGpu gpu;
  const auto cost = KnownDeviceCost(gpu, "a broken device", "off");
  CHECK(cost.status().message().find("there is no device") != std::string::npos);
}

TEST_CASE("kept numbers survive, and are absent when damaged", "[plan]") {
  const test::TempFolder temp;
  const std::string folder = temp / "cache";
  const double numbers[3] = {1.5, -2, 1e300};
  double got[3] = {};
  CHECK_FALSE(LoadNumbers(folder, "key", {got, 3}));
  REQUIRE(KeepNumbers(folder, "key", {numbers, 3}));
  REQUIRE(LoadNumbers(folder, "key", {got, 3}));
  CHECK(got[0] == 1.5);
  CHECK(got[2] == 1e300);
  CHECK_FALSE(LoadNumbers(folder, "key", {got, 2}));
  CHECK_FALSE(LoadNumbers(folder, "other", {got, 3}));
  const std::string path = NumbersPath(folder, "key");
  const std::string bytes = test::ReadWhole(path);
  REQUIRE(bytes.size() > 100);
  const auto write = [&](const std::string& content) { test::WriteWhole(path, content); };
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    INFO("byte " << i);
    REQUIRE_FALSE(LoadNumbers(folder, "key", {got, 3}));
    if (i % 8 != 0) continue;
    write(bytes.substr(0, i));
    REQUIRE_FALSE(LoadNumbers(folder, "key", {got, 3}));
  }
  write(bytes);
  CHECK(LoadNumbers(folder, "key", {got, 3}));
  const double not_a_number = std::nan("");
  REQUIRE(KeepNumbers(folder, "key", {&not_a_number, 1}));
  CHECK_FALSE(LoadNumbers(folder, "key", {got, 1}));
  CHECK_FALSE(KeepNumbers("", "key", {numbers, 3}));
}

}  // namespace measure_cost_test
}  // namespace topwork
