// Operators with quantized weights on float data, one after another: what the writer of a tensor says
// of its range (KeptRange) gives the bits that a reader gives which looks for itself.
#include "kernels/ops/shared/dynamic_range.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/session/session.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace dynamic_range_test {

using test::OptionsSpec;
using test::ToBytes;

// One operator of the chain on [batch, size, size, channels].
struct Link {
  OpCode code;
  int channels;  // of the output
  int taps = 1;
  Activation activation = Activation::kNone;
  bool float_weights = false;
  float shift = 0.0f;  // of the bias: results on one side of 0
};

class Chain {
 public:
  Chain(int batch, int size, int channels, std::vector<Link> links)
      : batch_(batch), size_(size), channels_(channels), links_(std::move(links)) {}

  int n_links() const { return static_cast<int>(links_.size()); }
  // A model of the links [first, end).
  std::shared_ptr<const Model> Open(int first, int end) const {
    test::ModelSpec spec;
    int c = first == 0 ? channels_ : links_[Index(first - 1)].channels;
    int v = spec.AddInput("x", DType::kFloat32, {batch_, size_, size_, c});
    for (int i = first; i < end; ++i) {
      const Link& link = links_[Index(i)];
      const int y = spec.AddTensor("t" + std::to_string(i), DType::kFloat32,
                                   {batch_, size_, size_, link.channels});
      AddLink(link, v, y, c, i, &spec);
      v = y;
      c = link.channels;
    }
    spec.main().outputs = {v};
    const test::Bytes bytes = test::BuildModel(spec);
    auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(model.status().ToString() == "OK");
    return model.value();
  }
  size_t n_inputs() const { return Index(batch_ * size_ * size_ * channels_); }

  static void AddLink(const Link& link, int v, int y, int c, int seed, test::ModelSpec* spec) {
    if (link.code == OpCode::kHardSwish) {
      spec->AddOp(link.code, {v}, {y});
      return;
    }
    if (link.code == OpCode::kMul) {
      spec->AddOp(link.code, {v, v}, {y}, OptionsSpec(test::kMulOptions));
      return;
    }
    const bool depthwise = link.code == OpCode::kDepthwiseConv2d;
    const std::vector<int32_t> shape = {depthwise ? 1 : link.channels, link.taps, link.taps, c};
    const size_t n = Index(shape[0] * shape[1] * shape[2] * shape[3]);
    const std::vector<float> reals = test::RandomFloats(n, static_cast<uint32_t>(seed + 50));
    std::vector<int8_t> ints;
    for (const float real : reals) ints.push_back(static_cast<int8_t>(real * 127.0f));
    const int weights = link.float_weights
                            ? spec->AddConstant("w", DType::kFloat32, shape, ToBytes(reals))
                            : spec->AddConstant("w", DType::kInt8, shape, ToBytes(ints));
    if (!link.float_weights) {
      test::TensorSpec& tensor = spec->main().tensors[Index(weights)];
      tensor.axis = depthwise ? 3 : 0;
      for (int k = 0; k < link.channels; ++k) {
        tensor.scales.push_back(0.004f * (1.0f + 0.01f * static_cast<float>(k % 5)));
        tensor.zero_points.push_back(0);
      }
    }
    std::vector<float> shifts(Index(link.channels), link.shift);
    const int bias = spec->AddConstant("b", DType::kFloat32, {link.channels}, ToBytes(shifts));
    OptionsSpec options(depthwise ? test::kDepthwiseConv2dOptions : test::kConv2dOptions);
    options.Int(1, 1).Int(2, 1);
    if (depthwise) options.Int(3, 1);
    options.Byte(depthwise ? 4 : 3, static_cast<int8_t>(link.activation));
    spec->AddOp(link.code, {v, weights, bias}, {y}, options);
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }

  const int batch_, size_, channels_;
  const std::vector<Link> links_;
};

std::vector<float> RunModel(const std::shared_ptr<const Model>& model, const std::vector<float>& in,
                            const CpuKernels* cpu, int n_threads, int n_runs) {
  SessionOptions options;
  options.cpu = cpu;
  options.n_threads = n_threads;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  // Earlier runs have other ranges.
  for (int run = n_runs; run > 0; --run) {
    float* x = session.value()->input(0).as<float>();
    for (size_t i = 0; i < in.size(); ++i) x[i] = in[i] * static_cast<float>(run);
    REQUIRE(session.value()->Run().ToString() == "OK");
  }
  const TensorView& y = session.value()->output(0);
  return {y.as<float>(), y.as<float>() + y.shape.NumElements()};
}

