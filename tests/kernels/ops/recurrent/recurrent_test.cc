// LSTM, RNN and SVDF: golden cases over three runs, and what prepare refuses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "kernels/ops/shared/quant.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace recurrent_test {

constexpr StatusCode kInvalid = StatusCode::kInvalidModel;

TEST_CASE("recurrent: golden cases of LSTM", "[ops][sets]") {
  RunOpCases("lstm");
  RunOpCases("lstm_basic");
}

TEST_CASE("recurrent: golden cases of UNIDIRECTIONAL_SEQUENCE_LSTM", "[ops][sets]") {
  RunOpCases("unidirectional_sequence_lstm");
}

TEST_CASE("recurrent: golden cases of BIDIRECTIONAL_SEQUENCE_LSTM", "[ops][sets]") {
  RunOpCases("bidirectional_sequence_lstm");
}

TEST_CASE("recurrent: golden cases of RNN", "[ops][sets]") {
  RunOpCases("rnn");
  RunOpCases("unidirectional_sequence_rnn");
  RunOpCases("bidirectional_sequence_rnn");
}

TEST_CASE("recurrent: golden cases of SVDF", "[ops][sets]") { RunOpCases("svdf"); }

// A UNIDIRECTIONAL_SEQUENCE_LSTM of 2 inputs, 3 cells and 3 outputs over 4 steps, float or int8,
// without the inputs in `missing` (and with those in `present` that it normally lacks).
struct Form {
  bool integer = false;
  std::set<int> missing = {9, 10, 11, 16, 17, 20, 21, 22, 23};
  int32_t n_state = 3;
  bool variable = true;
  float cell_scale = 1.0f / 2048.0f;
  int n_hidden = 5;

  Form& Without(int i) {
    missing.insert(i);
    return *this;
  }
  Form& With(std::initializer_list<int> inputs) {
    for (int i : inputs) missing.erase(i);
    return *this;
  }
};

void AddNumbers(OneOp* op, const Form& form, DType dtype, const Shape& shape) {
  const size_t n = static_cast<size_t>(shape.NumElements());
  if (!form.integer) {
    op->In<float>(shape, std::vector<float>(n, 0.25f));
    return;
  }
  if (dtype == DType::kInt32) {
    op->In<int32_t>(shape, std::vector<int32_t>(n, 100));
  } else if (dtype == DType::kInt16) {
    op->In<int16_t>(shape, std::vector<int16_t>(n, 1000));
  } else {
    op->In<int8_t>(shape, std::vector<int8_t>(n, 16));
  }
  if (dtype != DType::kInt32) op->Quantized({1.0f / 128.0f}, {0});
}

OneOp Lstm(const Form& form) {
  OneOp op(OpCode::kUnidirectionalSequenceLstm);
  op.params.activation = Activation::kTanh;
  for (int i = 0; i < 24; ++i) {
    const bool state = i == 18 || i == 19;
    if (form.missing.count(i) != 0) {
      op.Missing();
    } else if (state && form.variable) {
      const DType dtype = !form.integer ? DType::kFloat32 : i == 18 ? DType::kInt8 : DType::kInt16;
      op.Variable(dtype, Shape{1, i == 18 ? form.n_state : 3});
      if (form.integer) op.Quantized({i == 18 ? 1.0f / 128.0f : form.cell_scale}, {0});
    } else if (i == 0) {
      AddNumbers(&op, form, DType::kInt8, Shape{1, 4, 2});
    } else if (i <= 8) {
      AddNumbers(&op, form, DType::kInt8, Shape{3, i <= 4 ? 2 : 3});
    } else if (i == 16 || state) {
      AddNumbers(&op, form, DType::kInt8, Shape{state ? 1 : 3, 3});
    } else {
      AddNumbers(&op, form, i >= 12 && i <= 17 ? DType::kInt32 : DType::kInt16, Shape{3});
    }
  }
  op.Out(form.integer ? DType::kInt8 : DType::kFloat32);
  if (form.integer) {
    op.Quantized({1.0f / 128.0f}, {0});
    for (int i = 0; i < form.n_hidden; ++i) op.Hidden(1.0f / 128.0f, 0);
  }
  return op;
}

std::string Refused(const Form& form, const char* text, StatusCode code = kInvalid) {
  OneOp op = Lstm(form);
  return Refusal(op, code, text);
}

