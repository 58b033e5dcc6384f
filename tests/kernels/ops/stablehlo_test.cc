// Operators of StableHLO: golden cases, and what golden cases cannot show.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/session/session.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace stablehlo_test {

constexpr DType kF = DType::kFloat32, kI = DType::kInt32;
using Longs = std::vector<int64_t>;

TEST_CASE("arithmetic of StableHLO: golden cases", "[ops][sets]") {
  RunOpCases("stablehlo_binary");
}
TEST_CASE("stablehlo_scatter: golden cases", "[ops][sets]") { RunOpCases("stablehlo_scatter"); }
TEST_CASE("stablehlo_gather: golden cases", "[ops][sets]") { RunOpCases("stablehlo_gather"); }
TEST_CASE("stablehlo_pad: golden cases", "[ops][sets]") { RunOpCases("stablehlo_pad"); }
TEST_CASE("stablehlo_reduce_window: golden cases", "[ops][sets]") {
  RunOpCases("stablehlo_reduce_window");
}
TEST_CASE("stablehlo_rng_bit_generator: golden cases", "[ops][sets]") {
  RunOpCases("stablehlo_rng_bit_generator");
}
TEST_CASE("stablehlo_case: golden cases", "[ops][sets]") { RunOpCases("stablehlo_case"); }

Result<std::unique_ptr<Session>> Open(const ModelSpec& spec) {
  const Bytes bytes = BuildModel(spec);
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> opened,
                      Model::OpenMemory(bytes.data(), bytes.size(), true));
  return Session::Create(opened, SessionOptions());
}

// One operator of float32 inputs (input `indices` int32), and a body of operators of two inputs.
struct Spec {
  ModelSpec model;

  Spec(OpCode code, const std::vector<std::vector<int32_t>>& shapes, int indices,
       const OptionsSpec& options, const std::vector<OpCode>& body = {}) {
    std::vector<int32_t> inputs;
    for (size_t i = 0; i < shapes.size(); ++i) {
      inputs.push_back(model.AddInput("in" + std::to_string(i),
                                      static_cast<int>(i) == indices ? kI : kF, shapes[i]));
    }
    const int out = model.AddTensor("out", kF, {1});
    model.AddOp(code, inputs, {out}, options);
    model.main().outputs = {out};
    model.subgraphs.emplace_back();
    const int a = model.AddInput("a", kF, {}, 1);
    model.subgraphs[1].outputs = {a};
    for (const OpCode inner : body) {
      const int b = model.AddTensor("b", kF, {}, 1);
      model.AddOp(inner, {a, a}, {b}, OptionsSpec(), 1);
      model.subgraphs[1].outputs = {b};
    }
  }

  // Empty where opening fails with this text.
  std::string Refusal(const char* text) const {
    const Status status = Open(model).status();
    if (!status.ok() && status.message().find(text) != std::string::npos) return "";
    return status.ToString();
  }
};

std::vector<float> RunOnce(Session* session, const std::vector<std::vector<float>>& values,
                           const std::vector<int32_t>& indices) {
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const TensorView& view = session->input(i);
    const void* from = view.dtype == kI ? static_cast<const void*>(indices.data())
                                        : values[static_cast<size_t>(i)].data();
    if (view.bytes() > 0) std::memcpy(view.data, from, view.bytes());
  }
  REQUIRE(session->Run().ToString() == "OK");
  const TensorView& out = session->output(0);
  return {out.as<float>(), out.as<float>() + out.shape.NumElements()};
}

OptionsSpec ScatterOptions(Longs window, Longs inserted, Longs map, uint32_t dim, int32_t body) {
  return OptionsSpec(7, true)
      .Longs(1, std::move(window))
      .Longs(2, std::move(inserted))
      .Longs(3, std::move(map))
      .Long(4, dim)
      .Int(6, body);
}

TEST_CASE("stablehlo_scatter: every number of the indices a vector", "[ops]") {
  const Spec spec(OpCode::kStablehloScatter, {{4}, {3}, {3}}, 1, ScatterOptions({}, {0}, {0}, 1, 1),
                  {OpCode::kStablehloAdd});
  auto session = Open(spec.model);
  REQUIRE(session.status().ToString() == "OK");
  const std::vector<float> y = RunOnce(session.value().get(), {{1, 2, 3, 4}, {}, {10, 20, 30}},
                                       {std::numeric_limits<int32_t>::min(), 3, 3});
  CHECK(y == std::vector<float>{1, 2, 3, 54});
}

