// Weights packed at plan time: by several threads, from float16 as it lies in the file, and by several
// sessions at once. Those of a single row, which the second run packs. What a resize takes.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "kernels/contract/selection.h"
#include "kernels/cpu/gemm.h"
#include "runtime/session/session.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"
#include "tests/support/resident.h"
#include "tests/support/skip.h"

namespace topwork {
namespace packing_test {
namespace {

using test::Bytes;
using test::ModelSpec;
using test::OptionsSpec;

enum class Storage { kFloat, kHalf, kInt8 };
// What else happens to the weights of the first layer.
enum class Twist { kNone, kScaled, kShown, kAdded, kSparse };

std::vector<float> Weights(int32_t n, int32_t k, bool sparse, uint32_t seed) {
  std::vector<float> weights = test::RandomFloats(static_cast<size_t>(n) * k, seed);
  for (size_t i = 0; i < weights.size(); ++i) {
    // Subnormal halves, and depths that a whole panel skips.
    if (i % 97 == 3) weights[i] *= 1e-5f;
    if (sparse && i % static_cast<size_t>(k) % 4 != 1) weights[i] = 0.0f;
    weights[i] = HalfToFloat(FloatToHalf(weights[i]));
  }
  return weights;
}

// The tensor of constant float32 weights, which the file stores so or as float16.
int AddWeights(ModelSpec* spec, Storage storage, const std::vector<int32_t>& shape,
               const std::vector<float>& values) {
  if (storage == Storage::kFloat) {
    return spec->AddConstant("weights", DType::kFloat32, shape, test::ToBytes(values));
  }
  std::vector<uint16_t> halves;
  for (float value : values) halves.push_back(FloatToHalf(value));
  const int half = spec->AddConstant("half", DType::kFloat16, shape, test::ToBytes(halves));
  const int wide = spec->AddTensor("wide", DType::kFloat32, shape);
  spec->AddOp(OpCode::kDequantize, {half}, {wide});
  return wide;
}

// CONV_2D 3x3 of 40 to 33 channels, then FULLY_CONNECTED of 1188 to 300; 1.5 MB in float32.
Bytes FloatNetwork(Storage storage, Twist twist, int32_t batch = 1) {
  ModelSpec spec;
  const int in = spec.AddInput("in", DType::kFloat32, {batch, 6, 6, 40});
  const bool sparse = twist == Twist::kSparse;
  const int filter = AddWeights(&spec, storage, {33, 3, 3, 40}, Weights(33, 360, sparse, 1));
  int image = spec.AddTensor("image", DType::kFloat32, {batch, 6, 6, 33});
  spec.AddOp(OpCode::kConv2d, {in, filter, -1}, {image},
             OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1));
  if (twist == Twist::kScaled) {
    const int scale =
        spec.AddConstant("scale", DType::kFloat32, {33}, test::ToBytes(test::RandomFloats(33, 5)));
    const int scaled = spec.AddTensor("scaled", DType::kFloat32, {batch, 6, 6, 33});
    spec.AddOp(OpCode::kMul, {image, scale}, {scaled}, OptionsSpec(test::kMulOptions));
    image = scaled;
  }
  const int weights = AddWeights(&spec, storage, {300, 1188}, Weights(300, 1188, sparse, 2));
  const int out = spec.AddTensor("out", DType::kFloat32, {batch, 300});
  spec.AddOp(OpCode::kFullyConnected, {image, weights, -1}, {out},
             OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {out};
  if (twist == Twist::kShown) spec.main().outputs.push_back(weights);
  if (twist == Twist::kAdded) {
    const int number = spec.AddInput("number", DType::kFloat32, {1});
    const int sum = spec.AddTensor("sum", DType::kFloat32, {33, 3, 3, 40});
    spec.AddOp(OpCode::kAdd, {filter, number}, {sum}, OptionsSpec(test::kAddOptions));
    spec.main().outputs.push_back(sum);
  }
  return test::BuildModel(spec);
}

// Two CONV_2D 3x3 with the same weights: the first by Winograd's transforms, which need them in
// float32, the second with a stride.
Bytes SharedNetwork(Storage storage, int32_t c) {
  ModelSpec spec;
  const int in = spec.AddInput("in", DType::kFloat32, {1, 24, 24, c});
  const int filter = AddWeights(&spec, storage, {c, 3, 3, c}, Weights(c, 9 * c, false, 3));
  const int image = spec.AddTensor("image", DType::kFloat32, {1, 24, 24, c});
  const int out = spec.AddTensor("out", DType::kFloat32, {1, 12, 12, c});
  spec.AddOp(OpCode::kConv2d, {in, filter, -1}, {image},
             OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1));
  spec.AddOp(OpCode::kConv2d, {image, filter, -1}, {out},
             OptionsSpec(test::kConv2dOptions).Int(1, 2).Int(2, 2));
  spec.main().outputs = {out};
  return test::BuildModel(spec);
}

// FULLY_CONNECTED of 1201 to 301 int8 values.
Bytes IntegerNetwork() {
  ModelSpec spec;
  const int in = spec.AddInput("in", DType::kInt8, {2, 1201});
  Bytes values(size_t{301} * 1201);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * i / 7 + i);
  const int weights = spec.AddConstant("weights", DType::kInt8, {301, 1201}, values);
  const int out = spec.AddTensor("out", DType::kInt8, {2, 301});
  for (int tensor : {in, weights, out}) {
    spec.main().tensors[static_cast<size_t>(tensor)].scales = {0.5f};
    spec.main().tensors[static_cast<size_t>(tensor)].zero_points = {0};
  }
  spec.AddOp(OpCode::kFullyConnected, {in, weights, -1}, {out},
             OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {out};
  return test::BuildModel(spec);
}

std::shared_ptr<const Model> Open(const Bytes& bytes) {
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

// The bytes of all outputs of a run.
Bytes RunOnce(Session& session) {
  for (int i = 0; i < session.n_inputs(); ++i) {
    const TensorView& input = session.input(i);
    const size_t n = static_cast<size_t>(input.shape.NumElements());
    std::memcpy(input.data, test::RandomFloats(n, 9).data(), input.bytes());
  }
  if (!session.Run().ok()) return {};
  Bytes answer;
  for (int i = 0; i < session.n_outputs(); ++i) {
    const uint8_t* data = session.output(i).as<uint8_t>();
    answer.insert(answer.end(), data, data + session.output(i).bytes());
  }
  return answer;
}

Bytes Answer(const std::shared_ptr<const Model>& model, const SessionOptions& options) {
  auto made = Session::Create(model, options);
  return made.ok() ? RunOnce(*made.value()) : Bytes();
}

// What a plan of a model of its own has packed, step by step.
std::vector<Bytes> PackedBy(ThreadPool* pool, const Bytes& bytes, const CpuKernels* cpu) {
  PlanOptions options;
  options.pool = pool;
  options.cpu = cpu;
  const auto plan = BuildPlan(Open(bytes), options);
  REQUIRE(plan.status().ToString() == "OK");
  std::vector<Bytes> packed;
  for (const Step& step : plan.value()->steps) {
    for (const auto& block : step.packed) {
      packed.emplace_back(block->as<uint8_t>(), block->as<uint8_t>() + block->size());
    }
  }
  return packed;
}

}  // namespace

TEST_CASE("packing: several threads pack the bytes that one does", "[session][sets]") {
  ThreadPool pool(3);
  for (const Bytes& bytes : {FloatNetwork(Storage::kFloat, Twist::kNone, 2),
                             FloatNetwork(Storage::kHalf, Twist::kNone, 2), IntegerNetwork()}) {
    for (const CpuKernels* cpu : test::TestedCpuKernels()) {
      INFO(cpu->isa);
      const std::vector<Bytes> alone = PackedBy(nullptr, bytes, cpu);
      REQUIRE(!alone.empty());
      CHECK(PackedBy(&pool, bytes, cpu) == alone);
    }
  }
}

// The outputs of layers whose weights share a buffer, together and each in a model of its own.
struct SharedBuffer {
  ModelSpec spec;
  Bytes weights;

