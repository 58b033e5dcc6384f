// Tuning without a device: the fastest by a script is taken, and what was interrupted goes on.
#include "runtime/plan/tune_segment.h"

#include <catch2/catch.hpp>

#include "runtime/session/session.h"
#include "tests/support/model_builder.h"
#include "tests/support/random_floats.h"
#include "tests/support/scripted_tuner.h"

namespace topwork {
namespace tune_segment_test {

// Takes programs and looks at them.
class Watcher final : public Backend {
 public:
  explicit Watcher(GpuTuner* tuner) : tuner_(tuner) {}
  const char* name() const override { return "watcher"; }
  std::string WhyNot(const OpDef&, const OpParams&, Span<const TensorView* const>) const override {
    return "it runs programs only";
  }
  bool takes_programs() const override { return true; }
  GpuTuner* tuner() const override { return tuner_; }
  Status Run(const OpDef&, const RunContext&, const std::string&) const override {
    return Unsupported("it only watches");
  }
  Result<std::shared_ptr<OpState>> Load(GpuProgram program) const override {
    for (const Launch& launch : program.launches) entries.push_back(launch.kernel.name);
    return std::make_shared<OpState>();
  }
  mutable std::vector<std::string> entries;

 private:
  GpuTuner* const tuner_;
};

// CONV_2D of 3x3 taps, `channels` to `channels`, twice: the two are the same work.
test::Bytes TwoConvs(int size, int channels) {
  test::ModelSpec spec;
  const std::vector<int32_t> shape = {1, size, size, channels};
  const size_t n_weights = static_cast<size_t>(9 * channels * channels);
  int value = spec.AddInput("input", DType::kFloat32, shape);
  for (uint32_t k = 0; k < 2; ++k) {
    const int weights = spec.AddConstant("weights", DType::kFloat32, {channels, 3, 3, channels},
                                         test::ToBytes(test::RandomFloats(n_weights, k + 1)));
    const int next = spec.AddTensor("next", DType::kFloat32, shape);
    spec.AddOp(OpCode::kConv2d, {value, weights}, {next},
               test::OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1));
    value = next;
  }
  spec.main().outputs = {value};
  return test::BuildModel(spec);
}

// Names of the kernels that a session on the model gets.
std::vector<std::string> KernelsOf(const test::Bytes& bytes, GpuTuner* tuner) {
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  const auto watcher = std::make_shared<Watcher>(tuner);
  SessionOptions options;
  options.n_threads = 1;
  options.backends = {watcher};
  const auto session = Session::Create(model.value(), options);
  REQUIRE(session.status().ToString() == "OK");
  return watcher->entries;
}

using Names = std::vector<std::string>;

TEST_CASE("tuning: the fastest variant is taken", "[plan]") {
  const test::Bytes model = TwoConvs(6, 16);
  test::ScriptedTuner tuner;
  CHECK(KernelsOf(model, &tuner) == Names{"conv_2d_1x4", "conv_2d_1x4"});  // nothing is known
  CHECK(tuner.measured.empty());
  tuner.script = {{"conv_2d_1x4", 50},
                  {"conv_2d_2x4", 40},
                  {"conv_2d_4x4", 30},
                  {"winograd_input_2x2", 10},
                  {"winograd_input_4x4", 20}};
  tuner.n_left = 100;
  const Names winograd = {"winograd_input_2x2", "winograd_gemm", "winograd_output_2x2"};
  Names twice = winograd;
  twice.insert(twice.end(), winograd.begin(), winograd.end());
  CHECK(KernelsOf(model, &tuner) == twice);
  // Each variant once, though two operators have it; what would be used anyhow first. The one that
  // fails is not taken and not tried again.
  CHECK(tuner.measured == Names{"conv_2d_1x4", "conv_2d_4x8", "conv_2d_4x4", "conv_2d_2x4",
                                "winograd_input_4x4", "winograd_input_2x2"});
  CHECK(KernelsOf(model, &tuner) == twice);
  CHECK(tuner.measured.size() == 6);
}

TEST_CASE("tuning: interrupted, it goes on where it stopped", "[plan]") {
  const test::Bytes model = TwoConvs(6, 16);
  test::ScriptedTuner tuner;
  tuner.script = {{"conv_2d_1x4", 50}, {"conv_2d_2x4", 20},        {"conv_2d_4x4", 30},
                  {"conv_2d_4x8", 60}, {"winograd_input_2x2", 45}, {"winograd_input_4x4", 40}};
  const Names best_so_far[] = {{"conv_2d_1x4", "conv_2d_1x4"},
                               {"conv_2d_1x4", "conv_2d_1x4"},
                               {"conv_2d_4x4", "conv_2d_4x4"},
                               {"conv_2d_2x4", "conv_2d_2x4"}};
  for (size_t k = 0; k < 4; ++k) {
    tuner.n_left = 1;
    CHECK(KernelsOf(model, &tuner) == best_so_far[k]);
    CHECK(tuner.measured.size() == k + 1);
  }
  tuner.n_left = 100;
  CHECK(KernelsOf(model, &tuner) == best_so_far[3]);
  CHECK(tuner.measured.size() == 6);
}

TEST_CASE("tuning: unknown variants and too much memory leave the usual kernel", "[plan]") {
  test::ScriptedTuner tuner;
  tuner.forced = "conv_2d_of_a_later_library";
  CHECK(KernelsOf(TwoConvs(6, 16), &tuner) == Names{"conv_2d_1x4", "conv_2d_1x4"});
  tuner.forced = "winograd_4x4";
  CHECK(KernelsOf(TwoConvs(6, 12), &tuner) == Names{"conv_2d_1x4", "conv_2d_1x4"});  // too narrow
  CHECK(KernelsOf(TwoConvs(168, 128), &tuner).size() == 6);
  CHECK(KernelsOf(TwoConvs(173, 128), &tuner).size() == 2);  // 71 MB of transformed values
}

}  // namespace tune_segment_test
}  // namespace topwork