TEST_CASE("stablehlo_scatter: refuses what does not fit", "[ops]") {
  const auto refusal = [](const OptionsSpec& options, const std::vector<OpCode>& body,
                          const char* text) {
    const Spec spec(OpCode::kStablehloScatter, {{4, 2}, {3, 1}, {3, 2}}, 1, options, body);
    return spec.Refusal(text);
  };
  const OpCode add = OpCode::kStablehloAdd;
  CHECK(refusal(ScatterOptions({1}, {0}, {0}, 1, 1), {}, "?") == "OK");
  CHECK(refusal(ScatterOptions({1}, {0}, {0}, 1, 1), {OpCode::kAdd}, "one of STABLEHLO_ADD") == "");
  CHECK(refusal(ScatterOptions({1}, {0}, {0}, 1, 1), {add, add}, "one of STABLEHLO_ADD") == "");
  CHECK(refusal(ScatterOptions({1}, {0}, {0}, 1, -1), {}, "names subgraph -1") == "");
  CHECK(refusal(ScatterOptions({1}, {0}, {0}, 3, 1), {}, "along dimension 3") == "");
  CHECK(refusal(ScatterOptions({1}, {0}, {0, 1}, 1, 1), {}, "no 2 coordinates") == "");
  CHECK(refusal(ScatterOptions({1}, {0}, {2}, 1, 1), {}, "scatter_dims_to_operand_dims has 2") ==
        "");
  CHECK(refusal(ScatterOptions({1, 1}, {}, {0}, 1, 1), {}, "update_window_dims has 1") == "");
  CHECK(refusal(ScatterOptions({1}, {}, {0}, 1, 1), {}, "do not fit its options") == "");
  CHECK(refusal(ScatterOptions({0}, {0}, {0}, 1, 1), {}, "do not fit its options") == "");
  CHECK(refusal(OptionsSpec(), {}, "its options are missing") == "");
}

TEST_CASE("stablehlo_gather: refuses what does not fit", "[ops]") {
  const auto refusal = [](Longs offset, Longs collapsed, Longs sizes, const char* text) {
    const OptionsSpec options = OptionsSpec(16, true)
                                    .Longs(0, std::move(offset))
                                    .Longs(1, std::move(collapsed))
                                    .Longs(2, {0})
                                    .Long(3, 1)
                                    .Longs(4, std::move(sizes));
    return Spec(OpCode::kStablehloGather, {{4, 2}, {3, 1}}, 1, options).Refusal(text);
  };
  CHECK(refusal({1}, {0}, {1, 2}, "?") == "OK");
  CHECK(refusal({1}, {0}, {1, 3}, "slice_sizes do not fit") == "");
  CHECK(refusal({1}, {0}, {1}, "slice_sizes do not fit") == "");
  CHECK(refusal({1}, {}, {1, 2}, "1 offset_dims, 2 expected") == "");
  CHECK(refusal({2}, {0}, {1, 2}, "offset_dims has 2") == "");
  CHECK(refusal({1}, {0, 0}, {1, 2}, "collapsed_slice_dims has 0") == "");
}

TEST_CASE("stablehlo_pad, stablehlo_reduce_window: refuse what does not fit", "[ops]") {
  const auto pad = [](Longs low, Longs interior, const char* text) {
    const OptionsSpec options = OptionsSpec(10, true)
                                    .Longs(0, std::move(low))
                                    .Longs(1, {0, 0})
                                    .Longs(2, std::move(interior));
    return Spec(OpCode::kStablehloPad, {{4, 2}, {1}}, -1, options).Refusal(text);
  };
  CHECK(pad({1, 0}, {0, 0}, "?") == "OK");
  CHECK(pad({1, 0}, {0, -1}, "-1 elements are to lie between those of dimension 1") == "");
  CHECK(pad({1}, {0, 0}, "edge_padding_low has 1 numbers, 2 expected") == "");
  CHECK(pad({1, int64_t{1} << 40}, {0, 0}, "has the number 1099511627776") == "");
  CHECK(pad({1, 0}, {}, "interior_padding") == "");
  const auto window = [](Longs sizes, Longs padding, const std::vector<OpCode>& body,
                         const char* text) {
    const OptionsSpec options =
        OptionsSpec(13, true).Longs(0, std::move(sizes)).Longs(4, std::move(padding)).Int(5, 1);
    return Spec(OpCode::kStablehloReduceWindow, {{4, 2}, {}}, -1, options, body).Refusal(text);
  };
  const OpCode add = OpCode::kStablehloAdd;
  CHECK(window({2, 1}, {0, 0, 1, 0}, {add}, "?") == "OK");
  CHECK(window({2, 1}, {}, {}, "must be one operator") == "");
  CHECK(window({2, 1}, {}, {OpCode::kSub}, "must be one operator") == "");
  CHECK(window({2, 0}, {}, {add}, "window_dimensions must hold a positive number") == "");
  CHECK(window({2, 1}, {-2, -2, 0, 0}, {add}, "leaves nothing") == "");
  CHECK(window({}, {}, {add}, "lack window_dimensions") == "");
}

