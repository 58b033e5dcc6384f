// Operators that compute with integers on the device: the CPU's bytes exactly, in every golden case
// of theirs, and for factors whose products lie beside halves.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/case_runner.h"
#include "tests/support/model_builder.h"
#include "tests/support/scripted_tuner.h"

namespace topwork {
namespace test {
namespace opencl_integer_test {

std::shared_ptr<ApartDevice> MakeApart(const opencl::Device& device, Storage storage) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return std::make_shared<ApartDevice>(context.value(), storage);
}

std::unique_ptr<Session> Open(const void* bytes, size_t n_bytes,
                              std::shared_ptr<const Device> backend) {
  const auto model = Model::OpenMemory(bytes, n_bytes, true);
  if (!model.ok()) return nullptr;
  auto made = Session::Create(model.value(), OneThreadOn(std::move(backend)));
  REQUIRE(made.status().ToString() == "OK");
  return std::move(made.value());
}

// Whether an operator with a kernel for integers makes the session's output i.
bool IsInteger(const Session& session, int i) {
  const int v = session.plan().outputs[static_cast<size_t>(i)];
  for (const Step& step : session.plan().steps) {
    for (const Step& part : step.parts) {
      if (part.outputs[0] == v) return std::strncmp(part.variant, "integer_", 8) == 0;
    }
  }
  return false;
}

// Compares the outputs that integer operators make; returns how many.
int CheckSameBytes(Session* device, Session* cpu) {
  REQUIRE(device->Run().ToString() == "OK");
  REQUIRE(device->options().devices.size() == 1);  // it did not fail
  REQUIRE(cpu->Run().ToString() == "OK");
  int n_compared = 0;
  for (int i = 0; i < cpu->n_outputs(); ++i) {
    if (!IsInteger(*device, i)) continue;
    const TensorView& expected = cpu->output(i);
    const TensorView& got = device->output(i);
    REQUIRE(got.shape == expected.shape);
    size_t n_wrong = 0;
    for (size_t k = 0; k < expected.bytes(); ++k) {
      n_wrong += got.as<uint8_t>()[k] != expected.as<uint8_t>()[k] ? 1 : 0;
    }
    INFO("output " << i << " of " << expected.bytes() << " bytes");
    CHECK(n_wrong == 0);
    ++n_compared;
  }
  return n_compared;
}

// How many outputs were compared.
int CheckCase(const OpCase& op_case, const std::shared_ptr<const Device>& backend) {
  CaseRunner device(OneThreadOn(backend)), cpu(OneThreadOn(nullptr));
  for (CaseRunner* runner : {&device, &cpu}) {
    REQUIRE(runner->Open(op_case).ToString() == "OK");
    REQUIRE(runner->Write(op_case).ok());
  }
  return CheckSameBytes(&device.session(), &cpu.session());
}

// Golden files and how many outputs integer operators make there at least.
struct File {
  const char* name;
  int least;
};
constexpr File kFiles[] = {{"quant_conv_2d", 60},
                           {"quant_depthwise_conv_2d", 60},
                           {"quant_fully_connected", 60},
                           {"quant_add", 4},
                           {"quant_sub", 4},
                           {"quant_mul", 4},
                           {"quant_average_pool_2d", 4},
                           {"quant_max_pool_2d", 4},
                           {"quant_mean", 4},
                           {"quant_sum", 4},
                           {"quant_reduce_max", 4},
                           {"quant_reduce_min", 4},
                           {"quant_abs", 2},
                           {"quant_elu", 1},
                           {"quant_exp", 1},
                           {"quant_gelu", 1},
                           {"quant_hard_swish", 2},
                           {"quant_leaky_relu", 2},
                           {"quant_log", 1},
                           {"quant_logistic", 2},
                           {"quant_relu", 2},
                           {"quant_relu6", 2},
                           {"quant_rsqrt", 1},
                           {"quant_sqrt", 1},
                           {"quant_tanh", 2}};

TEST_CASE("opencl: integer operators give the CPU's bytes", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto backend = MakeApart(device, Storage::kFloat32);
  for (const File& file : kFiles) {
    int n_checked = 0;
    for (const OpCase& op_case : CasesOf(file.name)) {
      if (!OpensFirstSubgraph(op_case)) continue;
      INFO(file.name << " " << op_case.name);
      n_checked += CheckCase(op_case, backend);
    }
    INFO(file.name << ": " << n_checked);
    CHECK(n_checked >= file.least);
  }
}

// FULLY_CONNECTED of `rows` rows whose factors are in_scale * weight scale / out_scale.
struct Layer {
  DType dtype;
  int rows, depth, units;
  float in_scale, out_scale;
  std::vector<float> scales;  // of the weights; one or one a unit
};

Bytes BuildLayer(const Layer& p) {
  ModelSpec spec;
  const auto quantize = [&](int tensor, std::vector<float> scales, int64_t zero) {
    TensorSpec& it = spec.main().tensors[static_cast<size_t>(tensor)];
    it.zero_points.assign(scales.size(), zero);
    it.scales = std::move(scales);
  };
  const bool is_unsigned = p.dtype == DType::kUInt8;
  uint32_t state = 7;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 24; };
  std::vector<uint8_t> weights(static_cast<size_t>(p.depth * p.units));
  for (uint8_t& weight : weights) weight = static_cast<uint8_t>(next());
  std::vector<int32_t> bias(static_cast<size_t>(p.units));
  for (int32_t& value : bias) value = static_cast<int32_t>(next()) - 128;
  const int x = spec.AddInput("x", p.dtype, {p.rows, p.depth});
  quantize(x, {p.in_scale}, is_unsigned ? 120 : -3);
  const int w = spec.AddConstant("w", p.dtype, {p.units, p.depth}, weights);
  quantize(w, p.scales, is_unsigned ? 131 : 0);
  const int b = spec.AddConstant("b", DType::kInt32, {p.units}, ToBytes(bias));
  std::vector<float> bias_scales;
  for (const float scale : p.scales) bias_scales.push_back(scale * p.in_scale);
  quantize(b, bias_scales, 0);
  const int y = spec.AddTensor("y", p.dtype, {p.rows, p.units});
  quantize(y, {p.out_scale}, is_unsigned ? 128 : 5);
  spec.AddOp(OpCode::kFullyConnected, {x, w, b}, {y}, OptionsSpec(kFullyConnectedOptions));
  spec.main().outputs = {y};
  return BuildModel(spec);
}

void CheckLayer(const Layer& layer, const std::shared_ptr<const Device>& backend) {
  const Bytes model = BuildLayer(layer);
  const auto device = Open(model.data(), model.size(), backend);
  const auto cpu = Open(model.data(), model.size(), nullptr);
  REQUIRE(device != nullptr);
  for (int64_t i = 0; i < device->input(0).shape.NumElements(); ++i) {
    const uint8_t value = static_cast<uint8_t>(i * 37 + i / 5);
    device->input(0).as<uint8_t>()[i] = cpu->input(0).as<uint8_t>()[i] = value;
  }
  INFO(layer.rows << " x " << layer.depth << " x " << layer.units << ", " << layer.in_scale
                  << " to " << layer.out_scale);
  CHECK(CheckSameBytes(device.get(), cpu.get()) == 1);
}

// Decimal scales make products that are halves but for the last bit of a double.
TEST_CASE("opencl kernels: products of bytes are rounded as doubles are",
          "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = MakeApart(device, storage);
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      for (const int rows : {1, 5}) {
        CheckLayer({dtype, rows, 7, 9, 0.1f, 0.7f, {0.3f}}, backend);
        CheckLayer({dtype, rows, 3, 33, 0.1f, 0.2f, {0.1f}}, backend);
        CheckLayer({dtype, rows, 2, 5, 1.0f, 2.0f, {1.0f}}, backend);   // halves
        CheckLayer({dtype, rows, 2, 5, 0.5f, 0.25f, {3.0f}}, backend);  // above 1
        CheckLayer({dtype, rows, 4, 3, 1e-6f, 1.0f, {1e-6f}}, backend);
        CheckLayer({dtype, rows, 4, 3, 1e-12f, 1e3f, {1e-12f}}, backend);  // vanishes
      }
    }
    CheckLayer({DType::kInt8, 2, 6, 3, 0.05f, 0.6f, {0.1f, 0.2f, 0.015625f}}, backend);
  }
}

