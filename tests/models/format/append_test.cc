// What is appended computes as written down, and the rest of the model is as it was.
#include "models/format/append.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "runtime/session/session.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace append_test {

using test::Tail;

constexpr int kDim = 8;
constexpr int kRows = 3;
const std::vector<float> kWeights = {0.5f, -1, 0.25f, 2, 1,    0, -0.5f, 1, 1,     1, -1, 0.5f,
                                     0,    2,  1,     1, 0.1f, 0, 0,     3, -0.2f, 1, 1,  -1};
const std::vector<float> kBias = {0.5f, -0.25f, 0.125f};

// Tensor number of the features, and the model's images with what the model says of them.
struct Base {
  std::shared_ptr<const Model> model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  int features = model->main().ops[1].outputs[0];
  std::vector<float> images;

  Base() {
    std::vector<int32_t> labels;
    test::MakeImages(5, 3, 7, &images, &labels);
  }
};

std::shared_ptr<const Model> Append(const Model& model, const GraphAddition& addition) {
  const auto bytes = AppendToModel(model, addition);
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(bytes.value());
}

// The outputs of all examples, each as floats.
std::vector<std::vector<float>> Run(const std::shared_ptr<const Model>& model,
                                    const std::vector<float>& images, int output) {
  auto made = Session::Create(model, SessionOptions());
  REQUIRE(made.status().ToString() == "OK");
  Session* session = made->get();
  std::vector<std::vector<float>> results;
  for (size_t at = 0; at < images.size(); at += test::kImageFloats) {
    std::copy_n(images.data() + at, test::kImageFloats, session->input(0).as<float>());
    REQUIRE(session->Run().ToString() == "OK");
    const TensorView out = session->output(output);
    std::vector<float> row;
    for (int64_t i = 0; i < out.shape.NumElements(); ++i) {
      row.push_back(out.dtype == DType::kInt32 ? static_cast<float>(out.as<int32_t>()[i])
                                               : out.as<float>()[i]);
    }
    results.push_back(row);
  }
  return results;
}

void AddOutput(int tensor, const std::string& name, GraphAddition* addition) {
  AddedOutput output;
  output.tensor = tensor;
  output.name = name;
  addition->outputs.push_back(output);
}

// Rows of scores of a layer with kWeights after the features, in float64.
std::vector<std::vector<double>> Scores(const std::vector<std::vector<float>>& features) {
  std::vector<std::vector<double>> scores;
  for (const auto& x : features) {
    std::vector<double> row;
    for (size_t c = 0; c < kRows; ++c) {
      double sum = kBias[c];
      for (size_t i = 0; i < kDim; ++i) sum += double{kWeights[c * kDim + i]} * double{x[i]};
      row.push_back(sum);
    }
    scores.push_back(row);
  }
  return scores;
}

int Layer(int input, GraphAddition* addition) {
  const int weights = addition->Floats("w", {kRows, kDim}, kWeights);
  const int bias = addition->Floats("b", {kRows}, kBias);
  return addition->Op(OpCode::kFullyConnected, {input, weights, bias}, "layer", DType::kFloat32,
                      {-1, kRows});
}

TEST_CASE("Append: nothing added, nothing changed", "[format]") {
  const Base base;
  const auto same = Append(*base.model, GraphAddition(*base.model));
  CHECK(same->labels() == base.model->labels());
  CHECK(Run(same, base.images, 0) == Run(base.model, base.images, 0));
}

