// Devices that answer wrongly and report nothing: the CPU finds out beside the runs, takes over, and it is
// remembered.
#include "runtime/session/first_answer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "ports/port.h"
#include "runtime/session/place_session.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/digits_model.h"
#include "tests/support/random_floats.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace first_answer_test {

// Computes whole models as the CPU does; its first `n_wrong` answers are spoiled.
class Spoiled final : public test::FakeGpu {
 public:
  Spoiled(std::shared_ptr<const Model> model, int n_wrong, float by) : n_wrong_(n_wrong), by_(by) {
    SessionOptions options;
    options.n_threads = 1;
    auto made = Session::Create(std::move(model), options);
    REQUIRE(made.ok());
    cpu_ = std::move(made.value());
  }
  Status Run(const ProgramTensors& tensors) const override {
    for (size_t i = 0; i < tensors.inputs.size(); ++i) {
      const TensorView& to = cpu_->input(static_cast<int>(i));
      std::memcpy(to.data, tensors.inputs[i]->data, to.bytes());
    }
    TW_RETURN_IF_ERROR(cpu_->Run());
    if (clock != nullptr) *clock -= 400000;
    for (size_t i = 0; i < tensors.outputs.size(); ++i) {
      const TensorView& from = cpu_->output(static_cast<int>(i));
      std::memcpy(tensors.outputs[i]->data, from.data, from.bytes());
    }
    if (n_runs++ < n_wrong_) *static_cast<float*>(tensors.outputs[0]->data) += by_;
    return Status::Ok();
  }
  mutable int n_runs = 0;
  int64_t* clock = nullptr;  // goes back by 0.4 ms in each run

 private:
  std::unique_ptr<Session> cpu_;
  const int n_wrong_;
  const float by_;
};

struct Bench {
  explicit Bench(int n_wrong, float by = 0.5f)
      : model(test::DigitsModel()), gpu(std::make_shared<Spoiled>(model, n_wrong, by)) {}

  std::unique_ptr<Session> Make(const Allocator* allocator = nullptr) const {
    SessionOptions options;
    options.n_threads = 1;
    options.allocator = allocator;
    options.devices = {gpu};
    auto made = Session::Create(model, options);
    REQUIRE(made.status().ToString() == "OK");
    const TensorView& input = made.value()->input(0);
    const std::vector<float> image =
        test::RandomFloats(static_cast<size_t>(input.shape.NumElements()), 5);
    std::memcpy(input.data, image.data(), input.bytes());
    return std::move(made.value());
  }
  FirstAnswerRecord Record() const { return {"opencl:7", folder / "wrong", "a model, a driver"}; }

  const test::TempFolder folder;
  const std::shared_ptr<const Model> model;
  const std::shared_ptr<Spoiled> gpu;
};

float First(const Session& session) { return session.output(0).as<const float>()[0]; }

TEST_CASE("first answer: a wrong one gives the model to the CPU, and is remembered", "[session]") {
  for (const float by : {0.5f, NAN}) {
    Bench bench(1, by);
    CHECK(bench.Record().Known().ok());
    const auto session = bench.Make();
    session->CheckFirstAnswer(bench.Record());
    REQUIRE(session->Run().ok());
    while (session->device_failure().empty()) {
      REQUIRE(session->Run().ok());
      std::this_thread::yield();
    }
    const std::string why = session->device_failure();
    CHECK(why.find("the first answer of opencl:7 was wrong, by ") == 0);
    CHECK(why.find("the CPU computes this model; remove " + bench.folder / "wrong") !=
          std::string::npos);
    CHECK(PrintPlan(session->plan()).find(why) != std::string::npos);
    const int n_runs = bench.gpu->n_runs;
    REQUIRE(session->Run().ok());
    CHECK(bench.gpu->n_runs == n_runs);
    CHECK(bench.Record().Known().message() == why);
    FirstAnswerRecord other = bench.Record();
    other.key = "a newer driver";
    CHECK(other.Known().ok());
  }
}

TEST_CASE("first answer: where the CPU cannot take over, the device's answers stop", "[session]") {
  static bool fails = false;
  fails = false;
  Allocator allocator;
  allocator.allocate = [](void*, size_t bytes, size_t alignment) {
    return fails ? nullptr : port::AlignedAlloc(alignment, bytes);
  };
  allocator.deallocate = [](void*, void* pointer, size_t) { port::AlignedFree(pointer); };
  const Bench bench(1000);
  const auto session = bench.Make(&allocator);
  session->CheckFirstAnswer(bench.Record());
  REQUIRE(session->Run().ok());
  const float wrong = First(*session);
  fails = true;
  Status status;
  while (status.ok()) status = session->Run();  // until the CPU has its answer
  const int n_runs = bench.gpu->n_runs;
  for (int i = 0; i < 3; ++i) {
    INFO(status.ToString());
    CHECK(status.message().find("the CPU cannot take over") != std::string::npos);
    status = session->Run();
  }
  fails = false;
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(bench.gpu->n_runs == n_runs);
  CHECK(First(*session) == Approx(wrong - 0.5f).margin(1e-6));
  CHECK(session->device_failure().find("was wrong") != std::string::npos);
}

TEST_CASE("first answer: a right one stays, and only the first is looked at", "[session]") {
  Bench bench(0);
  const auto session = bench.Make();
  session->CheckFirstAnswer(bench.Record());
  for (int i = 0; i < 20; ++i) REQUIRE(session->Run().ok());
  CHECK(session->device_failure().empty());
  CHECK(bench.gpu->n_runs == 20);
  CHECK(bench.Record().Known().ok());
}

TEST_CASE("first answer: sessions are freed while the CPU computes", "[session]") {
  Bench bench(1);
  for (int i = 0; i < 20; ++i) {
    const auto session = bench.Make();
    session->CheckFirstAnswer(bench.Record());
    REQUIRE(session->Run().ok());
  }
}

TEST_CASE("first answer: a session that is not asked to look does not", "[session]") {
  Bench bench(1000);
  const auto session = bench.Make();
  const auto clone = session->Clone();
  REQUIRE(clone.ok());
  const float wrong = [&] {
    REQUIRE(session->Run().ok());
    return First(*session);
  }();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(session->Run().ok());
    CHECK(First(*session) == wrong);
  }
}

TEST_CASE("first answer: auto and what it remembers", "[session]") {
  Bench bench(1000);
  Candidate device;
  device.name = DeviceName::Opencl(7);
  device.identity = "made up";
  device.cache_folder = bench.folder / "cache";
  device.check_first_answer = true;
  int64_t clock = 0;
  bench.gpu->clock = &clock;
  device.now = [&] { return clock += 1000000; };
  device.add = [&](SessionOptions* options) {
    options->devices.push_back(bench.gpu);
    return Status::Ok();
  };
  SessionOptions options;
  options.n_threads = 1;
  const auto place = [&] {
    auto placed =
        PlaceByTrial(bench.model, options, 0.0, [&] { return Result<Candidate>(device); });
    REQUIRE(placed.status().ToString() == "OK");
    return std::move(placed.value());
  };
  const PlacedSession placed = place();
  REQUIRE(placed.placement.on_device());
  while (placed.session->device_failure().empty()) {
    REQUIRE(placed.session->Run().ok());
    std::this_thread::yield();
  }
  const PlacedSession again = place();
  CHECK(again.session->options().devices.empty());
  CHECK(again.placement.Note().find("the first answer of opencl:7 was wrong") != std::string::npos);
}

}  // namespace first_answer_test
}  // namespace topwork
