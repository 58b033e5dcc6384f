// Files that several trainers share: whoever comes second is refused, and nothing is lost.
#include "runtime/train/trainer_files.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace trainer_files_test {

std::unique_ptr<Trainer> NewTrainer(uint64_t data_seed = 5) {
  TrainerOptions options;
  options.n_classes = 3;
  options.n_threads = 1;
  options.epochs = 3;
  auto trainer =
      Trainer::Create(test::OpenBytes(test::ClassifierBytes(test::Tail::kDense)), options);
  REQUIRE(trainer.status().ToString() == "OK");
  std::vector<float> x;
  std::vector<int32_t> y;
  test::MakeImages(60, 3, data_seed, &x, &y);
  REQUIRE((*trainer)->AddExamples(Examples::FromArray(x.data(), 192, y.data(), 60)).ok());
  return std::move(trainer.value());
}

bool Says(const Status& status, const char* part) {
  return status.code() == StatusCode::kFailedPrecondition &&
         status.message().find(part) != std::string::npos;
}

TEST_CASE("trainer files: what one trainer holds no other one takes or writes", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "run.memory";
  auto first = NewTrainer();
  const auto second = NewTrainer();
  REQUIRE(first->HoldFile(path).ToString() == "OK");  // before there is a file
  CHECK(first->HoldFile(path).ok());
  CHECK(Says(second->HoldFile(path), "in use by this program already"));
  CHECK(Says(second->SaveCheckpoint(path, true), "in use by this program already"));
  CHECK(Says(second->exchange().Save(path), "in use by this program already"));
  CHECK(test::ReadWhole(path).empty());
  REQUIRE(first->SaveCheckpoint(path, true).ToString() == "OK");
  CHECK(second->RestoreCheckpoint(path).ok());  // reading needs no lock
  const std::string saved = test::ReadWhole(path);
  first.reset();
  CHECK(second->HoldFile(path).ok());
  CHECK(second->SaveCheckpoint(path, true).ToString() == "OK");
  CHECK(test::ReadWhole(path + ".previous") == saved);
}

TEST_CASE("trainer files: a checkpoint belongs to who saves it first", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "run.checkpoint";
  const auto first = NewTrainer();
  const auto second = NewTrainer();
  REQUIRE(first->SaveCheckpoint(path).ok());
  CHECK(Says(second->SaveCheckpoint(path), "in use by this program already"));
  CHECK(first->SaveCheckpoint(path).ok());
}

TEST_CASE("trainer files: what another has written since is not written over", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "run.memory";
  REQUIRE(NewTrainer()->SaveCheckpoint(path, true).ok());
  const auto late = NewTrainer();
  REQUIRE(late->RestoreCheckpoint(path).ToString() == "OK");
  {
    const auto early = NewTrainer();
    REQUIRE(early->RestoreCheckpoint(path).ok());
    double loss = 0.0;
    bool done = false;
    REQUIRE(early->Step(&loss, &done).ok());
    REQUIRE(early->SaveCheckpoint(path, true).ToString() == "OK");
  }
  const std::string kept = test::ReadWhole(path);
  CHECK(Says(late->SaveCheckpoint(path, true), "somebody has written"));
  CHECK(test::ReadWhole(path) == kept);
  REQUIRE(late->RestoreCheckpoint(path).ok());
  CHECK(late->SaveCheckpoint(path, true).ToString() == "OK");
  std::remove(path.c_str());  // what is gone cannot be lost
  CHECK(late->SaveCheckpoint(path, true).ToString() == "OK");
  // The same for a head that was loaded.
  const std::string head = folder / "a.head";
  REQUIRE(late->exchange().Save(head).ToString() == "OK");
  const auto reader = NewTrainer();
  REQUIRE(reader->exchange().Load(head).ToString() == "OK");
  double loss = 0.0;
  bool done = false;
  REQUIRE(late->Step(&loss, &done).ok());
  REQUIRE(late->exchange().Save(head).ToString() == "OK");
  CHECK(Says(reader->exchange().Save(head), "somebody has written"));
}

TEST_CASE("trainer files: of many threads that save to one file one gets it", "[train]") {
  const test::TempFolder folder;
  const std::string path = folder / "run.checkpoint";
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (int t = 0; t < 4; ++t) trainers.push_back(NewTrainer());
  std::atomic<int> n_saved{0}, n_refused{0};
  std::vector<std::thread> threads;
  for (auto& trainer : trainers) {
    threads.emplace_back([&] {
      const Status status = trainer->SaveCheckpoint(path);
      if (status.ok()) ++n_saved;
      if (Says(status, "in use by this program already")) ++n_refused;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(n_saved == 1);
  CHECK(n_refused == 3);
}

}  // namespace trainer_files_test
}  // namespace topwork
