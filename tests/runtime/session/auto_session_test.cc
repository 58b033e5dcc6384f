// The faster of two sessions, with a clock and a device that are made up: what is kept, what is
// remembered, and what is never tried.
#include "runtime/session/auto_session.h"

#include <catch2/catch.hpp>

#include "runtime/plan/op_work.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace auto_session_test {

// Every look at the clock takes 1 ms; a run of the device adds to it or takes from it.
struct Clock {
  int64_t nanos = 0;
  int64_t Look() { return nanos += 1000000; }
};

class Device final : public test::FakeGpu {
 public:
  Device(Clock* clock, int64_t micros) : clock_(clock), micros_(micros) {}
  Status Run(const OpDef& def, const RunContext& context, const std::string& where) const override {
    ++n_runs;
    if (fails) return FakeGpu::Run(def, context, where);
    clock_->nanos += micros_ * 1000;
    return Status::Ok();
  }
  mutable int n_runs = 0;
  bool fails = false;

 private:
  Clock* clock_;
  const int64_t micros_;
};

struct Trial {
  explicit Trial(int64_t micros) : gpu(std::make_shared<Device>(&clock, micros)) {
    device.label = "opencl:7";
    device.identity = "made up";
    device.cache_folder = folder / "cache";
    device.now = [this] { return clock.Look(); };
    device.add = [this](SessionOptions* options) {
      ++n_added;
      options->backends.push_back(gpu);
      return Status::Ok();
    };
    options.n_threads = 1;
    const test::EmbeddedFile* file = test::FindEmbedded("models/zoo/digits_cnn_f32.tflite");
    REQUIRE(file != nullptr);
    model = Model::OpenMemory(file->data, file->size, false).value();
  }
  Result<Weighed> Find() {
    ++n_found;
    return device;
  }
  std::unique_ptr<Session> Create() {
    auto session = CreateFaster(model, options, 0.0, [this] { return Find(); });
    REQUIRE(session.status().ToString() == "OK");
    return std::move(session.value());
  }
  const test::TempFolder folder;
  Clock clock;
  std::shared_ptr<Device> gpu;
  int n_found = 0, n_added = 0;
  Weighed device;
  SessionOptions options;
  std::shared_ptr<const Model> model;
};

TEST_CASE("auto keeps a device that is faster, and remembers it", "[session]") {
  Trial trial(-400);
  const auto session = trial.Create();
  CHECK(session->options().backends.size() == 1);
  CHECK(session->note() == "auto: cpu 1 ms, opencl:7 0.6 ms");
  CHECK(PrintPlan(session->plan(), session->note()).find("auto: cpu 1 ms") == 0);
  CHECK(PlanToJson(session->plan(), session->note()).find("\"note\"") != std::string::npos);
  CHECK(session->Clone().value()->note() == session->note());
  const int n_runs = trial.gpu->n_runs;
  CHECK(n_runs >= 2);
  const auto again = trial.Create();
  CHECK(trial.gpu->n_runs == n_runs);
  CHECK(again->options().backends.size() == 1);
  CHECK(again->note() == "auto: cpu 1 ms, opencl:7 0.6 ms, measured before");
}

TEST_CASE("auto keeps the CPU when it is faster, and then opens no device", "[session]") {
  Trial trial(400);
  CHECK(trial.Create()->options().backends.empty());
  CHECK(trial.n_added == 1);
  const auto again = trial.Create();
  CHECK(trial.n_added == 1);
  CHECK(again->note() == "auto: cpu 1 ms, opencl:7 1.4 ms, measured before");
  REQUIRE(again->Run().ToString() == "OK");
}

TEST_CASE("auto measures anew what differs", "[session]") {
  Trial trial(400);
  trial.Create();
  trial.options.n_threads = 2;
  trial.Create();
  CHECK(trial.n_added == 2);
  trial.options.cpu_ops = {"SOFTMAX"};
  trial.Create();
  CHECK(trial.n_added == 3);
  trial.device.identity = "made up, a newer driver";
  trial.Create();
  CHECK(trial.n_added == 4);
  trial.Create();
  CHECK(trial.n_added == 4);
  trial.device.cache_folder = "off";
  trial.Create();
  CHECK(trial.n_added == 5);
}

TEST_CASE("auto takes the CPU where the device fails, and says why", "[session]") {
  Trial trial(-400);
  trial.gpu->fails = true;
  const auto failed = trial.Create();
  CHECK(failed->options().backends.empty());
  CHECK(failed->note() == "auto: cpu; opencl:7: it failed while the model ran");
  REQUIRE(failed->Run().ToString() == "OK");
  trial.device.add = [](SessionOptions*) { return NotFound("it is gone"); };
  CHECK(trial.Create()->note() == "auto: cpu; opencl:7: it is gone");
  trial.device.add = [](SessionOptions*) { return Status::Ok(); };
  CHECK(trial.Create()->note().find("nothing of this model") != std::string::npos);
}

TEST_CASE("auto runs no model for trial that keeps state", "[session]") {
  Trial trial(-400);
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {4});
  const int y = spec.AddTensor("y", DType::kFloat32, {4});
  spec.main()
      .tensors[static_cast<size_t>(spec.AddTensor("state", DType::kFloat32, {4}))]
      .is_variable = true;
  spec.AddOp(OpCode::kAdd, {x, x}, {y});
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  trial.model = model.value();
  CHECK(trial.Create()->note().find("would leave traces") != std::string::npos);
  CHECK(trial.n_added == 0);
  trial.options.subgraph = 3;
  CHECK(
      CreateFaster(trial.model, trial.options, 0.0, [&] { return trial.Find(); }).status().code() ==
      StatusCode::kInvalidArgument);
  CHECK(trial.n_found == 0);
}

TEST_CASE("auto does not look for a device for little work", "[session]") {
  Trial trial(-400);
  const double flops = FlopsOf(trial.model->subgraphs()[0]);
  CHECK(flops > 1e4);
  for (const double min_flops : {flops * 1.01, flops}) {
    const auto session =
        CreateFaster(trial.model, trial.options, min_flops, [&] { return trial.Find(); });
    REQUIRE(session.status().ToString() == "OK");
    const bool tried = min_flops == flops;
    CHECK(trial.n_found == (tried ? 1 : 0));
    CHECK(session.value()->options().backends.empty() == !tried);
    CHECK((session.value()->note().find("too few") != std::string::npos) == !tried);
  }
  const auto none = CreateFaster(trial.model, trial.options, 0.0,
                                 [] { return Result<Weighed>(NotFound("no device")); });
  REQUIRE(none.status().ToString() == "OK");
  CHECK(none.value()->note() == "");
}

TEST_CASE("auto leaves quantized models on the CPU", "[session]") {
  Trial trial(-400);
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kInt8, {4});
  const int y = spec.AddTensor("y", DType::kInt8, {4});
  for (const int v : {x, y}) {
    spec.main().tensors[static_cast<size_t>(v)].scales = {0.5f};
    spec.main().tensors[static_cast<size_t>(v)].zero_points = {0};
  }
  spec.AddOp(OpCode::kAdd, {x, x}, {y});
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  trial.model = model.value();
  CHECK(trial.Create()->note().find("quantized") != std::string::npos);
  CHECK(trial.n_found == 0);
}

}  // namespace auto_session_test
}  // namespace topwork
