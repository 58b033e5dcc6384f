// Chains of convolutions in bands of rows: the bits of the operators by themselves, for all types,
// shapes, bands and threads; what is a chain, and which ones sizes choose.
#include "runtime/plan/bands.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "runtime/session/session.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace bands_test {

using test::Bytes;
using test::OptionsSpec;
using test::ToBytes;

// A convolution that moves by 2, to `stem` channels (0: none), a pointwise one to `middle` channels (0:
// none), a depthwise one, a pointwise one to `outputs` (0: none), where `has_residual` the sum with
// an input, where `again` another depthwise one.
struct Block {
  DType dtype = DType::kFloat32;
  int batch = 1, height = 9, width = 7, channels = 5, middle = 20, outputs = 8;
  int filter = 3, stride = 1, dilation = 1, multiplier = 1, stem = 0, stem_filter = 3;
  bool valid = false, has_residual = false, has_bias = true, again = false;
  Activation activation = Activation::kRelu6;
  bool residual_inside = false;  // the sum is with what the first pointwise convolution makes
  bool keeps_middle = false;     // an output of the model
  bool reads_twice = false;      // another operator reads what the depthwise one makes
  bool scales_channels = false;  // a MUL that fusion folds into the last weights
};

class Builder {
 public:
  explicit Builder(const Block& block) : b_(block) {}

  Bytes Build() {
    int v = Tensor({b_.batch, b_.height, b_.width, b_.channels});
    spec_.main().inputs = {v};
    if (b_.stem > 0) v = Convolution(v, b_.stem, b_.stem_filter, 2);
    if (b_.middle > 0) v = Convolution(v, b_.middle, 1, 1);
    const int middle = v;
    if (b_.keeps_middle) spec_.main().outputs.push_back(v);
    v = Depthwise(v);
    if (b_.reads_twice) {
      const int copy = Tensor(shape_);
      spec_.AddOp(OpCode::kRelu, {v}, {copy});
      spec_.main().outputs.push_back(copy);
    }
    if (b_.outputs > 0) v = Convolution(v, b_.outputs, 1, 1);
    if (b_.scales_channels) v = Scale(v);
    if (b_.has_residual) v = Add(v, -1);
    if (b_.residual_inside) v = Add(v, middle);
    if (b_.again) v = Depthwise(v);
    spec_.main().outputs.push_back(v);
    return test::BuildModel(spec_);
  }

 private:
  bool is_float() const { return b_.dtype == DType::kFloat32; }

  void Quantize(int tensor, size_t channels, float scale, int64_t zero, int axis) {
    if (is_float()) return;
    test::TensorSpec& it = spec_.main().tensors[static_cast<size_t>(tensor)];
    for (size_t c = 0; c < channels; ++c) {
      it.scales.push_back(scale * (1.0f + 0.01f * static_cast<float>(c % 7)));
      it.zero_points.push_back(zero);
    }
    it.axis = axis;
  }

  int Tensor(const std::vector<int32_t>& shape) {
    shape_ = shape;
    const int v = spec_.AddTensor("t" + std::to_string(++seed_), b_.dtype, shape);
    Quantize(v, 1, 0.05f, b_.dtype == DType::kUInt8 ? 121 : -7, 0);
    return v;
  }

  int Weights(const std::vector<int32_t>& shape, int axis) {
    size_t n = 1;
    for (int32_t dim : shape) n *= static_cast<size_t>(dim);
    const std::vector<float> reals = test::RandomFloats(n, ++seed_);
    std::vector<uint8_t> bytes(n);
    for (size_t i = 0; i < n; ++i)
      bytes[i] = static_cast<uint8_t>(static_cast<int>(reals[i] * 127));
    const int v = spec_.AddConstant("w", b_.dtype, shape, is_float() ? ToBytes(reals) : bytes);
    const bool by_channel = b_.dtype == DType::kInt8;
    Quantize(v, by_channel ? static_cast<size_t>(shape[static_cast<size_t>(axis)]) : 1, 0.004f,
             b_.dtype == DType::kUInt8 ? 3 : 0, axis);
    return v;
  }

  void AddBias(int channels, std::vector<int>* operands) {
    if (!b_.has_bias) return;
    const size_t n = static_cast<size_t>(channels);
    const std::vector<float> reals = test::RandomFloats(n, ++seed_);
    std::vector<int32_t> ints(n);
    for (size_t i = 0; i < n; ++i) ints[i] = static_cast<int32_t>(reals[i] * 5000);
    const DType dtype = is_float() ? DType::kFloat32 : DType::kInt32;
    operands->push_back(
        spec_.AddConstant("b", dtype, {channels}, is_float() ? ToBytes(reals) : ToBytes(ints)));
  }

