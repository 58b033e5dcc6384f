// Writes a float32 network of any size: what growth.py measures.
//
//   topwork_growth_model FILE.tflite SIZE WIDTH DEPTH
// CONV_2D 3x3 with stride 2 from SIZE x SIZE x 3 to WIDTH channels, DEPTH pairs of a
// DEPTHWISE_CONV_2D 3x3 and a CONV_2D 1x1, all with RELU6, then MEAN, FULLY_CONNECTED of ten outputs
// and SOFTMAX. Weights are random. The only line that it prints is the number of multiply-adds.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace {

constexpr int8_t kRelu6 = 3;
constexpr int kClasses = 10;

class Network {
 public:
  Network(int size, int width, int depth) : side_((size + 1) / 2), width_(width) {
    int x = spec_.AddInput("image", DType::kFloat32, {1, size, size, 3});
    x = Convolution(x, 3, 3, 2);
    for (int i = 0; i < depth; ++i) x = Convolution(Depthwise(x), width_, 1, 1);
    Classifier(x);
  }

  Bytes Build() const { return BuildModel(spec_); }
  double n_products() const { return n_products_; }

 private:
  // Random values of a size that keeps the outputs of a sum of `fan_in` about as large as its inputs.
  int Weights(const std::vector<int32_t>& shape, int fan_in) {
    size_t n = 1;
    for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
    std::vector<float> values = RandomFloats(n, ++seed_);
    for (float& value : values) value *= std::sqrt(6.0f / static_cast<float>(fan_in));
    return spec_.AddConstant("weights", DType::kFloat32, shape, ToBytes(values));
  }
  int Output(const char* name) {
    return spec_.AddTensor(name, DType::kFloat32, {1, side_, side_, width_});
  }
  void Count(double products) { n_products_ += products; }

  int Convolution(int input, int channels, int filter, int stride) {
    const int output = Output("conv");
    const int fan_in = filter * filter * channels;
    spec_.AddOp(
        OpCode::kConv2d,
        {input, Weights({width_, filter, filter, channels}, fan_in), Weights({width_}, 600)},
        {output},
        OptionsSpec(kConv2dOptions).Byte(0, 0).Int(1, stride).Int(2, stride).Byte(3, kRelu6));
    Count(1.0 * side_ * side_ * width_ * fan_in);
    return output;
  }
  int Depthwise(int input) {
    const int output = Output("depthwise");
    spec_.AddOp(OpCode::kDepthwiseConv2d,
                {input, Weights({1, 3, 3, width_}, 9), Weights({width_}, 600)}, {output},
                OptionsSpec(kDepthwiseConv2dOptions)
                    .Byte(0, 0)
                    .Int(1, 1)
                    .Int(2, 1)
                    .Int(3, 1)
                    .Byte(4, kRelu6));
    Count(9.0 * side_ * side_ * width_);
    return output;
  }
  void Classifier(int input) {
    const int axes =
        spec_.AddConstant("axes", DType::kInt32, {2}, ToBytes(std::vector<int32_t>{1, 2}));
    const int feature = spec_.AddTensor("feature", DType::kFloat32, {1, width_});
    spec_.AddOp(OpCode::kMean, {input, axes}, {feature}, OptionsSpec(kReducerOptions).Byte(0, 0));
    const int logits = spec_.AddTensor("logits", DType::kFloat32, {1, kClasses});
    spec_.AddOp(OpCode::kFullyConnected,
                {feature, Weights({kClasses, width_}, width_), Weights({kClasses}, 600)}, {logits},
                OptionsSpec(kFullyConnectedOptions));
    Count(1.0 * kClasses * width_);
    const int scores = spec_.AddTensor("scores", DType::kFloat32, {1, kClasses});
    spec_.AddOp(OpCode::kSoftmax, {logits}, {scores}, OptionsSpec(kSoftmaxOptions).Float(0, 1.0f));
    spec_.main().outputs = {scores};
  }

  ModelSpec spec_;
  const int side_, width_;
  uint32_t seed_ = 0;
  double n_products_ = 0.0;
};

int Main(int argc, char** argv) {
  int numbers[3] = {};
  bool good = argc == 5;
  for (int i = 0; good && i < 3; ++i) {
    numbers[i] = std::atoi(argv[2 + i]);
    good = numbers[i] >= 1 && numbers[i] <= 4096;
  }
  if (!good) {
    std::fprintf(stderr, "usage: %s FILE.tflite SIZE WIDTH DEPTH (numbers of 1 to 4096)\n",
                 argv[0]);
    return 2;
  }
  const Network network(numbers[0], numbers[1], numbers[2]);
  const Bytes model = network.Build();
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(model.data()),
             static_cast<std::streamsize>(model.size()));
  file.close();
  if (!file) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[1]);
    return 1;
  }
  std::printf("%.0f\n", network.n_products());
  return 0;
}

}  // namespace
}  // namespace test
}  // namespace topwork

int main(int argc, char** argv) { return topwork::test::Main(argc, argv); }
