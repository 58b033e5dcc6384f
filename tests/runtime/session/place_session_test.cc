// The faster of two sessions, with a clock and a device that are made up: what is kept, what is
// remembered, and what is never tried.
#include "runtime/session/place_session.h"

#include <catch2/catch.hpp>

#include "runtime/plan/op_work.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/digits_model.h"
#include "tests/support/model_builder.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace place_session_test {

// Every look at the clock takes 1 ms; a run of the device adds to it or takes from it.
struct Clock {
  int64_t nanos = 0;
  int64_t Look() { return nanos += 1000000; }
};

class Timed final : public test::FakeGpu {
 public:
  Timed(Clock* clock, int64_t micros) : clock_(clock), micros_(micros) {}
  Status Run(const ProgramTensors& tensors) const override {
    ++n_runs;
    if (fails) return FakeGpu::Run(tensors);
    clock_->nanos += micros_ * 1000;
    for (TensorView* output : tensors.outputs) {
      for (size_t i = 0; i < answers.size(); ++i) output->as<float>()[i] = answers[i];
    }
    return Status::Ok();
  }
  Storage storage() const override { return is_half ? Storage::kFloat16 : Storage::kFloat32; }
  bool has_half_products() const override { return is_half; }
  mutable int n_runs = 0;
  bool fails = false;
  bool is_half = false;
  std::vector<float> answers;  // the first numbers of each output

 private:
  Clock* clock_;
  const int64_t micros_;
};

struct Trial {
  explicit Trial(int64_t micros) : gpu(std::make_shared<Timed>(&clock, micros)) {
    device.name = DeviceName::Opencl(7);
    device.identity = "made up";
    device.cache_folder = folder / "cache";
    device.now = [this] { return clock.Look(); };
    device.add = [this](SessionOptions* options) {
      ++n_added;
      processors = options->processors;
      options->devices.push_back(gpu);
      return Status::Ok();
    };
    options.n_threads = 1;
    model = test::DigitsModel();
  }
  Result<Candidate> Find() {
    ++n_found;
    return device;
  }
  void SetModel(const test::ModelSpec& spec) {
    bytes = test::BuildModel(spec);
    const auto opened = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(opened.status().ToString() == "OK");
    model = opened.value();
  }
  PlacedSession Create() {
    auto placed = PlaceByTrial(model, options, 0.0, [this] { return Find(); });
    REQUIRE(placed.status().ToString() == "OK");
    return std::move(placed.value());
  }
  const test::TempFolder folder;
  Clock clock;
  std::shared_ptr<Timed> gpu;
  int n_found = 0, n_added = 0;
  Candidate device;
  SessionOptions options;
  std::shared_ptr<const port::Processors> processors;  // those of the session on the device
  std::shared_ptr<const Model> model;
  test::Bytes bytes;
};

TEST_CASE("auto keeps a device that is faster, and remembers it", "[session]") {
  Trial trial(-400);
  const PlacedSession placed = trial.Create();
  CHECK(placed.session->options().devices.size() == 1);
  CHECK(placed.placement.on_device());
  CHECK(placed.placement.place() == "opencl:7");
  const std::string note = placed.placement.Note();
  CHECK(note == "auto: cpu 1 ms, opencl:7 0.6 ms");
  CHECK(PrintPlan(placed.session->plan(), note).find("auto: cpu 1 ms") == 0);
  CHECK(PlanToJson(placed.session->plan(), note).find("\"note\"") != std::string::npos);
  const int n_runs = trial.gpu->n_runs;
  CHECK(n_runs >= 2);
  const auto again = trial.Create();
  CHECK(trial.gpu->n_runs == n_runs);
  CHECK(again.session->options().devices.size() == 1);
  CHECK(again.placement.Note() == "auto: cpu 1 ms, opencl:7 0.6 ms, measured before");
}

TEST_CASE("auto keeps the CPU when it is faster, and then opens no device", "[session]") {
  Trial trial(400);
  CHECK(trial.Create().session->options().devices.empty());
  CHECK(trial.n_added == 1);
  const auto again = trial.Create();
  CHECK(trial.n_added == 1);
  CHECK(again.placement.Note() == "auto: cpu 1 ms, opencl:7 1.4 ms, measured before");
  REQUIRE(again.session->Run().ToString() == "OK");
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
  CHECK(failed.session->options().devices.empty());
  CHECK(failed.placement.Note() == "auto: cpu; opencl:7: it failed while the model ran");
  REQUIRE(failed.session->Run().ToString() == "OK");
  trial.device.add = [](SessionOptions*) { return NotFound("it is gone"); };
  CHECK(trial.Create().placement.Note() == "auto: cpu; opencl:7: it is gone");
  trial.device.add = [](SessionOptions*) { return Status::Ok(); };
  CHECK(trial.Create().placement.Note().find("nothing of this model") != std::string::npos);
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
  trial.SetModel(spec);
  CHECK(trial.Create().placement.Note().find("would leave traces") != std::string::npos);
  CHECK(trial.n_added == 0);
  trial.options.subgraph = 3;
  CHECK(
      PlaceByTrial(trial.model, trial.options, 0.0, [&] { return trial.Find(); }).status().code() ==
      StatusCode::kInvalidArgument);
  CHECK(trial.n_found == 0);
}

