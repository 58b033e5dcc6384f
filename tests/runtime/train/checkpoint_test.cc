// Checkpoints: bit-identical continuation, and every kind of file that must be refused.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>

#include "models/format/checkpoint_file.h"
#include "ports/port.h"
#include "runtime/train/trainer.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/classifiers.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace checkpoint_test {

using test::Tail;

TrainerOptions Options(Optimizer optimizer) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.optimizer = optimizer;
  options.learning_rate = 0.02f;
  if (optimizer == Optimizer::kSgd) options.momentum = 0.9f;
  options.batch_size = 7;
  options.epochs = 6;
  return options;
}

std::unique_ptr<Trainer> NewTrainer(const TrainerOptions& options, uint64_t data_seed = 5,
                                    Tail tail = Tail::kDense) {
  auto trainer = Trainer::Create(test::OpenBytes(test::ClassifierBytes(tail)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  std::vector<float> x;
  std::vector<int32_t> y;
  test::MakeImages(60, 3, data_seed, &x, &y);
  REQUIRE((*trainer)->AddExamples(Examples::FromArray(x.data(), 192, y.data(), 60)).ok());
  return std::move(trainer.value());
}

std::vector<float> Weights(const Trainer& trainer) {
  std::vector<float> all(trainer.state().weights().begin(), trainer.state().weights().end());
  all.insert(all.end(), trainer.state().bias().begin(), trainer.state().bias().end());
  return all;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_CASE("checkpoint: a resumed run equals the uninterrupted one bit for bit", "[train]") {
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam}) {
    const auto whole = NewTrainer(Options(optimizer));
    REQUIRE(whole->Train().ok());
    // In the middle of the first epoch, at its end, in the middle of a later one, at the end.
    for (int n_steps : {0, 3, 7, 8, 25, 42}) {
      INFO(OptimizerName(optimizer) << ", stopped after " << n_steps << " steps");
      const test::TempFile file("resume");
      const auto first = NewTrainer(Options(optimizer));
      double loss = 0.0;
      bool done = false;
      for (int i = 0; i < n_steps; ++i) REQUIRE(first->Step(&loss, &done).ok());
      REQUIRE(first->SaveCheckpoint(file.path).ToString() == "OK");
      const auto second = NewTrainer(Options(optimizer));
      REQUIRE(second->RestoreCheckpoint(file.path).ToString() == "OK");
      CHECK(second->state().progress.step == n_steps);
      CHECK(SameBits(Weights(*second), Weights(*first)));
      REQUIRE(second->Train().ok());
      CHECK(second->state().progress.step == whole->state().progress.step);
      CHECK(SameBits(Weights(*second), Weights(*whole)));
      REQUIRE(second->state().progress.history.size() == whole->state().progress.history.size());
      for (size_t e = 0; e < whole->state().progress.history.size(); ++e) {
        CHECK(second->state().progress.history[e].train_loss ==
              whole->state().progress.history[e].train_loss);
        CHECK(second->state().progress.history[e].validation_accuracy ==
              whole->state().progress.history[e].validation_accuracy);
      }
    }
  }
}

// Images of a class more than those of NewTrainer, in place of some of them.
void AddOthers(Trainer* trainer) {
  std::vector<float> x;
  std::vector<int32_t> y;
  test::MakeImages(40, 4, 8, &x, &y);
  const Examples others = Examples::FromArray(x.data(), 192, y.data(), 40);
  REQUIRE(trainer->AddExamples(others).ToString() == "OK");
}

struct Stop {
  int n_steps;     // before other examples come
  int more_steps;  // from then to the checkpoint
};

// Of a bounded memory, which other examples change while it trains.
void CheckReplaced(const TrainerOptions& options, const Stop& stop) {
  INFO(OptimizerName(options.optimizer)
       << ", balance " << static_cast<int>(options.balance_classes) << ", replaced after "
       << stop.n_steps << " steps, saved " << stop.more_steps << " later");
  const auto begun = [&] {
    auto trainer = NewTrainer(options);
    double loss = 0.0;
    bool done = false;
    if (!IsFirstOrder(options.optimizer)) REQUIRE(trainer->Train().ToString() == "OK");
    for (int i = 0; i < stop.n_steps; ++i) REQUIRE(trainer->Step(&loss, &done).ok());
    AddOthers(trainer.get());
    for (int i = 0; i < stop.more_steps; ++i) REQUIRE(trainer->Step(&loss, &done).ok());
    return trainer;
  };
  const auto whole = begun();
  const uint64_t position = whole->state().progress.position;
  REQUIRE(whole->Train().ToString() == "OK");
  const test::TempFile file("replaced");
  REQUIRE(begun()->SaveCheckpoint(file.path, true).ToString() == "OK");
  auto trainer = Trainer::Create(test::OpenBytes(test::ClassifierBytes(Tail::kDense)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  Trainer& second = **trainer;
  REQUIRE(second.RestoreCheckpoint(file.path).ToString() == "OK");
  CHECK(second.state().progress.position == position);
  REQUIRE(second.Train().ToString() == "OK");
  CHECK(SameBits(test::Parameters(second), test::Parameters(*whole)));
  REQUIRE(second.state().progress.history.size() == whole->state().progress.history.size());
  for (size_t e = 0; e < whole->state().progress.history.size(); ++e) {
    CHECK(second.state().progress.history[e].train_loss ==
          whole->state().progress.history[e].train_loss);
  }
}

TEST_CASE("checkpoint: a run goes on alike after examples of a bounded memory were replaced",
          "[train]") {
  for (Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam}) {
    for (Balance balance : {Balance::kNone, Balance::kWeights, Balance::kRepeat, Balance::kSmote}) {
      TrainerOptions options = Options(optimizer);
      options.n_classes = 4;
      options.balance_classes = balance;
      for (int64_t capacity : {30, 70}) {  // full; room for some more
        options.replay_capacity = capacity;
        for (const Stop& stop : {Stop{0, 0}, Stop{2, 0}, Stop{2, 1}, Stop{9, 3}}) {
          CheckReplaced(options, stop);
        }
      }
    }
  }
}

TEST_CASE("checkpoint: a head that follows its examples does so after a bounded memory changed",
          "[train]") {
  for (Optimizer optimizer : {Optimizer::kLbfgs, Optimizer::kRidge, Optimizer::kImprint,
                              Optimizer::kAuto, Optimizer::kKnn}) {
    TrainerOptions options;
    options.n_classes = 4;
    options.n_threads = 1;
    options.optimizer = optimizer;
    for (int64_t capacity : {30, 70}) {
      options.replay_capacity = capacity;
      CheckReplaced(options, {0, 0});
    }
  }
}

TEST_CASE("checkpoint: an order of places that are not there is refused, and changes nothing",
          "[train]") {
  const test::TempFile file("order");
  TrainerOptions options = Options(Optimizer::kAdam);
  options.balance_classes = Balance::kSmote;
  options.replay_capacity = 30;
  const auto trainer = NewTrainer(options);
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->Step(&loss, &done).ok());
  REQUIRE(trainer->SaveCheckpoint(file.path, true).ToString() == "OK");
  const std::string good = file.Read();
  const auto data = DecodeCheckpoint({reinterpret_cast<const uint8_t*>(good.data()), good.size()});
  REQUIRE(data.status().ToString() == "OK");
  CHECK(data->values.order.empty());  // it follows from the examples
  const int32_t n_train = static_cast<int32_t>(data->train.size());
  for (int32_t place : {n_train, -n_train - 1}) {
    CheckpointData wrong = *data;
    wrong.values.order.assign(100, 0);
    wrong.values.order[50] = place;
    const std::vector<uint8_t> bytes = EncodeCheckpoint(wrong).value();
    file.Write(std::string(bytes.begin(), bytes.end()));
    const auto other = NewTrainer(options);
    const Status status = other->RestoreCheckpoint(file.path);
    CHECK(status.code() == StatusCode::kCorrupt);
    CHECK(status.message().find(StrFormat("place {} of {}", place, n_train)) != std::string::npos);
    CHECK(other->state().progress.step == 0);
  }
  CheckpointData wrong = *data;
  wrong.values.order.assign(100, 0);
  wrong.values.progress.position = 100;
  std::vector<uint8_t> bytes = EncodeCheckpoint(wrong).value();
  file.Write(std::string(bytes.begin(), bytes.end()));
  const auto other = NewTrainer(options);
  CHECK(other->RestoreCheckpoint(file.path).ToString().find("100 of 100 examples") !=
        std::string::npos);
  CHECK(other->state().progress.step == 0);
  // Where the order follows from the examples, the epoch begins again.
  wrong.values.order.clear();
  wrong.values.progress.position = uint64_t{1} << 40;
  bytes = EncodeCheckpoint(wrong).value();
  file.Write(std::string(bytes.begin(), bytes.end()));
  REQUIRE(other->RestoreCheckpoint(file.path).ToString() == "OK");
  CHECK(other->state().progress.step == 1);
  CHECK(other->state().progress.position == 0);
  CHECK(other->Train().ToString() == "OK");
}

TEST_CASE("checkpoint: every single flipped bit and every truncation is noticed", "[train]") {
  const test::TempFile file("flip");
  const auto trainer = NewTrainer(Options(Optimizer::kAdam));
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  const std::string good = file.Read();
  std::vector<uint8_t> bytes(good.begin(), good.end());
  REQUIRE(bytes.size() > 500);
  REQUIRE(bytes.size() < 4000);
  REQUIRE(DecodeCheckpoint(bytes).ok());
  size_t n_noticed = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    n_noticed += DecodeCheckpoint(bytes).status().code() == StatusCode::kCorrupt ? 1 : 0;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  CHECK(n_noticed == bytes.size() * 8);
  n_noticed = 0;
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Span<const uint8_t> part(bytes.data(), n);
    n_noticed += DecodeCheckpoint(part).status().code() == StatusCode::kCorrupt ? 1 : 0;
  }
  CHECK(n_noticed == bytes.size());
  bytes.push_back(0);
  CHECK(DecodeCheckpoint(bytes).status().message().find("too long") != std::string::npos);
}

