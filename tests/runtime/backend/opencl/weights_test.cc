// Sessions whose weights were arranged by an earlier start: they arrange nothing and give the same
// bits, and whatever happened to the file meanwhile, the answer is right.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <thread>

#include "ports/port.h"
#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/base/hash64.h"
#include "runtime/plan/plan.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/model_builder.h"
#include "tests/support/net.h"
#include "tests/support/scripted_tuner.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace weights_test {

using opencl::Context;

// Convolutions by Winograd and directly, with groups of taps, by row and depth, and products: 16x16
// images of 64 channels.
test::Bytes MakeNet(std::vector<float>* input) {
  test::Net net;
  int x = net.Conv(net.Input({1, 16, 16, 64}), 64, 3);
  x = net.Conv(net.Depthwise(x, 3), 66, 1);
  x = net.Conv(net.Depthwise(x, 5, 0, 2), 40, 3, 0, 2);
  const int filter = net.Constant({24, 3, 3, 40}), shape = net.Integers({1, 8, 8, 24});
  x = net.Op(OpCode::kTransposeConv, {shape, filter, x}, {1, 8, 8, 24},
             test::OptionsSpec(test::kTransposeConvOptions).Int(1, 2).Int(2, 2));
  x = net.Conv(x, 70, 5);
  const test::Bytes bytes = net.Build(net.Conv(net.GlobalPool(x), 100, 1));
  *input = net.inputs()[0];
  return bytes;
}

// A process, as far as constants go.
struct Start {
  std::shared_ptr<Context> context;
  std::vector<float> answer;

  Start(const opencl::Device& device, const std::string& folder, const test::Bytes& model,
        const std::vector<float>& input, Storage storage = Storage::kFloat32,
        uint64_t limit = opencl::WeightCache::kDefaultLimitBytes) {
    opencl::ContextOptions options;
    options.cache_folder = folder;
    options.weights_limit_bytes = limit;
    auto made = Context::Create(device, options);
    REQUIRE(made.status().ToString() == "OK");
    context = made.value();
    answer = test::RunModel(model, {input}, opencl::MakeDevice(context, storage));
  }
  size_t arranged() const { return context->memory_counts().arranged_bytes; }
  size_t kept() const { return context->memory_counts().kept_bytes; }
};

std::vector<std::string> WeightFiles(const std::string& folder) {
  std::vector<port::FolderEntry> files;
  (void)port::ListFiles((folder + "/opencl").c_str(), &files);
  std::vector<std::string> paths;
  for (const port::FolderEntry& file : files) {
    if (file.name.find(".weights") != std::string::npos) {
      paths.push_back(folder + "/opencl/" + file.name);
    }
  }
  return paths;
}

TEST_CASE("opencl weights: a second start arranges nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  std::vector<float> input;
  const test::Bytes model = MakeNet(&input);
  size_t n_files = 0;
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    const Start without(device, "off", model, input, storage);
    CHECK(without.arranged() + without.kept() == 0);
    const Start first(device, folder / "c", model, input, storage);
    CHECK(first.kept() == 0);
    CHECK(first.arranged() > 100000);
    CHECK(first.answer == without.answer);
    CHECK(WeightFiles(folder / "c").size() == ++n_files);
    const Start second(device, folder / "c", model, input, storage);
    CHECK(second.arranged() == 0);
    CHECK(second.kept() == first.arranged());
    CHECK(second.answer == without.answer);
    const size_t uploaded = second.context->memory_counts().uploaded_bytes;
    CHECK(uploaded == without.context->memory_counts().uploaded_bytes);
    // Another session of the process shares the constants, as does one that arranges its own.
    const auto device_again = opencl::MakeDevice(second.context, storage);
    for (const std::string& path : WeightFiles(folder / "c")) {
      auto opened = Model::OpenMemory(model.data(), model.size(), true);
      SessionOptions options;
      options.devices = {device_again};
      const auto held = Session::Create(opened.value(), options);
      REQUIRE(held.ok());
      const size_t before = second.context->memory_counts().uploaded_bytes;
      CHECK(test::RunModel(model, {input}, device_again) == without.answer);
      test::WriteWhole(path, "gone");
      CHECK(test::RunModel(model, {input}, device_again) == without.answer);
      CHECK(second.context->memory_counts().uploaded_bytes == before);
      break;
    }
  }
}

