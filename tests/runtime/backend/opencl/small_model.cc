#include "tests/runtime/backend/opencl/small_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "runtime/session/session.h"

namespace topwork {
namespace test {

OneOpModel& OneOpModel::Input(std::vector<int32_t> shape) {
  inputs_.push_back(spec_.AddInput("input", DType::kFloat32, std::move(shape)));
  return *this;
}

OneOpModel& OneOpModel::Constant(std::vector<int32_t> shape, const std::vector<float>& values) {
  inputs_.push_back(
      spec_.AddConstant("constant", DType::kFloat32, std::move(shape), ToBytes(values)));
  return *this;
}

OneOpModel& OneOpModel::Constant(std::vector<int32_t> shape, const std::vector<int32_t>& values) {
  inputs_.push_back(
      spec_.AddConstant("constant", DType::kInt32, std::move(shape), ToBytes(values)));
  return *this;
}

Bytes OneOpModel::Build(OpCode code, std::vector<int32_t> output_shape,
                        const OptionsSpec& options) {
  const int output = spec_.AddTensor("output", DType::kFloat32, std::move(output_shape));
  spec_.AddOp(code, inputs_, {output}, options);
  spec_.main().outputs = {output};
  return BuildModel(spec_);
}

std::vector<float> RunModel(const Bytes& model, const std::vector<std::vector<float>>& inputs,
                            const std::shared_ptr<const Device>& backend) {
  const auto opened = Model::OpenMemory(model.data(), model.size(), true);
  REQUIRE(opened.status().ToString() == "OK");
  SessionOptions options;
  options.n_threads = 1;
  if (backend != nullptr) options.devices = {backend};
  const auto made = Session::Create(opened.value(), options);
  REQUIRE(made.status().ToString() == "OK");
  Session& session = *made.value();
  for (const Step& step : session.plan().steps) {
    const bool on_device = !step.parts.empty();
    INFO(PrintPlan(session.plan()));
    REQUIRE(on_device == (backend != nullptr));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = session.input(static_cast<int>(i));
    REQUIRE(input.bytes() == inputs[i].size() * sizeof(float));
    std::memcpy(input.data, inputs[i].data(), input.bytes());
  }
  REQUIRE(session.Run().ToString() == "OK");
  REQUIRE(session.options().devices.size() == options.devices.size());  // it did not fail
  const TensorView& output = session.output(0);
  const float* values = output.as<float>();
  return std::vector<float>(values, values + output.shape.NumElements());
}

float WorstError(const std::vector<float>& got, const std::vector<float>& expected) {
  REQUIRE(got.size() == expected.size());
  float range = 1e-3f, worst = 0.0f;
  for (size_t i = 0; i < got.size(); ++i) {
    const float error = std::fabs(got[i] - expected[i]);
    if (std::isnan(error)) return error;
    range = std::max(range, std::fabs(expected[i]));
    worst = std::max(worst, error);
  }
  return worst / range;
}

}  // namespace test
}  // namespace topwork
