// NaN, infinities and signed zeros: the device's kernels give what the CPU's give.
//
// Maxima pass over a NaN of what they read and keep that of what they have, as `x > so_far ? x :
// so_far` does; clamps keep NaN.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/backend/opencl/handles.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "runtime/tensor/tensor.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace special_values_test {

using test::ApartDevice;
using test::Bytes;
using test::OneOpModel;
using test::OptionsSpec;
using Backends = std::vector<std::shared_ptr<const Device>>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

const std::vector<float>& Specials() {
  static const std::vector<float>* const values = new std::vector<float>{
      kNan, kInfinity, -kInfinity, 0.0f, -0.0f, 1.5f, -1.5f, 100.0f, -100.0f, 3.0f};
  return *values;
}

// How far apart the two are; infinite when only one of them is NaN.
float Distance(float got, float expected) {
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0.0f : kInfinity;
  }
  if (got == expected) return 0.0f;
  return std::fabs(got - expected) / std::fmax(1.0f, std::fabs(expected));
}

void Compare(const Bytes& model, const std::vector<std::vector<float>>& inputs,
             const Backends& backends) {
  const std::vector<float> expected = test::RunModel(model, inputs, nullptr);
  for (const auto& backend : backends) {
    const bool half = backend->storage() == Storage::kFloat16;
    const std::vector<float> got = test::RunModel(model, inputs, backend);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("element " << i << ": " << got[i] << ", the CPU has " << expected[i]
                      << (half ? ", float16" : ""));
      CHECK(Distance(got[i], expected[i]) <= (half ? 2e-3f : 1e-5f));
    }
  }
}

// One backend for each storage; `n` of them.
Backends Open(const opencl::Device& device, size_t n) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  Backends backends = {std::make_shared<ApartDevice>(context.value(), Storage::kFloat32),
                       std::make_shared<ApartDevice>(context.value(), Storage::kFloat16)};
  backends.resize(n);
  return backends;
}

TEST_CASE("opencl special values: clamps and functions of one tensor", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Backends float32 = Open(device, 1), both = Open(device, 2);
  const int32_t n = static_cast<int32_t>(Specials().size());
  for (const OpCode code :
       {OpCode::kRelu, OpCode::kRelu6, OpCode::kReluN1To1, OpCode::kRelu0To1, OpCode::kLeakyRelu,
        OpCode::kElu, OpCode::kAbs, OpCode::kNeg, OpCode::kFloor, OpCode::kCeil, OpCode::kRound,
        OpCode::kSign, OpCode::kTanh, OpCode::kLogistic, OpCode::kSqrt, OpCode::kHardSwish}) {
    INFO("operator " << static_cast<int>(code));
    Compare(OneOpModel().Input({n}).Build(code, {n}), {Specials()}, both);
  }
  for (const OpCode code : {OpCode::kExp, OpCode::kLog, OpCode::kRsqrt, OpCode::kSquare,
                            OpCode::kSin, OpCode::kCos, OpCode::kGelu}) {
    INFO("operator " << static_cast<int>(code));
    Compare(OneOpModel().Input({n}).Build(code, {n}), {Specials()}, float32);
  }
}

TEST_CASE("opencl special values: a number times its sigmoid, one operator", "[opencl]") {
  TW_NEED_DEVICE(device);
  const std::vector<int32_t> shape = {static_cast<int32_t>(Specials().size())};
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, shape);
  const int sigmoid = spec.AddTensor("sigmoid", DType::kFloat32, shape);
  const int swish = spec.AddTensor("swish", DType::kFloat32, shape);
  spec.AddOp(OpCode::kLogistic, {x}, {sigmoid});
  spec.AddOp(OpCode::kMul, {x, sigmoid}, {swish}, OptionsSpec(test::kMulOptions));
  spec.main().outputs = {swish};
  Compare(test::BuildModel(spec), {Specials()}, Open(device, 2));
}

