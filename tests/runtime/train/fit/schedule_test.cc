// Schedules against PyTorch's lr_scheduler (make_golden.py) and at their ends.
#include "runtime/train/fit/schedule.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/embedded.h"
#include "tests/support/npz.h"

namespace topwork {
namespace schedule_test {

void CheckAgainst(const test::Npz& npz, const char* name, const ScheduleOptions& options,
                  int64_t total) {
  INFO(name);
  const std::vector<double> expected = npz.at(name).as<double>();
  REQUIRE(expected.size() >= 50);
  for (size_t step = 0; step < expected.size(); ++step) {
    INFO("step " << step);
    CHECK(ScheduleFactor(options, static_cast<int64_t>(step), 0, total) ==
          Approx(expected[step]).epsilon(1e-9).margin(1e-12));
  }
}

TEST_CASE("schedule: factors agree with PyTorch's schedulers", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/schedules.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  ScheduleOptions options;
  options.schedule = Schedule::kCosine;
  CheckAgainst(npz, "cosine", options, 50);
  options.warmup_steps = 5;
  CheckAgainst(npz, "cosine_warm", options, 50);
  options.schedule = Schedule::kLinear;
  CheckAgainst(npz, "linear_warm", options, 50);
  options.warmup_steps = 0;
  CheckAgainst(npz, "linear", options, 50);
  options = ScheduleOptions();
  options.warmup_steps = 5;
  CheckAgainst(npz, "constant_warm", options, 50);

  options = ScheduleOptions();
  options.schedule = Schedule::kStep;
  options.step_epochs = 3;
  options.step_factor = 0.3f;
  const std::vector<double> by_epoch = npz.at("step_by_epoch").as<double>();
  for (size_t epoch = 0; epoch < by_epoch.size(); ++epoch) {
    const int64_t step = static_cast<int64_t>(epoch) * 4 + 1;
    CHECK(ScheduleFactor(options, step, static_cast<int64_t>(epoch), 60) ==
          Approx(by_epoch[epoch]).epsilon(1e-6));
  }
}

TEST_CASE("schedule: beyond the end and warm-ups longer than the run", "[train]") {
  ScheduleOptions options;
  options.schedule = Schedule::kLinear;
  CHECK(ScheduleFactor(options, 9, 0, 10) == Approx(0.1));
  CHECK(ScheduleFactor(options, 10, 0, 10) == Approx(0.1));
  CHECK(ScheduleFactor(options, 1000, 3, 10) == Approx(0.1));
  CHECK(ScheduleFactor(options, 0, 0, 1) == 1.0);
  options.warmup_steps = 20;
  CHECK(ScheduleFactor(options, 9, 0, 10) == Approx(0.5));
  CHECK(ScheduleFactor(options, 50, 0, 10) == Approx(0.5));
  options.warmup_steps = 10;
  CHECK(ScheduleFactor(options, 9, 0, 10) == Approx(1.0));
  // The drops of kStep go on during the warm-up.
  options.schedule = Schedule::kStep;
  options.step_epochs = 1;
  options.step_factor = 0.5f;
  CHECK(ScheduleFactor(options, 4, 1, 100) == Approx(0.25));
}

TEST_CASE("schedule: names", "[train]") {
  CHECK(ScheduleName(Schedule::kConstant) == std::string("constant"));
  CHECK(ScheduleName(Schedule::kStep) == std::string("step"));
  CHECK(ScheduleName(Schedule::kCosine) == std::string("cosine"));
  CHECK(ScheduleName(Schedule::kLinear) == std::string("linear"));
}

}  // namespace schedule_test
}  // namespace topwork
