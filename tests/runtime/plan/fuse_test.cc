// Fusion of float operators: fewer steps, the same bits.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace fuse_test {

constexpr int32_t kSize = 1003;

struct Spec : ModelSpec {
  int Input(const char* name) { return AddInput(name, DType::kFloat32, {kSize}); }
  int Op(OpCode code, std::vector<int32_t> inputs, const OptionsSpec& options = OptionsSpec()) {
    const int made = AddTensor("", DType::kFloat32, {kSize});
    AddOp(code, std::move(inputs), {made}, options);
    return made;
  }
  int Product(int a, int b) { return Op(OpCode::kMul, {a, b}, OptionsSpec(kMulOptions)); }
};

// Runs the model in both ways, which must give the same bits. Returns what each step of the
// optimized plan was made of.
std::vector<std::string> FusedOf(const ModelSpec& spec) {
  std::vector<std::vector<float>> results[2];
  std::vector<std::string> fused;
  for (const bool optimize : {false, true}) {
    SessionOptions options;
    options.optimize = optimize;
    const auto session = OpenSession(spec, options);
    for (int i = 0; i < session->n_inputs(); ++i) {
      std::vector<float> values = RandomFloats(kSize, static_cast<uint32_t>(i) + 1);
      for (float& value : values) value *= 20.0f;
      SetInput(session.get(), i, values);
    }
    REQUIRE(session->Run().ToString() == "OK");
    for (int o = 0; o < session->n_outputs(); ++o) {
      results[optimize].push_back(GetOutput<float>(*session, o));
    }
    fused.clear();
    for (const Step& step : session->plan().steps) fused.push_back(step.fused);
  }
  CHECK(results[0] == results[1]);
  return fused;
}

TEST_CASE("fuse: a number times its sigmoid is one step", "[plan]") {
  for (const bool swapped : {false, true}) {
    Spec spec;
    const int x = spec.Input("x"), sigmoid = spec.Op(OpCode::kLogistic, {x});
    const int swish = swapped ? spec.Product(sigmoid, x) : spec.Product(x, sigmoid);
    spec.main().outputs = {spec.Op(OpCode::kTanh, {swish})};
    CHECK(FusedOf(spec) == std::vector<std::string>{"MUL", ""});
  }
}

TEST_CASE("fuse: other products with a sigmoid stay", "[plan]") {
  Spec spec;
  const int x = spec.Input("x"), y = spec.Input("y");
  const int of_other = spec.Product(y, spec.Op(OpCode::kLogistic, {x}));
  const int shown = spec.Op(OpCode::kLogistic, {x}), of_shown = spec.Product(x, shown);
  const int sigmoid = spec.Op(OpCode::kLogistic, {y}), square = spec.Product(sigmoid, sigmoid);
  const int clipped = spec.Op(OpCode::kMul, {x, spec.Op(OpCode::kLogistic, {x})},
                              OptionsSpec(kMulOptions).Byte(0, 1));  // RELU
  spec.main().outputs = {of_other, shown, of_shown, square, clipped};
  CHECK(FusedOf(spec) == std::vector<std::string>(8));
}

}  // namespace fuse_test
}  // namespace test
}  // namespace topwork