TEST_CASE("opencl special values: functions of two tensors", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Backends float32 = Open(device, 1), both = Open(device, 2);
  const int32_t n = static_cast<int32_t>(Specials().size());
  const auto pairs = [&](OpCode code, const OptionsSpec& options) {
    return OneOpModel().Input({n, 1}).Input({1, n}).Build(code, {n, n}, options);
  };
  const std::vector<std::vector<float>> inputs = {Specials(), Specials()};
  for (const OpCode code : {OpCode::kMaximum, OpCode::kMinimum}) {
    INFO("operator " << static_cast<int>(code));
    Compare(pairs(code, OptionsSpec()), inputs, both);
  }
  std::vector<float> rows;  // PRELU's slopes cannot be the larger tensor
  for (const float value : Specials()) rows.insert(rows.end(), static_cast<size_t>(n), value);
  Compare(OneOpModel().Input({n, n}).Input({n}).Build(OpCode::kPrelu, {n, n}), {rows, Specials()},
          float32);
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kReluN1To1, Activation::kRelu6}) {
    const int8_t number = static_cast<int8_t>(activation);
    INFO("activation " << int{number});
    Compare(pairs(OpCode::kAdd, OptionsSpec(test::kAddOptions).Byte(0, number)), inputs, float32);
    Compare(pairs(OpCode::kMul, OptionsSpec(test::kMulOptions).Byte(0, number)), inputs, float32);
  }
  for (const OpCode code : {OpCode::kSub, OpCode::kDiv, OpCode::kSquaredDifference, OpCode::kPow,
                            OpCode::kFloorDiv, OpCode::kFloorMod, OpCode::kAtan2}) {
    INFO("operator " << static_cast<int>(code));
    Compare(pairs(code, OptionsSpec()), inputs, float32);
  }
}

TEST_CASE("opencl special values: pools and reductions", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Backends both = Open(device, 2);
  // Windows of 2 x 2 with no NaN, some, and nothing but NaN; then infinities.
  const std::vector<float> image = {1, 2,    kNan, 1, kNan, kNan, kInfinity, 1,           //
                                    3, kNan, 2,    3, kNan, kNan, -2,        -kInfinity,  //
                                    1, -7,   kNan, 1, -1,   -2,   kInfinity, kNan,        //
                                    3, -9,   2,    3, -3,   kNan, -2,        -kInfinity};
  for (const OpCode code : {OpCode::kMaxPool2d, OpCode::kAveragePool2d, OpCode::kL2Pool2d}) {
    for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6}) {
      const int8_t number = static_cast<int8_t>(activation);
      INFO("operator " << static_cast<int>(code) << ", activation " << int{number});
      const OptionsSpec options = OptionsSpec(test::kPool2dOptions)
                                      .Byte(0, 1)
                                      .Int(1, 2)
                                      .Int(2, 2)
                                      .Int(3, 2)
                                      .Int(4, 2)
                                      .Byte(5, number);
      Compare(OneOpModel().Input({1, 4, 8, 1}).Build(code, {1, 2, 4, 1}, options), {image}, both);
    }
  }
  for (const OpCode code :
       {OpCode::kReduceMax, OpCode::kReduceMin, OpCode::kReduceProd, OpCode::kSum, OpCode::kMean}) {
    for (const int axis : {0, 1}) {
      INFO("operator " << static_cast<int>(code) << ", axis " << axis);
      Compare(OneOpModel()
                  .Input({4, 8})
                  .Constant({1}, std::vector<int32_t>{axis})
                  .Build(code, {axis == 0 ? 8 : 4}, OptionsSpec(test::kReducerOptions)),
              {image}, both);
    }
  }
}