// Each model of the first links gives what its last link gives alone, on the answer of the others.
void CheckChain(const Chain& chain, const CpuKernels* cpu = nullptr) {
  const std::vector<float> in = test::RandomFloats(chain.n_inputs(), 9);
  for (const int n_threads : {1, 3}) {
    std::vector<float> before = in;
    for (int n = 1; n <= chain.n_links(); ++n) {
      INFO(n << " operators, " << n_threads << " threads");
      const std::vector<float> alone = RunModel(chain.Open(n - 1, n), before, cpu, 1, 1);
      const std::vector<float> together = RunModel(chain.Open(0, n), in, cpu, n_threads, 3);
      CHECK(together == alone);
      before = alone;
    }
  }
}

constexpr OpCode kConv = OpCode::kConv2d, kDepthwise = OpCode::kDepthwiseConv2d;

const std::vector<Link> kLinks = {{kConv, 48},
                                  {kDepthwise, 48, 3, Activation::kRelu6},
                                  {kConv, 24},
                                  {OpCode::kHardSwish, 24},
                                  {kConv, 33, 1, Activation::kNone, false, -300.0f},
                                  {kDepthwise, 33, 5, Activation::kNone, false, 900.0f},
                                  {OpCode::kMul, 33},
                                  {kConv, 17, 3},
                                  {kDepthwise, 17, 3, Activation::kNone, true},
                                  {kConv, 20, 1, Activation::kTanh},
                                  {kConv, 3}};

TEST_CASE("dynamic range: a range that the writer keeps is the one that a reader finds", "[ops]") {
  CheckChain(Chain(1, 12, 8, kLinks));
  CheckChain(Chain(1, 3, 130, kLinks));
}

// Threads take rows of these, and halves of the channels of a few rows.
const std::vector<Link> kWideLinks = {
    {kConv, 600},         {kDepthwise, 600, 3, Activation::kRelu6},
    {kConv, 40},          {kConv, 200, 1, Activation::kRelu6},
    {kDepthwise, 200, 5}, {kConv, 30}};

TEST_CASE("dynamic range: parts of the channels give the whole image", "[ops]") {
  CheckChain(Chain(1, 7, 33, kWideLinks));
  CheckChain(Chain(1, 14, 16, kWideLinks));
  for (const int64_t channels : {64, 100, 128, 600, 960}) {
    for (const int64_t parts : {1, 2, 8}) {
      if (channels < parts * kChannelBlock) continue;
      int64_t next = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const ChannelRange part = PartOfChannels(i, parts, channels);
        CHECK(part.begin == next);
        CHECK(part.begin % kChannelBlock == 0);
        CHECK(part.end - part.begin >= kChannelBlock);
        next = part.end;
      }
      CHECK(next == channels);
    }
  }
}

TEST_CASE("dynamic range: each image of a batch has a scale of its own", "[ops]") {
  CheckChain(Chain(2, 5, 9, kLinks));
}

TEST_CASE("dynamic range: all instruction sets keep ranges", "[ops][sets]") {
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    INFO(cpu->isa);
    CheckChain(Chain(1, 6, 16, kLinks), cpu);
  }
}

// conv(x) + x, then the activation; `parts` 1 the convolution alone, 2 the ADD of two inputs.
std::shared_ptr<const Model> OpenSum(int batch, int taps, Activation activation, int parts) {
  const std::vector<int32_t> shape = {batch, 7, 7, 20};
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, shape);
  int y = x;
  if (parts != 2) {
    y = spec.AddTensor("conv", DType::kFloat32, shape);
    Chain::AddLink({kConv, 20, taps}, x, y, 20, 3, &spec);
  }
  if (parts != 1) {
    const int other = parts == 2 ? spec.AddInput("y", DType::kFloat32, shape) : y;
    const int sum = spec.AddTensor("sum", DType::kFloat32, shape);
    spec.AddOp(OpCode::kAdd, {other, x}, {sum},
               OptionsSpec(test::kAddOptions).Byte(0, static_cast<int8_t>(activation)));
    y = sum;
  }
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

