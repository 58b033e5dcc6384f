// TailNetwork: the shipped function, gradients, the same bits whatever the threads and the memory,
// and 20 steps beside PyTorch (tests/data/train/tail_steps.npz).
#include "runtime/train/head/tail_network.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace tail_network_test {

std::shared_ptr<const Model> OpenZoo(const std::string& name) {
  const test::EmbeddedFile* file = test::FindEmbedded(name.c_str());
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.ok());
  return model.value();
}

const char kDigits[] = "models/zoo/digits_cnn_f32.tflite";

// A model, its tail and rows at the cut for n examples.
struct Bench {
  std::shared_ptr<const Model> model;
  Head head;
  Tail tail;
  std::vector<float> rows, logits;  // logits [n, classes] as the model itself computes them
  std::vector<const float*> row_pointers;
  std::vector<int32_t> labels;
  int64_t n = 0;

  // `inputs`: n examples for input 0; the rows are the model's own values.
  Bench(std::shared_ptr<const Model> m, int n_layers, const std::vector<float>& inputs, int64_t n,
        Trained trained = Trained::kAll)
      : model(std::move(m)), n(n) {
    auto found = FindHead(model->main(), 0);
    REQUIRE(found.status().ToString() == "OK");
    head = *found;
    auto found_tail = FindTail(model->main(), head, n_layers, trained);
    REQUIRE(found_tail.status().ToString() == "OK");
    tail = *found_tail;
    Run(inputs);
    for (int64_t b = 0; b < n; ++b) {
      row_pointers.push_back(rows.data() + b * tail.dim);
      labels.push_back(static_cast<int32_t>((b * 7 + 1) % head.n_classes));
    }
  }

  void Run(const std::vector<float>& inputs) {
    const bool whole = tail.cut == model->main().inputs[0];
    SessionOptions options;
    options.n_threads = 1;
    options.outputs = {head.logits};
    if (!whole) options.outputs.push_back(tail.cut);
    auto session = Session::Create(model, options);
    REQUIRE(session.status().ToString() == "OK");
    const size_t example = inputs.size() / static_cast<size_t>(n);
    for (int64_t b = 0; b < n; ++b) {
      const float* input = inputs.data() + static_cast<size_t>(b) * example;
      std::memcpy((*session)->input(0).data, input, example * sizeof(float));
      REQUIRE((*session)->Run().ok());
      const float* row = whole ? input : (*session)->output(1).as<float>();
      rows.insert(rows.end(), row, row + tail.dim);
      // A head in front of pooling: the mean of the scores is the score of the mean.
      const float* scores = (*session)->output(0).as<float>();
      for (int c = 0; c < head.n_classes; ++c) {
        double sum = 0.0;
        for (int p = 0; p < head.n_positions; ++p) {
          sum += static_cast<double>(scores[p * head.n_classes + c]);
        }
        logits.push_back(static_cast<float>(sum / head.n_positions));
      }
    }
  }

  std::unique_ptr<TailNetwork> Network(ThreadPool* pool, int n_outputs = 0, int batch_size = 32,
                                       size_t limit = 0) {
    TrainerOptions options;
    options.batch_size = batch_size;
    options.memory_limit_bytes = limit;
    auto network = TailNetwork::Create(model->main(), head, tail,
                                       n_outputs > 0 ? n_outputs : head.n_classes, options, pool);
    REQUIRE(network.status().ToString() == "OK");
    return std::move(network.value());
  }

  Targets targets() const {
    Targets t;
    t.labels = labels.data();
    return t;
  }

  BatchLoss Gradient(TailNetwork* network) const {
    BatchLoss loss;
    const Status status =
        network->ComputeGradient(LossOptions(), row_pointers.data(), targets(), n, &loss);
    REQUIRE(status.ToString() == "OK");
    return loss;
  }
};

std::vector<float> DigitsInputs(int64_t n) {
  const test::EmbeddedFile* file = test::FindEmbedded("models/zoo/data/digits_8x8/train/x.npy");
  REQUIRE(file != nullptr);
  std::vector<float> x = test::ReadNpy(file->data, file->size).as<float>();
  x.resize(static_cast<size_t>(n) * 64);
  return x;
}

Bench Digits(int n_layers, int64_t n, Trained trained = Trained::kAll) {
  return Bench(OpenZoo(kDigits), n_layers, DigitsInputs(n), n, trained);
}

