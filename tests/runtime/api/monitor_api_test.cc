// C API: monitors of a trainer's model, of a session and of plain numbers.
#ifdef TW_HAVE_TRAIN
#include <atomic>
#include <cmath>
#include <random>
#include <thread>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace api_test {
namespace {

// Images that are bright on the left (class 0) or on the right (class 1), with noise.
std::vector<float> NoisyPictures(int64_t n, float brightness, uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<float> pixels;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < 64; ++k) {
      const float noise = static_cast<float>(random() % 1000) * 5e-4f;
      pixels.push_back(((k % 8 < 4) == (i % 2 == 0) ? brightness : 0.0f) + noise);
    }
  }
  return pixels;
}

std::vector<int64_t> ClassesInTurn(int64_t n) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) labels.push_back(i % 2);
  return labels;
}

tw_monitor_report ReportOf(tw_monitor* monitor) {
  tw_monitor_report report = {};
  report.struct_size = sizeof(report);
  REQUIRE(tw_monitor_get_report(monitor, &report) == TW_STATUS_OK);
  return report;
}

// Numbers of one example.
tw_observation Numbers(const float* features, size_t n_features, const float* scores,
                       size_t n_scores) {
  tw_observation seen = {};
  seen.struct_size = sizeof(seen);
  seen.features = features;
  seen.n_features = n_features;
  seen.scores = scores;
  seen.n_scores = n_scores;
  return seen;
}

tw_status Add(tw_monitor* monitor, const tw_observation& seen) {
  return tw_monitor_add(monitor, &seen);
}

struct FreeMonitor {
  void operator()(tw_monitor* monitor) const { tw_monitor_free(monitor); }
};
using MonitorPtr = std::unique_ptr<tw_monitor, FreeMonitor>;

}  // namespace