TEST_CASE("dynamic range: a sum becomes part of the convolution, with the same bits", "[ops]") {
  for (const int batch : {1, 2}) {
    for (const int taps : {1, 3}) {
      for (const Activation activation :
           {Activation::kNone, Activation::kRelu6, Activation::kTanh}) {
        INFO("batch " << batch << ", " << taps << " taps");
        const std::vector<float> x = test::RandomFloats(static_cast<size_t>(batch * 7 * 7 * 20), 4);
        const auto whole = OpenSum(batch, taps, activation, 3);
        auto session = Session::Create(whole, SessionOptions());
        REQUIRE(session.status().ToString() == "OK");
        CHECK(session.value()->plan().steps.size() == 1);
        const std::vector<float> conv =
            RunModel(OpenSum(batch, taps, activation, 1), x, nullptr, 1, 1);
        auto sum = Session::Create(OpenSum(batch, taps, activation, 2), SessionOptions());
        REQUIRE(sum.status().ToString() == "OK");
        std::copy(x.begin(), x.end(), sum.value()->input(0).as<float>());
        std::copy(conv.begin(), conv.end(), sum.value()->input(1).as<float>());
        REQUIRE(sum.value()->Run().ToString() == "OK");
        const float* expected = sum.value()->output(0).as<float>();
        CHECK(RunModel(whole, x, nullptr, 2, 2) ==
              std::vector<float>(expected, expected + x.size()));
      }
    }
  }
}

// The chain's answer in bands, which leave so many steps, is the one without them.
void CheckBands(const Chain& chain, const std::vector<float>& x, size_t n_steps) {
  std::vector<std::vector<float>> answers;
  for (const BandRows rows : {BandRows{0, 0}, BandRows{3, 1}, BandRows{7, 2}}) {
    for (const int n_threads : {1, 3}) {
      SessionOptions options;
      options.n_threads = n_threads;
      options.band_rows = rows;
      auto session = Session::Create(chain.Open(0, chain.n_links()), options);
      REQUIRE(session.status().ToString() == "OK");
      CHECK(session.value()->plan().steps.size() == (rows.strip > 0 ? n_steps : 5));
      // An earlier run has another range.
      for (const float factor : {3.0f, 1.0f}) {
        float* in = session.value()->input(0).as<float>();
        for (size_t i = 0; i < x.size(); ++i) in[i] = factor * x[i];
        REQUIRE(session.value()->Run().ToString() == "OK");
      }
      const TensorView& y = session.value()->output(0);
      answers.push_back({y.as<float>(), y.as<float>() + y.shape.NumElements()});
      CHECK(answers.back() == answers.front());
    }
  }
}

TEST_CASE("dynamic range: rows in bands keep the range of all strips", "[ops]") {
  // The last strips hold the least values.
  const Chain chain(1, 24, 8,
                    {{kConv, 32, 1, Activation::kNone, true},
                     {kDepthwise, 32, 3, Activation::kRelu6, true},
                     {kConv, 12, 1, Activation::kNone, true},
                     {kConv, 40},
                     {kDepthwise, 40, 3}});
  std::vector<float> x = test::RandomFloats(chain.n_inputs(), 6);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] *= 2.0f - 1.9f * static_cast<float>(i) / static_cast<float>(x.size());
  }
  CheckBands(chain, x, 3);
}

TEST_CASE("dynamic range: a chain in bands begins with an operator that quantizes", "[ops]") {
  const std::vector<Link> links = {{kConv, 32, 1, Activation::kRelu6},
                                   {kDepthwise, 32, 3, Activation::kRelu6, true},
                                   {kConv, 40},
                                   {kDepthwise, 40, 5, Activation::kNone, true},
                                   {kConv, 9}};
  const Chain chain(1, 24, 8, links);
  std::vector<float> x = test::RandomFloats(chain.n_inputs(), 8);
  x[x.size() - 3] = 4.0f;  // beyond what the first bands see
  CheckBands(chain, x, 3);
  // The images of a batch have scales of their own: there the operator stands alone.
  const Chain two(2, 24, 8, links);
  CheckBands(two, test::RandomFloats(two.n_inputs(), 8), 5);
}

}  // namespace dynamic_range_test
}  // namespace topwork