// Many operators, no corners: a chain of convolutions, then a depthwise one, scale and shift, a
// residual, two branches joined, pooling, two dense layers; TANH and LOGISTIC throughout. 11
// layers.
class SmoothModel {
 public:
  std::shared_ptr<const Model> Open() {
    int v = spec_.AddInput("x", DType::kFloat32, {1, 6, 6, 4});
    for (int i = 0; i < 6; ++i) v = Convolution(v, i == 0 ? 4 : 8, 3);
    const int block = v;
    v = Depthwise(v);
    v = Add(OpCode::kMul, {v, Constant({8}, 8.0f)}, {1, 6, 6, 8}, OptionsSpec(test::kMulOptions));
    v = Add(OpCode::kAdd, {v, Constant({1, 1, 1, 8})}, {1, 6, 6, 8},
            OptionsSpec(test::kAddOptions));
    v = Add(OpCode::kLogistic, {v}, {1, 6, 6, 8});
    v = Add(OpCode::kAdd, {v, block}, {1, 6, 6, 8}, OptionsSpec(test::kAddOptions));
    v = Add(OpCode::kConcatenation, {Convolution(v, 8, 1), block}, {1, 6, 6, 16},
            OptionsSpec(test::kConcatenationOptions).Int(0, 3));
    v = Add(OpCode::kAveragePool2d, {v}, {1, 3, 3, 16},
            OptionsSpec(test::kPool2dOptions).Byte(0, 1).Int(1, 2).Int(2, 2).Int(3, 2).Int(4, 2));
    v = Add(OpCode::kReshape, {v}, {1, 144}, OptionsSpec(test::kReshapeOptions).Ints(0, {1, 144}));
    v = Dense(v, 144, 12, 4);
    v = Dense(v, 12, 10, 4);
    v = Dense(v, 10, 5, 0);
    spec_.main().outputs = {v};
    return test::OpenBytes(BuildModel(spec_));
  }

 private:
  using OptionsSpec = test::OptionsSpec;

  int Constant(std::vector<int32_t> shape, float scale = 1.5f) {
    size_t n = 1;
    for (int32_t dim : shape) n *= static_cast<size_t>(dim);
    std::vector<float> values = test::RandomFloats(n, ++seed_);
    // Sums of about one: no saturation.
    const float fan_in = shape.size() > 1 && shape[0] > 1
                             ? static_cast<float>(n) / static_cast<float>(shape[0])
                             : 4.0f;
    for (float& value : values) value *= scale / std::sqrt(fan_in);
    return spec_.AddConstant("c" + std::to_string(seed_), DType::kFloat32, shape,
                             test::ToBytes(values));
  }
  int Add(OpCode code, std::vector<int32_t> inputs, std::vector<int32_t> shape,
          const OptionsSpec& options = OptionsSpec()) {
    const int out = spec_.AddTensor("t" + std::to_string(spec_.main().tensors.size()),
                                    DType::kFloat32, std::move(shape));
    spec_.AddOp(code, std::move(inputs), {out}, options);
    return out;
  }
  int Convolution(int v, int32_t channels, int32_t size) {
    return Add(OpCode::kConv2d, {v, Constant({8, size, size, channels}), Constant({8})},
               {1, 6, 6, 8}, OptionsSpec(test::kConv2dOptions).Int(1, 1).Int(2, 1).Byte(3, 4));
  }
  int Depthwise(int v) {
    return Add(OpCode::kDepthwiseConv2d, {v, Constant({1, 3, 3, 8}), Constant({8})}, {1, 6, 6, 8},
               OptionsSpec(test::kDepthwiseConv2dOptions).Int(1, 1).Int(2, 1).Int(3, 1).Byte(4, 4));
  }
  int Dense(int v, int32_t depth, int32_t units, int8_t activation) {
    return Add(OpCode::kFullyConnected, {v, Constant({units, depth}), Constant({units})},
               {1, units}, OptionsSpec(test::kFullyConnectedOptions).Byte(0, activation));
  }

  test::ModelSpec spec_;
  uint32_t seed_ = 40;
};

Bench Smooth(int n_layers, int64_t n) {
  return Bench(SmoothModel().Open(), n_layers, test::RandomFloats(static_cast<size_t>(n) * 144, 77),
               n);
}

std::vector<float> Copy(Span<const float> values) { return {values.begin(), values.end()}; }

void CheckScores(const std::shared_ptr<const Model>& model, int n_layers, int64_t n) {
  const int64_t example =
      model->main().values[static_cast<size_t>(model->main().inputs[0])].shape.NumElements();
  Bench bench(model, n_layers, test::RandomFloats(static_cast<size_t>(n * example), 9), n);
  ThreadPool pool(2);
  auto network = bench.Network(&pool, 0, 2);
  std::vector<float> scores(bench.logits.size());
  REQUIRE(network->Scores(bench.row_pointers.data(), n, scores.data()).ok());
  CHECK(test::LargestDifference(scores, bench.logits) <= 2e-5);
}