struct Window {
  int height, width, channels, outputs, filter, stride;
  bool depthwise;
  DType dtype;
  int dilation = 1, images = 1;
};

Bytes BuildWindow(const Window& p) {
  ModelSpec spec;
  const auto quantize = [&](int tensor, float scale, int64_t zero) {
    TensorSpec& it = spec.main().tensors[static_cast<size_t>(tensor)];
    it.scales = {scale};
    it.zero_points = {zero};
  };
  const bool is_unsigned = p.dtype == DType::kUInt8;
  const std::vector<int32_t> filter =
      p.depthwise ? std::vector<int32_t>{1, p.filter, p.filter, p.outputs}
                  : std::vector<int32_t>{p.outputs, p.filter, p.filter, p.channels};
  std::vector<uint8_t> weights(
      static_cast<size_t>(p.filter * p.filter * p.outputs * (p.depthwise ? 1 : p.channels)));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i * 89 + i / 3);
  const int x = spec.AddInput("x", p.dtype, {p.images, p.height, p.width, p.channels});
  quantize(x, 0.05f, is_unsigned ? 117 : -11);
  const int w = spec.AddConstant("w", p.dtype, filter, weights);
  quantize(w, 0.02f, is_unsigned ? 133 : 0);
  const auto out = [&](int n) { return (n + p.stride - 1) / p.stride; };
  const int y = spec.AddTensor("y", p.dtype, {p.images, out(p.height), out(p.width), p.outputs});
  quantize(y, 0.31f, is_unsigned ? 128 : -5);
  OptionsSpec options(p.depthwise ? kDepthwiseConv2dOptions : kConv2dOptions);
  options.Byte(0, 0).Int(1, p.stride).Int(2, p.stride);
  if (p.depthwise) options.Int(3, p.outputs / p.channels);
  const int at = p.depthwise ? 5 : 4;
  options.Int(at, p.dilation).Int(at + 1, p.dilation);
  spec.AddOp(p.depthwise ? OpCode::kDepthwiseConv2d : OpCode::kConv2d, {x, w}, {y}, options);
  spec.main().outputs = {y};
  return BuildModel(spec);
}

