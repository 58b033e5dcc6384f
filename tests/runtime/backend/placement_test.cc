// Where something runs, and why: each way to a decision with the words that it gives.
#include "runtime/backend/placement.h"

#include <catch2/catch.hpp>

#include "tests/support/scoped_variable.h"

namespace topwork {
namespace placement_test {

TEST_CASE("placement: what the caller named needs no reason", "[backend]") {
  Placement cpu;
  CHECK((cpu.is_final() && !cpu.on_device()));
  CHECK(cpu.place() == "cpu");
  CHECK(cpu.reason().empty());
  Placement named(DeviceName::Opencl(1));
  CHECK((named.is_final() && !named.on_device()));
  named.Use("opencl:1");
  CHECK(named.on_device());
  CHECK(named.place() == "opencl:1");
  CHECK(named.reason().empty());
  CHECK(named.Note().empty());
}

TEST_CASE("placement: a device that fails is given up with the reason", "[backend]") {
  Placement named(DeviceName::Opencl(1));
  named.Use("opencl:1");
  named.GiveUp("the device was lost");
  CHECK_FALSE(named.on_device());
  CHECK(named.place() == "cpu");
  CHECK(named.reason() == "the device was lost");
  CHECK(named.Note().empty());
  Placement automatic(DeviceName::Auto());
  automatic.GiveUp("it is gone", "opencl:2");
  CHECK((automatic.is_final() && !automatic.on_device()));
  CHECK(automatic.Note() == "auto: cpu; opencl:2: it is gone");
}

TEST_CASE("placement: auto is open until something final is known", "[backend]") {
  Placement placement(DeviceName::Auto());
  CHECK_FALSE(placement.is_final());
  placement.StayOnCpu("there is little work");
  CHECK_FALSE(placement.is_final());
  CHECK(placement.Note() == "auto: cpu, as there is little work");
  CHECK(placement.reason() == "there is little work");
  placement.Use("opencl:0");
  CHECK((placement.on_device() && !placement.is_final()));
  CHECK(placement.reason().empty());
  placement.StayOnCpu("");
  CHECK(placement.Note().empty());
}

TEST_CASE("placement: auto takes the faster, a draw is the CPU's", "[backend]") {
  const struct {
    double cpu, device;
    const char *what, *source, *place, *note;
  } rows[] = {
      {2e6, 1e6, "run", "", "opencl:0", "auto: cpu 2 ms, opencl:0 1 ms"},
      {1e6, 2e6, "run", ", measured before", "cpu",
       "auto: cpu 1 ms, opencl:0 2 ms, measured before"},
      {1e6, 1e6, "run", "", "cpu", "auto: cpu 1 ms, opencl:0 1 ms"},
      {1500, 500, "step", "", "opencl:0", "auto: cpu 1.5 us a step, opencl:0 0.5 us a step"},
  };
  for (const auto& row : rows) {
    Placement placement(DeviceName::Auto());
    placement.Use("opencl:0");
    const bool on_device = row.place != std::string("cpu");
    INFO(row.note);
    CHECK(placement.Decide(row.cpu, row.device, row.what, row.source) == on_device);
    CHECK(placement.is_final());
    CHECK(placement.on_device() == on_device);
    CHECK(placement.place() == row.place);
    CHECK(placement.Note() == row.note);
  }
}

TEST_CASE("placement: little work is not worth a device, unless one is named", "[backend]") {
  for (const char* variable : {"", "off"}) {
    const test::ScopedVariable scoped("TOPWORK_AUTO_DEVICE", variable);
    CHECK(WhyTooLittle(1e7, 1e7).empty());
    CHECK(WhyTooLittle(2e6, 1e7) == "2 million operations are too few for a device");
  }
  const test::ScopedVariable scoped("TOPWORK_AUTO_DEVICE", "opencl:0");
  CHECK(WhyTooLittle(1, 1e7).empty());
}

}  // namespace placement_test
}  // namespace topwork
