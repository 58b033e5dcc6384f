// Random graphs cut into GPU segments and CPU operators at random, run on a device: the same
// answers as on the CPU alone, whatever the order that the planner chose.
#include <catch2/catch.hpp>
#include <random>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/plan/measure_cost.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace partition_run_test {

std::shared_ptr<const Model> RandomModel(std::mt19937* random, size_t n_ops) {
  test::ModelSpec spec;
  std::vector<int> values = {spec.AddInput("x", DType::kFloat32, {1, 3, 5, 2}),
                             spec.AddInput("y", DType::kFloat32, {1, 3, 5, 2})};
  const OpCode binary[] = {OpCode::kAdd, OpCode::kSub, OpCode::kMaximum};
  const OpCode unary[] = {OpCode::kAbs, OpCode::kTanh, OpCode::kRelu};
  for (size_t i = 0; i < n_ops; ++i) {
    const auto any = [&] { return values[(*random)() % values.size()]; };
    const int made = spec.AddTensor("t" + std::to_string(i), DType::kFloat32, {1, 3, 5, 2});
    if ((*random)() % 2 == 0) {
      spec.AddOp(binary[(*random)() % 3], {any(), any()}, {made});
    } else {
      spec.AddOp(unary[(*random)() % 3], {any()}, {made});
    }
    values.push_back(made);
  }
  spec.main().outputs = {values.back(), values[values.size() / 2]};
  const test::Bytes bytes = test::BuildModel(spec);
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::vector<float> Answer(const std::shared_ptr<const Model>& model, const SessionOptions& options,
                          size_t* n_segments) {
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  for (int i = 0; i < 2; ++i) {
    const TensorView& input = (*session)->input(i);
    for (int64_t k = 0; k < input.shape.NumElements(); ++k) {
      input.as<float>()[k] = static_cast<float>((k * 7 + i * 5) % 13 - 6) / 8.0f;
    }
  }
  REQUIRE((*session)->Run().ToString() == "OK");
  REQUIRE((*session)->options().devices.size() == options.devices.size());  // none failed
  for (const Step& step : (*session)->plan().steps) *n_segments += !step.parts.empty();
  std::vector<float> all;
  for (int o = 0; o < 2; ++o) {
    const TensorView& output = (*session)->output(o);
    all.insert(all.end(), output.as<float>(), output.as<float>() + output.shape.NumElements());
  }
  return all;
}

TEST_CASE("opencl: graphs cut at random have the CPU's answers", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const auto backend = opencl::MakeDevice(context.value(), Storage::kFloat32);
  std::mt19937 random(40);
  size_t n_segments = 0, n_cpu_segments = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const size_t n_ops = 3 + random() % 25;
    const auto model = RandomModel(&random, n_ops);
    SessionOptions options;
    options.n_threads = 1;
    const std::vector<float> expected = Answer(model, options, &n_cpu_segments);
    for (size_t i = 0; i < n_ops; ++i) {
      if (random() % 3 == 0) options.cpu_ops.push_back("#" + std::to_string(i));
    }
    options.devices = {backend};
    const std::vector<float> got = Answer(model, options, &n_segments);
    INFO("trial " << trial);
    REQUIRE(got.size() == expected.size());
    for (size_t k = 0; k < got.size(); ++k) REQUIRE(got[k] == Approx(expected[k]).margin(1e-5));
  }
  CHECK(n_segments > 25);
  CHECK(n_cpu_segments == 0);
}

TEST_CASE("opencl: a device's cost is measured", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const auto backend = opencl::MakeDevice(context.value(), Storage::kFloat32);
  const auto cost = MeasureDeviceCost(*backend);
  REQUIRE(cost.status().ToString() == "OK");
  const DeviceCost& c = cost.value();
  UNSCOPED_INFO("launch " << c.device.start_ns << " ns, round trip " << c.round_trip_ns
                          << " ns, copy " << c.copy_ns << " ns, up " << c.up_bytes_per_ns
                          << " GB/s, down " << c.down_bytes_per_ns << " GB/s, dense "
                          << c.device.flops_per_ns << " GFLOP/s, elementwise "
                          << c.device.bytes_per_ns << " GB/s; CPU start " << c.cpu_one.start_ns
                          << " ns, dense " << c.cpu_one.flops_per_ns << " GFLOP/s, elementwise "
                          << c.cpu_one.bytes_per_ns << " GB/s");
  // No device is outside of these.
  CHECK((c.device.flops_per_ns > 1e-3 && c.cpu_one.flops_per_ns > 1e-2));
  CHECK((c.device.bytes_per_ns > 1e-3 && c.cpu_one.bytes_per_ns > 1e-2));
  CHECK((c.device.start_ns < 1e8 && c.round_trip_ns < 1e9));
}

}  // namespace partition_run_test
}  // namespace topwork
