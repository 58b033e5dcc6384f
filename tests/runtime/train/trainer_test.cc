// The trainer end to end: features, training, evaluation, export, errors.
#include "runtime/train/trainer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tests/support/classifiers.h"
#include "tests/support/digits_model.h"
#include "tests/support/embedded.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/npz.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace trainer_test {

using test::Tail;

struct Data {
  std::vector<float> x;
  std::vector<int32_t> y;
  size_t example_bytes = 0;

  Examples examples() const {
    return Examples::FromArray(x.data(), example_bytes, y.data(), static_cast<int64_t>(y.size()));
  }
};

Data Images(int n, int n_classes, uint64_t seed) {
  Data data;
  data.example_bytes = 48 * sizeof(float);
  test::MakeImages(n, n_classes, seed, &data.x, &data.y);
  return data;
}

Data Digits(const char* part) {
  const auto read = [&](const char* name) {
    const std::string path = std::string("models/zoo/data/digits_8x8/") + part + "/" + name;
    const test::EmbeddedFile* file = test::FindEmbedded(path.c_str());
    REQUIRE(file != nullptr);
    return test::ReadNpy(file->data, file->size);
  };
  Data data;
  data.x = read("x.npy").as<float>();
  data.y = read("y.npy").as<int32_t>();
  data.example_bytes = 64 * sizeof(float);
  return data;
}

TrainerOptions Options(int n_classes) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_threads = 1;
  options.learning_rate = 0.05f;
  options.epochs = 15;
  return options;
}

std::unique_ptr<Trainer> NewTrainer(const std::shared_ptr<const Model>& model,
                                    const TrainerOptions& options) {
  auto trainer = Trainer::Create(model, options);
  REQUIRE(trainer.status().ToString() == "OK");
  return std::move(trainer.value());
}