TEST_CASE("recurrent: an LSTM says which of its inputs is wrong", "[ops]") {
  for (const bool integer : {false, true}) {
    INFO((integer ? "int8" : "float"));
    Form form;
    form.integer = integer;
    OneOp good = Lstm(form);
    CHECK(good.Run().ToString() == "OK");
    CHECK(Refused(Form(form).Without(18), "input 18, the state") == "");
    Form changed = form;
    changed.variable = false;
    CHECK(Refused(changed, "must be a variable") == "");
    changed = form;
    changed.n_state = 4;
    CHECK(Refused(changed, "3 elements expected") == "");
    for (int i : {2, 3, 4, 6, 7, 8, 13, 14, 15}) {
      INFO(i);
      CHECK(Refused(Form(form).Without(i), i == 4 || i == 8 ? "weights of the output gate" : "") ==
            "");
    }
    CHECK(Refused(Form(form).Without(5), "input 5 of the input gate is left out") == "");
    CHECK(Refused(Form(form).Without(1), "input 5 of the input gate is present") == "");
    CHECK(Refused(Form(form).With({9, 11}), "input 10 of the forget gate is left out") == "");
    CHECK(Refused(Form(form).With({10}), "input 10 of the forget gate is present") == "");
    CHECK(Refused(Form(form).With({20, 21, 22}), "output gate is left out") == "");
    CHECK(Refused(Form(form).With({17}), "the bias of a projection") == "");
  }
}

TEST_CASE("recurrent: an LSTM without an input gate keeps its state", "[ops]") {
  Form form;
  OneOp op = Lstm(form.Without(1).Without(5).Without(12));
  REQUIRE(op.Run().ToString() == "OK");
  const std::vector<float> first = op.InputValues<float>(19);
  CHECK(first[0] > 0.0f);
  CHECK(op.Values<float>(0)[11] == op.InputValues<float>(18)[2]);
  REQUIRE(op.Run().ToString() == "OK");
  CHECK(op.InputValues<float>(19)[0] > first[0]);
}

TEST_CASE("recurrent: what an int8 LSTM needs beyond its inputs", "[ops]") {
  Form form;
  form.integer = true;
  Form changed = form;
  changed.n_hidden = 0;
  CHECK(Refused(changed, "5 intermediates") == "");
  changed.n_hidden = 12;
  CHECK(Refused(changed, "8-bit gates", StatusCode::kUnsupported) == "");
  changed = form;
  changed.cell_scale = 0.0003f;
  CHECK(Refused(changed, "a power of two") == "");
  OneOp clip = Lstm(form);
  clip.params.cell_clip = -1.0f;
  CHECK(Refusal(clip, kInvalid, "must not be below 0") == "");
}

TEST_CASE("recurrent: what a bidirectional LSTM refuses", "[ops]") {
  OneOp few(OpCode::kBidirectionalSequenceLstm);
  few.In<float>({1, 1, 1}, {1}).Out(DType::kFloat32);
  CHECK(Refusal(few, kInvalid, "48 expected") == "");
  OneOp aux(OpCode::kBidirectionalSequenceLstm);
  aux.In<float>({1, 1, 1}, {1});
  for (int i = 1; i < 48; ++i) {
    if (i == 41) {
      aux.In<float>({1, 1}, {1});
    } else {
      aux.Missing();
    }
  }
  aux.Out(DType::kFloat32).Out(DType::kFloat32);
  CHECK(Refusal(aux, kInvalid, "no auxiliary input 39") == "");
}

TEST_CASE("recurrent: LSTM with kernel_type BASIC checks its five inputs", "[ops]") {
  const auto make = [](int32_t n, int32_t rows, float state_scale) {
    OneOp op(OpCode::kLstm);
    op.params.mode = 1;
    op.In<uint8_t>({1, 2}, {1, 2}).Variable(DType::kUInt8, Shape{1, n});
    op.In<uint8_t>({rows, 2 + n}, std::vector<uint8_t>(static_cast<size_t>(rows * (2 + n)), 130));
    op.Quantized({0.01f}, {128});
    op.In<int32_t>({rows}, std::vector<int32_t>(static_cast<size_t>(rows), 5))
        .Quantized({1e-4f}, {0});
    op.Variable(DType::kInt16, Shape{1, n});
    op.Out(DType::kUInt8).Out(DType::kInt16).Quantized({state_scale}, {0});
    op.Out(DType::kUInt8).Out(DType::kInt16);
    return op;
  };
  OneOp good = make(3, 12, 1.0f / 2048.0f);
  CHECK(good.Run().ToString() == "OK");
  OneOp rows = make(3, 9, 1.0f / 2048.0f);
  CHECK(Refusal(rows, kInvalid, "[12, 5] expected") == "");
  OneOp scale = make(3, 12, 1.0f / 1024.0f);
  CHECK(Refusal(scale, StatusCode::kUnsupported, "only 2^-11 is defined") == "");
}

TEST_CASE("recurrent: what RNN refuses", "[ops]") {
  const auto make = [](int32_t units, bool variable) {
    OneOp op(OpCode::kRnn);
    op.In<float>({1, 2}, {1, 2}).In<float>({3, 2}, {1, 2, 3, 4, 5, 6});
    op.In<float>({3, 3}, std::vector<float>(9, 0.5f));
    op.In<float>({units}, std::vector<float>(static_cast<size_t>(units), 1.0f));
    if (variable) {
      op.Variable(DType::kFloat32, Shape{1, 3});
    } else {
      op.Unknown(DType::kFloat32, Shape{1, 3});
    }
    op.Out(DType::kFloat32);
    return op;
  };
  OneOp good = make(3, true), bias = make(4, true), state = make(3, false);
  CHECK(good.Run().ToString() == "OK");
  CHECK(Refusal(bias, kInvalid, "[3] expected") == "");
  CHECK(Refusal(state, kInvalid, "must be a variable") == "");
}