TEST_CASE("opencl weights: a changed model and a damaged file are noticed", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  std::vector<float> input;
  const test::Bytes model = MakeNet(&input);
  const Start first(device, folder / "c", model, input);
  REQUIRE(WeightFiles(folder / "c").size() == 1);
  const std::string path = WeightFiles(folder / "c")[0], good = test::ReadWhole(path);
  const auto repairs = [&](const std::string& bad) {
    test::WriteWhole(path, bad);
    const Start start(device, folder / "c", model, input);
    CHECK(start.kept() == 0);
    CHECK(start.arranged() == first.arranged());
    CHECK(start.answer == first.answer);
    const Start next(device, folder / "c", model, input);
    CHECK(next.arranged() == 0);
    CHECK(next.answer == first.answer);
  };
  for (const size_t at : {size_t{100}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    repairs(bad);
  }
  repairs(good.substr(0, good.size() / 2));
  repairs("");
  // Weights of the same sizes, of which one differs.
  test::Bytes changed = model;
  changed[changed.size() / 8 * 4 + 3] ^= 0x80;  // the sign of a weight
  const Start expected(device, "off", changed, input);
  REQUIRE(expected.answer != first.answer);
  const Start other(device, folder / "c", changed, input);
  CHECK(other.kept() == 0);
  CHECK(other.answer == expected.answer);
  CHECK(Start(device, folder / "c", model, input).answer == first.answer);
}

TEST_CASE("opencl weights: where nothing can be kept, they are arranged", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  std::vector<float> input;
  const test::Bytes model = MakeNet(&input);
  const Start without(device, "off", model, input);
  for (int i = 0; i < 2; ++i) {
    const Start too_small(device, folder / "small", model, input, Storage::kFloat32, 100000);
    CHECK(too_small.kept() == 0);
    CHECK(too_small.answer == without.answer);
    test::WriteWhole(folder / "file", "a file");
    const Start no_folder(device, folder / "file/c", model, input);
    CHECK(no_folder.kept() == 0);
    CHECK(no_folder.answer == without.answer);
    CHECK(WeightFiles(folder / "small").empty());
  }
}

TEST_CASE("opencl weights: two sessions at once", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  std::vector<float> input;
  const test::Bytes model = MakeNet(&input);
  const Start without(device, "off", model, input);
  opencl::ContextOptions options;
  options.cache_folder = folder / "c";
  for (const bool shares_context : {false, true}) {
    std::shared_ptr<Context> contexts[2];
    for (auto& context : contexts) context = Context::Create(device, options).value();
    if (shares_context) contexts[1] = contexts[0];
    bool same[2] = {};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        const auto opened = Model::OpenMemory(model.data(), model.size(), true);
        SessionOptions session_options;
        session_options.devices = {opencl::MakeDevice(contexts[t], Storage::kFloat32)};
        for (int i = 0; i < 3; ++i) {
          const auto session = Session::Create(opened.value(), session_options);
          if (!session.ok()) return;
          std::memcpy(session.value()->input(0).data, input.data(), input.size() * sizeof(float));
          if (!session.value()->Run().ok()) return;
          same[t] = std::memcmp(session.value()->output(0).data, without.answer.data(),
                                without.answer.size() * sizeof(float)) == 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(same[0]);
    CHECK(same[1]);
    CHECK(Start(device, folder / "c", model, input).arranged() == 0);
    if (!shares_context) port::RemoveFile(WeightFiles(folder / "c")[0].c_str());
  }
}

// Keeps weights, in its own way.
class Keeper final : public test::FakeGpu {
 public:
  bool KeepsWeights() const override { return true; }
  std::shared_ptr<GpuWeights> FindWeights(const GpuProgram& trial,
                                          const std::vector<const TensorView*>&) const override {
    REQUIRE(trial.is_trial);
    ++n_asked;
    auto weights = std::make_shared<GpuWeights>();
    for (const std::vector<uint8_t>& bytes : kept) weights->constants.push_back({bytes, 1});
    return weights;
  }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    arranged.clear();
    n_kept = 0;
    for (const GpuBlock& block : program.blocks) {
      if (block.is_arranged) arranged.push_back(block.constant);
      n_kept += block.kept.empty() ? 0 : 1;
    }
    has_weights = program.weights != nullptr;
    return FakeGpu::Load(std::move(program));
  }
  GpuTuner* tuner() const override { return tuner_; }

  GpuTuner* tuner_ = nullptr;
  std::vector<std::vector<uint8_t>> kept;
  mutable std::vector<std::vector<uint8_t>> arranged;
  mutable size_t n_kept = 0, n_asked = 0;
  mutable bool has_weights = false;
};

void Plan(const test::Bytes& bytes, const Keeper& device) {
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  PlanOptions options;
  options.devices = {test::Borrow<Device>(device)};
  REQUIRE(BuildPlan(model.value(), options).status().ToString() == "OK");
}

// Another variant at each question: the table changes while it is read.
class FickleTuner final : public GpuTuner {
 public:
  std::string Best(const std::string&) const override {
    return n_asked++ % 2 == 0 ? "conv_2d_4x8" : "conv_2d_4x4";
  }
  bool IsMeasured(const std::string&, const std::string&) const override { return true; }
  bool HasBlas() override { return false; }
  double BlasCrossover() const override { return 1e30; }
  bool HasTime() override { return false; }
  Result<int64_t> MeasureNanos(GpuProgram) override { return Unsupported("no time"); }
  void Keep(const std::string&, const std::string&, int64_t) override {}
  mutable int n_asked = 0;
};

TEST_CASE("opencl weights: what was kept is used whole or not at all", "[backend]") {
  std::vector<float> input;
  const test::Bytes model = MakeNet(&input);
  Keeper device;
  Plan(model, device);
  CHECK(device.n_asked == 1);
  const std::vector<std::vector<uint8_t>> arranged = device.arranged;
  REQUIRE(arranged.size() >= 7);
  CHECK(device.has_weights);
  device.kept = arranged;
  Plan(model, device);
  CHECK(device.arranged.empty());
  CHECK(device.n_kept == arranged.size());
  // Too few, too many, one of another size: all are arranged, and a device is not asked to keep them.
  for (const auto& change : std::vector<std::function<void(Keeper*)>>{
           [](Keeper* k) { k->kept.pop_back(); }, [](Keeper* k) { k->kept.push_back(k->kept[0]); },
           [](Keeper* k) { k->kept[3].resize(5000); }}) {
    device.kept = arranged;
    change(&device);
    Plan(model, device);
    CHECK(device.n_kept == 0);
    CHECK(!device.has_weights);
  }
}

TEST_CASE("opencl weights: not those of another choice of kernels", "[backend]") {
  test::Net net;
  const test::Bytes model = net.Build(net.Conv(net.Input({1, 64, 64, 16}), 64, 3, 0, 2));
  Keeper device;
  FickleTuner tuner;
  device.tuner_ = &tuner;
  Plan(model, device);
  REQUIRE(tuner.n_asked > 2);
  CHECK(!device.has_weights);
}

// One operator whose filter has a small integer where output, tap and input together are a multiple of
// nine: Winograd's sums have one term then, the same on every processor.
struct OneOp {
  const char* name;
  OpCode code;
  std::vector<int32_t> input, filter, output;
  test::OptionsSpec options;
  uint64_t hash;  // of all that is arranged
};

test::Bytes Build(const OneOp& op, DType dtype) {
  test::ModelSpec spec;
  const std::vector<int32_t>& shape = op.filter;
  const int64_t depth = shape.back(), taps = shape.size() == 4 ? shape[1] * shape[2] : 1;
  std::vector<float> values;
  std::vector<int8_t> bytes;
  for (int64_t i = 0; i < depth * taps * shape[0]; ++i) {
    const int64_t tap = i / depth % taps, outer = i / depth / taps;
    const bool is_set = taps == 1 || (i % depth + tap + outer) % 9 == 0;
    values.push_back(is_set ? static_cast<float>(i % 31 - 15) : 0.0f);
    bytes.push_back(static_cast<int8_t>(values.back()));
  }
  const auto data = dtype == DType::kInt8 ? test::ToBytes(bytes) : test::ToBytes(values);
  std::vector<int32_t> inputs = {spec.AddInput("x", dtype, op.input),
                                 spec.AddConstant("w", dtype, shape, data)};
  if (op.code == OpCode::kTransposeConv) {
    inputs = {spec.AddConstant("s", DType::kInt32, {4}, test::ToBytes(op.output)), inputs[1],
              inputs[0]};
  }
  const int y = spec.AddTensor("y", dtype, op.output);
  for (test::TensorSpec& tensor : spec.main().tensors) {
    if (dtype != DType::kInt8) continue;
    tensor.scales = {0.5f};
    tensor.zero_points = {0};
  }
  spec.AddOp(op.code, inputs, {y}, op.options);
  spec.main().outputs = {y};
  return test::BuildModel(spec);
}

uint64_t HashOf(const std::vector<std::vector<uint8_t>>& arranged) {
  uint64_t hash = 0;
  for (const std::vector<uint8_t>& bytes : arranged)
    hash = Hash64(bytes.data(), bytes.size(), hash);
  return hash;
}

test::OptionsSpec ConvOptions(int stride) {
  return test::OptionsSpec(test::kConv2dOptions).Int(1, stride).Int(2, stride);
}
test::OptionsSpec DepthwiseOptions() {
  return test::OptionsSpec(test::kDepthwiseConv2dOptions).Int(1, 1).Int(2, 1).Int(3, 1);
}

std::vector<OneOp> FloatOps() {
  using test::OptionsSpec;
  return {
      {"winograd",
       OpCode::kConv2d,
       {1, 64, 64, 64},
       {66, 3, 3, 64},
       {1, 64, 64, 66},
       ConvOptions(1),
       0x8e7259000da11492},
      {"direct",
       OpCode::kConv2d,
       {1, 16, 16, 30},
       {30, 3, 3, 30},
       {1, 8, 8, 30},
       ConvOptions(2),
       0x758d1ecd170c8029},
      {"groups",
       OpCode::kConv2d,
       {1, 16, 16, 60},
       {60, 3, 3, 30},
       {1, 8, 8, 60},
       ConvOptions(2),
       0x9f960cd2600100f5},
      {"depthwise",
       OpCode::kDepthwiseConv2d,
       {1, 9, 9, 402},
       {1, 3, 3, 402},
       {1, 9, 9, 402},
       DepthwiseOptions(),
       0x702fdc08c080b4ff},
      {"transposed",
       OpCode::kTransposeConv,
       {1, 8, 8, 30},
       {42, 3, 3, 30},
       {1, 16, 16, 42},
       OptionsSpec(test::kTransposeConvOptions).Int(1, 2).Int(2, 2),
       0x7af8a31322381527},
      {"product",
       OpCode::kFullyConnected,
       {40, 50},
       {70, 50},
       {40, 70},
       OptionsSpec(test::kFullyConnectedOptions),
       0x56fa376344ce2ae9},
  };
}

std::vector<OneOp> ByteOps() {
  return {
      {"conv",
       OpCode::kConv2d,
       {1, 16, 16, 30},
       {30, 3, 3, 30},
       {1, 8, 8, 30},
       ConvOptions(2),
       0x58b66cc5e72f4e},
      {"depthwise",
       OpCode::kDepthwiseConv2d,
       {1, 9, 9, 402},
       {1, 3, 3, 402},
       {1, 9, 9, 402},
       DepthwiseOptions(),
       0xfd1617373b68de48},
      {"product",
       OpCode::kFullyConnected,
       {40, 50},
       {90, 50},
       {40, 90},
       test::OptionsSpec(test::kFullyConnectedOptions),
       0x2a9951f4f8e9b8d7},
  };
}

// Files of another arrangement must not be read: where this fails on purpose, raise kArrangement in
// weight_cache.cc and write the new numbers here.
TEST_CASE("opencl weights: arranged as their version says", "[backend]") {
  Keeper device;
  test::ScriptedTuner tuner;
  tuner.forced = "winograd_4x4";  // where it can be
  device.tuner_ = &tuner;
  const auto check = [&](const OneOp& op, DType dtype) {
    INFO(op.name);
    Plan(Build(op, dtype), device);
    REQUIRE(device.arranged.size() == 1);
    CHECK(HashOf(device.arranged) == op.hash);
  };
  Plan(Build(FloatOps()[0], DType::kFloat32), device);
  CHECK(device.arranged[0].size() == 36 * 64 * 68 * sizeof(float));
  for (const OneOp& op : FloatOps()) check(op, DType::kFloat32);
  for (const OneOp& op : ByteOps()) check(op, DType::kInt8);
}

}  // namespace weights_test
}  // namespace topwork