TEST_CASE("tail network: with the shipped weights it is the shipped model", "[train]") {
  for (const char* name : {kDigits, "models/zoo/digits_cnn_fp16.tflite"}) {
    for (int n_layers = 1; n_layers <= 5; ++n_layers) {
      INFO(name << ", " << n_layers << " layers");
      CheckScores(OpenZoo(name), n_layers, 5);
    }
  }
  for (int n_layers = 1; n_layers <= 11; ++n_layers) {
    INFO("smooth, " << n_layers << " layers");
    CheckScores(SmoothModel().Open(), n_layers, 3);
  }
  for (test::Tail kind : test::kAllTails) {
    if (kind == test::Tail::kDenseInt8 || kind == test::Tail::kDenseInt2) continue;  // integers
    INFO(test::TailName(kind));
    CheckScores(test::OpenBytes(test::ClassifierBytes(kind)), 2, 3);
  }
}

TEST_CASE("tail network: real models keep their function", "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  for (const char* name : {"fp16/efficientnet_lite0_fp16", "fp16/gen_mlperf_resnet8_fp16",
                           "float/mlperf_ic_resnet8_f32", "float/mlperf_vww_mbv1_f32",
                           "float/mlts_mobilenet_v1_0.25_128", "float/gen_digits_mlp_f32"}) {
    auto model = Model::OpenFile(folder + "/" + name + ".tflite");
    REQUIRE(model.status().ToString() == "OK");
    for (int n_layers = 1; n_layers <= 5; ++n_layers) {
      if (std::string(name) == "float/gen_digits_mlp_f32" && n_layers > 3) continue;
      INFO(name << ", " << n_layers << " layers");
      CheckScores(*model, n_layers, 2);
    }
  }
}

TEST_CASE("tail network: a new head starts from zeros, the rest as shipped", "[train]") {
  Bench bench = Digits(2, 3);
  ThreadPool pool(1);
  auto network = bench.Network(&pool, 4);
  REQUIRE(network->layout().size() == 4);
  CHECK(network->layout()[0].name == "head/weights");
  CHECK(network->layout()[0].dims == std::vector<int64_t>{4, 64});
  CHECK(network->layout()[1].name == "head/bias");
  CHECK_FALSE(network->layout()[1].decays);
  int64_t offset = 0;
  for (const ParameterInfo& info : network->layout()) {
    CHECK(info.offset == offset);
    offset += info.size;
  }
  CHECK(network->parameters().size() == static_cast<size_t>(offset));
  CHECK(network->gradient().size() == static_cast<size_t>(offset));
  std::vector<float> scores(12, 1.0f);
  REQUIRE(network->Scores(bench.row_pointers.data(), 3, scores.data()).ok());
  CHECK(scores == std::vector<float>(12, 0.0f));
  const std::vector<ConstantReplacement> replacements = network->Replacements();
  REQUIRE(replacements.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(replacements[i].tensor == bench.tail.constants[i].value);
    const Value& value = bench.model->main().values[static_cast<size_t>(replacements[i].tensor)];
    REQUIRE(replacements[i].values.size() == static_cast<size_t>(value.shape.NumElements()));
    CHECK(std::memcmp(replacements[i].values.data(), value.data,
                      replacements[i].values.size() * sizeof(float)) == 0);
  }
}

