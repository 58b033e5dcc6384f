// Nearest neighbours: scores against a brute-force search in double precision, exports, and the life
// of a head whose examples come and go.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/train/identity/identity_fit.h"
#include "runtime/train/identity/identity_graph.h"
#include "runtime/train/identity/identity_head.h"
#include "runtime/train/stored_head.h"
#include "tests/runtime/train/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace identity_test {

using test::Images;
using test::TrainerData;
using Form = test::Tail;

TrainerOptions Options(int n_classes, int n_neighbours = 1) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.optimizer = Optimizer::kKnn;
  options.n_neighbours = n_neighbours;
  options.n_threads = 1;
  return options;
}

// Images of 4 classes: many of the first, few of the last.
TrainerData Uneven(int n = 40, uint64_t seed = 5) {
  const TrainerData all = Images(n, 4, seed);
  TrainerData data;
  int n_of[4] = {};
  const int most[4] = {100, 6, 2, 1};
  for (size_t i = 0; i < all.y.size(); ++i) {
    if (n_of[all.y[i]]++ >= most[all.y[i]]) continue;
    data.y.push_back(all.y[i]);
    data.x.insert(data.x.end(), all.x.data() + i * test::kImageFloats,
                  all.x.data() + (i + 1) * test::kImageFloats);
  }
  return data;
}