TEST_CASE("Append: layers, reductions, comparisons and selections", "[format]") {
  const Base base;
  GraphAddition a(*base.model);
  const DType f32 = DType::kFloat32;
  AddOutput(base.features, "features", &a);
  const int z = Layer(base.features, &a);
  const int last = a.Ints("axis", {1}, std::vector<int32_t>{1});
  // log Σ exp(z − max z) + max z
  const int most = a.Op(OpCode::kReduceMax, {z, last}, "max", f32, {-1, 1});
  a.ops.back().keep_dims = true;
  const int less = a.Op(OpCode::kSub, {z, most}, "less", f32, {-1, kRows});
  const int powers = a.Op(OpCode::kExp, {less}, "exp", f32, {-1, kRows});
  const int sum = a.Op(OpCode::kSum, {powers, last}, "sum", f32, {-1, 1});
  a.ops.back().keep_dims = true;
  const int log = a.Op(OpCode::kLog, {sum}, "log", f32, {-1, 1});
  const int energy = a.Op(OpCode::kAdd, {log, most}, "energy", f32, {-1, 1});
  AddOutput(energy, "energy", &a);
  // 2·mean z where that is above the limit, else z₀ … as many as there are.
  const int limit = a.Floats("limit", {1, 1}, std::vector<float>{0.4f});
  const int two = a.Floats("two", {1}, std::vector<float>{2.0f});
  const int mean = a.Op(OpCode::kMean, {z, last}, "mean", f32, {-1, 1});
  a.ops.back().keep_dims = true;
  const int twice = a.Op(OpCode::kMul, {mean, two}, "twice", f32, {-1, 1});
  const int above = a.Op(OpCode::kGreater, {twice, limit}, "above", DType::kBool, {-1, 1});
  const int chosen = a.Op(OpCode::kSelectV2, {above, twice, most}, "chosen", f32, {-1, 1});
  const int as_number = a.Op(OpCode::kCast, {above}, "as_number", f32, {-1, 1});
  const int both = a.Op(OpCode::kConcatenation, {chosen, as_number}, "both", f32, {-1, 2});
  a.ops.back().axis = 1;
  AddOutput(both, "both", &a);

  const auto model = Append(*base.model, a);
  CHECK(Run(model, base.images, 0) == Run(base.model, base.images, 0));
  const auto scores = Scores(Run(model, base.images, 1));
  const auto energies = Run(model, base.images, 2), pairs = Run(model, base.images, 3);
  int n_above = 0;
  for (size_t n = 0; n < scores.size(); ++n) {
    double total = 0, mean_z = 0;
    for (double v : scores[n]) total += std::exp(v), mean_z += v / kRows;
    const double top = *std::max_element(scores[n].begin(), scores[n].end());
    CHECK(energies[n][0] == Approx(std::log(total)).epsilon(1e-5));
    const bool is_above = 2 * mean_z > double{0.4f};
    n_above += is_above ? 1 : 0;
    CHECK(pairs[n][0] == Approx(is_above ? 2 * mean_z : top).epsilon(1e-5));
    CHECK(pairs[n][1] == (is_above ? 1.0f : 0.0f));
  }
  INFO(n_above << " of " << scores.size());
  CHECK(scores.size() == 5);
}

TEST_CASE("Append: nearest rows of stored int8 embeddings", "[format]") {
  const Base base;
  GraphAddition a(*base.model);
  AddOutput(base.features, "features", &a);
  const Affine affine = {0.03125f, 0};
  const int stored = a.Add({"rows", DType::kInt8, {kRows, kDim}, StoreInt8(affine, kWeights)});
  const int rows = a.Op(OpCode::kDequantize, {stored}, "real", DType::kFloat32, {kRows, kDim});
  const int flat = a.Ints("flat", {2}, std::vector<int32_t>{-1, kDim});
  const int shaped =
      a.Op(OpCode::kReshape, {base.features, flat}, "flat_x", DType::kFloat32, {-1, kDim});
  const int unit = a.Op(OpCode::kL2Normalization, {shaped}, "unit", DType::kFloat32, {-1, kDim});
  const int z = a.Op(OpCode::kFullyConnected, {unit, rows, -1}, "z", DType::kFloat32, {-1, kRows});
  const int k = a.Ints("k", {}, std::vector<int32_t>{2});
  const int values = a.Add({"top", DType::kFloat32, {-1, 2}, {}});
  const int indices = a.Add({"which", DType::kInt32, {-1, 2}, {}});
  AddedOp top;
  top.code = OpCode::kTopkV2;
  top.inputs = {z, k};
  top.outputs = {values, indices};
  a.ops.push_back(top);
  AddOutput(values, "similarity", &a);
  AddOutput(indices, "nearest", &a);

  const auto model = Append(*base.model, a);
  const auto features = Run(model, base.images, 1);
  const auto top_values = Run(model, base.images, 2), top_rows = Run(model, base.images, 3);
  for (size_t n = 0; n < features.size(); ++n) {
    double norm = 0;
    for (float v : features[n]) norm += double{v} * double{v};
    std::vector<double> z_n(kRows);
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t i = 0; i < kDim; ++i) {
        const double q = std::clamp(std::round(double{kWeights[r * kDim + i]} * 32), -127.0, 127.0);
        z_n[r] += q / 32 * double{features[n][i]} / std::sqrt(norm);
      }
    }
    std::vector<int> order = {0, 1, 2};
    std::sort(order.begin(), order.end(),
              [&](int x, int y) { return z_n[size_t(x)] > z_n[size_t(y)]; });
    for (size_t j = 0; j < 2; ++j) {
      CHECK(top_rows[n][j] == static_cast<float>(order[j]));
      CHECK(top_values[n][j] == Approx(z_n[static_cast<size_t>(order[j])]).epsilon(1e-4));
    }
  }
}