// Central differences of fourth order; the loss in double precision, from the scores.
TEST_CASE("tail network: gradients agree with finite differences", "[train]") {
  Bench bench = Smooth(11, 6);
  ThreadPool pool(1);
  auto network = bench.Network(&pool);
  bench.Gradient(network.get());
  CHECK(network->layout().size() == 2 * 11 + 2);
  const std::vector<float> gradient = Copy(network->gradient());
  const int64_t n_outputs = network->n_outputs();
  const auto loss = [&] {
    std::vector<float> scores(static_cast<size_t>(bench.n * n_outputs));
    REQUIRE(network->Scores(bench.row_pointers.data(), bench.n, scores.data()).ok());
    double sum = 0.0;
    for (int64_t b = 0; b < bench.n; ++b) {
      sum += EvaluateLossRow(LossOptions(), bench.targets(), b, n_outputs,
                             scores.data() + b * n_outputs);
    }
    return sum / static_cast<double>(bench.n);
  };
  constexpr float kStep = 1.0f / 16;
  for (const ParameterInfo& info : network->layout()) {
    double largest = 0.0, worst = 0.0;
    int n_checked = 0;
    const auto at = [&](int64_t k) { return static_cast<size_t>(info.offset + k); };
    for (int64_t k = 0; k < info.size; ++k) {
      largest = std::max(largest, std::fabs(static_cast<double>(gradient[at(k)])));
    }
    for (int64_t k = 0; k < info.size; k += std::max<int64_t>(1, info.size / 10)) {
      float& value = network->parameters()[at(k)];
      const float before = value;
      const auto loss_at = [&](float steps) {
        value = before + steps * kStep;
        const double result = loss();
        value = before;
        return result;
      };
      const double slope = (8.0 * (loss_at(1) - loss_at(-1)) - (loss_at(2) - loss_at(-2))) /
                           (12.0 * static_cast<double>(kStep));
      ++n_checked;
      worst = std::max(worst, std::fabs(slope - static_cast<double>(gradient[at(k)])));
    }
    INFO(info.name << ": " << n_checked << " checked");
    CHECK(n_checked > 0);
    CHECK(worst <= 1e-3 * largest);
  }
}

TEST_CASE("tail network: the same bits for any number of threads", "[train]") {
  for (Trained trained : {Trained::kAll, Trained::kBiasAndScale}) {
    Bench bench = Digits(4, 20, trained);
    std::vector<float> expected, expected_scores(200);
    for (int n_threads = 1; n_threads <= 4; ++n_threads) {
      ThreadPool pool(n_threads);
      auto network = bench.Network(&pool);
      bench.Gradient(network.get());
      std::vector<float> scores(200);
      REQUIRE(network->Scores(bench.row_pointers.data(), 20, scores.data()).ok());
      if (n_threads == 1) {
        expected = Copy(network->gradient());
        expected_scores = scores;
      }
      CHECK(Copy(network->gradient()) == expected);
      CHECK(scores == expected_scores);
    }
  }
}

TEST_CASE("tail network: bias and scale have the gradients they have among all", "[train]") {
  Bench all = Digits(4, 9), some = Digits(4, 9, Trained::kBiasAndScale);
  ThreadPool pool(1);
  auto whole = all.Network(&pool), part = some.Network(&pool);
  all.Gradient(whole.get());
  some.Gradient(part.get());
  CHECK(part->layout().size() == 5);
  size_t k = 0;
  for (const ParameterInfo& info : part->layout()) {
    while (k < whole->layout().size() && whole->layout()[k].name != info.name) ++k;
    REQUIRE(k < whole->layout().size());
    const auto slice = [](const ParameterInfo& at, Span<float> values) {
      return Copy(values.subspan(static_cast<size_t>(at.offset), static_cast<size_t>(at.size)));
    };
    CHECK(slice(info, part->gradient()) == slice(whole->layout()[k], whole->gradient()));
  }
}

TEST_CASE("tail network: rows in parts add up to the whole", "[train]") {
  Bench bench = Digits(3, 23);
  ThreadPool pool(1);
  auto whole = bench.Network(&pool, 0, 32), parts = bench.Network(&pool, 0, 5);
  const BatchLoss expected = bench.Gradient(whole.get()), loss = bench.Gradient(parts.get());
  CHECK(loss.loss_sum == Approx(expected.loss_sum).epsilon(1e-6));
  CHECK(loss.weight_sum == expected.weight_sum);
  CHECK(loss.hits == expected.hits);
  const std::vector<float> a = Copy(parts->gradient()), b = Copy(whole->gradient());
  double worst = 0.0, largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  CHECK(largest > 0.0);
  CHECK(worst <= 1e-5 * largest);
}

TEST_CASE("tail network: less memory, more computing, the same bits", "[train]") {
  for (int n_layers : {7, 11}) {
    Bench bench = Smooth(n_layers, 32);
    ThreadPool pool(2);
    auto plain = bench.Network(&pool);
    const BatchLoss expected = bench.Gradient(plain.get());
    CHECK(plain->n_segments() == 1);
    const size_t fixed = 2 * plain->parameters().size() * sizeof(float);
    const size_t needed = plain->bytes() - fixed;
    bool recomputed = false, refused = false;
    for (size_t percent = 95; percent >= 5 && !refused; percent -= 5) {
      INFO(n_layers << " layers, " << percent << " % of " << needed << " bytes");
      TrainerOptions options;
      options.memory_limit_bytes = needed * percent / 100;
      auto network = TailNetwork::Create(bench.model->main(), bench.head, bench.tail,
                                         bench.head.n_classes, options, &pool);
      if (!network.ok()) {
        CHECK(network.status().code() == StatusCode::kOutOfMemory);
        CHECK(network.status().message().find("32 examples at once") != std::string::npos);
        refused = true;
        continue;
      }
      const BatchLoss loss = bench.Gradient(network->get());
      recomputed = recomputed || (*network)->n_segments() > 1;
      CHECK((*network)->bytes() - fixed <= options.memory_limit_bytes + kAlignment);
      CHECK(loss.loss_sum == expected.loss_sum);
      CHECK(Copy((*network)->gradient()) == Copy(plain->gradient()));
    }
    INFO(n_layers << " layers");
    CHECK(recomputed);
    CHECK(refused);
  }
}