std::unique_ptr<Trainer> Taught(const TrainerOptions& options, const TrainerData& data,
                                Form form = Form::kDense) {
  std::unique_ptr<Trainer> trainer = test::NewTrainer(options, form);
  REQUIRE(trainer->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE(trainer->Train().ToString() == "OK");
  return trainer;
}

using Vectors = std::vector<std::vector<double>>;

// Features of length 1.
Vectors Features(Trainer* trainer, const TrainerData& data) {
  const auto cache = trainer->set().NewCache(false);
  REQUIRE(trainer->Extract(data.examples(), nullptr, cache.get()).ok());
  std::vector<float> scratch(cache->scratch_floats());
  Vectors rows;
  for (int32_t i = 0; i < static_cast<int32_t>(data.y.size()); ++i) {
    const float* row = cache->row(i, 0, scratch.data());
    rows.emplace_back(row, row + trainer->head().dim);
    double squares = 0.0;
    for (double v : rows.back()) squares += v * v;
    for (double& v : rows.back()) v /= std::sqrt(squares);
  }
  return rows;
}

// Softmax of the scaled mean of the k largest cosines of each class.
std::vector<double> BruteForce(const Vectors& taught, const std::vector<int32_t>& labels,
                               const std::vector<double>& x, int n_classes, size_t k,
                               double scale) {
  std::vector<double> scores;
  double sum = 0.0;
  for (int c = 0; c < n_classes; ++c) {
    std::vector<double> cosines;
    for (size_t r = 0; r < taught.size(); ++r) {
      if (labels[r] != c) continue;
      double cosine = 0.0;
      for (size_t d = 0; d < x.size(); ++d) cosine += taught[r][d] * x[d];
      cosines.push_back(cosine);
    }
    std::sort(cosines.rbegin(), cosines.rend());
    const size_t n = std::min(k, cosines.size());
    double mean = 0.0;
    for (size_t i = 0; i < n; ++i) mean += cosines[i] / static_cast<double>(n);
    scores.push_back(std::exp(scale * (n == 0 ? -2.0 : mean)));
    sum += scores.back();
  }
  for (double& score : scores) score /= sum;
  return scores;
}

float ScaleOf(const Trainer& trainer) {
  return trainer.state().Part(trainer.state().InfoOf(kIdentityScale))[0];
}

std::vector<float> Predict(Trainer* trainer, const TrainerData& data) {
  std::vector<float> scores(data.y.size() * static_cast<size_t>(trainer->n_classes()));
  REQUIRE(trainer->judge().Predict(data.examples(), scores.data()).ToString() == "OK");
  return scores;
}

TEST_CASE("knn: probabilities are those of a brute-force search", "[train]") {
  const TrainerData taught = Uneven(), asked = Images(30, 4, 91);
  for (int k : {1, 2, 5}) {
    INFO("neighbours " << k);
    // Class 4 has no example.
    const auto trainer = Taught(Options(5, k), taught);
    const Vectors rows = Features(trainer.get(), taught), queries = Features(trainer.get(), asked);
    const std::vector<float> got = Predict(trainer.get(), asked);
    const double scale = static_cast<double>(ScaleOf(*trainer));
    CHECK(scale > 0.0);
    for (size_t i = 0; i < queries.size(); ++i) {
      const std::vector<double> expected =
          BruteForce(rows, taught.y, queries[i], 5, static_cast<size_t>(k), scale);
      for (size_t c = 0; c < 5; ++c) CHECK(got[i * 5 + c] == Approx(expected[c]).margin(1e-4));
    }
    CHECK(trainer->fitter().reason().empty());
  }
}

TEST_CASE("knn: exported models give the trainer's answers in every form and storage", "[train]") {
  const TrainerData taught = Uneven(), asked = Images(20, 4, 92);
  for (Form form : test::kAllTails) {
    for (int k : {1, 3}) {
      INFO(test::TailName(form) << ", neighbours " << k);
      TrainerOptions options = Options(5, k);
      options.class_names = {"a", "b", "c", "d", "nobody"};
      const auto trainer = Taught(options, taught, form);
      trainer->state().temperature = 1.5;
      const auto bytes = trainer->Export();
      REQUIRE(bytes.status().ToString() == "OK");
      const auto model = test::OpenBytes(bytes.value());
      CHECK(model->labels() == options.class_names);
      REQUIRE(model->main().outputs.size() == trainer->model().main().outputs.size());
      Head found;
      REQUIRE(FindIdentity(model->main(), 0, &found));
      CHECK(found.n_classes == 5);
      CHECK(found.dim == trainer->head().dim);
      std::vector<float> expected;
      {
        const AsStored stored(trainer->context());
        trainer->state().temperature = 1.0;  // it is in the stored scale
        expected = Predict(trainer.get(), asked);
        trainer->state().temperature = 1.5;
      }
      std::vector<float> got = test::RunModel(model, asked.x);
      REQUIRE(got.size() == expected.size());
      // A model that gives its scores as they are goes on doing so.
      const bool scores = form == Form::kDenseLogits;
      for (size_t i = 0; i < got.size(); i += 5) {
        if (form == Form::kConvMean || scores) {
          double sum = 0.0;
          for (size_t c = 0; c < 5; ++c) sum += std::exp(static_cast<double>(got[i + c]));
          for (size_t c = 0; c < 5; ++c) {
            got[i + c] = static_cast<float>(std::exp(static_cast<double>(got[i + c])) / sum);
          }
        }
        for (size_t c = 0; c < 5; ++c) CHECK(got[i + c] == Approx(expected[i + c]).margin(2e-4));
      }
    }
  }
}

TEST_CASE("knn: of more examples than rows, k-centres of each class are stored", "[train]") {
  TrainerOptions options = Options(4);
  options.max_rows = 8;
  options.keep_held_back = true;
  options.validation_fraction = 0.0f;
  const TrainerData taught = Images(60, 4);
  const auto trainer = Taught(options, taught);
  CHECK(trainer->fitter().reason() ==
        "8 of 60 examples are stored, those of each class that are farthest from one another; "
        "max_rows allows no more");
  const IdentityView view = ViewIdentity(trainer->state().parameters(), trainer->head().dim, 4);
  CHECK(view.classes == std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(test::Accuracy(trainer.get(), Images(60, 4, 7)) > 0.8);
  options.n_classes = 9;
  const auto many = test::With(options, taught);
  CHECK(many->Train().message().find("max_rows is 8, and 9 classes") != std::string::npos);
}

TEST_CASE("knn: an example is judged without itself and its group", "[train]") {
  const TrainerData taught = Images(24, 3);
  TrainerOptions options = Options(3);
  options.validation_fraction = 0.0f;
  const auto trainer = Taught(options, taught);
  const auto scores = trainer->LeaveOneOut();
  REQUIRE(scores.status().ToString() == "OK");
  CHECK(scores->method == LooMethod::kExact);
  const Vectors rows = Features(trainer.get(), taught);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<int32_t> labels = taught.y;
    labels[i] = -1;
    const std::vector<double> expected =
        BruteForce(rows, labels, rows[i], 3, 1, static_cast<double>(ScaleOf(*trainer)));
    double sum = 0.0;
    for (size_t c = 0; c < 3; ++c) sum += std::exp(static_cast<double>(scores->scores[i * 3 + c]));
    for (size_t c = 0; c < 3; ++c) {
      CHECK(std::exp(static_cast<double>(scores->scores[i * 3 + c])) / sum ==
            Approx(expected[c]).margin(1e-4));
    }
  }
}

TEST_CASE("knn: examples that come later are stored at once, and classes move with theirs",
          "[train]") {
  const auto trainer = Taught(Options(3), Images(12, 3));
  REQUIRE(trainer->AddExamples(Images(30, 3, 8).examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  const auto count = [&] {
    return ViewIdentity(trainer->state().parameters(), trainer->head().dim, trainer->n_classes())
        .classes;
  };
  CHECK(count().size() == 42);
  const std::vector<int32_t> before = count();
  REQUIRE(trainer->classes().Set({"x", "2", "0"}, {2, -1, 1}).ToString() == "OK");
  std::vector<int32_t> expected = before;
  for (int32_t& c : expected) c = c == 0 ? 2 : c == 1 ? -1 : 1;
  CHECK(count() == expected);
  REQUIRE(trainer->Train().ToString() == "OK");
  const std::vector<int32_t> after = count();
  CHECK(std::count(after.begin(), after.end(), 0) == 0);  // "x" has no example
  CHECK(std::count(after.begin(), after.end(), 1) == 14);
}

TEST_CASE("knn: checkpoints and head files bring the stored examples back", "[train]") {
  const TrainerData taught = Uneven(), asked = Images(10, 4, 93);
  const auto trainer = Taught(Options(4, 2), taught);
  const std::vector<float> expected = Predict(trainer.get(), asked);
  const std::vector<uint8_t> head = trainer->exchange().Encode();
  CHECK(head.size() < 20000);  // rows that are not there are not in the file
  const auto other = test::NewTrainer(Options(2, 1));
  REQUIRE(other->exchange().Decode(head).ToString() == "OK");
  CHECK(Predict(other.get(), asked) == expected);
  TrainerOptions small = Options(4);
  small.max_rows = 4;
  CHECK(test::NewTrainer(small)->exchange().Decode(head).message().find("this trainer 4 at most") !=
        std::string::npos);
  CHECK(test::NewTrainer(TrainerOptions())->exchange().Decode(head).code() ==
        StatusCode::kFailedPrecondition);
  const test::TempFolder folder;
  const std::string path = folder / "checkpoint";
  REQUIRE(trainer->SaveCheckpoint(path, true).ToString() == "OK");
  const auto restored = test::NewTrainer(Options(4, 2));
  CHECK(restored->RestoreCheckpoint(path).ToString() == "OK");
  CHECK(Predict(restored.get(), asked) == expected);
}

TEST_CASE("knn: models refuse the unknown", "[train]") {
  TrainerOptions options = Options(3);
  options.reject_rate = 0.1f;
  const auto trainer = Taught(options, Images(60, 3));
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  const auto model = test::OpenBytes(bytes.value());
  REQUIRE(model->main().outputs.size() == 2);
  CHECK(FindRejection(*model) == 1);
  CHECK(trainer->rejecter().summary().known_refused <= 0.1001);
}

TEST_CASE("knn: options that do not go together are refused", "[train]") {
  const auto message = [](const TrainerOptions& options) {
    return CheckOptions(options).message();
  };
  TrainerOptions options = Options(3, 0);
  CHECK(message(options).find("n_neighbours is 0") != std::string::npos);
  options = Options(3);
  options.max_rows = 1;
  CHECK(message(options).find("max_rows is 1") != std::string::npos);
  options = Options(3);
  options.loss.loss = Loss::kSigmoidCrossEntropy;
  CHECK(message(options).find("knn needs one class an example") != std::string::npos);
  options = Options(3);
  options.init = HeadInit::kImprint;
  CHECK(message(options).find("init is not zeros") != std::string::npos);
  options = Options(3);
  options.n_layers = 2;
  CHECK(message(options).find("knn solves the last layer alone") != std::string::npos);
  options = TrainerOptions();
  options.n_neighbours = 3;
  CHECK(message(options).find("are options of knn") != std::string::npos);
}

}  // namespace identity_test
}  // namespace topwork
