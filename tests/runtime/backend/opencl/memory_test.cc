// Memory on the device: constants exist once, sessions run at the same time, limits move operators
// to the CPU, the caller's buffers are used in place, and nothing stays behind.
//
// The model is exact in float32: products of small integers. Its inner two operators stay on the
// CPU, so that the device gets two programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/backend/opencl/stream.h"
#include "runtime/base/hash64.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace opencl_memory_test {

using opencl::Context;

constexpr int kRows = 64, kWidth = 64, kLayers = 4;
constexpr size_t kWeightBytes = size_t{kWidth} * kWidth * sizeof(float);

test::Bytes MakeModelBytes() {
  test::ModelSpec spec;
  const std::vector<int32_t> shape = {kRows, kWidth};
  int at = spec.AddInput("x", DType::kFloat32, shape);
  for (int layer = 0; layer < kLayers; ++layer) {
    std::vector<float> weights(kWidth * kWidth), bias(kWidth);
    for (int i = 0; i < kWidth * kWidth; ++i) {
      const int k = (i * 7 + i / kWidth * 3 + layer * 5) % 23;
      weights[static_cast<size_t>(i)] = k == 0 ? 1.0f : k == 1 ? -1.0f : 0.0f;
    }
    for (int i = 0; i < kWidth; ++i) {
      bias[static_cast<size_t>(i)] = static_cast<float>((i + layer) % 3);
    }
    const std::string name = "layer" + std::to_string(layer);
    const int w =
        spec.AddConstant(name + "/w", DType::kFloat32, {kWidth, kWidth}, test::ToBytes(weights));
    const int b = spec.AddConstant(name + "/b", DType::kFloat32, {kWidth}, test::ToBytes(bias));
    const int y = spec.AddTensor(name, DType::kFloat32, shape);
    spec.AddOp(OpCode::kFullyConnected, {at, w, b}, {y},
               test::OptionsSpec(test::kFullyConnectedOptions));
    at = y;
    if (layer != kLayers / 2 - 1) continue;
    const int wide = spec.AddTensor("wide", DType::kFloat64, shape);
    const int back = spec.AddTensor("back", DType::kFloat32, shape);
    spec.AddOp(OpCode::kCast, {at}, {wide});
    spec.AddOp(OpCode::kCast, {wide}, {back});
    at = back;
  }
  spec.main().outputs = {at};
  return test::BuildModel(spec);
}