  int Convolution(int from, int channels, int filter, int stride) {
    std::vector<int> operands = {from, Weights({channels, filter, filter, shape_[3]}, 0)};
    AddBias(channels, &operands);
    const int height = (shape_[1] + stride - 1) / stride, width = (shape_[2] + stride - 1) / stride;
    const int v = Tensor({shape_[0], height, width, channels});
    spec_.AddOp(OpCode::kConv2d, operands, {v},
                OptionsSpec(test::kConv2dOptions)
                    .Byte(0, 0)
                    .Int(1, stride)
                    .Int(2, stride)
                    .Byte(3, static_cast<int8_t>(b_.activation)));
    return v;
  }

  int OutSize(int in) const {
    const int reach = (b_.filter - 1) * b_.dilation + 1;
    return ((b_.valid ? in - reach + 1 : in) + b_.stride - 1) / b_.stride;
  }

  int Depthwise(int from) {
    const int channels = shape_[3] * b_.multiplier;
    std::vector<int> operands = {from, Weights({1, b_.filter, b_.filter, channels}, 3)};
    AddBias(channels, &operands);
    const int v = Tensor({shape_[0], OutSize(shape_[1]), OutSize(shape_[2]), channels});
    spec_.AddOp(OpCode::kDepthwiseConv2d, operands, {v},
                OptionsSpec(test::kDepthwiseConv2dOptions)
                    .Byte(0, b_.valid)
                    .Int(1, b_.stride)
                    .Int(2, b_.stride)
                    .Int(3, b_.multiplier)
                    .Byte(4, static_cast<int8_t>(b_.activation))
                    .Int(5, b_.dilation)
                    .Int(6, b_.dilation));
    return v;
  }

  int Scale(int from) {
    const std::vector<float> factors = test::RandomFloats(static_cast<size_t>(shape_[3]), ++seed_);
    const int by = spec_.AddConstant("s", DType::kFloat32, {shape_[3]}, ToBytes(factors));
    const int v = Tensor(shape_);
    spec_.AddOp(OpCode::kMul, {from, by}, {v}, OptionsSpec(test::kMulOptions));
    return v;
  }

  // The sum with value `other`; -1: with one more input.
  int Add(int to, int other) {
    const std::vector<int32_t> shape = shape_;
    if (other < 0) {
      other = Tensor(shape);
      spec_.main().inputs.push_back(other);
    }
    const int v = Tensor(shape);
    spec_.AddOp(OpCode::kAdd, {to, other}, {v}, OptionsSpec(test::kAddOptions));
    return v;
  }

  const Block b_;
  test::ModelSpec spec_;
  std::vector<int32_t> shape_;
  uint32_t seed_ = 0;
};