TEST_CASE("auto does not look for a device for little work", "[session]") {
  Trial trial(-400);
  const double flops = FlopsOf(trial.model->subgraphs()[0]);
  CHECK(flops > 1e4);
  for (const double min_flops : {flops * 1.01, flops}) {
    const auto session =
        PlaceByTrial(trial.model, trial.options, min_flops, [&] { return trial.Find(); });
    REQUIRE(session.status().ToString() == "OK");
    const bool tried = min_flops == flops;
    CHECK(trial.n_found == (tried ? 1 : 0));
    CHECK(session->session->options().devices.empty() == !tried);
    CHECK((session->placement.Note().find("too few") != std::string::npos) == !tried);
  }
  const auto none = PlaceByTrial(trial.model, trial.options, 0.0,
                                 [] { return Result<Candidate>(NotFound("no device")); });
  REQUIRE(none.status().ToString() == "OK");
  CHECK(none->placement.Note() == "");
}

TEST_CASE("auto reads once what the processors are", "[session]") {
  for (const int64_t micros : {-400, 400}) {  // the device is faster, or the CPU
    Trial trial(micros);
    trial.options.n_threads = 0;
    const PlacedSession placed = trial.Create();
    CHECK(trial.processors != nullptr);
    CHECK(placed.session->options().processors == trial.processors);
  }
}

TEST_CASE("auto leaves to the CPU what a device computes as real numbers", "[session]") {
  Trial trial(-400);
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kInt8, {1, 4});
  const int y = spec.AddTensor("y", DType::kInt8, {1, 4});
  const int z = spec.AddTensor("z", DType::kInt8, {1, 4});
  for (const int v : {x, y, z}) {
    spec.main().tensors[static_cast<size_t>(v)].scales = {1.0f / 256.0f};
    spec.main().tensors[static_cast<size_t>(v)].zero_points = {-128};
  }
  spec.AddOp(OpCode::kAdd, {x, x}, {y});
  spec.AddOp(OpCode::kSoftmax, {y}, {z}, test::OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f));
  spec.main().outputs = {z};
  trial.SetModel(spec);
  const PlacedSession placed = trial.Create();
  CHECK(placed.placement.on_device());
  const std::vector<Step>& steps = placed.session->plan().steps;
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].program != nullptr);
  CHECK(steps[1].program == nullptr);
  CHECK(steps[1].reason.find("as real numbers") != std::string::npos);
  // A device that was named computes them.
  SessionOptions named = trial.options;
  named.devices = {trial.gpu};
  const auto session = Session::Create(trial.model, named);
  REQUIRE(session.status().ToString() == "OK");
  CHECK(session.value()->plan().steps.size() == 1);
}

// A device that stores both; its answers in float16 are 0 and `wrong`, the CPU's 0.
struct EitherTrial : Trial {
  EitherTrial(int64_t micros, int64_t half_micros, float wrong)
      : Trial(micros), half(std::make_shared<Timed>(&clock, half_micros)) {
    half->is_half = true;
    half->answers = {0.0f, wrong};
    gpu->answers = {0.0f, 0.0f};
    device.add_half = [this](SessionOptions* with) {
      ++n_added_half;
      with->devices.push_back(half);
      return Status::Ok();
    };
    test::ModelSpec spec;
    const int x = spec.AddInput("x", DType::kFloat32, {2});
    const int y = spec.AddTensor("y", DType::kFloat32, {2});
    spec.AddOp(OpCode::kSub, {x, x}, {y});
    spec.main().outputs = {y};
    SetModel(spec);
  }
  Storage Place() {
    const PlacedSession placed = Create();
    REQUIRE(placed.session->options().devices.size() == 1);
    return placed.session->options().devices[0]->storage();
  }
  std::shared_ptr<Timed> half;
  int n_added_half = 0;
};

TEST_CASE("auto stores float16 where that is faster and agrees", "[session]") {
  EitherTrial trial(-400, -600, 0.0f);
  CHECK(trial.Place() == Storage::kFloat16);
  CHECK(trial.n_added == 1);
  const int n_runs = trial.half->n_runs;
  CHECK(trial.Place() == Storage::kFloat16);  // remembered
  CHECK(trial.n_added == 1);
  CHECK(trial.n_added_half == 2);
  CHECK(trial.half->n_runs == n_runs);
  trial.device.add_half = nullptr;  // float32 was asked for
  trial.device.identity = "made up, float32";
  CHECK(trial.Place() == Storage::kFloat32);
}

TEST_CASE("auto stores float32 where float16 is wrong, slower or not there", "[session]") {
  EitherTrial wrong(-400, -600, 0.5f), slower(-400, -200, 0.0f), absent(-400, -600, 0.0f);
  absent.device.add_half = [](SessionOptions*) { return Unsupported("no such products"); };
  for (EitherTrial* trial : {&wrong, &slower, &absent}) {
    CHECK(trial->Place() == Storage::kFloat32);
    const int n_added_half = trial->n_added_half;
    CHECK(trial->Place() == Storage::kFloat32);  // remembered
    CHECK(trial->n_added_half == n_added_half);
  }
  EitherTrial cpu(400, 600, 0.0f);
  CHECK(cpu.Create().session->options().devices.empty());
  EitherTrial half_alone(400, -600, 0.0f);
  CHECK(half_alone.Place() == Storage::kFloat16);
  CHECK(half_alone.Create().placement.Note() ==
        "auto: cpu 1 ms, opencl:7 0.4 ms in float16, measured before");
}

}  // namespace place_session_test
}  // namespace topwork
