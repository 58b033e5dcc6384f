// CONV_2D and DEPTHWISE_CONV_2D on the device beside the CPU's, with every kernel that they have:
// odd sizes, strides, dilations, groups, residuals, both storages.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/net.h"
#include "tests/support/random_floats.h"
#include "tests/support/scripted_tuner.h"

namespace topwork {
namespace opencl_conv_test {

using test::ApartDevice;

enum class Pad : int8_t { kSame = 0, kValid = 1 };

struct Case {
  int batch, height, width, channels;
  int filter, outputs;
  int stride = 1, dilation = 1;
  Pad pad = Pad::kSame;
  Activation activation = Activation::kNone;
  bool depthwise = false, has_bias = true, has_residual = false;
  int groups = 1;
};

// Values that half storage holds exactly.
std::vector<float> Exact(size_t n, uint32_t seed) {
  std::vector<float> values = test::RandomFloats(n, seed);
  for (float& value : values) value = HalfToFloat(FloatToHalf(value));
  return values;
}

size_t Product(const std::vector<int32_t>& shape) {
  size_t n = 1;
  for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
  return n;
}

int OutSize(const Case& c, int in) {
  const int reach = (c.filter - 1) * c.dilation + 1;
  const int n = c.pad == Pad::kSame ? in : in - reach + 1;
  return (n + c.stride - 1) / c.stride;
}

struct Model {
  test::Bytes bytes;
  std::vector<std::vector<float>> inputs;
};

Model MakeModel(const Case& c) {
  const std::vector<int32_t> in = {c.batch, c.height, c.width, c.channels};
  const std::vector<int32_t> out = {c.batch, OutSize(c, c.height), OutSize(c, c.width), c.outputs};
  const std::vector<int32_t> filter =
      c.depthwise ? std::vector<int32_t>{1, c.filter, c.filter, c.outputs}
                  : std::vector<int32_t>{c.outputs, c.filter, c.filter, c.channels / c.groups};
  const auto constant = [](test::ModelSpec* spec, const std::vector<int32_t>& shape,
                           uint32_t seed) {
    return spec->AddConstant("constant", DType::kFloat32, shape,
                             test::ToBytes(Exact(Product(shape), seed)));
  };
  test::ModelSpec spec;
  Model model;
  model.inputs.push_back(Exact(Product(in), 1));
  std::vector<int32_t> inputs = {spec.AddInput("input", DType::kFloat32, in)};
  inputs.push_back(constant(&spec, filter, 2));
  if (c.has_bias) inputs.push_back(constant(&spec, {c.outputs}, 3));
  test::OptionsSpec options(c.depthwise ? test::kDepthwiseConv2dOptions : test::kConv2dOptions);
  options.Byte(0, static_cast<int8_t>(c.pad)).Int(1, c.stride).Int(2, c.stride);
  int field = 3;
  if (c.depthwise) options.Int(field++, c.outputs / c.channels);
  options.Byte(field, c.has_residual ? int8_t{0} : static_cast<int8_t>(c.activation));
  options.Int(field + 1, c.dilation).Int(field + 2, c.dilation);
  int result = spec.AddTensor("conv", DType::kFloat32, out);
  spec.AddOp(c.depthwise ? OpCode::kDepthwiseConv2d : OpCode::kConv2d, inputs, {result}, options);
  if (c.has_residual) {
    model.inputs.push_back(Exact(Product(out), 4));
    const int residual = spec.AddInput("residual", DType::kFloat32, out);
    const int sum = spec.AddTensor("sum", DType::kFloat32, out);
    spec.AddOp(OpCode::kAdd, {result, residual}, {sum},
               test::OptionsSpec(test::kAddOptions).Byte(0, static_cast<int8_t>(c.activation)));
    result = sum;
  }
  spec.main().outputs = {result};
  model.bytes = test::BuildModel(spec);
  return model;
}

// The kernels that ran; answers within 1e-5 (half: 2e-3) of the output's largest value.
std::set<std::string> CheckCase(const Case& c, const std::string& variant, Storage storage,
                                const std::shared_ptr<opencl::Context>& context,
                                bool half_products = false, const char* family = "") {
  const Model model = MakeModel(c);
  const std::vector<float> expected = test::RunModel(model.bytes, model.inputs, nullptr);
  test::ScriptedTuner tuner;
  tuner.forced = variant;
  const auto backend = std::make_shared<ApartDevice>(context, storage);
  backend->SetTuner(&tuner);
  backend->SetFamily(family);
  if (half_products) backend->EmulateHalfProducts();
  const std::vector<float> got = test::RunModel(model.bytes, model.inputs, backend);
  INFO(variant << " " << c.batch << " x " << c.height << " x " << c.width << " x " << c.channels
               << " to " << c.outputs << ", " << c.filter << " taps, stride " << c.stride
               << (storage == Storage::kFloat16 ? ", half" : ""));
  CHECK(test::WorstError(got, expected) <= (storage == Storage::kFloat32 ? 1e-5f : 2e-3f));
  return backend->entries();
}

// The first case in both storages, the others in float32: drivers compile for long.
void CheckAll(const std::vector<Case>& cases, std::initializer_list<const char*> variants,
              const std::shared_ptr<opencl::Context>& context) {
  for (const char* variant : variants) {
    const std::set<std::string> entries = {variant};
    for (const Case& c : cases) CHECK(CheckCase(c, variant, Storage::kFloat32, context) == entries);
    CHECK(CheckCase(cases.front(), variant, Storage::kFloat16, context) == entries);
  }
}

std::shared_ptr<opencl::Context> MakeContext(const opencl::Device& device) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  return context.value();
}

Case Conv(int batch, int height, int width, int channels, int filter, int outputs) {
  Case c{};
  c.batch = batch;
  c.height = height;
  c.width = width;
  c.channels = channels;
  c.filter = filter;
  c.outputs = outputs;
  return c;
}

template <typename F>
Case With(Case c, F f) {
  f(c);
  return c;
}

TEST_CASE("opencl kernels: conv_2d in blocks of every size", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const Case valid = With(Conv(2, 7, 9, 5, 3, 9), [](Case& c) {
    c.pad = Pad::kValid;
    c.activation = Activation::kRelu6;
  });
  const Case strided = With(Conv(1, 9, 7, 4, 5, 4), [](Case& c) { c.stride = 2; });
  const Case dilated = With(Conv(1, 8, 6, 7, 3, 10), [](Case& c) {
    c.dilation = 2;
    c.has_residual = true;
    c.activation = Activation::kRelu;
  });
  const Case grouped = With(Conv(1, 5, 6, 6, 2, 10), [](Case& c) {
    c.groups = 2;
    c.has_bias = false;
  });
  const Case aligned = With(Conv(2, 5, 6, 8, 3, 24), [](Case& c) {
    c.groups = 2;
    c.has_residual = true;
    c.activation = Activation::kRelu;
  });
  const std::initializer_list<const char*> blocks = {"conv_2d_1x4", "conv_2d_2x4", "conv_2d_4x4",
                                                     "conv_2d_4x8"};
  const auto context = MakeContext(device);
  CheckAll({valid, Conv(1, 3, 2, 1, 3, 1), strided, dilated, grouped}, blocks, context);
  CheckAll({aligned}, blocks, context);
  const Case deep = With(aligned, [](Case& c) { c.groups = 1; });
  const Case rest = With(aligned, [](Case& c) { c.channels = 24; });
  for (const char* block : blocks) {
    for (const Case& c : {aligned, deep, rest}) {
      const std::set<std::string> entries = {block};
      CHECK(CheckCase(c, block, Storage::kFloat16, context, true) == entries);
    }
  }
}

TEST_CASE("opencl kernels: winograd tiles of 2x2 and 4x4", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  const Case valid = With(Conv(2, 6, 9, 17, 3, 18), [](Case& c) {
    c.pad = Pad::kValid;
    c.activation = Activation::kRelu;
  });
  const Case residual = With(Conv(1, 5, 7, 16, 3, 19), [](Case& c) {
    c.has_residual = true;
    c.activation = Activation::kRelu6;
  });
  const Case bare = With(Conv(1, 1, 3, 23, 3, 16), [](Case& c) { c.has_bias = false; });
  const Case aligned = With(residual, [](Case& c) { c.outputs = 20; });
  const Case fewer = With(Conv(1, 9, 11, 16, 3, 20), [](Case& c) { c.has_residual = true; });
  CHECK(CheckCase(fewer, "winograd_2x2", Storage::kFloat32, context, false, "Mali")
            .count("winograd_gemm") == 1);
  for (const std::string tile : {"2x2", "4x4"}) {
    const std::set<std::string> wanted = {"winograd_gemm", "winograd_input_" + tile,
                                          "winograd_output_" + tile};
    for (const Case& c : {valid, residual, bare, aligned}) {
      CHECK(CheckCase(c, "winograd_" + tile, Storage::kFloat32, context) == wanted);
    }
    for (const Case& c : {residual, aligned}) {
      CHECK(CheckCase(c, "winograd_" + tile, Storage::kFloat16, context) == wanted);
    }
  }
}

TEST_CASE("opencl: wide layers go through winograd by themselves", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  const auto ran = [&](const Case& c, Storage storage, const char* entry) {
    return CheckCase(c, "", storage, context).count(entry) == 1;
  };
  const Storage half = Storage::kFloat16;
  CHECK(ran(Conv(1, 9, 10, 128, 3, 129), Storage::kFloat32, "winograd_input_2x2"));
  CHECK(ran(Conv(1, 22, 23, 130, 3, 128), Storage::kFloat32, "winograd_input_4x4"));
  CHECK(ran(Conv(1, 22, 23, 130, 3, 128), half, "winograd_input_4x4"));
  CHECK(ran(Conv(1, 22, 22, 64, 3, 64), Storage::kFloat32, "conv_2d_4x4"));
}

// What the device answers whose weights may be images of so many pixels; *n_images: of how many.
std::vector<float> AnswerByImages(const Case& c, const char* variant, Storage storage,
                                  const std::shared_ptr<opencl::Context>& context, bool products,
                                  size_t pixels, int* n_images) {
  const Model model = MakeModel(c);
  test::ScriptedTuner tuner;
  tuner.forced = variant;
  const auto backend = std::make_shared<ApartDevice>(context, storage);
  backend->SetTuner(&tuner);
  backend->SetFamily("Adreno");
  backend->SetImagePixels(pixels);
  if (products) backend->EmulateHalfProducts();
  const std::vector<float> answer = test::RunModel(model.bytes, model.inputs, backend);
  *n_images = backend->n_with_images();
  return answer;
}

// Weights through an image give the bits that they give through their buffer.
void CheckImages(const Case& c, const char* variant,
                 const std::shared_ptr<opencl::Context>& context) {
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    for (const bool products : {false, true}) {
      if (products && storage == Storage::kFloat32) continue;
      INFO(variant << (storage == Storage::kFloat16 ? " half" : "") << (products ? " products" : "")
                   << " of " << c.channels << " to " << c.outputs);
      int n_images = 0;
      const auto answer = [&](size_t pixels) {
        return AnswerByImages(c, variant, storage, context, products, pixels, &n_images);
      };
      const std::vector<float> buffers = answer(0);
      CHECK(n_images == 0);
      CHECK(answer(5) == buffers);  // too few
      CHECK(n_images == 0);
      CHECK(answer(1 << 16) == buffers);
      CHECK(n_images == 1);
    }
  }
}