TEST_CASE("checkpoint: foreign ones are refused with the reason, and change nothing", "[train]") {
  const test::TempFile file("foreign");
  const TrainerOptions options = Options(Optimizer::kAdam);
  const auto trainer = NewTrainer(options);
  REQUIRE(trainer->Train().ok());
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  const auto refuse = [&](const std::unique_ptr<Trainer>& other, const char* reason) {
    const std::vector<float> before = Weights(*other);
    const Status status = other->RestoreCheckpoint(file.path);
    INFO(status.ToString());
    CHECK(status.code() == StatusCode::kFailedPrecondition);
    CHECK(status.message().find(reason) != std::string::npos);
    CHECK(SameBits(Weights(*other), before));
    CHECK(other->state().progress.step == 0);
  };
  refuse(NewTrainer(options, 5, Tail::kDenseNoBias), "made with the model");
  refuse(NewTrainer(options, 6), "made with other examples");
  refuse(NewTrainer(Options(Optimizer::kSgd)), "optimizer adam, this trainer has sgd");
  TrainerOptions changed = options;
  changed.batch_size = 8;
  refuse(NewTrainer(changed), "batch_size 7, this trainer has 8");
  changed = options;
  changed.seed = 99;
  refuse(NewTrainer(changed), "seed 1, this trainer has 99");
  changed = options;
  changed.n_classes = 4;
  refuse(NewTrainer(changed), "n_classes 3, this trainer has 4");
  changed = options;
  changed.validation_fraction = 0.5f;
  refuse(NewTrainer(changed), "validation_fraction");
  changed = options;
  changed.class_names = {"a", "b", "c"};
  refuse(NewTrainer(changed), "other class names");
  changed = options;
  changed.epochs = 50;  // may change: training goes on for longer
  changed.learning_rate = 0.001f;
  CHECK(NewTrainer(changed)->RestoreCheckpoint(file.path).ok());
}