void Step(Bench* bench, TailNetwork* network, float rate) {
  bench->Gradient(network);
  const Span<float> parameters = network->parameters(), gradient = network->gradient();
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i] -= rate * gradient[i];
}

TEST_CASE("tail network: training two and three layers lowers the loss", "[train]") {
  for (int n_layers : {2, 3}) {
    Bench bench = Digits(n_layers, 60);
    ThreadPool pool(2);
    auto network = bench.Network(&pool, 10);
    const double before = bench.Gradient(network.get()).loss_sum;
    for (int step = 0; step < 30; ++step) Step(&bench, network.get(), 1.0f / 64);
    CHECK(bench.Gradient(network.get()).loss_sum < 0.5 * before);
  }
}

double WorstDifference(Span<const float> got, const std::vector<float>& expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0.0, largest = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i];
    worst = std::max(worst, std::fabs(static_cast<double>(got[i]) - e));
    largest = std::max(largest, std::fabs(e));
  }
  return worst / largest;
}

TEST_CASE("tail network: 20 steps follow PyTorch", "[train]") {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/tail_steps.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  const std::vector<int32_t> batches = npz.at("batches").as<int32_t>();
  const std::vector<double> losses = npz.at("losses").as<double>();
  const float rate = npz.at("rate").as<float>()[0];
  const size_t batch = static_cast<size_t>(npz.at("batches").shape[1]);
  const test::EmbeddedFile* y_file = test::FindEmbedded("models/zoo/data/digits_8x8/train/y.npy");
  REQUIRE(y_file != nullptr);
  const std::vector<int32_t> y = test::ReadNpy(y_file->data, y_file->size).as<int32_t>();
  Bench bench = Digits(3, 64);
  ThreadPool pool(2);
  auto network = bench.Network(&pool, 4);
  const std::vector<const float*> rows = bench.row_pointers;
  for (size_t step = 0; step < losses.size(); ++step) {
    bench.row_pointers.clear();
    bench.labels.clear();
    bench.n = static_cast<int64_t>(batch);
    for (size_t i = step * batch; i < (step + 1) * batch; ++i) {
      bench.row_pointers.push_back(rows[static_cast<size_t>(batches[i])]);
      bench.labels.push_back(y[static_cast<size_t>(batches[i])] % 4);
    }
    const BatchLoss loss = bench.Gradient(network.get());
    INFO("step " << step);
    CHECK(std::fabs(loss.loss_sum / loss.weight_sum - losses[step]) <= 1e-4);
    const Span<float> parameters = network->parameters(), gradient = network->gradient();
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i] -= rate * gradient[i];
  }
  const char* const names[] = {"head_w", "head_b", "conv1_w", "conv1_b", "conv2_w", "conv2_b"};
  REQUIRE(network->layout().size() == 6);
  for (size_t i = 0; i < 6; ++i) {
    const ParameterInfo& info = network->layout()[i];
    INFO(names[i]);
    CHECK(WorstDifference(network->parameters().subspan(static_cast<size_t>(info.offset),
                                                        static_cast<size_t>(info.size)),
                          npz.at(names[i]).as<float>()) <= 1e-4);
  }
}

TEST_CASE("tail network: a step that overflows names the tensor", "[train]") {
  Bench bench = Digits(2, 4);
  ThreadPool pool(1);
  auto network = bench.Network(&pool);
  const std::vector<float> before = Copy(network->parameters());
  for (float& value : bench.rows) value *= 1e30f;
  BatchLoss loss;
  const Status status = network->ComputeGradient(LossOptions(), bench.row_pointers.data(),
                                                 bench.targets(), bench.n, &loss);
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("'") != std::string::npos);
  CHECK(Copy(network->parameters()) == before);
}

}  // namespace tail_network_test
}  // namespace topwork
