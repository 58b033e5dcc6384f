// Launches that are joined (join_launches.h): what computes element by element becomes a stage of the
// launch before it, a product with a row part of the matrix product behind it, small dense layers a
// squeeze. The answers are the CPU's; how many launches are left is counted without a device, too.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "runtime/plan/plan.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/net.h"

namespace topwork {
namespace opencl_stages_test {

using test::ApartDevice;
using test::Bytes;
using test::Net;
using test::OptionsSpec;
using Kernels = std::vector<std::string>;

struct Case {
  const char* name;
  std::function<int(Net*)> build;  // returns the output
  Kernels kernels;                 // of the launches, in order
};

const std::vector<Case>& Cases() {
  static const std::vector<Case>* const cases = new std::vector<Case>{
      {"a chain of functions",
       [](Net* net) {
         const int x = net->Input({2, 7, 5});
         const int y = net->Op(OpCode::kSqrt, {net->Op(OpCode::kAbs, {x})});
         return net->Op(OpCode::kTanh, {net->Op(OpCode::kExp, {y})});
       },
       {"elementwise"}},
      {"arithmetic from both sides, broadcast along the last axis",
       [](Net* net) {
         const int x = net->Input({2, 3, 7}), z = net->Input({2, 3, 7});
         const int y = net->Op(OpCode::kAbs, {x});
         const int row = net->Binary(OpCode::kSub, net->Constant({7}), y, y);
         const int one = net->Binary(OpCode::kMul, row, net->Constant({1}), y);
         return net->Binary(OpCode::kSub, z, one, y);
       },
       {"elementwise"}},
      {"more stages than a launch takes",
       [](Net* net) {
         int x = net->Input({3, 8});
         for (int i = 0; i < 6; ++i) x = net->Op(OpCode::kAbs, {net->Op(OpCode::kNeg, {x})});
         return x;
       },
       {"elementwise", "elementwise", "elementwise"}},
      {"functions that some drivers lack have programs of their own",
       [](Net* net) {
         const int x = net->Op(OpCode::kSoftmax, {net->Op(OpCode::kSin, {net->Input({3, 8})})});
         const int y = net->Op(OpCode::kSoftmax, {net->Op(OpCode::kCos, {x})});
         return net->Op(OpCode::kSoftmax, {net->Op(OpCode::kAbs, {y})});
       },
       {"elementwise", "rowwise", "elementwise", "rowwise", "unary", "rowwise"}},
      {"arithmetic that is no stage",
       [](Net* net) {
         const int x = net->Input({2, 5, 3}), y = net->Input({2, 1, 3});
         return net->Op(OpCode::kAbs, {net->Binary(OpCode::kAdd, x, y, x)});
       },
       {"binary", "unary"}},
      {"a product of matrices, activations, PRELU",
       [](Net* net) {
         const int x = net->Op(OpCode::kHardSwish, {net->Conv(net->Input({1, 6, 5, 9}), 10, 1)});
         const int y = net->Op(OpCode::kPrelu, {net->Conv(x, 7, 1), net->Constant({1, 1, 7})});
         return net->Op(OpCode::kTanh, {y});
       },
       {"gemm_1x4", "gemm_1x4"}},
      {"convolutions: x sigmoid(x), a residual after the activation",
       [](Net* net) {
         const int x = net->Input({1, 6, 5, 8});
         const int y = net->Conv(x, 8, 3);
         const int swish = net->Binary(OpCode::kMul, net->Op(OpCode::kLogistic, {y}), y, y);
         const int wide = net->Depthwise(swish, 3, 1);
         const int sum = net->Binary(OpCode::kAdd, wide, x, x);
         return net->Op(OpCode::kTanh, {net->Conv(sum, 8, 3, 3)});
       },
       {"conv_2d_1x4", "depthwise_rows_3x3_1", "conv_2d_1x4"}},
      {"a convolution behind its factor",
       [](Net* net) {
         const int x = net->Input({1, 6, 5, 8}), z = net->Input({1, 1, 1, 8});
         const int y = net->Conv(x, 8, 3);
         const int gate = net->Op(OpCode::kLogistic, {net->Op(OpCode::kSoftmax, {z})});
         return net->Binary(OpCode::kMul, y, gate, y);
       },
       {"rowwise", "unary", "conv_2d_1x4"}},
      {"other kernels that take stages",
       [](Net* net) {
         const int x = net->Input({1, 4, 4, 8});
         const int taps = net->Op(OpCode::kTanh, {net->Depthwise(x, 4)});
         const OptionsSpec pool =
             OptionsSpec(test::kPool2dOptions).Int(1, 2).Int(2, 2).Int(3, 2).Int(4, 2);
         const int half = net->Op(OpCode::kMaxPool2d, {taps}, {1, 2, 2, 8}, pool);
         const int sum = net->Binary(OpCode::kAdd, half, net->Constant({1, 2, 2, 8}), half);
         const int whole = net->GlobalPool(sum);
         return net->Op(OpCode::kExp, {whole});
       },
       {"depthwise_conv_2d", "pool", "pool"}},
      {"a product with a row before a product of matrices",
       [](Net* net) {
         const int x = net->Input({1, 6, 5, 12}), row = net->Input({1, 1, 1, 12});
         const int features = net->Op(OpCode::kAbs, {x});
         const int scaled = net->Binary(OpCode::kMul, features, row, features);
         const int y = net->Conv(scaled, 9, 1);
         return net->Binary(OpCode::kAdd, y, net->Conv(features, 9, 1), y);
       },
       {"unary", "gemm_1x4", "gemm_1x4"}},
      {"squeeze and excite",
       [](Net* net) {
         const int x = net->Op(OpCode::kHardSwish, {net->Depthwise(net->Input({1, 9, 8, 12}), 3)});
         const int few = net->Conv(net->GlobalPool(x), 5, 1, 1);
         const int gate = net->Op(OpCode::kLogistic, {net->Conv(few, 12, 1)});
         return net->Conv(net->Binary(OpCode::kMul, x, gate, x), 6, 1);
       },
       {"depthwise_rows_3x3_1", "squeeze", "gemm_1x4"}},
      {"squeeze and excite by swish, two images",
       [](Net* net) {
         const int x = net->Input({2, 6, 6, 70});
         const int y = net->Conv(net->GlobalPool(x), 130, 1);
         const int swish = net->Binary(OpCode::kMul, y, net->Op(OpCode::kLogistic, {y}), y);
         return net->Op(OpCode::kLogistic, {net->Conv(swish, 7, 1)});
       },
       {"squeeze"}},
      {"two dense layers without means",
       [](Net* net) {
         const int x = net->Input({1, 1, 1, 300});
         return net->Op(OpCode::kTanh, {net->Conv(net->Conv(x, 21, 1, 3), 6, 1)});
       },
       {"squeeze"}},
      {"joined in place: convolutions, pools, functions along the channels",
       [](Net* net) {
         const int x = net->Input({2, 6, 5, 8});
         const int a = net->Op(OpCode::kHardSwish, {net->Conv(x, 12, 1)});
         const int b = net->Conv(x, 8, 3, 3), c = net->Depthwise(x, 3);
         const OptionsSpec pool =
             OptionsSpec(test::kPool2dOptions).Int(1, 1).Int(2, 1).Int(3, 3).Int(4, 3);
         const int d = net->Op(OpCode::kMaxPool2d, {x}, {2, 6, 5, 8}, pool);
         const int e = net->Op(OpCode::kAbs, {x});
         return net->Join({a, b, c, d, e}, 3);
       },
       {"gemm_1x4", "conv_2d_1x4", "depthwise_rows_3x3_1", "pool", "elementwise"}},
      {"joined in place: rows that are no multiples of four",
       [](Net* net) {
         const int x = net->Input({1, 6, 5, 7}), y = net->Input({1, 6, 5, 3});
         const int a = net->Op(OpCode::kTanh, {net->Conv(x, 5, 3)});
         const int sum = net->Binary(OpCode::kAdd, y, net->Constant({3}), y);
         return net->Op(OpCode::kAbs, {net->Join({sum, a, net->Op(OpCode::kExp, {x})}, 3)});
       },
       {"conv_2d_1x4", "elementwise", "elementwise", "unary"}},
      {"joined in place: along other axes",
       [](Net* net) {
         const int x = net->Input({2, 3, 5, 6});
         const int high = net->Join({net->Conv(x, 6, 1), net->Op(OpCode::kNeg, {x})}, 1);
         const int wide = net->Join({net->Conv(high, 4, 1), net->Conv(high, 4, 3)}, 2);
         return net->Join({net->Op(OpCode::kAbs, {wide}), net->Op(OpCode::kNeg, {wide})}, 0);
       },
       {"gemm_1x4", "elementwise", "gemm_1x4", "conv_2d_1x4", "elementwise", "elementwise"}},
      {"joined by copies: inputs, values with two readers, a value twice, odd rows of aligned ones",
       [](Net* net) {
         const int x = net->Input({1, 6, 5, 8});
         const int a = net->Conv(x, 8, 1), b = net->Op(OpCode::kAbs, {x});
         const int c = net->Join({x, a, b, b, net->Conv(a, 8, 3)}, 3);
         return net->Join({net->Op(OpCode::kNeg, {c}), net->Conv(c, 3, 1)}, 3);
       },
       {"gemm_1x4", "unary", "conv_2d_1x4", "strided_copy_fours", "strided_copy_fours",
        "strided_copy_fours", "strided_copy_fours", "unary", "gemm_1x4", "strided_copy_fours"}},
      {"resized by nearest neighbours in place",
       [](Net* net) {
         const int x = net->Input({1, 3, 4, 8}), skip = net->Input({1, 6, 8, 8});
         const int size = net->Integers({6, 8});
         const int y =
             net->Op(OpCode::kResizeNearestNeighbor, {net->Conv(x, 4, 1), size}, {1, 6, 8, 4});
         return net->Conv(net->Join({net->Op(OpCode::kAbs, {y}), net->Conv(skip, 8, 1)}, 3), 4, 3);
       },
       {"gemm_1x4", "resize_nearest", "gemm_1x4", "conv_2d_1x4"}},
      {"a value with two readers stays",
       [](Net* net) {
         const int y = net->Conv(net->Input({1, 6, 5, 8}), 8, 1);
         const int a = net->Op(OpCode::kTanh, {y});
         return net->Binary(OpCode::kAdd, a, net->Conv(y, 8, 3), a);
       },
       {"gemm_1x4", "unary", "conv_2d_1x4"}},
  };
  return *cases;
}

TEST_CASE("stages: launches that are left", "[plan]") {
  for (const Case& c : Cases()) {
    INFO(c.name);
    Net net;
    const Bytes bytes = net.Build(c.build(&net));
    const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
    REQUIRE(model.status().ToString() == "OK");
    PlanOptions options;
    options.devices = {std::make_shared<test::FakeGpu>()};
    const auto plan = BuildPlan(model.value(), options);
    REQUIRE(plan.status().ToString() == "OK");
    REQUIRE(plan.value()->steps.size() == 1);
    Kernels kernels;
    for (const Step& part : plan.value()->steps[0].parts) {
      CHECK(part.launches.empty() == (std::string(part.variant) == "in place"));
      for (const PlannedLaunch& launch : part.launches) {
        std::string name = launch.kernel;
        const size_t type = name.find("_f32");
        REQUIRE(type != std::string::npos);
        kernels.push_back(name.erase(type, 4));
      }
    }
    CHECK(kernels == c.kernels);
  }
}

TEST_CASE("stages: parts are shown as one operator", "[plan]") {
  Net net;
  const int x = net.Op(OpCode::kHardSwish, {net.Depthwise(net.Input({1, 9, 8, 12}), 3)});
  const int gate = net.Op(OpCode::kLogistic, {net.Conv(net.GlobalPool(x), 12, 1)});
  const Bytes bytes = net.Build(net.Conv(net.Binary(OpCode::kMul, x, gate, x), 6, 1));
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  PlanOptions options;
  options.devices = {std::make_shared<test::FakeGpu>()};
  const auto plan = BuildPlan(model.value(), options);
  REQUIRE(plan.status().ToString() == "OK");
  const std::vector<Step>& parts = plan.value()->steps[0].parts;
  REQUIRE(parts.size() == 3);
  CHECK(std::string(parts[0].def->name()) == "DEPTHWISE_CONV_2D");
  CHECK(parts[0].fused == "HARD_SWISH");
  CHECK(std::string(parts[1].def->name()) == "CONV_2D");
  CHECK(parts[1].fused == "AVERAGE_POOL_2D, LOGISTIC");
  CHECK(std::string(parts[1].variant) == "squeeze");
  CHECK(parts[2].fused == "MUL");
  CHECK(parts[0].outputs[0] == x);
  CHECK(parts[1].outputs[0] == gate);
  CHECK(parts[1].inputs[0] == x);
}

TEST_CASE("opencl kernels: stages, scaled products, squeezes", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  for (const Case& c : Cases()) {
    INFO(c.name);
    Net net;
    const Bytes model = net.Build(c.build(&net));
    const std::vector<float> expected = test::RunModel(model, net.inputs(), nullptr);
    for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
      const auto backend = std::make_shared<ApartDevice>(context.value(), storage);
      const std::vector<float> got = test::RunModel(model, net.inputs(), backend);
      INFO((storage == Storage::kFloat16 ? "half" : "float32"));
      CHECK(test::WorstError(got, expected) <= (storage == Storage::kFloat32 ? 1e-5f : 4e-3f));
    }
  }
}

}  // namespace opencl_stages_test
}  // namespace topwork