TEST_CASE("checkpoint: the generation before is kept and offered", "[train]") {
  const test::TempFile file("generations");
  const auto trainer = NewTrainer(Options(Optimizer::kAdam));
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  CHECK_FALSE(file.Exists(".previous"));
  REQUIRE(trainer->Step(&loss, &done).ok());
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  CHECK(file.Exists(".previous"));
  REQUIRE(trainer->Step(&loss, &done).ok());
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  const std::string good = file.Read();
  std::string bad = good;
  bad[bad.size() / 2] ^= 4;
  file.Write(bad);
  const auto other = NewTrainer(Options(Optimizer::kAdam));
  const Status status = other->RestoreCheckpoint(file.path);
  INFO(status.ToString());
  CHECK(status.code() == StatusCode::kCorrupt);
  CHECK(status.message().find("failed its checksum") != std::string::npos);
  CHECK(status.message().find(".previous', is sound (epoch 0, step 1)") != std::string::npos);
  CHECK(other->state().progress.step == 0);
  REQUIRE(other->RestoreCheckpoint(file.path + ".previous").ok());
  CHECK(other->state().progress.step == 1);
  // A save over the damaged file leaves the sound generation where it is.
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  CHECK(file.Read() == good);
  const auto third = NewTrainer(Options(Optimizer::kAdam));
  REQUIRE(third->RestoreCheckpoint(file.path + ".previous").ok());
  CHECK(third->state().progress.step == 1);
}

