// A last layer behind an LSTM: the rows of a digit are its steps, the LSTM's weights are random.
#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/session/session.h"
#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"
#include "tests/support/npz.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace recurrent_head_test {

constexpr int kCells = 24, kSide = 8, kClasses = 10;
constexpr uint8_t kSequenceLstmOptions = 71;

int Constant(test::ModelSpec* spec, std::vector<int32_t> shape, uint32_t seed) {
  size_t n = 1;
  for (int32_t dim : shape) n *= static_cast<size_t>(dim);
  std::vector<float> values = test::RandomFloats(n, seed);
  for (float& value : values) value *= 0.4f;
  return spec->AddConstant("w" + std::to_string(seed), DType::kFloat32, std::move(shape),
                           test::ToBytes(values));
}

test::Bytes LstmClassifier() {
  test::ModelSpec spec;
  std::vector<int32_t> inputs(24, -1);
  inputs[0] = spec.AddInput("digit", DType::kFloat32, {1, kSide, kSide});
  for (int gate = 0; gate < 4; ++gate) {
    const uint32_t seed = static_cast<uint32_t>(gate) * 3 + 1;
    inputs[static_cast<size_t>(1 + gate)] = Constant(&spec, {kCells, kSide}, seed);
    inputs[static_cast<size_t>(5 + gate)] = Constant(&spec, {kCells, kCells}, seed + 1);
    inputs[static_cast<size_t>(12 + gate)] = Constant(&spec, {kCells}, seed + 2);
  }
  for (size_t state : {18u, 19u}) {
    inputs[state] = spec.AddTensor("state", DType::kFloat32, {1, kCells});
    spec.main().tensors[static_cast<size_t>(inputs[state])].is_variable = true;
  }
  const int steps = spec.AddTensor("steps", DType::kFloat32, {1, kSide, kCells});
  spec.AddOp(OpCode::kUnidirectionalSequenceLstm, inputs, {steps},
             test::OptionsSpec(kSequenceLstmOptions).Byte(0, 4));
  const int flat = spec.AddTensor("flat", DType::kFloat32, {1, kSide * kCells});
  spec.AddOp(OpCode::kReshape, {steps}, {flat},
             test::OptionsSpec(test::kReshapeOptions).Ints(0, {1, kSide * kCells}));
  const int scores = spec.AddTensor("scores", DType::kFloat32, {1, kClasses});
  spec.AddOp(
      OpCode::kFullyConnected,
      {flat, Constant(&spec, {kClasses, kSide * kCells}, 90), Constant(&spec, {kClasses}, 91)},
      {scores}, test::OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {scores};
  return test::BuildModel(spec);
}

std::vector<float> Column(const char* name, std::vector<int32_t>* labels) {
  const std::string path = std::string("models/zoo/data/digits_8x8/") + name;
  const test::EmbeddedFile* file = test::FindEmbedded(path.c_str());
  REQUIRE(file != nullptr);
  const test::NpyArray array = test::ReadNpy(file->data, file->size);
  if (labels == nullptr) return array.as<float>();
  *labels = array.as<int32_t>();
  return {};
}

struct Digits {
  std::vector<float> x;
  std::vector<int32_t> y;
  explicit Digits(const std::string& part) {
    x = Column((part + "/x.npy").c_str(), nullptr);
    Column((part + "/y.npy").c_str(), &y);
  }
  Examples examples() const {
    return Examples::FromArray(x.data(), kSide * kSide * sizeof(float), y.data(),
                               static_cast<int64_t>(y.size()));
  }
};

TEST_CASE("trainer: the layer behind an LSTM learns, and its export says the same", "[train]") {
  const Digits train("train"), held("test");
  TrainerOptions options;
  options.n_classes = kClasses;
  options.n_threads = 1;
  options.learning_rate = 0.05f;
  options.epochs = 10;
  auto created = Trainer::Create(test::OpenBytes(LstmClassifier()), options);
  REQUIRE(created.status().ToString() == "OK");
  Trainer& trainer = **created;
  CHECK(trainer.head().dim == kSide * kCells);
  REQUIRE(trainer.AddExamples(train.examples()).ToString() == "OK");
  REQUIRE(trainer.Train().ToString() == "OK");
  const auto result = trainer.judge().Evaluate(held.examples());
  REQUIRE(result.ok());
  CHECK(result->top1 > 0.85);
  const auto bytes = trainer.Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const auto session = Session::Create(test::OpenBytes(*bytes), SessionOptions());
  REQUIRE(session.status().ToString() == "OK");
  int n_right = 0;
  for (size_t i = 0; i < held.y.size(); ++i) {
    (*session)->ResetState();
    float* input = (*session)->input(0).as<float>();
    std::copy_n(held.x.data() + i * kSide * kSide, kSide * kSide, input);
    REQUIRE((*session)->Run().ok());
    const float* scores = (*session)->output(0).as<float>();
    n_right += std::max_element(scores, scores + kClasses) - scores == held.y[i];
  }
  CHECK(static_cast<double>(n_right) / static_cast<double>(held.y.size()) == Approx(result->top1));
}

}  // namespace recurrent_head_test
}  // namespace topwork