void CheckWindow(const Window& window, const std::shared_ptr<const Device>& backend) {
  const Bytes model = BuildWindow(window);
  const auto on_device = Open(model.data(), model.size(), backend);
  const auto cpu = Open(model.data(), model.size(), nullptr);
  REQUIRE(on_device != nullptr);
  for (int64_t i = 0; i < cpu->input(0).shape.NumElements(); ++i) {
    const uint8_t value = static_cast<uint8_t>(i * 53 + i / 7);
    on_device->input(0).as<uint8_t>()[i] = cpu->input(0).as<uint8_t>()[i] = value;
  }
  INFO(window.channels << " to " << window.outputs << ", " << window.filter << " taps, stride "
                       << window.stride << (window.depthwise ? ", depthwise" : ""));
  CHECK(CheckSameBytes(on_device.get(), cpu.get()) == 1);
}

TEST_CASE("opencl kernels: convolutions of bytes", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = MakeApart(device, storage);
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      for (const Window& window :
           {Window{5, 6, 3, 7, 3, 1, false, dtype}, Window{4, 3, 9, 4, 1, 2, false, dtype},
            Window{1, 2, 5, 3, 3, 1, false, dtype}, Window{5, 4, 3, 6, 3, 1, true, dtype},
            Window{4, 5, 5, 5, 5, 2, true, dtype}, Window{6, 5, 8, 8, 3, 1, true, dtype},
            Window{6, 7, 4, 4, 3, 2, true, dtype}, Window{5, 6, 5, 5, 5, 1, true, dtype, 1, 2},
            Window{6, 7, 6, 6, 5, 2, true, dtype}, Window{6, 6, 8, 8, 3, 1, true, dtype, 2}}) {
        CheckWindow(window, backend);
      }
    }
  }
}