std::shared_ptr<const Model> OpenCopy() {
  const test::Bytes bytes = MakeModelBytes();
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::unique_ptr<Session> OpenSession(const std::shared_ptr<const Model>& model,
                                     std::shared_ptr<const Device> backend, size_t limit = 0) {
  SessionOptions options;
  options.n_threads = 1;
  options.device_memory_limit_bytes = limit;
  if (backend != nullptr) options.devices.push_back(std::move(backend));
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

std::vector<float> MakeInput(int seed) {
  std::vector<float> input(kRows * kWidth);
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>((static_cast<int>(i) * 5 + seed) % 7 - 3);
  }
  return input;
}

using Answers = std::vector<float>;

Answers RunOn(Session* session, int seed) {
  const std::vector<float> input = MakeInput(seed);
  std::memcpy(session->input(0).data, input.data(), input.size() * sizeof(float));
  if (session->Run().ToString() != "OK") return {};
  const float* output = session->output(0).as<const float>();
  return Answers(output, output + kRows * kWidth);
}

int CountOnDevice(const Session& session) {
  int n = 0;
  for (const Step& step : session.plan().steps) n += static_cast<int>(step.parts.size());
  return n;
}

struct Bench {
  std::shared_ptr<Context> context;
  std::shared_ptr<const Device> backend;
  explicit Bench(const opencl::Device& device) {
    auto made = Context::Create(device, {});
    REQUIRE(made.status().ToString() == "OK");
    context = made.value();
    backend = opencl::MakeDevice(context, Storage::kFloat32);
  }
  size_t held() const { return context->memory_counts().held_bytes; }
  size_t uploaded() const { return context->memory_counts().uploaded_bytes; }
  size_t copied() const { return context->memory_counts().copied_bytes; }
};

TEST_CASE("opencl memory: sessions share constants, each has one arena", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const Answers expected = RunOn(OpenSession(OpenCopy(), nullptr).get(), 1);
  {
    const auto model = OpenCopy();
    const auto first = OpenSession(model, bench.backend);
    REQUIRE(CountOnDevice(*first) == kLayers);
    REQUIRE(first->plan().steps.size() == 4);  // program, CAST, CAST, program
    const size_t uploaded = bench.uploaded(), one = bench.held();
    const size_t n_constants = bench.context->constants().size();
    CHECK(uploaded >= kLayers * kWeightBytes);
    CHECK(one == first->plan().gpu_bytes);
    const size_t arena = one - uploaded;
    CHECK(arena > 0);
    CHECK(arena < first->plan().steps[0].gpu_bytes + first->plan().steps[3].gpu_bytes - uploaded);

    const auto same_model = OpenSession(model, bench.backend);
    const auto other_model = OpenSession(OpenCopy(), bench.backend);
    auto clone = first->Clone();
    REQUIRE(clone.ok());
    CHECK(bench.uploaded() == uploaded);
    CHECK(bench.context->constants().size() == n_constants);
    CHECK(bench.held() == one + 3 * arena);
    CHECK(same_model->plan().gpu_bytes == one);
    for (Session* session :
         {first.get(), same_model.get(), other_model.get(), clone.value().get()}) {
      CHECK(RunOn(session, 1) == expected);
      CHECK(session->options().devices.size() == 1);
    }
  }
  CHECK(bench.held() == 0);
  CHECK(bench.context->constants().size() == 0);
  const size_t uploaded = bench.uploaded();
  const auto again = OpenSession(OpenCopy(), bench.backend);
  CHECK(bench.uploaded() == 2 * uploaded);
  CHECK(RunOn(again.get(), 1) == expected);
}

// Two large constants of one checksum, which is none of cryptography: the eight bytes of a lane's
// second word make up for a change of its first.
TEST_CASE("opencl memory: constants of one checksum are kept apart", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  std::vector<uint8_t> one(64 * 1024), other;
  for (size_t i = 0; i < one.size(); ++i) one[i] = static_cast<uint8_t>(i * i >> 3);
  other = one;
  other[0] ^= 1;
  const auto word = [](const std::vector<uint8_t>& bytes, size_t at) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  };
  const auto step = [](uint64_t x, uint64_t w) {
    x = (x ^ w) * 0x9E3779B97F4A7C15u;
    return x << 29 | x >> 35;
  };
  const uint64_t makes_up = word(one, 32) ^ step(0, word(one, 0)) ^ step(0, word(other, 0));
  std::memcpy(other.data() + 32, &makes_up, sizeof(makes_up));
  REQUIRE(Hash64(one.data(), one.size(), 0) == Hash64(other.data(), other.size(), 0));

  auto stream = opencl::Stream::Create(bench.context.get(), {});
  REQUIRE(stream.ok());
  const auto get = [&](const std::vector<uint8_t>& bytes) {
    auto got = bench.context->constants().Get(bench.context, {bytes.data(), bytes.size()},
                                              &stream.value());
    REQUIRE(got.ok());
    return std::move(got.value());
  };
  const auto first = get(one), second = get(other);
  CHECK(first != second);
  CHECK(get(one) == first);
  CHECK(bench.uploaded() == one.size() + other.size());
  std::vector<uint8_t> held(other.size());
  REQUIRE(stream.value().Download(second->handle(), 0, held.data(), held.size()).ok());
  CHECK(held == other);
}