TEST_CASE("checkpoint: the generation before is offered in place of a foreign or missing one",
          "[train]") {
  const test::TempFile file("foreign_generation");
  auto trainer = NewTrainer(Options(Optimizer::kAdam));
  double loss = 0.0;
  bool done = false;
  REQUIRE(trainer->Step(&loss, &done).ok());
  REQUIRE(trainer->SaveCheckpoint(file.path).ok());
  trainer.reset();  // the file is its own as long as it lives
  const auto foreign = NewTrainer(Options(Optimizer::kAdam), 5, Tail::kDenseNoBias);
  REQUIRE(foreign->SaveCheckpoint(file.path).ok());
  const auto other = NewTrainer(Options(Optimizer::kAdam));
  const Status status = other->RestoreCheckpoint(file.path);
  INFO(status.ToString());
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK(status.message().find("made with the model") != std::string::npos);
  CHECK(status.message().find(".previous', is sound (epoch 0, step 1)") != std::string::npos);
  // To the foreign trainer the generation before is of no use.
  CHECK(foreign->RestoreCheckpoint(file.path).ok());
  std::remove(file.path.c_str());
  CHECK(foreign->RestoreCheckpoint(file.path).message().find("is sound") == std::string::npos);
  const Status missing = other->RestoreCheckpoint(file.path);
  CHECK(missing.code() == StatusCode::kIo);
  CHECK(missing.message().find("is sound (epoch 0, step 1)") != std::string::npos);
}

TEST_CASE("checkpoint: files that cannot be read or written", "[train]") {
  const test::TempFile file("none");
  const auto trainer = NewTrainer(Options(Optimizer::kAdam));
  const Status missing = trainer->RestoreCheckpoint(file.path);
  CHECK(missing.code() == StatusCode::kIo);
  CHECK(missing.message().find(file.path) != std::string::npos);
  file.Write("");
  CHECK(trainer->RestoreCheckpoint(file.path).code() == StatusCode::kCorrupt);
  file.Write("not a checkpoint at all, but long enough to hold a header of 48 bytes");
  CHECK(trainer->RestoreCheckpoint(file.path).message().find("not a Topwork checkpoint") !=
        std::string::npos);
  CHECK(trainer->SaveCheckpoint("no_such_folder/checkpoint").code() == StatusCode::kIo);
}

}  // namespace checkpoint_test
}  // namespace topwork