// Depths of nothing, fours and sixteens; of several images, whose borders blocks of pixels cross.
TEST_CASE("opencl kernels: products of bytes in each tile", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  struct Tile {
    const char* name;
    std::vector<int> depths;  // that it fits
  };
  for (const Tile& tile :
       {Tile{"integer_product_4x8", {12, 16}}, Tile{"integer_product_4x4", {5, 12, 16}},
        Tile{"integer_product_2x4", {12, 16}}, Tile{"integer_product_1x4", {5, 12, 16}}}) {
    const auto backend = MakeApart(device, Storage::kFloat32);
    ScriptedTuner tuner;
    tuner.forced = tile.name;
    backend->SetTuner(&tuner);
    INFO(tile.name);
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      for (const int depth : tile.depths) {
        CheckWindow({3, 3, depth, 13, 1, 1, false, dtype, 1, 2}, backend);
        CheckWindow({3, 5, depth, 8, 3, 1, false, dtype, 2, 2}, backend);
        CheckWindow({5, 3, depth, 15, 2, 2, false, dtype, 1, 3}, backend);
        CheckLayer({dtype, 7, depth, 8, 0.1f, 0.7f, {0.3f}}, backend);
      }
    }
    CHECK(backend->entries().count(tile.name) == 1);
  }
}

// An extension's function in plain OpenCL C, so that a device without it runs the kernels' other
// half. v, w: its arguments as char4.
std::string PlainDot(const std::string& function, const std::string& v, const std::string& w) {
  std::string sum = "0";
  for (const char* at : {".s0", ".s1", ".s2", ".s3"}) {
    sum += "+(int)" + v + at + "*(int)" + w + at;
  }
  return " -D" + function + "(v,w)=(" + sum + ")";
}

void CheckDotProducts(const opencl::Device& device, const std::string& options) {
  const auto backend = MakeApart(device, Storage::kFloat32);
  backend->SetOptions(options);
  INFO(options);
  for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
    for (const int depth : {5, 16}) {
      CheckWindow({3, 3, depth, 13, 1, 1, false, dtype}, backend);
      CheckWindow({3, 5, depth, 8, 3, 1, false, dtype}, backend);
    }
  }
}

TEST_CASE("opencl kernels: dot products of bytes", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  CheckDotProducts(device,
                   " -DTW_DOT" + PlainDot("dot_4x8packed_ss_int", "as_char4(v)", "as_char4(w)"));
}

// (oclgrind's compiler declares all of Arm's functions.)
TEST_CASE("opencl: dot products of bytes by Arm's extension", "[opencl]") {
  TW_NEED_DEVICE(device);
  CheckDotProducts(device, " -DTW_ARM_DOT" + PlainDot("arm_dot", "(v)", "(w)"));
}

// A device computes integers as the CPU does, or not at all where the caller wants the same.
TEST_CASE("opencl: the same integers or none", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto backend = MakeApart(device, Storage::kFloat32);
  int n_cases = 0, n_on_device = 0;
  ForEachCase(
      [](const OpCase& op_case) {
        return OpensFirstSubgraph(op_case) && op_case.file.rfind("quant_", 0) == 0;
      },
      [&](const OpCase& op_case) {
        SessionOptions options = OneThreadOn(backend);
        options.same_integers = true;
        CaseRunner on_device(options), cpu(OneThreadOn(nullptr));
        for (CaseRunner* runner : {&on_device, &cpu}) {
          REQUIRE(runner->Open(op_case).ToString() == "OK");
          REQUIRE(runner->Write(op_case).ok());
          REQUIRE(runner->session().Run().ToString() == "OK");
        }
        const Session& session = on_device.session();
        for (const Step& step : session.plan().steps) n_on_device += step.program != nullptr;
        for (int i = 0; i < session.n_outputs(); ++i) {
          const TensorView& got = session.output(i);
          if (got.dtype == DType::kFloat32) continue;
          CHECK(std::memcmp(got.data, cpu.session().output(i).data, got.bytes()) == 0);
        }
        ++n_cases;
      });
  CHECK(n_cases > 190);
  CHECK(n_on_device > 70);
}