std::string CreateError(const std::shared_ptr<const Model>& model, const TrainerOptions& options) {
  const auto trainer = Trainer::Create(model, options);
  REQUIRE_FALSE(trainer.ok());
  return trainer.status().ToString();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("trainer: handwritten digits are learnt anew by a real network", "[train]") {
  const Data train = Digits("train");
  const Data test = Digits("test");
  TrainerOptions options = Options(10);
  options.learning_rate = 0.01f;
  const auto trainer = NewTrainer(test::DigitsModel(), options);
  CHECK(trainer->head().dim == 64);
  REQUIRE(trainer->AddExamples(train.examples()).ToString() == "OK");
  const auto before = trainer->judge().Evaluate(test.examples());
  REQUIRE(before.ok());
  CHECK(before->top1 < 0.2);
  std::vector<EpochMetrics> epochs;
  REQUIRE(trainer
              ->Train([&](const EpochMetrics& m) {
                epochs.push_back(m);
                return true;
              })
              .ToString() == "OK");
  REQUIRE(epochs.size() == 15);
  CHECK(epochs.back().epoch == 15);
  CHECK(epochs.back().train_loss < 0.3 * epochs.front().train_loss);
  CHECK(epochs.back().validation_accuracy > 0.9);
  const auto after = trainer->judge().Evaluate(test.examples());
  REQUIRE(after.ok());
  CHECK(after->n_examples == 397);
  CHECK(after->top1 > 0.95);
  int64_t sum = 0;
  for (int64_t count : after->confusion) sum += count;
  CHECK(sum == 397);
}

TEST_CASE("trainer: the exported model gives what the trainer evaluates", "[train]") {
  for (Tail tail : test::kAllTails) {
    INFO(test::TailName(tail));
    const auto model = test::OpenBytes(test::ClassifierBytes(tail));
    TrainerOptions options = Options(3);
    options.class_names = {"red", "green", "blue"};
    const auto trainer = NewTrainer(model, options);
    const Data data = Images(90, 3, 5);
    REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");
    REQUIRE(trainer->Train().ToString() == "OK");
    const Data fresh = Images(30, 3, 6);
    const auto evaluation = trainer->judge().Evaluate(fresh.examples());
    REQUIRE(evaluation.ok());
    CHECK(evaluation->top1 > 0.9);
    const auto bytes = trainer->Export();
    REQUIRE(bytes.status().ToString() == "OK");
    const auto exported = test::OpenBytes(*bytes);
    CHECK(exported->labels() == options.class_names);
    // Weights are rounded where the model's were.
    const bool rounded =
        tail == Tail::kDenseHalf || tail == Tail::kDenseInt8 || tail == Tail::kDenseInt2;
    const std::vector<float> scores = test::RunModel(exported, fresh.x);
    REQUIRE(scores.size() == 90);
    MetricsCollector collector(3);
    for (size_t i = 0; i < 30; ++i) {
      const float* row = scores.data() + 3 * i;
      const bool logs = tail == Tail::kDenseLogits || tail == Tail::kConvMean;
      logs ? collector.AddLogits(row, fresh.y[i]) : collector.AddProbabilities(row, fresh.y[i]);
    }
    CHECK(collector.Finish().top1 == evaluation->top1);
    CHECK(collector.Finish().loss ==
          Approx(evaluation->loss).epsilon(rounded ? 2e-2 : 1e-4).margin(1e-5));
    // The exported model can be trained again, from where it is.
    TrainerOptions again = Options(3);
    again.init = HeadInit::kShipped;
    const auto second = NewTrainer(exported, again);
    const auto same = second->judge().Evaluate(fresh.examples());
    REQUIRE(same.ok());
    CHECK(same->loss == Approx(evaluation->loss).epsilon(rounded ? 2e-2 : 1e-5));
  }
}

TEST_CASE("trainer: a learning rate that suits the features is chosen", "[train]") {
  const Data train = Digits("train");
  const Data test = Digits("test");
  for (Optimizer optimizer : {Optimizer::kAdam, Optimizer::kSgd}) {
    for (float scale : {1.0f, 100.0f, 0.1f}) {
      TrainerOptions options = Options(10);
      options.optimizer = optimizer;
      options.learning_rate = 0.0f;
      const auto source = NewTrainer(test::DigitsModel(), options);
      REQUIRE(source->AddExamples(train.examples()).ok());
      std::vector<float> features;
      for (int64_t i = 0; i < source->set().cache().size(); ++i) {
        const float* row = source->set().cache().row(i);
        features.insert(features.end(), row, row + 64);
      }
      for (float& x : features) x *= scale;
      const auto trainer = NewTrainer(test::DigitsModel(), options);
      REQUIRE(trainer->AddFeatures(features.data(), train.y.data(), source->set().size()).ok());
      CHECK(trainer->state().learning_rate == 0.0f);
      REQUIRE(trainer->Train().ok());
      INFO(OptimizerName(optimizer)
           << ", features times " << scale << ", learning rate " << trainer->state().learning_rate);
      double absolute = 0.0;
      double squared = 0.0;
      for (int32_t i : trainer->set().train()) {
        for (size_t d = 0; d < 64; ++d) {
          const double x = static_cast<double>(features[static_cast<size_t>(i) * 64 + d]);
          absolute += std::fabs(x);
          squared += x * x;
        }
      }
      const double n = static_cast<double>(trainer->set().train().size());
      const double expected =
          optimizer == Optimizer::kAdam ? 2.5 / (1.0 + absolute / n) : 4.0 / (1.0 + squared / n);
      CHECK(trainer->state().learning_rate == Approx(expected));
      CHECK(trainer->state().progress.history.back().validation_accuracy > 0.9);
    }
  }
}

TEST_CASE("trainer: examples that come after training has begun take part from then on",
          "[train]") {
  const Data first = Images(30, 3, 5);
  const Data second = Images(30, 3, 6);
  TrainerOptions options = Options(3);
  options.epochs = 2;
  const auto trainer = NewTrainer(test::OpenBytes(test::ClassifierBytes(Tail::kDense)), options);
  REQUIRE(trainer->AddExamples(first.examples()).ok());
  REQUIRE(trainer->Train().ok());
  CHECK(trainer->set().train().size() == 24);
  REQUIRE(trainer->AddExamples(second.examples()).ToString() == "OK");
  trainer->set_epochs(3);
  REQUIRE(trainer->Train().ok());
  CHECK(trainer->set().train().size() == 48);
  CHECK(trainer->state().progress.step == 2 * 1 + 2);  // batches of 32
}

TEST_CASE("trainer: the shipped head is a starting point that changes nothing", "[train]") {
  const Data test = Digits("test");
  TrainerOptions options = Options(0);
  options.init = HeadInit::kShipped;
  const auto trainer = NewTrainer(test::DigitsModel(), options);
  CHECK(trainer->n_classes() == 10);
  const auto evaluation = trainer->judge().Evaluate(test.examples());
  REQUIRE(evaluation.ok());
  CHECK(evaluation->top1 == Approx(0.982367758186398));
}

TEST_CASE("trainer: the same bits for any number of threads and any feature batch", "[train]") {
  const Data data = Digits("train");
  std::vector<float> reference;
  for (int n_threads : {1, 2, 3}) {
    TrainerOptions options = Options(10);
    options.n_threads = n_threads;
    options.epochs = 3;
    const auto trainer = NewTrainer(test::DigitsModel(), options);
    REQUIRE(trainer->AddExamples(data.examples()).ok());
    REQUIRE(trainer->Train().ok());
    std::vector<float> weights(trainer->state().weights().begin(),
                               trainer->state().weights().end());
    if (reference.empty()) reference = weights;
    CHECK(std::memcmp(weights.data(), reference.data(), weights.size() * sizeof(float)) == 0);
  }
  TrainerOptions options = Options(10);
  options.feature_batch_size = 3;
  const auto batched = NewTrainer(test::DigitsModel(), options);
  options.feature_batch_size = 1;
  const auto single = NewTrainer(test::DigitsModel(), options);
  REQUIRE(batched->AddExamples(data.examples()).ok());
  REQUIRE(single->AddExamples(data.examples()).ok());
  const FeatureCache& a = single->set().cache();
  double worst = 0.0;
  for (int64_t i = 0; i < a.size(); ++i) {
    for (int64_t d = 0; d < a.dim(); ++d) {
      worst = std::max(worst, std::fabs(static_cast<double>(a.row(i)[d]) -
                                        static_cast<double>(batched->set().cache().row(i)[d])));
    }
  }
  CHECK(worst < 1e-4);
}

TEST_CASE("trainer: what cannot be trained is refused with the reason", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  CHECK(Contains(CreateError(model, Options(1)), "a classifier of 1 class cannot be trained"));
  TrainerOptions options = Options(3);
  options.class_names = {"a", "b"};
  CHECK(Contains(CreateError(model, options), "2 class names for 3 classes"));
  options.class_names = {"a", "", "b"};
  CHECK(Contains(CreateError(model, options), "the name of class 1 is empty"));
  options = Options(3);
  options.init = HeadInit::kShipped;
  CHECK(Contains(CreateError(model, options), "has 5 classes; the new one has 3"));
  options = Options(3);
  options.learning_rate = -1.0f;
  CHECK(Contains(CreateError(model, options), "learning_rate is -1"));
  options = Options(3);
  options.output = 4;
  CHECK(Contains(CreateError(model, options), "output #4 does not exist"));

  const auto trainer = NewTrainer(model, Options(3));
  CHECK(trainer->Train().code() == StatusCode::kFailedPrecondition);
  Data one = Images(9, 3, 1);
  std::fill(one.y.begin(), one.y.end(), 2);
  REQUIRE(trainer->AddExamples(one.examples()).ok());
  CHECK(Contains(trainer->Train().ToString(), "all 9 examples are of one class (2)"));
  Data wrong = Images(6, 3, 1);
  wrong.y[4] = 3;
  CHECK(Contains(trainer->AddExamples(wrong.examples()).ToString(),
                 "example 4 has label 3; labels are 0 to 2"));
  CHECK(trainer->set().size() == 9);
  wrong.y[4] = 1;
  wrong.x[48 * 2 + 5] = std::numeric_limits<float>::quiet_NaN();
  CHECK(trainer->AddExamples(wrong.examples()).code() == StatusCode::kNumeric);
  CHECK(trainer->set().size() == 9);
  REQUIRE(trainer->AddExamples(Images(6, 3, 1).examples()).ok());
  CHECK(trainer->Train().ok());
}

TEST_CASE("trainer: the feature cache keeps to its limit", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  TrainerOptions options = Options(3);
  options.cache_limit_bytes = 10 * 8 * sizeof(float);
  const auto trainer = NewTrainer(model, options);
  REQUIRE(trainer->AddExamples(Images(9, 3, 1).examples()).ok());
  const Status status = trainer->AddExamples(Images(2, 2, 1).examples());
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(Contains(status.message(),
                 "features of 11 examples (8 floats each) need 352 bytes, the "
                 "cache limit is 320"));
  CHECK(trainer->AddExamples(Images(1, 1, 1).examples()).ok());
  CHECK(trainer->set().cache().bytes() <= options.cache_limit_bytes);
}

TEST_CASE("trainer: a bounded memory takes all examples or none", "[train]") {
  TrainerOptions options = Options(3);
  options.cache_limit_bytes = 10 * 8 * sizeof(float);
  options.replay_capacity = 1000;
  const auto trainer = NewTrainer(test::OpenBytes(test::ClassifierBytes(Tail::kDense)), options);
  const Data six = Images(6, 3, 1), seven = Images(7, 3, 2), four = Images(4, 2, 3);
  REQUIRE(trainer->AddExamples(six.examples()).ok());
  const std::string before = trainer->context().set->digest();
  CHECK(trainer->AddExamples(seven.examples()).code() == StatusCode::kOutOfMemory);
  CHECK(trainer->set().size() == 6);
  CHECK(trainer->set().replay()->size() == 6);
  CHECK(trainer->context().set->digest() == before);
  REQUIRE(trainer->AddExamples(four.examples()).ToString() == "OK");
  CHECK(trainer->set().size() == 10);
}

TEST_CASE("trainer: a full disk leaves a bounded memory that can be saved", "[train]") {
  const test::TempFolder folder;
  TrainerOptions options = Options(3);
  options.cache_path = folder / "cache";
  options.cache_limit_bytes = 4 * 8 * sizeof(float);
  options.replay_capacity = 20;
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  const Data first = Images(12, 3, 1), more = Images(16, 3, 2);
  int n_full = 0;
  for (size_t room = 0; room < 3000; room += 40) {
    std::remove(options.cache_path.c_str());
    const auto trainer = NewTrainer(model, options);
    REQUIRE(trainer->AddExamples(first.examples()).ToString() == "OK");
    Status status;
    {
      const test::FileSizeLimit limit(test::ReadWhole(options.cache_path).size() + room);
      REQUIRE(limit.set());
      status = trainer->AddExamples(more.examples());
    }
    INFO(room << " bytes of room: " << status.ToString());
    n_full += status.ok() ? 0 : 1;
    const TrainingSet& set = trainer->set();
    REQUIRE(set.replay()->size() == set.size());
    for (int64_t i = 0; i < set.size(); ++i) {
      REQUIRE(set.replay()->labels()[static_cast<size_t>(i)] == set.cache().label(i));
    }
    const std::string path = folder / "checkpoint";
    REQUIRE(trainer->SaveCheckpoint(path, true).ToString() == "OK");
    options.cache_path = folder / "other";
    const auto other = NewTrainer(model, options);
    options.cache_path = folder / "cache";
    REQUIRE(other->RestoreCheckpoint(path).ToString() == "OK");
    CHECK(other->set().size() == set.size());
  }
  CHECK(n_full > 20);
}

TEST_CASE("trainer: extraction and training can be stopped and go on", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  TrainerOptions options = Options(3);
  options.feature_batch_size = 4;
  const auto trainer = NewTrainer(model, options);
  const Data data = Images(30, 3, 1);
  std::vector<int64_t> seen;
  const Status stopped = trainer->AddExamples(data.examples(), [&](int64_t done, int64_t total) {
    seen.push_back(done);
    CHECK(total == 30);
    return done < 8;
  });
  CHECK(stopped.code() == StatusCode::kCancelled);
  CHECK(seen == std::vector<int64_t>{4, 8});
  CHECK(trainer->set().size() == 0);
  CHECK(trainer
            ->AddExamples(data.examples(),
                          [&](int64_t, int64_t) {
                            trainer->Cancel();
                            return true;
                          })
            .code() == StatusCode::kCancelled);
  REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");

  trainer->Cancel();  // nothing is in progress
  CHECK(trainer->Train([&](const EpochMetrics& m) { return m.epoch < 1; }).ok());
  CHECK(trainer
            ->Train([&](const EpochMetrics&) {
              std::thread([&] { trainer->Cancel(); }).join();
              return true;
            })
            .code() == StatusCode::kCancelled);
  CHECK(trainer->state().progress.epoch == 2);
  CHECK(trainer->Train().ok());
  CHECK(trainer->state().progress.epoch == 15);
  CHECK(trainer->state().progress.history.size() == 15);
}

TEST_CASE("trainer: a loss that is not finite stops with the weights of the step before",
          "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  TrainerOptions options = Options(2);
  options.optimizer = Optimizer::kSgd;
  options.learning_rate = 1e6f;
  options.validation_fraction = 0.0f;
  const auto trainer = NewTrainer(model, options);
  const float features[] = {1e17f, 0, 0, 0, 0, 0, 0, 0, -1e17f, 1, 1, 1, 1, 1, 1, 1,
                            1e17f, 0, 0, 0, 1, 0, 0, 0, -1e17f, 1, 2, 1, 1, 1, 1, 1};
  const int32_t labels[] = {0, 1, 1, 0};
  REQUIRE(trainer->AddFeatures(features, labels, 4).ok());
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->Step(&loss, &done).ok());
  std::vector<float> before(trainer->state().weights().begin(), trainer->state().weights().end());
  Status status;
  while (status.ok() && trainer->state().progress.step < 100) {
    before.assign(trainer->state().weights().begin(), trainer->state().weights().end());
    status = trainer->Step(&loss, &done);
  }
  INFO(status.ToString());
  REQUIRE(status.code() == StatusCode::kNumeric);
  CHECK(Contains(status.message(), "epoch "));
  CHECK(std::equal(before.begin(), before.end(), trainer->state().weights().begin()));
  for (float w : before) CHECK(std::isfinite(w));
}