// Not oclgrind's [opencl-kernels]: it takes what is read from an image for uninitialised.
TEST_CASE("opencl kernels: weights as images", "[opencl][opencl-images]") {
  TW_NEED_DEVICE(device);
  if (device.info.image_pixels < 1 << 16) TW_SKIP("the device has no images over buffers");
  const auto context = MakeContext(device);
  // The image is made, not done without.
  auto weights = opencl::CreateBuffer(context->handle(), 256);
  REQUIRE(weights.ok());
  for (const bool half : {false, true}) {
    const auto image =
        opencl::CreateImage(context->handle(), weights.value(), half ? 32 : 16, half);
    CHECK(image.status().ToString() == "OK");
  }
  const std::string options = "-DTW_ROWS=4 -DTW_COLUMNS=4 -DTW_WEIGHT_IMAGE";
  CHECK(context->MakeKernel("gemm", options, "gemm_f32_4x4").status().ToString() == "OK");
  const Case residual = With(Conv(1, 5, 7, 136, 1, 20), [](Case& c) {
    c.has_residual = true;
    c.activation = Activation::kRelu;
  });
  for (const char* tile : {"gemm_4x8", "gemm_split_8x4"}) {
    for (const Case& c : {residual, Conv(1, 3, 5, 131, 1, 19)}) CheckImages(c, tile, context);
  }
  const Case grouped = With(Conv(2, 5, 6, 24, 3, 40), [](Case& c) { c.groups = 2; });
  for (const char* block : {"conv_2d_1x4", "conv_2d_4x8"}) {
    for (const Case& c : {grouped, Conv(1, 4, 5, 7, 3, 9)}) CheckImages(c, block, context);
  }
}