// x + a row, looked up, pooled twice, averaged.
Bytes BuildChain(DType dtype) {
  ModelSpec spec;
  const bool is_unsigned = dtype == DType::kUInt8;
  const auto tensor = [&](const char* name, std::vector<int32_t> shape, float scale, int zero) {
    const int t = spec.AddTensor(name, dtype, std::move(shape));
    TensorSpec& it = spec.main().tensors[static_cast<size_t>(t)];
    it.scales = {scale};
    it.zero_points = {zero + (is_unsigned ? 128 : 0)};
    return t;
  };
  const int x = tensor("x", {1, 5, 6, 3}, 0.05f, -11);
  spec.main().inputs.push_back(x);
  const int row = spec.AddConstant("row", dtype, {3}, {17, 90, 200});
  TensorSpec& of_row = spec.main().tensors[static_cast<size_t>(row)];
  of_row.scales = {0.03f};
  of_row.zero_points = {is_unsigned ? 130 : 3};
  const int sum = tensor("sum", {1, 5, 6, 3}, 0.07f, 4);
  const int difference = tensor("difference", {1, 5, 6, 3}, 0.09f, -4);
  const int product = tensor("product", {1, 5, 6, 3}, 0.21f, 1);
  const int sigmoid = tensor("sigmoid", {1, 5, 6, 3}, 1.0f / 256.0f, -128);
  const int largest = tensor("largest", {1, 3, 3, 3}, 1.0f / 256.0f, -128);
  const int average = tensor("average", {1, 3, 3, 3}, 1.0f / 256.0f, -128);
  const int mean = tensor("mean", {1, 3}, 0.003f, -120);
  const int axes =
      spec.AddConstant("axes", DType::kInt32, {2}, ToBytes(std::vector<int32_t>{1, 2}));
  const auto pool = [] { return OptionsSpec(kPool2dOptions).Byte(0, 0).Int(3, 3).Int(4, 3); };
  spec.AddOp(OpCode::kAdd, {x, row}, {sum}, OptionsSpec(kAddOptions).Byte(0, 3));
  spec.AddOp(OpCode::kSub, {row, x}, {difference});
  spec.AddOp(OpCode::kMul, {sum, difference}, {product}, OptionsSpec(kMulOptions));
  spec.AddOp(OpCode::kLogistic, {product}, {sigmoid});
  spec.AddOp(OpCode::kMaxPool2d, {sigmoid}, {largest}, pool().Int(1, 2).Int(2, 2));
  spec.AddOp(OpCode::kAveragePool2d, {largest}, {average}, pool().Int(1, 1).Int(2, 1));
  spec.AddOp(OpCode::kMean, {average, axes}, {mean}, OptionsSpec(kReducerOptions));
  spec.main().outputs = {sum, difference, product, sigmoid, largest, average, mean};
  return BuildModel(spec);
}

// Pools and reductions of an image whose steps work-groups share.
Bytes BuildFolds(DType dtype) {
  ModelSpec spec;
  const auto tensor = [&](const char* name, std::vector<int32_t> shape, float scale) {
    const int t = spec.AddTensor(name, dtype, std::move(shape));
    TensorSpec& it = spec.main().tensors[static_cast<size_t>(t)];
    it.scales = {scale};
    it.zero_points = {dtype == DType::kUInt8 ? 125 : -3};
    spec.main().outputs.push_back(t);
    return t;
  };
  const int x = tensor("x", {2, 9, 8, 5}, 0.05f);
  spec.main().inputs.push_back(x);
  spec.main().outputs.clear();
  const int axes =
      spec.AddConstant("axes", DType::kInt32, {2}, ToBytes(std::vector<int32_t>{1, 2}));
  const auto pool = [] {
    return OptionsSpec(kPool2dOptions).Int(1, 3).Int(2, 3).Int(3, 8).Int(4, 9);
  };
  spec.AddOp(OpCode::kAveragePool2d, {x}, {tensor("average", {2, 3, 3, 5}, 0.05f)}, pool());
  spec.AddOp(OpCode::kMaxPool2d, {x}, {tensor("largest", {2, 3, 3, 5}, 0.05f)}, pool());
  const auto reduce = [&](OpCode code, const char* name, float scale) {
    spec.AddOp(code, {x, axes}, {tensor(name, {2, 5}, scale)}, OptionsSpec(kReducerOptions));
  };
  reduce(OpCode::kMean, "mean", 0.01f);
  reduce(OpCode::kSum, "sum", 0.4f);
  reduce(OpCode::kReduceMax, "most", 0.05f);
  reduce(OpCode::kReduceMin, "least", 0.05f);
  return BuildModel(spec);
}

