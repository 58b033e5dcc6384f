// Float networks made by hand, operator by operator, with weights that are random.
#ifndef TOPWORK_TESTS_SUPPORT_NET_H_
#define TOPWORK_TESTS_SUPPORT_NET_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {

// A model made operator by operator; every value has the number that its function returns.
class Net {
 public:
  int Input(const std::vector<int32_t>& shape) {
    inputs_.push_back(Exact(Product(shape), static_cast<uint32_t>(inputs_.size() + 1)));
    return Keep(spec_.AddInput("x" + std::to_string(inputs_.size()), DType::kFloat32, shape),
                shape);
  }
  int Constant(const std::vector<int32_t>& shape, float factor = 1.0f) {
    std::vector<float> values = Exact(Product(shape), ++seed_);
    for (float& value : values) value *= factor;
    return Keep(spec_.AddConstant("c", DType::kFloat32, shape, ToBytes(values)), shape);
  }
  int Op(OpCode code, std::vector<int32_t> inputs, const std::vector<int32_t>& shape,
         const OptionsSpec& options = OptionsSpec()) {
    const int y = spec_.AddTensor("t" + std::to_string(shapes_.size()), DType::kFloat32, shape);
    spec_.AddOp(code, std::move(inputs), {y}, options);
    return Keep(y, shape);
  }
  int Op(OpCode code, std::vector<int32_t> inputs) {
    const Dims shape = shapes_[static_cast<size_t>(inputs[0])];
    return Op(code, std::move(inputs), shape);
  }
  // Of `taps` x `taps`, SAME.
  int Conv(int x, int outputs, int taps, int8_t activation = 0, int stride = 1) {
    Dims shape = Strided(x, stride);
    const int filter = Constant({outputs, taps, taps, shape[3]}, 0.5f), bias = Constant({outputs});
    shape[3] = outputs;
    return Op(OpCode::kConv2d, {x, filter, bias}, shape,
              OptionsSpec(kConv2dOptions).Int(1, stride).Int(2, stride).Byte(3, activation));
  }
  int Depthwise(int x, int taps, int8_t activation = 0, int stride = 1) {
    const Dims shape = Strided(x, stride);
    const int filter = Constant({1, taps, taps, shape[3]}), bias = Constant({shape[3]});
    return Op(OpCode::kDepthwiseConv2d, {x, filter, bias}, shape,
              OptionsSpec(kDepthwiseConv2dOptions)
                  .Int(1, stride)
                  .Int(2, stride)
                  .Int(3, 1)
                  .Byte(4, activation));
  }
  int GlobalPool(int x) {
    const Dims in = shapes_[static_cast<size_t>(x)];
    return Op(
        OpCode::kAveragePool2d, {x}, {in[0], 1, 1, in[3]},
        OptionsSpec(kPool2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Int(3, in[2]).Int(4, in[1]));
  }
  int Join(std::vector<int32_t> parts, size_t axis) {
    Dims shape = shapes_[static_cast<size_t>(parts[0])];
    shape[axis] = 0;
    for (const int32_t part : parts) shape[axis] += shapes_[static_cast<size_t>(part)][axis];
    return Op(OpCode::kConcatenation, std::move(parts), shape,
              OptionsSpec(kConcatenationOptions).Int(0, static_cast<int32_t>(axis)));
  }
  // A constant of int32: a size.
  int Integers(const std::vector<int32_t>& values) {
    const Dims shape = {static_cast<int32_t>(values.size())};
    return Keep(spec_.AddConstant("c", DType::kInt32, shape, ToBytes(values)), shape);
  }
  int Binary(OpCode code, int a, int b, int shape_of) {
    const Dims shape = shapes_[static_cast<size_t>(shape_of)];  // which moves when one is added
    return Op(code, {a, b}, shape);
  }

  Bytes Build(int output) {
    spec_.main().outputs = {output};
    return BuildModel(spec_);
  }
  const std::vector<std::vector<float>>& inputs() const { return inputs_; }

 private:
  using Dims = std::vector<int32_t>;

  static size_t Product(const std::vector<int32_t>& shape) {
    size_t n = 1;
    for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
    return n;
  }
  // Values that half storage holds exactly.
  static std::vector<float> Exact(size_t n, uint32_t seed) {
    std::vector<float> values = RandomFloats(n, seed);
    for (float& value : values) value = HalfToFloat(FloatToHalf(value));
    return values;
  }
  Dims Strided(int x, int stride) const {
    Dims shape = shapes_[static_cast<size_t>(x)];
    for (size_t d = 1; d < 3; ++d) shape[d] = (shape[d] + stride - 1) / stride;
    return shape;
  }
  int Keep(int v, const Dims& shape) {
    shapes_.resize(static_cast<size_t>(v) + 1);
    shapes_.back() = shape;
    return v;
  }

  ModelSpec spec_;
  std::vector<std::vector<float>> inputs_;
  std::vector<Dims> shapes_;
  uint32_t seed_ = 100;
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_NET_H_