  explicit SharedBuffer(Bytes bytes) : weights(std::move(bytes)) {}

  // A tensor of the first constant's buffer.
  int Add(DType type, const std::vector<int32_t>& shape, const std::vector<float>& scales = {}) {
    if (spec.buffers.size() == 1) spec.AddBuffer(weights);
    const int w = spec.AddTensor("w", type, shape);
    spec.main().tensors[static_cast<size_t>(w)].buffer = 1;
    spec.main().tensors[static_cast<size_t>(w)].scales = scales;
    return w;
  }
};

// Two int8 tensors of one buffer, with scales of their own, dequantized for a layer each.
ModelSpec TwoScales(bool first, bool second) {
  SharedBuffer shared(Bytes(32 * 48));
  for (size_t i = 0; i < shared.weights.size(); ++i)
    shared.weights[i] = static_cast<uint8_t>(37 * i);
  const int in = shared.spec.AddInput("in", DType::kFloat32, {3, 48});
  for (int k = first ? 0 : 1; k < (second ? 2 : 1); ++k) {
    const int w = shared.Add(DType::kInt8, {32, 48}, {k == 0 ? 0.01f : 0.05f});
    const int wide = shared.spec.AddTensor("wide", DType::kFloat32, {32, 48});
    shared.spec.AddOp(OpCode::kDequantize, {w}, {wide});
    const int out = shared.spec.AddTensor("out", DType::kFloat32, {3, 32});
    shared.spec.AddOp(OpCode::kFullyConnected, {in, wide, -1}, {out},
                      OptionsSpec(test::kFullyConnectedOptions));
    shared.spec.main().outputs.push_back(out);
  }
  return shared.spec;
}

// Two filters of one buffer: 64 of 32 channels, and 32 of 64.
ModelSpec TwoShapes(bool first, bool second) {
  SharedBuffer shared(test::ToBytes(Weights(64, 9 * 32, false, 3)));
  for (int k = first ? 0 : 1; k < (second ? 2 : 1); ++k) {
    const int32_t channels = k == 0 ? 32 : 64, filters = 96 - channels;
    const int in = shared.spec.AddInput("in", DType::kFloat32, {1, 24, 24, channels});
    const int w = shared.Add(DType::kFloat32, {filters, 3, 3, channels});
    const int out = shared.spec.AddTensor("out", DType::kFloat32, {1, 24, 24, filters});
    shared.spec.AddOp(OpCode::kConv2d, {in, w, -1}, {out},
                      OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1).Int(4, 1).Int(5, 1));
    shared.spec.main().outputs.push_back(out);
  }
  return shared.spec;
}

// Two IFs that call one layer with int8 weights of their own, which it dequantizes.
ModelSpec TwoCallers() {
  ModelSpec spec;
  const DType f = DType::kFloat32;
  const int p = spec.AddInput("p", DType::kBool, {}), x = spec.AddInput("x", f, {3, 48});
  const int layer = static_cast<int>(spec.subgraphs.size());
  spec.subgraphs.emplace_back();
  const int in = spec.AddInput("in", f, {3, 48}, layer);
  const int w = spec.AddInput("w", DType::kInt8, {32, 48}, layer);
  spec.subgraphs[static_cast<size_t>(layer)].tensors[static_cast<size_t>(w)].scales = {0.01f};
  const int wide = spec.AddTensor("wide", f, {32, 48}, layer);
  const int out = spec.AddTensor("out", f, {3, 32}, layer);
  spec.AddOp(OpCode::kDequantize, {w}, {wide}, {}, layer);
  spec.AddOp(OpCode::kFullyConnected, {in, wide, -1}, {out},
             OptionsSpec(test::kFullyConnectedOptions), layer);
  spec.subgraphs[static_cast<size_t>(layer)].outputs = {out};
  for (uint8_t factor : {37, 91}) {
    Bytes bytes(32 * 48);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(factor * i);
    const int weights = spec.AddConstant("weights", DType::kInt8, {32, 48}, bytes);
    spec.main().tensors[static_cast<size_t>(weights)].scales = {0.01f};
    const int y = spec.AddTensor("y", f, {3, 32});
    spec.AddOp(OpCode::kIf, {p, x, weights}, {y},
               OptionsSpec(test::kIfOptions).Int(0, layer).Int(1, layer));
    spec.main().outputs.push_back(y);
  }
  return spec;
}

TEST_CASE("packing: a layer that two operators call has the weights of each", "[session]") {
  const auto session = test::OpenSession(TwoCallers());
  test::SetInput<uint8_t>(session.get(), 0, {1});
  test::SetInput(session.get(), 1, test::RandomFloats(3 * 48, 5));
  REQUIRE(session->Run().ToString() == "OK");
  const std::vector<float> first = test::GetOutput<float>(*session, 0);
  const std::vector<float> second = test::GetOutput<float>(*session, 1);
  double sums[2] = {};  // of the first example's first output
  const std::vector<float> x = test::RandomFloats(3 * 48, 5);
  for (size_t i = 0; i < 48; ++i) {
    sums[0] += 0.01 * static_cast<int8_t>(37 * i) * x[i];
    sums[1] += 0.01 * static_cast<int8_t>(91 * i) * x[i];
  }
  CHECK(first[0] == Approx(sums[0]).margin(1e-4));
  CHECK(second[0] == Approx(sums[1]).margin(1e-4));
}

TEST_CASE("packing: tensors that share a buffer have weights of their own", "[session][sets]") {
  for (const auto make : {TwoScales, TwoShapes}) {
    for (const CpuKernels* cpu : test::TestedCpuKernels()) {
      INFO(cpu->isa);
      SessionOptions options;
      options.cpu = cpu;
      const auto both = test::OpenSession(make(true, true), options);
      const auto first = test::OpenSession(make(true, false), options);
      const auto second = test::OpenSession(make(false, true), options);
      for (Session* session : {both.get(), first.get(), second.get()}) {
        for (int i = 0; i < session->n_inputs(); ++i) {
          const auto n = static_cast<size_t>(session->input(i).shape.NumElements());
          test::SetInput(session, i, test::RandomFloats(n, static_cast<uint32_t>(n)));
        }
        REQUIRE(session->Run().ToString() == "OK");
      }
      CHECK(test::GetOutput<float>(*both, 0) == test::GetOutput<float>(*first, 0));
      CHECK(test::GetOutput<float>(*both, 1) == test::GetOutput<float>(*second, 0));
    }
  }
}

TEST_CASE("packing: float16 weights give the bits of their float32 values", "[session][sets]") {
  for (Twist twist : {Twist::kNone, Twist::kScaled, Twist::kShown, Twist::kAdded, Twist::kSparse}) {
    const auto floats = Open(FloatNetwork(Storage::kFloat, twist));
    const auto halves = Open(FloatNetwork(Storage::kHalf, twist));
    for (const CpuKernels* cpu : test::TestedCpuKernels()) {
      for (bool half_products : {false, true}) {
        INFO(cpu->isa << ", twist " << static_cast<int>(twist));
        SessionOptions options;
        options.n_threads = 2;
        options.cpu = cpu;
        options.half_products = half_products;
        const Bytes answer = Answer(floats, options);
        REQUIRE(!answer.empty());
        CHECK(Answer(halves, options) == answer);
      }
    }
  }
}

TEST_CASE("packing: float16 weights that one layer widens are there for the next",
          "[session][sets]") {
  for (const int32_t channels : {64, 128}) {  // 128: enough for several threads
    const auto floats = Open(SharedNetwork(Storage::kFloat, channels));
    const auto halves = Open(SharedNetwork(Storage::kHalf, channels));
    for (const CpuKernels* cpu : test::TestedCpuKernels()) {
      INFO(cpu->isa << ", " << channels << " channels");
      SessionOptions options;
      options.cpu = cpu;
      options.n_threads = 2;
      const auto session = Session::Create(halves, options);
      REQUIRE(session.ok());
      if (cpu->winograd != nullptr) {
        CHECK(std::string(session.value()->plan().steps[0].variant).find("winograd") == 0);
      }
      const Bytes answer = Answer(floats, options);
      REQUIRE(!answer.empty());
      CHECK(Answer(halves, options) == answer);
    }
  }
}

TEST_CASE("packing: sessions made at once share what is packed once", "[session]") {
  const auto model = Open(FloatNetwork(Storage::kHalf, Twist::kNone));
  SessionOptions options;
  options.n_threads = 2;
  auto kept = Session::Create(model, options);
  REQUIRE(kept.ok());
  const size_t packed_bytes = kept.value()->plan().packed_bytes;
  const Bytes wanted = Answer(model, options);
  kept.value().reset();
  CHECK(model->pack_cache().bytes() == 0);
  std::vector<Bytes> answers(4);
  std::vector<std::unique_ptr<Session>> sessions(answers.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      auto session = Session::Create(model, options);
      if (session.ok()) sessions[i] = std::move(session.value());
      answers[i] = Answer(model, options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Bytes& answer : answers) CHECK(answer == wanted);
  CHECK(model->pack_cache().bytes() == packed_bytes);
}

// Sanitizers bring their own malloc, which does not tell.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TW_OTHER_MALLOC 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_OTHER_MALLOC 1
#endif

#if defined(__x86_64__) && !defined(TW_OTHER_MALLOC)  // kPacksLate
// What the process has taken from malloc; 0: not known.
size_t HeapBytes() {
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
#endif
  return 0;
}

// The convolution has other weights for 16 images than for two, the large layer has not.
TEST_CASE("packing: a resized session takes memory for new weights alone", "[session]") {
  if (HeapBytes() == 0) TW_SKIP("the C library does not tell what malloc gave");
  const Bytes bytes = FloatNetwork(Storage::kFloat, Twist::kNone, 2);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true).value();
  SessionOptions options;
  options.n_threads = 1;
  const auto session = std::move(Session::Create(model, options).value());
  const size_t large = 1188 * 300 * sizeof(float);
  REQUIRE(session->plan().packed_bytes > large);
  const size_t before = HeapBytes() - session->memory_bytes();
  REQUIRE(session->ResizeInput(0, {16, 6, 6, 40}).ok());
  REQUIRE(session->Prepare().ToString() == "OK");
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(HeapBytes() - session->memory_bytes() < before + large);
}
#endif

TEST_CASE("packing: neither a plan nor a resize leaves pages of the file in memory", "[session]") {
  const test::EmbeddedFile* const network =
      test::FindEmbedded("models/zoo/efficientnet_lite0_fp16.tflite");
  REQUIRE(network != nullptr);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file != nullptr);
  REQUIRE(std::fwrite(network->data, 1, network->size, file.get()) == network->size);
  REQUIRE(std::fflush(file.get()) == 0);
  const auto model = Model::OpenFd(fileno(file.get()), 0, -1).value();
  const auto kb = [&] { return test::ResidentKb(model->bytes().data()); };
  const int read = kb();
  if (read <= 0) TW_SKIP("/proc/self/smaps does not tell what is in memory");
  const auto session = test::OpenSession(model);
  CHECK(kb() <= 128);
  for (const int batch : {2, 1}) {
    REQUIRE(session->ResizeInput(0, {batch, 224, 224, 3}).ok());
    REQUIRE(session->Prepare().ToString() == "OK");
    CHECK(kb() <= 128);
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(kb() <= 512);
  }
}

