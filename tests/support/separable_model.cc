#include "tests/support/separable_model.h"

#include "runtime/tensor/tensor.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace {

std::vector<float> Exact(const std::vector<int32_t>& shape, uint32_t seed) {
  size_t n = 1;
  for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
  std::vector<float> values = RandomFloats(n, seed);
  for (float& value : values) value = HalfToFloat(FloatToHalf(value));
  return values;
}

int OutSize(const SeparableSpec& s, int in) {
  const int reach = (s.filter - 1) * s.dilation + 1;
  return ((s.valid ? in - reach + 1 : in) + s.stride - 1) / s.stride;
}

int Constant(const std::vector<int32_t>& shape, uint32_t seed, ModelSpec* spec) {
  return spec->AddConstant("constant", DType::kFloat32, shape, ToBytes(Exact(shape, seed)));
}

OptionsSpec AddOptions(Activation activation) {
  return OptionsSpec(kAddOptions).Byte(0, static_cast<int8_t>(activation));
}

}  // namespace

Bytes BuildSeparable(const SeparableSpec& s, std::vector<std::vector<float>>* inputs) {
  const std::vector<int32_t> in = {s.batch, s.height, s.width, s.channels};
  const int middle_c = s.channels * s.multiplier;
  std::vector<int32_t> out = {s.batch, OutSize(s, s.height), OutSize(s, s.width), middle_c};
  ModelSpec spec;
  *inputs = {Exact(in, 1)};
  const int input = spec.AddInput("input", DType::kFloat32, in);
  std::vector<int32_t> operands = {input, Constant({1, s.filter, s.filter, middle_c}, 2, &spec)};
  if (s.has_bias) operands.push_back(Constant({middle_c}, 3, &spec));
  const int middle = spec.AddTensor("middle", DType::kFloat32, out);
  spec.AddOp(OpCode::kDepthwiseConv2d, operands, {middle},
             OptionsSpec(kDepthwiseConv2dOptions)
                 .Byte(0, s.valid)
                 .Int(1, s.stride)
                 .Int(2, s.stride)
                 .Int(3, s.multiplier)
                 .Byte(4, static_cast<int8_t>(s.middle))
                 .Int(5, s.dilation)
                 .Int(6, s.dilation));
  out[3] = s.outputs;
  const int beside = s.apart ? spec.AddTensor("beside", DType::kFloat32, in) : -1;
  if (s.apart) spec.AddOp(OpCode::kAbs, {input}, {beside});
  operands = {middle, Constant({s.outputs, 1, 1, middle_c}, 4, &spec)};
  if (s.has_bias) operands.push_back(Constant({s.outputs}, 5, &spec));
  int result = spec.AddTensor("pointwise", DType::kFloat32, out);
  const bool adds = s.has_residual || s.apart;
  spec.AddOp(OpCode::kConv2d, operands, {result},
             OptionsSpec(kConv2dOptions)
                 .Byte(0, 1)
                 .Int(1, 1)
                 .Int(2, 1)
                 .Byte(3, adds ? int8_t{0} : static_cast<int8_t>(s.activation)));
  if (adds) {
    const int residual = s.has_residual ? spec.AddInput("residual", DType::kFloat32, out) : beside;
    if (s.has_residual) inputs->push_back(Exact(out, 6));
    const int sum = spec.AddTensor("sum", DType::kFloat32, out);
    spec.AddOp(OpCode::kAdd, {result, residual}, {sum}, AddOptions(s.activation));
    result = sum;
  }
  spec.main().outputs = {result};
  if (s.keeps_middle) spec.main().outputs = {middle, result};
  return BuildModel(spec);
}

}  // namespace test
}  // namespace topwork