std::shared_ptr<const Model> Open(const Block& block) {
  const Bytes bytes = Builder(block).Build();
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::unique_ptr<Session> OpenSession(const std::shared_ptr<const Model>& model, BandRows rows,
                                     int n_threads, const CpuKernels* cpu = nullptr,
                                     bool half_products = false) {
  SessionOptions options;
  options.band_rows = rows;
  options.n_threads = n_threads;
  options.cpu = cpu;
  options.half_products = half_products;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

// The number of operators in each chain of the plan.
std::vector<size_t> ChainsOf(const Plan& plan) {
  std::vector<size_t> chains;
  for (const Step& step : plan.steps) {
    if (std::string(step.def->name()) == "BANDS") chains.push_back(step.parts.size());
  }
  return chains;
}

// All outputs' bytes, for inputs that follow from their positions.
std::vector<uint8_t> Run(Session* session) {
  for (int i = 0; i < session->n_inputs(); ++i) {
    const TensorView& view = session->input(i);
    const size_t n = static_cast<size_t>(view.shape.NumElements());
    const std::vector<float> reals = test::RandomFloats(n, 77 + static_cast<uint32_t>(i));
    for (size_t k = 0; k < n; ++k) {
      if (view.dtype == DType::kFloat32) {
        view.as<float>()[k] = reals[k];
      } else {
        view.as<uint8_t>()[k] = static_cast<uint8_t>(static_cast<int>(reals[k] * 127));
      }
    }
  }
  REQUIRE(session->Run().ToString() == "OK");
  std::vector<uint8_t> all;
  for (int i = 0; i < session->n_outputs(); ++i) {
    const TensorView& view = session->output(i);
    all.insert(all.end(), view.as<uint8_t>(), view.as<uint8_t>() + view.bytes());
  }
  return all;
}

// In bands of all kinds the block gives the bits of its operators.
void CheckBlock(const Block& block, size_t chain, const CpuKernels* cpu = nullptr) {
  INFO(DTypeName(block.dtype) << " " << block.batch << "x" << block.height << "x" << block.width
                              << "x" << block.channels << " to " << block.middle << ", filter "
                              << block.filter << " by " << block.stride << ", dilation "
                              << block.dilation << ", to " << block.outputs);
  const auto model = Open(block);
  const auto plain = OpenSession(model, {}, 1, cpu);
  REQUIRE(ChainsOf(plain->plan()).empty());
  const std::vector<uint8_t> expected = Run(plain.get());
  for (const BandRows rows : {BandRows{1, 1}, {4, 1}, {5, 2}, {100, 1}, {100, 3}, {100, 100}}) {
    for (const int n_threads : {1, 3}) {
      INFO("strips of " << rows.strip << ", bands of " << rows.band);
      const auto session = OpenSession(model, rows, n_threads, cpu);
      CHECK(ChainsOf(session->plan()) == std::vector<size_t>{chain});
      CHECK((Run(session.get()) == expected));
    }
  }
}

constexpr DType kTypes[] = {DType::kFloat32, DType::kInt8, DType::kUInt8};

TEST_CASE("bands: the bits of the operators by themselves", "[plan]") {
  for (const DType dtype : kTypes) {
    Block block;
    block.dtype = dtype;
    CheckBlock(block, 3);
    for (const int stride : {1, 2}) {
      for (const int filter : {1, 2, 3, 5}) {
        for (const bool valid : {false, true}) {
          Block other = block;
          other.stride = stride;
          other.filter = filter;
          other.valid = valid;
          CheckBlock(other, 3);
        }
      }
    }
  }
}

TEST_CASE("bands: other shapes of chains", "[plan]") {
  for (const DType dtype : kTypes) {
    Block block;
    block.dtype = dtype;
    block.batch = 3;
    CheckBlock(block, 3);
    block.middle = 0;
    block.multiplier = 2;
    CheckBlock(block, 2);
    block.multiplier = 1;
    block.channels = 33;
    block.has_bias = false;
    CheckBlock(block, 2);
    block.middle = 70;
    block.outputs = 0;
    CheckBlock(block, 2);
    block.outputs = 40;
    block.width = 30;
    block.height = 23;
    block.dilation = 3;
    CheckBlock(block, 3);
    block.dilation = 1;
    block.stride = 3;
    CheckBlock(block, 3);
    block.height = 1;
    CheckBlock(block, 3);
    block.height = 40;
    block.width = 1;
    CheckBlock(block, 3);
  }
}

// The beginning of a network, whose first convolution is a direct one where it is wide enough.
TEST_CASE("bands: convolutions that move by two, and several windows", "[plan]") {
  for (const DType dtype : kTypes) {
    Block block;
    block.dtype = dtype;
    block.channels = 3;
    block.height = 41;
    block.width = 67;
    block.stem = 32;
    block.middle = 0;
    CheckBlock(block, 3);
    block.again = true;
    CheckBlock(block, 4);
    block.middle = 20;
    block.outputs = 0;
    for (const int stem_filter : {1, 2, 5}) {
      block.stem_filter = stem_filter;
      block.width += 1;
      CheckBlock(block, 4);
    }
    block.batch = 2;
    block.stride = 2;
    block.outputs = 12;
    CheckBlock(block, 5);
  }
}

TEST_CASE("bands: float residuals, activations and folded factors", "[plan]") {
  Block block;
  block.activation = Activation::kNone;
  block.has_residual = true;
  CheckBlock(block, 3);
  block.batch = 2;
  block.middle = 0;
  CheckBlock(block, 2);
  block.has_residual = false;
  block.middle = block.outputs = 12;
  block.residual_inside = true;
  CheckBlock(block, 3);
  block.middle = 0;
  block.residual_inside = false;
  block.scales_channels = true;
  CheckBlock(block, 2);
  block.scales_channels = false;
  block.activation = Activation::kTanh;
  CheckBlock(block, 2);
}

TEST_CASE("bands: every instruction set", "[plan][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  for (int i = 0; i < n; ++i) {
    INFO(tables[i]->isa);
    for (const DType dtype : kTypes) {
      Block block;
      block.dtype = dtype;
      block.channels = 16;
      block.middle = 96;
      block.width = 17;
      CheckBlock(block, 3, tables[i]);
    }
  }
}

TEST_CASE("bands: a value that others read ends a chain", "[plan]") {
  Block block;
  block.keeps_middle = true;
  CheckBlock(block, 2);
  block.keeps_middle = false;
  block.reads_twice = true;
  CheckBlock(block, 2);
  block.keeps_middle = true;
  const auto session = OpenSession(Open(block), {2, 2}, 1);
  CHECK(ChainsOf(session->plan()).empty());
}

TEST_CASE("bands: a session takes another batch", "[plan]") {
  const auto model = Open(Block());
  const auto plain = OpenSession(model, {}, 1), bands = OpenSession(model, {4, 2}, 2);
  for (const int batch : {1, 4, 2}) {
    for (Session* session : {plain.get(), bands.get()}) {
      REQUIRE(session->ResizeInput(0, Shape{batch, 9, 7, 5}).ok());
      REQUIRE(session->Prepare().ok());
    }
    CHECK((Run(bands.get()) == Run(plain.get())));
  }
}

TEST_CASE("bands: weights are packed once, values lie in no arena", "[plan]") {
  Block block;
  block.middle = 200;
  block.scales_channels = true;
  block.activation = Activation::kNone;
  const auto model = Open(block);
  const auto plain = OpenSession(model, {}, 1), bands = OpenSession(model, {3, 1}, 1);
  CHECK(bands->plan().packed_bytes == plain->plan().packed_bytes);
  CHECK(bands->plan().arena_bytes < plain->plan().arena_bytes / 4);
  const std::string text = PrintPlan(bands->plan());
  CHECK(text.find("BANDS") != std::string::npos);
  CHECK(text.find("DEPTHWISE_CONV_2D") != std::string::npos);
  CHECK(text.find("in parts") != std::string::npos);
}

// A pointwise operator, one of 3 x 3 and a pointwise one, on images of 40 rows.
std::vector<BandOp> ThreeOps() {
  std::vector<BandOp> ops(3);
  for (size_t k = 0; k < 3; ++k) {
    ops[k].window.in = ops[k].window.out = 40;
    ops[k].row_bytes = 100 * (k + 1);
    if (k < 2) ops[k].readers = {static_cast<int>(k + 1)};
    if (k < 2) ops[k].through_window = {true};
  }
  ops[1].window.filter = 3;
  ops[1].window.pad = 1;
  return ops;
}

TEST_CASE("bands: a schedule is left where its buffers take too much", "[plan]") {
  BandSchedule whole, limited;
  REQUIRE(ScheduleBands(ThreeOps(), {20, 4}, &whole));
  CHECK(whole.buffer_rows == std::vector<int64_t>{6, 4, 0});
  CHECK(whole.buffer_bytes == 6 * 100 + 4 * 200);
  CHECK(whole.strips.size() == 2);
  CHECK(whole.made_rows == std::vector<int64_t>{42, 40, 40});  // two rows where the strips meet
  REQUIRE(ScheduleBands(ThreeOps(), {20, 4}, &limited, whole.buffer_bytes));
  CHECK(limited.made_rows == whole.made_rows);
  CHECK(limited.buffer_bytes == whole.buffer_bytes);
  REQUIRE(ScheduleBands(ThreeOps(), {20, 4}, &limited, whole.buffer_bytes - 1));
  CHECK(limited.buffer_bytes > whole.buffer_bytes - 1);
  CHECK(limited.made_rows.back() < 40);
}

TEST_CASE("bands: sizes choose them", "[plan]") {
  Block block;
  block.channels = 16;
  block.middle = 96;
  block.outputs = 24;
  block.stride = 2;
  for (const int n_threads : {1, 2}) {
    block.height = block.width = 112;
    const auto large = OpenSession(Open(block), {}, n_threads);
    CHECK(ChainsOf(large->plan()).size() == 1);
    CHECK(large->plan().steps[0].n_tasks >= n_threads);
    block.height = block.width = 28;
    CHECK(ChainsOf(OpenSession(Open(block), {}, n_threads)->plan()).empty());
  }
}

TEST_CASE("bands: a whole network, also with products of 16-bit numbers", "[plan]") {
  const test::EmbeddedFile* file = test::FindEmbedded("models/zoo/efficientnet_lite0_fp16.tflite");
  REQUIRE(file != nullptr);
  const auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.ok());
  for (const bool half_products : {false, true}) {
    const auto chosen = OpenSession(model.value(), {}, 2, nullptr, half_products);
    const auto forced = OpenSession(model.value(), {7, 2}, 2, nullptr, half_products);
    CHECK(ChainsOf(chosen->plan()).size() >= 2);
    CHECK(ChainsOf(forced->plan()).size() == 10);
    CHECK((Run(forced.get()) == Run(chosen.get())));
  }
}

}  // namespace bands_test
}  // namespace topwork