// An int8 SVDF with an int8 memory, step by step in plain integers: TFLite Micro's definition,
// whose memory may have a zero point and wraps.
struct ByteSvdf {
  int filters = 4, rank = 2, memory = 3, depth = 5;
  int in_zero = 3, memory_zero = -7, out_zero = -100;
  float in_scale = 0.05f, feature_scale = 0.02f, memory_scale = 0.03f, time_scale = 0.01f,
        out_scale = 0.004f;
  std::vector<int8_t> feature, time;
  std::vector<int32_t> bias = {100, -2000};
  std::vector<int> past = std::vector<int>(12);  // zeros, as a fresh variable without a session

  std::vector<int8_t> Step(const std::vector<int8_t>& x) {
    const auto scaled = [](int32_t sum, float factor) {
      return MultiplyByFactor(sum, MakeFixedFactor(static_cast<double>(factor)));
    };
    std::vector<int8_t> out;
    std::vector<int32_t> sums = bias;
    for (int f = 0; f < filters; ++f) {
      int32_t sum = 0;
      for (int i = 0; i < depth; ++i) {
        sum += feature[Index(f * depth + i)] * (x[Index(i)] - in_zero);
      }
      const int32_t value = scaled(sum, in_scale * feature_scale / memory_scale);
      const auto first = past.begin() + f * memory;
      std::rotate(first, first + 1, first + memory);
      first[memory - 1] = static_cast<int8_t>(std::clamp(value, -128, 127) + memory_zero);
      for (int t = 0; t < memory; ++t) {
        sums[Index(f / rank)] += time[Index(f * memory + t)] * (first[t] - memory_zero);
      }
    }
    for (const int32_t sum : sums) {
      const int32_t value = scaled(sum, memory_scale * time_scale / out_scale) + out_zero;
      out.push_back(static_cast<int8_t>(std::clamp(value, -128, 127)));
    }
    return out;
  }
  static size_t Index(int i) { return static_cast<size_t>(i); }
};

TEST_CASE("recurrent: SVDF with a memory of bytes", "[ops]") {
  ByteSvdf svdf;
  for (int i = 0; i < svdf.filters * svdf.depth; ++i) {
    svdf.feature.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
  }
  for (int i = 0; i < svdf.filters * svdf.memory; ++i) {
    svdf.time.push_back(static_cast<int8_t>(i * 53 % 247 - 123));
  }
  for (const int8_t fill : {int8_t{3}, int8_t{-128}, int8_t{127}, int8_t{20}}) {
    const std::vector<int8_t> x(5, fill);
    OneOp op(OpCode::kSvdf);
    op.params.rank = svdf.rank;
    op.params.activation = Activation::kRelu;
    op.In<int8_t>({1, 5}, x).Quantized({svdf.in_scale}, {svdf.in_zero});
    op.In<int8_t>({4, 5}, svdf.feature).Quantized({svdf.feature_scale}, {0});
    op.In<int8_t>({4, 3}, svdf.time).Quantized({svdf.time_scale}, {0});
    op.In<int32_t>({2}, svdf.bias);
    op.Variable(DType::kInt8, Shape{1, 12}).Quantized({svdf.memory_scale}, {svdf.memory_zero});
    op.Out(DType::kInt8).Quantized({svdf.out_scale}, {svdf.out_zero});
    ByteSvdf expected = svdf;
    for (int step = 0; step < 4; ++step) {
      INFO("values of " << int{fill} << ", step " << step);
      REQUIRE(op.Run().ToString() == "OK");
      CHECK(op.Values<int8_t>(0) == expected.Step(x));
    }
  }
}

TEST_CASE("recurrent: what SVDF refuses", "[ops]") {
  const auto make = [](int32_t rank, int32_t memory) {
    OneOp op(OpCode::kSvdf);
    op.params.rank = rank;
    op.In<float>({1, 2}, {1, 2}).In<float>({4, 2}, std::vector<float>(8, 0.5f));
    op.In<float>({4, 3}, std::vector<float>(12, 0.5f)).Missing();
    op.Variable(DType::kFloat32, Shape{1, memory});
    op.Out(DType::kFloat32);
    return op;
  };
  OneOp good = make(2, 12), rank = make(3, 12), none = make(0, 12), memory = make(2, 11);
  REQUIRE(good.Run().ToString() == "OK");
  CHECK(good.Values<float>(0) == std::vector<float>{1.5f, 1.5f});
  CHECK(Refusal(rank, kInvalid, "rank 3 does not divide the 4 filters") == "");
  CHECK(Refusal(none, kInvalid, "rank 0") == "");
  CHECK(Refusal(memory, kInvalid, "12 elements expected") == "");
}

}  // namespace recurrent_test
}  // namespace test
}  // namespace topwork
