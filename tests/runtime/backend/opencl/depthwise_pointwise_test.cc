// DEPTHWISE_CONV_2D and pointwise CONV_2D as one launch, beside the CPU, which computes them one
// after the other: every form of the window, odd channels, residuals, both storages.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/session/session.h"
#include "runtime/session/verify.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/separable_model.h"

namespace topwork {
namespace opencl_depthwise_pointwise_test {

using test::SeparableSpec;
using Entries = std::set<std::string>;

const char kFused[] = "depthwise_pointwise";

// The kernels that ran; answers within 1e-5 (half: 4e-3) of the output's largest value.
Entries CheckCase(const SeparableSpec& spec, const std::string& variant, Storage storage,
                  const std::shared_ptr<opencl::Context>& context) {
  std::vector<std::vector<float>> inputs;
  const test::Bytes model = test::BuildSeparable(spec, &inputs);
  const std::vector<float> expected = test::RunModel(model, inputs, nullptr);
  test::ScriptedTuner tuner;
  tuner.forced = variant;
  const auto backend = std::make_shared<test::ApartDevice>(context, storage);
  backend->SetTuner(&tuner);
  const std::vector<float> got = test::RunModel(model, inputs, backend);
  INFO(variant << " " << spec.batch << " x " << spec.height << " x " << spec.width << " x "
               << spec.channels << " x " << spec.multiplier << " to " << spec.outputs << ", "
               << spec.filter << " taps, stride " << spec.stride
               << (storage == Storage::kFloat16 ? ", half" : ""));
  CHECK(test::WorstError(got, expected) <= (storage == Storage::kFloat32 ? 1e-5f : 4e-3f));
  return backend->entries();
}

std::vector<SeparableSpec> Cases() {
  std::vector<SeparableSpec> cases;
  const auto add = [&](int channels, int outputs, auto change) {
    SeparableSpec spec;
    spec.channels = channels;
    spec.outputs = outputs;
    change(&spec);
    cases.push_back(spec);
  };
  add(7, 9, [](SeparableSpec* s) {
    s->batch = 2;
    s->middle = s->activation = Activation::kRelu6;
    s->has_residual = true;
  });
  add(4, 8, [](SeparableSpec* s) { s->stride = 2; });
  add(1, 1, [](SeparableSpec* s) { s->has_bias = false; });
  add(6, 5, [](SeparableSpec* s) {
    s->valid = true;
    s->middle = Activation::kRelu;
  });
  add(3, 70, [](SeparableSpec* s) {
    s->multiplier = 3;
    s->filter = 5;
    s->stride = 2;
    s->activation = Activation::kReluN1To1;
  });
  add(5, 4, [](SeparableSpec* s) { s->dilation = 2; });
  add(2, 4, [](SeparableSpec* s) { s->multiplier = 2; });
  add(300, 3, [](SeparableSpec* s) { s->filter = 1; });  // 16 pixels of 300 channels are too much
  add(1278, 2, [](SeparableSpec* s) { s->width = 3; });  // 4 of 1280 are the most
  return cases;
}

TEST_CASE("opencl kernels: depthwise and pointwise convolution in one",
          "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  for (const SeparableSpec& spec : Cases()) {
    for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
      CHECK(CheckCase(spec, kFused, storage, context.value()) == Entries{kFused});
    }
  }
}

TEST_CASE("opencl: depthwise and pointwise convolution stay two where they must", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const SeparableSpec spec;
  CHECK(CheckCase(spec, "separate", Storage::kFloat32, context.value()).count(kFused) == 0);
  SeparableSpec kept;
  kept.keeps_middle = true;
  CHECK(CheckCase(kept, kFused, Storage::kFloat32, context.value()).count(kFused) == 0);
  SeparableSpec wide;
  wide.channels = 1281;
  CHECK(CheckCase(wide, kFused, Storage::kFloat32, context.value()).count(kFused) == 0);
}

// A session of the fused pair with a tuner of the test's own.
class Tuned final : public Device {
 public:
  Tuned(std::shared_ptr<const Device> device, GpuTuner* tuner)
      : device_(std::move(device)), tuner_(tuner) {}
  const char* name() const override { return "tuned"; }
  Storage storage() const override { return device_->storage(); }
  GpuTuner* tuner() const override { return tuner_; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    return device_->Load(std::move(program));
  }
  Result<std::unique_ptr<AttachedPrograms>> Attach(const LoadedPrograms& programs) const override {
    return device_->Attach(programs);
  }

 private:
  const std::shared_ptr<const Device> device_;
  GpuTuner* const tuner_;
};

TEST_CASE("opencl session: a fused pair is verified and timed as one operator", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  SeparableSpec spec;
  spec.apart = true;
  spec.outputs = spec.channels;
  std::vector<std::vector<float>> inputs;
  const test::Bytes bytes = test::BuildSeparable(spec, &inputs);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.ok());
  test::ScriptedTuner tuner;
  tuner.forced = kFused;
  SessionOptions options;
  options.n_threads = 1;
  options.devices = {
      std::make_shared<Tuned>(opencl::MakeDevice(context.value(), Storage::kFloat32), &tuner)};
  const auto made = Session::Create(model.value(), options);
  REQUIRE(made.status().ToString() == "OK");
  Session& session = *made.value();
  std::memcpy(session.input(0).data, inputs[0].data(), session.input(0).bytes());
  REQUIRE(session.plan().steps.size() == 1);
  REQUIRE(session.plan().steps[0].parts.size() == 2);
  const auto result = Verify(&session, 0.0);
  REQUIRE(result.status().ToString() == "OK");
  CHECK(result->agrees);
  REQUIRE(result->layers.size() == 2);
  CHECK(result->layers[1].op == "CONV_2D");
  CHECK(result->layers[1].output == "sum");
  std::vector<StepProfile> profiles;
  session.SetProfile(
      [](void* user_data, const StepProfile& profile) {
        static_cast<std::vector<StepProfile>*>(user_data)->push_back(profile);
      },
      &profiles);
  REQUIRE(session.Run().ToString() == "OK");
  REQUIRE(profiles.size() == 3);
  CHECK(std::string(profiles[1].op) == "CONV_2D");
  CHECK(std::string(profiles[1].variant) == kFused);
  CHECK(profiles[1].nanos > 0);
}

}  // namespace opencl_depthwise_pointwise_test
}  // namespace topwork