#if defined(__x86_64__)  // kPacksLate
TEST_CASE("packing: the second run packs the weights of a single row", "[session][sets]") {
  const Bytes bytes = FloatNetwork(Storage::kFloat, Twist::kNone);
  const std::vector<float> w = Weights(300, 1188, false, 2);
  bool is_there = false;
  for (const CpuKernels* cpu : test::TestedCpuKernels()) {
    const GemmKernels& gemm = *cpu->gemm;
    if (!kPacksLate || gemm.of_rows == nullptr) continue;
    is_there = true;
    INFO(cpu->isa);
    GemmWeights weights;
    weights.data = w.data();
    weights.n = 300;
    weights.k = weights.depth[2] = weights.stride_n = 1188;
    std::vector<float> packed(static_cast<size_t>(gemm.packed_size(300, 1188)));
    gemm.pack(weights, 0, gemm.n_panels(300), packed.data());
    SessionOptions options;
    options.n_threads = 2;
    options.cpu = cpu;
    const auto model = Open(bytes);
    const auto made = Session::Create(model, options);
    REQUIRE(made.ok());
    Session& session = *made.value();
    const Buffer& place = *session.plan().steps.back().packed.front();
    REQUIRE(place.size() == packed.size() * sizeof(float));
    const auto is_packed = [&] {
      return std::memcmp(place.data(), packed.data(), place.size()) == 0;
    };
    std::memset(const_cast<uint8_t*>(place.as<uint8_t>()), 1, place.size());
    const Bytes answer = RunOnce(session);
    REQUIRE(!answer.empty());
    CHECK_FALSE(is_packed());
    CHECK(RunOnce(session) == answer);
    CHECK(is_packed());
    CHECK(RunOnce(session) == answer);
    CHECK(Answer(model, options) == answer);  // another session takes what is there
  }
  if (!is_there) TW_SKIP("no instruction set of this build packs late");
}
#endif

TEST_CASE("packing: sessions that run at once share weights packed late", "[session]") {
  const auto model = Open(FloatNetwork(Storage::kFloat, Twist::kNone));
  SessionOptions options;
  const Bytes wanted = Answer(model, options);
  REQUIRE(!wanted.empty());
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::unique_ptr<Session>> sessions;
    for (int i = 0; i < 4; ++i) {
      auto session = Session::Create(model, options);
      REQUIRE(session.ok());
      sessions.push_back(std::move(session.value()));
    }
    std::vector<std::vector<Bytes>> answers(sessions.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < sessions.size(); ++i) {
      threads.emplace_back([&, i] {
        for (int run = 0; run < 4; ++run) answers[i].push_back(RunOnce(*sessions[i]));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& of_session : answers) {
      for (const Bytes& answer : of_session) CHECK(answer == wanted);
    }
    CHECK(model->pack_cache().bytes() == sessions[0]->plan().packed_bytes);
  }
}

}  // namespace packing_test
}  // namespace topwork