TEST_CASE("trainer: models of a fixed batch and models of an odd batch give every example",
          "[train]") {
  test::ModelSpec spec = test::ClassifierSpec(Tail::kDense);
  for (test::TensorSpec& tensor : spec.main().tensors) {
    if (tensor.buffer == 0) tensor.shape[0] = 4;
  }
  spec.main().tensors[0].signature.clear();
  const auto fixed = test::OpenBytes(test::BuildModel(spec));
  const auto one = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  const Data data = Images(11, 3, 1);
  const auto a = NewTrainer(fixed, Options(3));
  const auto b = NewTrainer(one, Options(3));
  CHECK(a->head().batch == 4);
  CHECK(a->input(0).shape == Shape({1, 4, 4, 3}));
  REQUIRE(a->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE(b->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE(a->set().size() == 11);
  for (int64_t i = 0; i < 11; ++i) {
    for (int d = 0; d < 8; ++d) {
      CHECK(a->set().cache().row(i)[d] == Approx(b->set().cache().row(i)[d]).margin(1e-5));
    }
  }
}

TEST_CASE("trainer: a model that mixes the examples of a batch runs them one by one", "[train]") {
  test::ModelSpec spec = test::ClassifierSpec(Tail::kDense);
  const int x = spec.main().inputs[0];
  const int axis = spec.AddConstant("axis", DType::kInt32, {1}, test::ToBytes<int32_t>({0}));
  const int mean = spec.AddTensor("mean of the batch", DType::kFloat32, {1, 4, 4, 3});
  const int sum = spec.AddTensor("sum", DType::kFloat32, {1, 4, 4, 3});
  spec.main().ops[0].inputs[0] = sum;
  spec.AddOp(OpCode::kMean, {x, axis}, {mean}, test::OptionsSpec(test::kReducerOptions).Byte(0, 1));
  spec.AddOp(OpCode::kAdd, {x, mean}, {sum}, test::OptionsSpec(test::kAddOptions));
  std::vector<test::OpSpec>& ops = spec.main().ops;
  std::rotate(ops.begin(), ops.end() - 2, ops.end());
  const auto model = test::OpenBytes(test::BuildModel(spec));
  const Data data = Images(19, 3, 1);
  TrainerOptions options = Options(3);
  options.feature_batch_size = 1;
  const auto single = NewTrainer(model, options);
  options.feature_batch_size = 8;
  const auto batched = NewTrainer(model, options);
  REQUIRE(single->AddExamples(data.examples()).ok());
  REQUIRE(batched->AddExamples(data.examples()).ok());
  REQUIRE(batched->set().size() == 19);
  for (int64_t i = 0; i < 19; ++i) {
    for (int d = 0; d < 8; ++d)
      CHECK(batched->set().cache().row(i)[d] == single->set().cache().row(i)[d]);
  }
}

}  // namespace trainer_test
}  // namespace topwork