TEST_CASE("C++: a trainer's monitor is saved, opened, and notices other pictures", "[api][train]") {
  const test::TempFolder folder;
  const std::string path = folder / "monitor";
  const tw::Result<tw::Model> model =
      tw::Model::Take(TW_STATUS_OK, OpenModel(kDigitsModel).release());
  REQUIRE(model.ok());
  tw::TrainerOptions options;
  options.n_classes = 2;
  tw::Result<tw::Trainer> made = tw::Trainer::Create(*model, options);
  REQUIRE(made.ok());
  tw::Trainer& trainer = *made;
  const std::vector<float> taught = NoisyPictures(120, 0.8f, 1);
  REQUIRE(trainer.AddExamples(tw::Examples(taught, ClassesInTurn(120))).ok());
  REQUIRE(trainer.Fit(0).ok());
  tw::MonitorOptions monitor_options;
  monitor_options.window = 100;
  const tw::Result<tw::Monitor> first = tw::Monitor::Create(trainer, monitor_options);
  REQUIRE(first.ok());
  REQUIRE(first->Save(path).ok());
  tw::Result<tw::Monitor> monitor = tw::Monitor::Open(path);
  REQUIRE(monitor.ok());
  const std::vector<float> same = NoisyPictures(200, 0.8f, 2);
  REQUIRE(monitor->Add(trainer, tw::Examples(same, ClassesInTurn(200))).ok());
  tw_monitor_report report = *monitor->Report();
  CHECK(report.n_examples == 200);
  CHECK(report.n_windows == 2);
  CHECK(report.n_alarms == 0);
  REQUIRE(report.n_classes == 2);
  CHECK(report.trained[0] == Approx(0.5));
  CHECK(std::fabs(report.frequencies[0] - 0.5) < 0.1);
  const std::vector<float> dark = NoisyPictures(100, 0.05f, 3);
  REQUIRE(monitor->Add(trainer, tw::Examples(dark, ClassesInTurn(100))).ok());
  report = *monitor->Report();
  CHECK(report.is_alarm == 1);
  CHECK(report.first_alarm >= 200);
  CHECK(report.evidence > 2.0);
  // Only the first class any more.
  std::vector<float> left;
  const std::vector<float> more = NoisyPictures(200, 0.8f, 4);
  for (size_t i = 0; i < 200; i += 2) {
    left.insert(left.end(), more.begin() + static_cast<ptrdiff_t>(i * 64),
                more.begin() + static_cast<ptrdiff_t>(i * 64 + 64));
  }
  REQUIRE(monitor->Add(trainer, tw::Examples(left, ClassesInTurn(100))).ok());
  report = *monitor->Report();
  CHECK(report.frequencies[0] > 0.9);
  CHECK(report.frequency_evidence > 5.0);
  const tw::Result<tw::Trainer> other = tw::Trainer::Create(*model);
  REQUIRE(other.ok());
  CHECK(monitor->Add(*other, tw::Examples(left, ClassesInTurn(100))).code() ==
        TW_STATUS_INVALID_ARGUMENT);
  tw::MonitorOptions wrong;
  wrong.n_features = 3;
  CHECK(tw::Monitor::Create(trainer, wrong).status().code() == TW_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("a session feeds a monitor with its outputs", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  const std::vector<float> pictures = NoisyPictures(60, 0.8f, 5);
  std::vector<float> scores(60 * 10);
  for (size_t i = 0; i < 60; ++i) {
    REQUIRE(tw_session_write_input(session.get(), 0, pictures.data() + i * 64, 256) ==
            TW_STATUS_OK);
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
    REQUIRE(tw_session_read_output(session.get(), 0, scores.data() + i * 10, 40) == TW_STATUS_OK);
  }
  // Scores take the place of features.
  tw_monitor_options options = {};
  options.struct_size = sizeof(options);
  options.n_features = 10;
  options.n_classes = 10;
  tw_monitor* handle = nullptr;
  options.features = scores.data();
  options.n_examples = 60;
  REQUIRE(tw_monitor_create(&options, &handle) == TW_STATUS_OK);
  const MonitorPtr monitor(handle);
  tw_observation run = Numbers(nullptr, 0, nullptr, 0);
  run.session = session.get();
  REQUIRE(Add(handle, run) == TW_STATUS_OK);
  REQUIRE(Add(handle, Numbers(scores.data(), 10, nullptr, 0)) == TW_STATUS_OK);
  const tw_monitor_report report = ReportOf(handle);
  CHECK(report.n_examples == 2);
  CHECK(report.n_classes == 10);
  CHECK(report.trained[3] == Approx(0.1));
  std::vector<float> corrected(10);
  REQUIRE(tw_monitor_correct(handle, scores.data(), 10, corrected.data()) == TW_STATUS_OK);
  float sum = 0.0f;
  for (float value : corrected) sum += value;
  CHECK(sum == Approx(1.0f));
  // Not while a run writes them.
  struct Block {
    std::atomic<bool> entered{false}, leave{false};
  } block;
  const auto wait = [](void* user_data, const tw_profile_entry*) {
    Block* const inside = static_cast<Block*>(user_data);
    inside->entered = true;
    while (!inside->leave) std::this_thread::yield();
  };
  REQUIRE(tw_session_set_profile(session.get(), wait, &block) == TW_STATUS_OK);
  REQUIRE(tw_session_run_async(session.get(), nullptr, nullptr) == TW_STATUS_OK);
  while (!block.entered) std::this_thread::yield();
  const tw_status busy = Add(handle, run);
  block.leave = true;
  REQUIRE(tw_session_wait(session.get()) == TW_STATUS_OK);
  CHECK(busy == TW_STATUS_FAILED_PRECONDITION);
  options.n_features = 7;
  options.n_classes = 3;
  REQUIRE(tw_monitor_create(&options, &handle) == TW_STATUS_OK);
  const MonitorPtr other(handle);
  RequireError(Add(handle, run), TW_STATUS_NOT_FOUND,
               "no output of the session has 7 features or 3 scores");
  RequireError(Add(handle, Numbers(scores.data(), 8, nullptr, 0)), TW_STATUS_INVALID_ARGUMENT,
               "n_features is 8; this monitor watches 7");
  RequireError(Add(handle, Numbers(nullptr, 0, scores.data(), 2)), TW_STATUS_INVALID_ARGUMENT,
               "n_scores is 2; this monitor watches 3");
  RequireError(tw_monitor_correct(handle, scores.data(), 2, corrected.data()),
               TW_STATUS_INVALID_ARGUMENT, "n_scores is 2");
  run.features = scores.data();
  run.n_features = 7;
  RequireError(Add(handle, run), TW_STATUS_INVALID_ARGUMENT, "none or several");
  RequireError(Add(handle, Numbers(nullptr, 0, nullptr, 0)), TW_STATUS_INVALID_ARGUMENT,
               "none or several");
  RequireError(tw_monitor_add(handle, nullptr), TW_STATUS_INVALID_ARGUMENT, "observation is NULL");
  scores[0] = std::nanf("");
  RequireError(Add(handle, Numbers(scores.data(), 7, nullptr, 0)), TW_STATUS_NUMERIC, "finite");
}

TEST_CASE("monitor functions refuse NULL, and no reference or several", "[api][train]") {
  tw_monitor_options options = {};
  options.struct_size = sizeof(options);
  tw_monitor* out = nullptr;
  float x = 0.0f;
  RequireError(tw_monitor_create(nullptr, &out), TW_STATUS_INVALID_ARGUMENT, "options is");
  RequireError(tw_monitor_create(&options, nullptr), TW_STATUS_INVALID_ARGUMENT, "NULL");
  RequireError(tw_monitor_create(&options, &out), TW_STATUS_INVALID_ARGUMENT, "gives 0 of");
  options.features = &x;
  options.n_examples = 1;
  RequireError(tw_monitor_create(&options, &out), TW_STATUS_INVALID_ARGUMENT, "0 features");
  options.path = "no such file";
  RequireError(tw_monitor_create(&options, &out), TW_STATUS_INVALID_ARGUMENT, "gives 2 of");
  options.features = nullptr;
  RequireError(tw_monitor_create(&options, &out), TW_STATUS_IO, "no such file");
  RequireError(tw_monitor_save(nullptr, "x"), TW_STATUS_INVALID_ARGUMENT, "monitor is NULL");
  const tw_observation one = Numbers(&x, 1, nullptr, 0);
  RequireError(tw_monitor_add(nullptr, &one), TW_STATUS_INVALID_ARGUMENT, "monitor is");
  RequireError(tw_monitor_get_report(nullptr, nullptr), TW_STATUS_INVALID_ARGUMENT, "monitor is");
  RequireError(tw_monitor_correct(nullptr, &x, 1, &x), TW_STATUS_INVALID_ARGUMENT, "monitor is");
  tw_monitor_free(nullptr);
}

}  // namespace api_test
}  // namespace topwork
#endif