TEST_CASE("opencl special values: rows", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Backends float32 = Open(device, 1);
  const std::vector<float> rows = {1,          kNan,       2,          3,           //
                                   kNan,       kNan,       kNan,       kNan,        //
                                   kInfinity,  1,          0,          -1,          //
                                   -kInfinity, 1,          2,          3,           //
                                   -kInfinity, -kInfinity, -kInfinity, -kInfinity,  //
                                   0,          0,          -0.0f,      0};
  for (const OpCode code : {OpCode::kSoftmax, OpCode::kLogSoftmax, OpCode::kL2Normalization}) {
    INFO("operator " << static_cast<int>(code));
    const OptionsSpec options = code == OpCode::kSoftmax
                                    ? OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f)
                                    : OptionsSpec();
    Compare(OneOpModel().Input({6, 4}).Build(code, {6, 4}, options), {rows}, float32);
  }
}

TEST_CASE("opencl special values: convolutions", "[opencl]") {
  TW_NEED_DEVICE(device);
  const Backends both = Open(device, 2);
  const std::vector<float> image = {1, 2, kNan, 1, 5, -6, kInfinity, 1, 3};
  const std::vector<float> filter = {0.5f, -0.5f, 0.25f, 1.0f};
  const OptionsSpec conv =
      OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Byte(3, 3);
  Compare(OneOpModel()
              .Input({1, 3, 3, 1})
              .Constant({1, 2, 2, 1}, filter)
              .Build(OpCode::kConv2d, {1, 2, 2, 1}, conv),
          {image}, both);
  Compare(OneOpModel()
              .Input({1, 3, 3, 1})
              .Constant({1, 1, 1, 1}, std::vector<float>{-2.0f})
              .Build(OpCode::kConv2d, {1, 3, 3, 1}, conv),
          {image}, both);
  Compare(OneOpModel()
              .Input({1, 3, 3, 1})
              .Constant({1, 2, 2, 1}, filter)
              .Build(OpCode::kDepthwiseConv2d, {1, 2, 2, 1},
                     OptionsSpec(test::kDepthwiseConv2dOptions)
                         .Byte(0, 1)
                         .Int(1, 1)
                         .Int(2, 1)
                         .Int(3, 1)
                         .Byte(4, 3)),
          {image}, both);
}

// Every half, loaded and stored by each of common.clh's forms of that.
constexpr size_t kHalves = 65536;

// Fours of the halves by tw_load4 and by tw_aligned8; what tw_store4 and tw_store write of them, each
// a little larger than a half.
constexpr float kLarger = 1.0f + 1.0f / 2048;  // a tie for powers of two
constexpr char kHalvesKernel[] = R"(
__kernel void halves(const __global half* in, __global float* fours, __global float* eights,
                     __global half* back, __global half* back_alone, float larger) {
  const int i = (int)get_global_id(0);
  const float4 four = tw_load4(i, in);
  const float8 eight = tw_aligned8(in + (i >> 1) * 8);
  vstore4(four, i, fours);
  vstore4((i & 1) == 0 ? eight.lo : eight.hi, i, eights);
  tw_store4(four * larger, i, back);
  tw_store(four.x * larger, 4 * i, back_alone);
  tw_store(four.y * larger, 4 * i + 1, back_alone);
  tw_store(four.z * larger, 4 * i + 2, back_alone);
  tw_store(four.w * larger, 4 * i + 3, back_alone);
}
)";

struct HalfAnswers {
  std::vector<float> fours, eights;
  std::vector<uint16_t> back, back_alone;
};

