// MakeSteps: operators that several threads prepare become the steps that one thread makes of them.
#include "runtime/plan/make_steps.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace make_steps_test {

constexpr int32_t kSide = 6;

class Network {
 public:
  Network() { value_ = spec_.AddInput("image", DType::kFloat32, {1, kSide, kSide, channels_}); }

  void Conv(int32_t outputs, int32_t taps) {
    const std::vector<int32_t> shape = {outputs, taps, taps, channels_};
    const size_t n = static_cast<size_t>(outputs * taps * taps * channels_);
    std::vector<float> values = RandomFloats(n, ++seed_);
    for (float& value : values) value *= 0.05f;
    const int filter = spec_.AddConstant("filter", DType::kFloat32, shape, ToBytes(values));
    channels_ = outputs;
    Add(OpCode::kConv2d, {value_, filter, -1}, OptionsSpec(kConv2dOptions).Int(1, 1).Int(2, 1));
  }
  void Logistic() { Add(OpCode::kLogistic, {value_}, OptionsSpec()); }

  ModelSpec Finish() {
    spec_.main().outputs = {value_};
    return spec_;
  }

 private:
  void Add(OpCode code, const std::vector<int>& inputs, const OptionsSpec& options) {
    const int out = spec_.AddTensor("value", DType::kFloat32, {1, kSide, kSide, channels_});
    spec_.AddOp(code, inputs, {out}, options);
    value_ = out;
  }

  ModelSpec spec_;
  int32_t channels_ = 48;
  int value_ = 0;
  uint32_t seed_ = 0;
};

// Some 1.8 MB of weights; the last layer has two fifths of them, more than the share of one of three threads.
ModelSpec ManyLayers() {
  Network network;
  for (const int32_t channels : {96, 130, 64, 200, 80, 176, 32}) network.Conv(channels, 1);
  network.Logistic();
  network.Conv(512, 3);
  network.Logistic();
  for (const int32_t channels : {64, 96, 30}) network.Conv(channels, 1);
  network.Conv(700, 3);
  return network.Finish();
}

struct Made {
  std::vector<std::string> steps;
  size_t packed_bytes = 0, scratch_bytes = 0;
  std::vector<float> answer;
};

Made MadeBy(int n_threads, bool optimize) {
  SessionOptions options;
  options.n_threads = n_threads;
  options.optimize = optimize;
  const std::unique_ptr<Session> session = OpenSession(ManyLayers(), options);
  Made made;
  for (const Step& step : session->plan().steps) {
    std::string text = session->plan().Where(step) + ": " + step.variant;
    for (const int v : step.inputs) text += " " + std::to_string(v);
    made.steps.push_back(text + ", " + std::to_string(step.n_tasks));
  }
  made.packed_bytes = session->plan().packed_bytes;
  made.scratch_bytes = session->plan().scratch_bytes;
  SetInput(session.get(), 0, RandomFloats(size_t{kSide} * kSide * 48, 99));
  REQUIRE(session->Run().ToString() == "OK");
  made.answer = GetOutput<float>(*session, 0);
  return made;
}

TEST_CASE("steps: those that several threads prepare are those of one", "[plan][threads]") {
  for (const bool optimize : {true, false}) {
    const Made one = MadeBy(1, optimize);
    CHECK(one.packed_bytes > size_t{1} << 20);  // less is prepared on one thread
    for (const int n_threads : {2, 3, 5}) {
      const Made several = MadeBy(n_threads, optimize);
      INFO(n_threads << " threads, optimized: " << optimize);
      CHECK(several.steps == one.steps);
      CHECK(several.packed_bytes == one.packed_bytes);
      const bool same_answer = several.answer == one.answer;
      CHECK(same_answer);
    }
  }
}

TEST_CASE("steps: sessions that are made at once on several threads give one answer",
          "[plan][threads]") {
  const std::shared_ptr<const Model> model = OpenSpec(ManyLayers());
  const std::vector<float> image = RandomFloats(size_t{kSide} * kSide * 48, 99);
  const Made expected = MadeBy(1, true);
  std::vector<std::vector<float>> answers(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& answer : answers) {
    threads.emplace_back([&model, &image, &answer] {
      SessionOptions options;
      options.n_threads = 2;
      auto session = Session::Create(model, options);
      if (!session.ok()) return;
      std::memcpy(session.value()->input(0).data, image.data(), image.size() * sizeof(float));
      if (session.value()->Run().ok()) answer = GetOutput<float>(*session.value(), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& answer : answers) {
    const bool same_answer = answer == expected.answer;
    CHECK(same_answer);
  }
}

}  // namespace make_steps_test
}  // namespace test
}  // namespace topwork