TEST_CASE("reduce_window: NaN stays", "[ops]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const uint8_t function : {3, 4}) {
    OneOp op(OpCode::kReduceWindow);
    op.params.mode = function;
    op.In<float>({3}, {1, nan, 2}).In<float>({1}, {0}).In<int64_t>({1}, {2});
    op.In<int64_t>({1}, {1}).In<int64_t>({1}, {1}).Out(kF);
    REQUIRE(op.Run().ToString() == "OK");
    // The first: NaN comes last; the second: a number is compared with it.
    CHECK(std::isnan(op.Values<float>(0)[0]));
    CHECK(op.Values<float>(0)[1] == 2);
  }
}

TEST_CASE("stablehlo_rng_bit_generator: refuses other states", "[ops]") {
  OneOp threefry(OpCode::kStablehloRngBitGenerator);
  threefry.params.mode = 2;
  threefry.Unknown(DType::kUInt64, {3}).Out(DType::kUInt64).Out(DType::kUInt32);
  CHECK(Refusal(threefry, StatusCode::kInvalidModel, "[2] (or [3] for Philox)") == "");
  OneOp floats(OpCode::kStablehloRngBitGenerator);
  floats.Unknown(DType::kUInt64, {2}).Out(DType::kUInt64).Out(kF);
  CHECK(Refusal(floats, StatusCode::kUnsupported, "output 1 is float32") == "");
}

// y = choice 0 ? x + x : -x, or x twice with `grows`; z = |y|.
ModelSpec CaseSpec(bool grows, const OptionsSpec& options, const std::vector<int32_t>& known = {}) {
  ModelSpec spec;
  const int x = spec.AddInput("x", kF, {2});
  const int choice = known.empty() ? spec.AddInput("choice", kI, {1})
                                   : spec.AddConstant("choice", kI, {1}, ToBytes<int32_t>(known));
  const int y = spec.AddTensor("y", kF, {2}), z = spec.AddTensor("z", kF, {2});
  spec.AddOp(OpCode::kStablehloCase, {choice, x}, {y}, options);
  spec.AddOp(OpCode::kAbs, {y}, {z});
  spec.main().outputs = {y, z};
  for (int s = 1; s <= 2; ++s) {
    spec.subgraphs.emplace_back();
    const int in = spec.AddInput("x", kF, {2}, s), out = spec.AddTensor("y", kF, {2}, s);
    if (s == 2 && grows) {
      spec.AddOp(OpCode::kConcatenation, {in, in}, {out},
                 OptionsSpec(kConcatenationOptions).Int(0, 0), s);
    } else if (s == 2) {
      spec.AddOp(OpCode::kNeg, {in}, {out}, OptionsSpec(), s);
    } else {
      spec.AddOp(OpCode::kAdd, {in, in}, {out}, OptionsSpec(kAddOptions), s);
    }
    spec.subgraphs.back().outputs = {out};
  }
  return spec;
}

TEST_CASE("stablehlo_case: branches of other shapes, choices known and unknown", "[ops]") {
  const OptionsSpec both = OptionsSpec(23, true).Ints(0, {1, 2});
  for (const bool grows : {false, true}) {
    const auto session = Open(CaseSpec(grows, both));
    REQUIRE(session.status().ToString() == "OK");
    CHECK(session.value()->plan().deferred.size() == (grows ? 2 : 0));
    for (const int32_t choice : {0, 1, 0, 2, -1}) {
      const std::vector<float> last =
          grows ? std::vector<float>{1, -2, 1, -2} : std::vector<float>{-1, 2};
      CHECK(RunOnce(session.value().get(), {{1, -2}, {}}, {choice}) ==
            (choice == 0 ? std::vector<float>{2, -4} : last));
    }
  }
  for (const int32_t choice : {0, 5}) {
    const auto decided = Open(CaseSpec(true, both, {choice}));
    REQUIRE(decided.status().ToString() == "OK");
    CHECK(decided.value()->plan().deferred.empty());
    CHECK(decided.value()->plan().steps[0].callees.size() == 1);
    CHECK(RunOnce(decided.value().get(), {{1, -2}}, {}).size() == (choice == 0 ? 2 : 4));
  }
  const auto refusal = [](const OptionsSpec& options) {
    return Open(CaseSpec(false, options)).status().message();
  };
  CHECK(refusal(OptionsSpec(23, true)).find("name no branches") != std::string::npos);
  CHECK(refusal(OptionsSpec(23, true).Ints(0, {1, -1})).find("subgraph -1") != std::string::npos);
  CHECK(refusal(OptionsSpec(23, true).Ints(0, {1, 3})).find("calls subgraph 3") !=
        std::string::npos);
}

}  // namespace stablehlo_test
}  // namespace test
}  // namespace topwork