TEST_CASE("opencl memory: clones run at the same time", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const auto model = OpenCopy();
  std::vector<Answers> expected;
  const auto cpu = OpenSession(model, nullptr);
  for (int seed = 0; seed < 7; ++seed) expected.push_back(RunOn(cpu.get(), seed));
  const auto first = OpenSession(model, bench.backend);
  auto second = first->Clone();
  REQUIRE(second.ok());
  Session* const sessions[] = {first.get(), second.value().get()};
  int wrong[2] = {0, 0};
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    threads[t] = std::thread([&, t] {
      for (int run = 0; run < 60; ++run) {
        const int seed = (run + t * 3) % 7;
        if (RunOn(sessions[t], seed) != expected[static_cast<size_t>(seed)]) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
  CHECK(CountOnDevice(*first) == kLayers);
}

// Sessions that come and go on several threads find, make and free the same constants.
TEST_CASE("opencl memory: constants are made and freed on several threads", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const auto model = OpenCopy();
  const Answers expected = RunOn(OpenSession(model, nullptr).get(), 2);
  SessionOptions options;
  options.n_threads = 1;
  options.devices = {bench.backend};
  int wrong[3] = {0, 0, 0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 5; ++k) {
        auto session = Session::Create(model, options);
        if (!session.ok() || RunOn(session.value().get(), 2) != expected) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong[0] + wrong[1] + wrong[2] == 0);
  CHECK(bench.held() == 0);
  CHECK(bench.context->constants().size() == 0);
}

TEST_CASE("opencl memory: every limit gives the right answers within it", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const auto model = OpenCopy();
  const Answers expected = RunOn(OpenSession(model, nullptr).get(), 3);
  const size_t full = OpenSession(model, bench.backend)->plan().gpu_bytes;
  int most = 0, least = kLayers;
  bool partly = false;
  for (size_t limit = 1; limit <= full + kWeightBytes; limit += kWeightBytes / 3) {
    INFO("limit " << limit << " of " << full);
    const auto session = OpenSession(model, bench.backend, limit);
    CHECK(session->plan().gpu_bytes <= limit);
    CHECK(bench.held() == session->plan().gpu_bytes);
    CHECK(RunOn(session.get(), 3) == expected);
    const int n = CountOnDevice(*session);
    CHECK(n >= most);  // more memory never means fewer operators here
    most = std::max(most, n);
    least = std::min(least, n);
    partly = partly || (n > 0 && n < kLayers);
    const std::string text = PrintPlan(session->plan());
    CHECK((text.find("may be used)") != std::string::npos) == (n < kLayers));
  }
  CHECK(least == 0);
  CHECK(most == kLayers);
  CHECK(partly);
  CHECK(OpenSession(model, bench.backend, full)->plan().gpu_bytes <= full);
}

// The device as one that shares the processor's memory, or as one that does not.
opencl::Device WithUnified(const opencl::Device& device, bool unified) {
  opencl::Device changed = device;
  changed.info.host_unified = unified;
  return changed;
}

// One tensor of the model.
struct alignas(4096) Page {
  float values[kRows * kWidth];
};
static_assert(sizeof(Page) == kRows * kWidth * sizeof(float), "no padding");

TEST_CASE("opencl memory: the caller's buffers are used in place", "[opencl]") {
  TW_NEED_DEVICE(device);
  if (!device.info.host_unified) TW_SKIP("the device has memory of its own");
  Bench bench(device);
  const auto model = OpenCopy();
  const auto cpu = OpenSession(model, nullptr);
  const Answers expected[] = {RunOn(cpu.get(), 4), RunOn(cpu.get(), 5)};
  const auto session = OpenSession(model, bench.backend);
  CHECK(RunOn(session.get(), 4) == expected[0]);
  CHECK(bench.copied() == 0);  // the session's own tensors are, too

  auto in = std::make_unique<Page>(), out = std::make_unique<Page>();
  REQUIRE(session->BindInput(0, in.get(), sizeof(Page)).ok());
  REQUIRE(session->BindOutput(0, out.get(), sizeof(Page)).ok());
  for (int seed : {4, 5, 4}) {
    const std::vector<float> input = MakeInput(seed);
    std::copy(input.begin(), input.end(), in->values);
    std::fill(out->values, out->values + kRows * kWidth, -1.0f);
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(Answers(out->values, out->values + kRows * kWidth) == expected[seed - 4]);
    CHECK(std::equal(input.begin(), input.end(), in->values));
  }
  CHECK(bench.copied() == 0);

  // Two sessions on the same input: one has it in place, the other copies.
  auto clone = session->Clone();
  REQUIRE(clone.ok());
  REQUIRE(clone.value()->BindInput(0, in.get(), sizeof(Page)).ok());
  REQUIRE(clone.value()->Run().ToString() == "OK");
  const float* answer = clone.value()->output(0).as<const float>();
  CHECK(Answers(answer, answer + kRows * kWidth) == expected[0]);
  CHECK(bench.copied() == sizeof(Page));

  // Back to the session's own memory; the caller's may go.
  const size_t copied = bench.copied();
  REQUIRE(session->BindInput(0, nullptr, 0).ok());
  REQUIRE(session->BindOutput(0, nullptr, 0).ok());
  REQUIRE(clone.value()->BindInput(0, nullptr, 0).ok());
  std::memset(in.get(), 255, sizeof(Page));
  in.reset();
  CHECK(RunOn(session.get(), 5) == expected[1]);
  CHECK(bench.copied() == copied);
  CHECK(session->options().devices.size() == 1);
}

TEST_CASE("opencl memory: buffers that cannot be used in place are copied", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto model = OpenCopy();
  const Answers expected = RunOn(OpenSession(model, nullptr).get(), 6);
  const std::vector<float> input = MakeInput(6);
  for (const bool unified : {true, false}) {
    Bench bench(WithUnified(device, unified));
    const auto session = OpenSession(model, bench.backend);
    std::vector<float> in(kRows * kWidth + 32), out(kRows * kWidth + 32);
    // 4 bytes behind a multiple of 64.
    const auto odd = [](std::vector<float>* from) {
      float* at = from->data();
      while (reinterpret_cast<uintptr_t>(at) % 64 != 4) ++at;
      return at;
    };
    float *const in_at = odd(&in), *const out_at = odd(&out);
    REQUIRE(session->BindInput(0, in_at, sizeof(Page)).ok());
    REQUIRE(session->BindOutput(0, out_at, sizeof(Page)).ok());
    std::copy(input.begin(), input.end(), in_at);
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(Answers(out_at, out_at + kRows * kWidth) == expected);
    CHECK(bench.copied() == (unified ? 2 : 4) * sizeof(Page));
  }
}

TEST_CASE("opencl memory: float16 crosses the border with and without unified memory", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto model = OpenCopy();
  const Answers expected = RunOn(OpenSession(model, nullptr).get(), 1);
  for (const bool unified : {true, false}) {
    Bench bench(WithUnified(device, unified));
    const auto session = OpenSession(model, opencl::MakeDevice(bench.context, Storage::kFloat16));
    const Answers answers = RunOn(session.get(), 1);
    CHECK(answers == expected);  // small integers are exact in float16
    CHECK(bench.copied() == 2 * sizeof(Page));
    CHECK(CountOnDevice(*session) == kLayers);
  }
}

TEST_CASE("opencl memory: ranges in use do not overlap", "[opencl]") {
  opencl::HostRanges ranges;
  uint8_t bytes[100];
  CHECK(ranges.Claim(bytes + 20, 20));
  CHECK_FALSE(ranges.Claim(bytes + 20, 20));
  CHECK_FALSE(ranges.Claim(bytes + 10, 11));
  CHECK_FALSE(ranges.Claim(bytes + 39, 1));
  CHECK_FALSE(ranges.Claim(bytes, 100));
  CHECK(ranges.Claim(bytes + 40, 60));
  CHECK(ranges.Claim(bytes, 20));
  ranges.Release(bytes + 20);
  CHECK(ranges.Claim(bytes + 30, 10));
  CHECK_FALSE(ranges.Claim(bytes + 20, 11));
}

}  // namespace opencl_memory_test
}  // namespace topwork