TEST_CASE("opencl kernels: layers that become a squeeze read buffers", "[opencl][opencl-images]") {
  TW_NEED_DEVICE(device);
  test::Net net;
  const int mean = net.GlobalPool(net.Input({1, 5, 6, 8}));
  const test::Bytes bytes = net.Build(net.Conv(net.Conv(mean, 5, 1, 1), 12, 1));
  const std::vector<std::vector<float>> inputs = {Exact(5 * 6 * 8, 1)};
  const auto backend = std::make_shared<ApartDevice>(MakeContext(device), Storage::kFloat32);
  backend->SetFamily("Adreno");
  backend->SetImagePixels(1 << 16);
  const std::vector<float> got = test::RunModel(bytes, inputs, backend);
  CHECK(test::WorstError(got, test::RunModel(bytes, inputs, nullptr)) <= 1e-5f);
  CHECK(backend->entries() == std::set<std::string>{"squeeze"});
  CHECK(backend->n_with_images() == 0);
}

TEST_CASE("opencl kernels: depthwise_conv_2d by rows and in general", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  const auto context = MakeContext(device);
  for (const int filter : {3, 5}) {
    for (const int stride : {1, 2}) {
      const std::string rows = "depthwise_rows_" + std::to_string(filter) + "x" +
                               std::to_string(filter) + "_" + std::to_string(stride);
      Case same = Conv(2, 7, 9, 6, filter, 6);
      same.depthwise = true;
      same.stride = stride;
      same.activation = Activation::kRelu6;
      Case valid = Conv(1, 8, 6, 4, filter, 4);
      valid.depthwise = true;
      valid.stride = stride;
      valid.pad = Pad::kValid;
      valid.has_residual = true;
      Case one = Conv(1, 1, 2, 1, filter, 1);
      one.depthwise = true;
      one.stride = stride;
      one.has_bias = false;
      CheckAll({same, one}, {rows.c_str()}, context);
      CheckAll({valid}, {rows.c_str()}, context);  // aligned
      CHECK(CheckCase(same, "", Storage::kFloat32, context) == std::set<std::string>{rows});
      for (const Case& c : {same, valid}) {  // of fewer pixels
        CHECK(CheckCase(c, "", Storage::kFloat32, context, false, "Mali") ==
              std::set<std::string>{rows});
      }
      CHECK(CheckCase(same, "depthwise_conv_2d", Storage::kFloat32, context) ==
            std::set<std::string>{"depthwise_conv_2d"});
    }
  }
  Case many = Conv(1, 5, 5, 3, 3, 6);  // two filters per channel
  many.depthwise = true;
  Case dilated = Conv(1, 7, 7, 3, 3, 3);
  dilated.depthwise = true;
  dilated.dilation = 2;
  CheckAll({many, dilated}, {"depthwise_conv_2d"}, context);
  for (Case aligned : {many, dilated}) {
    aligned.channels = aligned.outputs = 4;
    if (aligned.dilation == 1) aligned.channels = 2;
    CheckAll({aligned}, {"depthwise_conv_2d"}, context);
  }
}

}  // namespace opencl_conv_test
}  // namespace topwork