// What the device makes of `halves` with the text in front of the library's.
HalfAnswers RunHalves(const opencl::Device& device, const std::string& front,
                      std::vector<uint16_t> halves) {
  const opencl::ClApi& api = *device.api;
  const auto context = opencl::CreateContext(api, device.platform, device.id);
  REQUIRE(context.ok());
  const auto queue = opencl::CreateQueue(context.value(), device.id, 0);
  REQUIRE(queue.ok());
  const std::string source = front + opencl::KernelSource("probe").value() + kHalvesKernel;
  const auto program = opencl::BuildFromSource(context.value(), device.id, "halves", source,
                                               "-cl-std=CL1.2 -DTW_HALF -DTW_ALIGNED");
  REQUIRE(program.status().ToString() == "OK");
  const auto kernel = opencl::CreateKernel(program.value(), "halves");
  REQUIRE(kernel.ok());
  HalfAnswers answers = {std::vector<float>(kHalves), std::vector<float>(kHalves),
                         std::vector<uint16_t>(kHalves), std::vector<uint16_t>(kHalves)};
  struct Block {
    void* data;
    size_t bytes;
  };
  const Block blocks[] = {{halves.data(), kHalves * 2},
                          {answers.fours.data(), kHalves * 4},
                          {answers.eights.data(), kHalves * 4},
                          {answers.back.data(), kHalves * 2},
                          {answers.back_alone.data(), kHalves * 2}};
  std::vector<opencl::MemHandle> buffers;
  for (cl_uint i = 0; i < 5; ++i) {
    auto buffer = opencl::CreateBuffer(context.value(), blocks[i].bytes);
    REQUIRE(buffer.ok());
    const cl_mem memory = buffer.value().get();
    REQUIRE(api.clSetKernelArg(kernel.value().get(), i, sizeof(memory), &memory) == CL_SUCCESS);
    buffers.push_back(std::move(buffer.value()));
  }
  REQUIRE(api.clSetKernelArg(kernel.value().get(), 5, sizeof(kLarger), &kLarger) == CL_SUCCESS);
  const size_t global = kHalves / 4;
  const cl_command_queue commands = queue.value().get();
  REQUIRE(api.clEnqueueWriteBuffer(commands, buffers[0].get(), CL_TRUE, 0, blocks[0].bytes,
                                   blocks[0].data, 0, nullptr, nullptr) == CL_SUCCESS);
  REQUIRE(api.clEnqueueNDRangeKernel(commands, kernel.value().get(), 1, nullptr, &global, nullptr,
                                     0, nullptr, nullptr) == CL_SUCCESS);
  for (size_t i = 1; i < 5; ++i) {
    REQUIRE(api.clEnqueueReadBuffer(commands, buffers[i].get(), CL_TRUE, 0, blocks[i].bytes,
                                    blocks[i].data, 0, nullptr, nullptr) == CL_SUCCESS);
  }
  return answers;
}

// Whether the two are the same number, or both are none.
bool IsSameNumber(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof(a)) == 0;
}

TEST_CASE("opencl special values: each half is loaded exactly and stored rounded to the nearest",
          "[opencl]") {
  TW_NEED_DEVICE(device);
  std::vector<uint16_t> halves(kHalves);
  for (size_t i = 0; i < kHalves; ++i) halves[i] = static_cast<uint16_t>(i);
  // What the device has; and what compilers for NVIDIA are given.
  for (const char* front : {"", "#define __NVPTX__ 1\n"}) {
    const HalfAnswers answers = RunHalves(device, front, halves);
    size_t n_fours = 0, n_eights = 0, n_back = 0, n_back_alone = 0;
    for (size_t i = 0; i < kHalves; ++i) {
      const float expected = HalfToFloat(halves[i]);
      n_fours += IsSameNumber(answers.fours[i], expected);
      n_eights += IsSameNumber(answers.eights[i], expected);
      const float rounded = HalfToFloat(FloatToHalf(expected * kLarger));
      n_back += IsSameNumber(HalfToFloat(answers.back[i]), rounded);
      n_back_alone += IsSameNumber(HalfToFloat(answers.back_alone[i]), rounded);
    }
    INFO("with " << front);
    CHECK(n_fours == kHalves);
    CHECK(n_eights == kHalves);
    CHECK(n_back == kHalves);
    CHECK(n_back_alone == kHalves);
  }
}

}  // namespace special_values_test
}  // namespace topwork