TEST_CASE("opencl kernels: arithmetic, tables, pools and means of bytes",
          "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto backend = MakeApart(device, storage);
    for (const DType dtype : {DType::kInt8, DType::kUInt8}) {
      for (const bool folds : {false, true}) {
        const Bytes model = folds ? BuildFolds(dtype) : BuildChain(dtype);
        const auto on_device = Open(model.data(), model.size(), backend);
        const auto cpu = Open(model.data(), model.size(), nullptr);
        REQUIRE(on_device != nullptr);
        for (int64_t i = 0; i < cpu->input(0).shape.NumElements(); ++i) {
          const uint8_t value = static_cast<uint8_t>(i * 53 + i / 7);
          on_device->input(0).as<uint8_t>()[i] = cpu->input(0).as<uint8_t>()[i] = value;
        }
        CHECK(CheckSameBytes(on_device.get(), cpu.get()) == (folds ? 6 : 7));
      }
    }
  }
}

// float32, made bytes, padded, SOFTMAX of them, float32 again: an operator on reals between others
// on bytes.
TEST_CASE("opencl kernels: bytes become reals and bytes again", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  ModelSpec spec;
  const auto quantize = [&](int tensor, float scale, int64_t zero) {
    TensorSpec& it = spec.main().tensors[static_cast<size_t>(tensor)];
    it.scales = {scale};
    it.zero_points = {zero};
  };
  const int x = spec.AddInput("x", DType::kFloat32, {2, 3});
  const int bytes = spec.AddTensor("bytes", DType::kInt8, {2, 3});
  quantize(bytes, 0.03125f, 7);
  const int padded = spec.AddTensor("padded", DType::kInt8, {3, 5});
  quantize(padded, 0.03125f, 7);
  const int soft = spec.AddTensor("soft", DType::kInt8, {3, 5});
  quantize(soft, 1.0f / 256.0f, -128);
  const int y = spec.AddTensor("y", DType::kFloat32, {3, 5});
  const int amounts =
      spec.AddConstant("amounts", DType::kInt32, {2, 2}, ToBytes(std::vector<int32_t>{0, 1, 2, 0}));
  spec.AddOp(OpCode::kQuantize, {x}, {bytes});
  spec.AddOp(OpCode::kPad, {bytes, amounts}, {padded});
  spec.AddOp(OpCode::kSoftmax, {padded}, {soft}, OptionsSpec(kSoftmaxOptions).Float(0, 1.0f));
  spec.AddOp(OpCode::kDequantize, {soft}, {y});
  spec.main().outputs = {y, padded};
  const Bytes model = BuildModel(spec);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const auto on_device = Open(model.data(), model.size(), MakeApart(device, storage));
    const auto cpu = Open(model.data(), model.size(), nullptr);
    REQUIRE(on_device->plan().steps.size() == 1);
    const float values[] = {0.5f, -1.25f, 2.0f, 0.0f, -3.5f, 1.75f};
    for (Session* session : {on_device.get(), cpu.get()}) {
      std::memcpy(session->input(0).data, values, sizeof(values));
      REQUIRE(session->Run().ToString() == "OK");
    }
    CHECK(on_device->options().devices.size() == 1);
    for (int i = 0; i < 15; ++i) {
      CHECK(on_device->output(0).as<float>()[i] ==
            Approx(cpu->output(0).as<float>()[i]).margin(1.01 / 256.0));
      CHECK(on_device->output(1).as<int8_t>()[i] == cpu->output(1).as<int8_t>()[i]);
    }
  }
}

}  // namespace opencl_integer_test
}  // namespace test
}  // namespace topwork