TEST_CASE("Append: an output's place is taken, names are kept apart", "[format]") {
  const Base base;
  GraphAddition a(*base.model);
  const int z = Layer(base.features, &a);
  AddOutput(z, "scores", &a);
  AddedOutput taken;
  taken.tensor = base.features;
  taken.name = "features";
  taken.replaces = 0;
  a.outputs.push_back(taken);
  a.files.push_back({"taught.txt", "one"});
  const auto model = Append(*base.model, a);
  REQUIRE(model->main().outputs.size() == 2);
  CHECK(model->signatures()[0].outputs.size() == 2);
  std::vector<std::string> names;
  for (const auto& entry : model->signatures()[0].outputs) {
    CHECK(entry.value >= 0);
    names.push_back(entry.name);
  }
  CHECK(names == std::vector<std::string>{"features", "scores_1"});
  CHECK(model->associated_files().back().content == "one");
  CHECK(model->labels() == base.model->labels());
}

TEST_CASE("Append: outputs can go, with all that only they needed", "[format]") {
  const Base base;
  GraphAddition a(*base.model);
  const int z = Layer(base.features, &a);
  const int k = a.Ints("k", {}, std::vector<int32_t>{2});
  AddedOp top;
  top.code = OpCode::kTopkV2;
  top.inputs = {z, k};
  top.outputs = {a.Add({"top", DType::kFloat32, {-1, 2}, {}}),
                 a.Add({"which", DType::kInt32, {-1, 2}, {}})};
  a.ops.push_back(top);
  AddOutput(top.outputs[0], "best", &a);
  AddOutput(base.features, "features", &a);
  a.files.push_back({"taught.txt", "one"});
  const auto larger = Append(*base.model, a);
  GraphAddition removal(*larger);
  removal.removed_outputs = {1, 2};
  removal.files.push_back({"taught.txt", ""});
  const auto smaller = Append(*larger, removal);
  CHECK(smaller->main().ops.size() == base.model->main().ops.size());
  CHECK(smaller->main().values.size() == base.model->main().values.size());
  CHECK(smaller->main().outputs.size() == 1);
  CHECK(smaller->signatures()[0].outputs.size() == 1);
  CHECK(smaller->associated_files().size() == base.model->associated_files().size());
  CHECK(Run(smaller, base.images, 0) == Run(base.model, base.images, 0));
}

TEST_CASE("Append: what does not fit is refused", "[format]") {
  const Base base;
  const auto refused = [&](const auto& make) {
    GraphAddition a(*base.model);
    make(&a);
    return AppendToModel(*base.model, a).status().ToString();
  };
  CHECK(refused([](auto* a) { a->Floats("c", {2}, std::vector<float>{1}); }) ==
        "INVALID_ARGUMENT: the constant 'c' has 4 bytes, which are not those of its shape");
  CHECK_THAT(refused([](auto* a) { a->Op(OpCode::kExp, {1000}, "e", DType::kFloat32, {1}); }),
             Catch::Contains("an appended EXP reads a tensor that is not there yet"));
  CHECK_THAT(
      refused([&](auto* a) { a->Op(OpCode::kLstm, {base.features}, "e", DType::kFloat32, {1}); }),
      Catch::Contains("no LSTM can be appended"));
  CHECK_THAT(refused([&](auto* a) {
               a->Op(OpCode::kExp, {base.features}, "e", DType::kFloat32, {1});
               a->ops.back().outputs = {base.features};
             }),
             Catch::Contains("writes one that is"));
  CHECK_THAT(refused([](auto* a) {
               AddedOutput output;
               output.tensor = a->Add({"nothing", DType::kFloat32, {1}, {}});
               a->outputs.push_back(output);
             }),
             Catch::Contains("which nothing computes"));
  CHECK_THAT(refused([&](auto* a) {
               AddedOutput output;
               output.tensor = base.features;
               output.replaces = 3;
               a->outputs.push_back(output);
             }),
             Catch::Contains("output #3 does not exist"));
  CHECK_THAT(refused([](auto* a) { a->removed_outputs = {1}; }),
             Catch::Contains("output #1 does not exist"));
  CHECK_THAT(refused([](auto* a) { a->n_before = 3; }), Catch::Contains("another model"));
}

}  // namespace append_test
}  // namespace topwork
