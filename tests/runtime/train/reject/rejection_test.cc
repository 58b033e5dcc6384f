// Stored examples against plain loops, and the operators against the verdict in plain code.
#include "runtime/train/reject/rejection.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "models/format/append.h"
#include "runtime/base/thread_pool.h"
#include "runtime/session/session.h"
#include "runtime/train/head/head.h"
#include "runtime/train/random.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace rejection_test {

using test::Tail;
using Table = std::vector<std::vector<float>>;

struct Rows {
  std::vector<float> values;
  std::vector<int32_t> labels, groups;
  FeatureRows rows;

  Rows(int64_t n, int64_t dim, uint64_t seed, int n_classes) {
    Random random(seed);
    for (int64_t i = 0; i < n * dim; ++i) {
      values.push_back(static_cast<float>(std::fabs(random.Gaussian())));
    }
    for (int64_t i = 0; i < n; ++i) {
      labels.push_back(static_cast<int32_t>(i % n_classes));
      groups.push_back(i % 7 == 0 ? -1 : static_cast<int32_t>(i / 5));
      rows.rows.push_back(values.data() + i * dim);
    }
    rows.dim = dim;
    rows.labels = labels;
  }
};

std::vector<int32_t> Numbers(int64_t n) {
  std::vector<int32_t> all;
  for (int32_t i = 0; i < n; ++i) all.push_back(i);
  return all;
}

double Cosine(const float* a, const float* b, int64_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < n; ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

TEST_CASE("Rejection: left-out similarities are those of plain loops", "[train]") {
  Rows data(40, 19, 3, 4);
  ThreadPool one(1), three(3);
  for (bool grouped : {false, true}) {
    if (grouped) data.rows.groups = data.groups;
    const StoredExamples stored = Store(data.rows, Numbers(40));
    const std::vector<double> ours = LeftOutSimilarities(stored, data.rows, true, &three);
    CHECK(ours == LeftOutSimilarities(stored, data.rows, true, &one));
    for (size_t i = 0; i < 40; ++i) {
      std::vector<double> all;
      for (size_t j = 0; j < 40; ++j) {
        const bool same_group = grouped && data.groups[i] >= 0 && data.groups[i] == data.groups[j];
        if (i != j && !same_group) all.push_back(Cosine(data.rows.rows[i], data.rows.rows[j], 19));
      }
      std::sort(all.rbegin(), all.rend());
      // int8 storage moves a cosine by some thousandths.
      const double sum = std::accumulate(all.begin(), all.begin() + kNeighbours, 0.0);
      CHECK(ours[i] == Approx(sum / kNeighbours).margin(0.01));
    }
  }
}

TEST_CASE("Rejection: roots keep the sign, and zeros", "[train]") {
  std::vector<float> x = {4.0f, -9.0f, 0.0f, 1e-30f, -1e30f};
  TakeRoots(x.data(), 5);
  CHECK(x[0] == Approx(2.0f));
  CHECK(x[1] == Approx(-3.0f));
  CHECK(x[2] == 0.0f);
  CHECK(std::fabs(x[3]) < 1e-15f);
  CHECK(x[4] == Approx(-1e15f));
}

TEST_CASE("Rejection: what is stored is even over the classes and spread within them", "[train]") {
  Rows data(60, 8, 4, 3);
  const auto count = [&](const std::vector<int32_t>& chosen, int32_t label) {
    return std::count_if(chosen.begin(), chosen.end(),
                         [&](int32_t i) { return data.labels[static_cast<size_t>(i)] == label; });
  };
  const std::vector<int32_t> chosen = ChooseExamples(data.rows, Numbers(60), 12);
  CHECK(chosen.size() == 12);
  for (int32_t c = 0; c < 3; ++c) CHECK(count(chosen, c) == 4);
  CHECK(ChooseExamples(data.rows, Numbers(60), 100) == Numbers(60));
  CHECK(ChooseExamples(data.rows, Numbers(60), 1).size() == 3);  // one a class
  // A class with few examples leaves its places to the others.
  const std::vector<int32_t> some = {0, 1, 3, 4, 6, 9};
  const std::vector<int32_t> few = ChooseExamples(data.rows, some, 5);
  CHECK(count(few, 0) == 3);
  CHECK(count(few, 1) == 2);
  // Far from the rest: it is chosen second.
  for (size_t d = 0; d < 8; ++d) data.values[21 * 8 + d] = d == 0 ? 9.0f : -9.0f;
  const std::vector<int32_t> one_class = {0, 3, 6, 9, 21};
  CHECK(ChooseExamples(data.rows, one_class, 2) == std::vector<int32_t>{0, 21});
}

// A model with its feature and logits as further outputs.
std::shared_ptr<const Model> Opened(const Model& model) {
  const auto head = FindHead(model.main(), 0);
  REQUIRE(head.ok());
  GraphAddition addition(model);
  for (int tensor : {head->feature, head->logits}) {
    AddedOutput output;
    output.tensor = tensor;
    output.name = tensor == head->feature ? "feature" : "logits";
    addition.outputs.push_back(output);
  }
  const auto bytes = AppendToModel(model, addition);
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(bytes.value());
}

// Of one example, averaged over the positions of a map.
std::vector<float> Averaged(const TensorView& view, size_t n) {
  std::vector<float> result(n, 0.0f);
  const size_t total = static_cast<size_t>(view.shape.NumElements());
  for (size_t i = 0; i < total; ++i) {
    result[i % n] += view.as<float>()[i] * static_cast<float>(n) / static_cast<float>(total);
  }
  return result;
}

Table RootsOf(Table features) {
  for (auto& row : features) TakeRoots(row.data(), static_cast<int64_t>(row.size()));
  return features;
}

// Thresholds lie between the examples' scores, so that rounding decides nothing.
ConformalScores ScoresOf(const Rejection& rejection, const Table& roots, const Table& logits) {
  ConformalScores scores;
  scores.n_scores = rejection.n_scores();
  scores.n_categories = static_cast<int>(logits[0].size());
  for (size_t i = 0; i < roots.size(); ++i) {
    const double near = Similarity(rejection.taught, roots[i].data(), {}, nullptr) - 1e-4;
    scores.values.push_back(
        rejection.Likeness(near, Energy(logits[i].data(), scores.n_categories)));
    if (scores.n_scores == 2) {
      scores.values.push_back(near - Similarity(rejection.negatives, roots[i].data(), {}, nullptr));
    }
    scores.categories.push_back(static_cast<int32_t>(
        std::max_element(logits[i].begin(), logits[i].end()) - logits[i].begin()));
  }
  return scores;
}

Rejection MakeRejection(const Table& features, const Table& logits, bool negatives) {
  const Table roots = RootsOf(features);
  FeatureRows rows;
  rows.dim = static_cast<int64_t>(roots[0].size());
  for (const auto& row : roots) rows.rows.push_back(row.data());
  Rejection rejection;
  const int32_t half = static_cast<int32_t>(features.size() / 2);
  rejection.taught = Store(rows, Numbers(half));
  if (negatives) rejection.negatives = Store(rows, {half, half + 1, half + 2, half + 3});
  for (int32_t i = 0; i < half; ++i) rejection.names.push_back(StrFormat("c\t{}", i));
  rejection.energy_share = 0.25f;
  rejection.table = MakeConformalTable(ScoresOf(rejection, roots, logits), 0.2);
  return rejection;
}

class Runner {
 public:
  explicit Runner(const std::shared_ptr<const Model>& model) {
    auto session = Session::Create(model, SessionOptions());
    REQUIRE(session.status().ToString() == "OK");
    session_ = std::move(session.value());
  }
  TensorView Run(const float* image, int output) {
    std::memcpy(session_->input(0).data, image, test::kImageFloats * sizeof(float));
    REQUIRE(session_->Run().ToString() == "OK");
    return session_->output(output);
  }

 private:
  std::unique_ptr<Session> session_;
};

void CheckTail(Tail tail, bool negatives, const std::vector<float>& images) {
  INFO(test::TailName(tail) << (negatives ? " with negatives" : ""));
  const auto model = Opened(*test::OpenBytes(test::ClassifierBytes(tail)));
  const auto head = FindHead(model->main(), 0);
  const size_t n = images.size() / test::kImageFloats;
  Runner opened(model);
  Table features, logits;
  for (size_t i = 0; i < n; ++i) {
    const float* image = &images[i * test::kImageFloats];
    const int n_outputs = static_cast<int>(model->main().outputs.size());
    features.push_back(Averaged(opened.Run(image, n_outputs - 2), static_cast<size_t>(head->dim)));
    logits.push_back(
        Averaged(opened.Run(image, n_outputs - 1), static_cast<size_t>(head->n_classes)));
  }
  const Rejection rejection = MakeRejection(features, logits, negatives);
  const auto bytes = WithRejection(*model, 0, rejection);
  REQUIRE(bytes.status().ToString() == "OK");
  const auto refusing = test::OpenBytes(bytes.value());
  const int position = FindRejection(*refusing);
  CHECK(position == static_cast<int>(model->main().outputs.size()));
  CHECK(refusing->labels() == model->labels());
  Runner judge(refusing);
  size_t n_refused = 0;
  for (size_t i = 0; i < n; ++i) {
    const Verdict verdict = JudgeExample(rejection, features[i].data(), logits[i]);
    const TensorView out = judge.Run(&images[i * test::kImageFloats], position);
    REQUIRE(out.shape.NumElements() == 2 + kNeighbours);
    CHECK(double{out.as<float>()[0]} == Approx(verdict.p_value).margin(1e-5));
    CHECK((out.as<float>()[1] == 1.0f) == verdict.refused);
    CHECK(out.as<float>()[2] == static_cast<float>(verdict.nearest[0]));
    n_refused += verdict.refused ? 1 : 0;
  }
  CHECK(n_refused > 0);
  CHECK(n_refused < n);
  // Taken out again, nothing of it is left.
  const auto without = WithoutRejection(*refusing);
  REQUIRE(without.status().ToString() == "OK");
  const auto plain = test::OpenBytes(without.value());
  CHECK(plain->main().ops.size() == model->main().ops.size());
  CHECK(plain->main().values.size() == model->main().values.size());
  CHECK(plain->signatures()[0].outputs.size() == model->signatures()[0].outputs.size());
  CHECK(plain->associated_files().size() == model->associated_files().size());
  const auto again = WithRejection(*refusing, 0, rejection);
  REQUIRE(again.ok());
  CHECK(test::OpenBytes(again.value())->main().ops.size() == refusing->main().ops.size());
}

TEST_CASE("Rejection: the operators give the verdict of the plain code, for every head",
          "[train]") {
  std::vector<float> images;
  std::vector<int32_t> labels;
  test::MakeImages(40, 3, 11, &images, &labels);
  for (Tail tail : test::kAllTails) {
    for (bool negatives : {false, true}) CheckTail(tail, negatives, images);
  }
}

TEST_CASE("Rejection: a number added to all logits changes nothing", "[train]") {
  const Table features = {{1, 2, 3}, {3, 1, 2}, {2, 3, 1}, {1, 1, 4}, {4, 1, 1}, {9, 0, 1}};
  const Table logits = {{3, 0}, {2, 0}, {0, 2}, {0, 4}, {1, 0}, {0, 0.5}};
  const Rejection rejection = MakeRejection(features, logits, false);
  CHECK(Energy(logits[0].data(), 2) == Approx(std::log(std::exp(1.5) + std::exp(-1.5))));
  for (size_t i = 0; i < features.size(); ++i) {
    std::vector<float> moved = logits[i];
    for (float& z : moved) z += 100.0f;
    CHECK(Energy(moved.data(), 2) == Approx(Energy(logits[i].data(), 2)));
    CHECK(JudgeExample(rejection, features[i].data(), moved).p_value ==
          JudgeExample(rejection, features[i].data(), logits[i]).p_value);
  }
}

TEST_CASE("Rejection: another head is refused", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
  Rejection rejection;
  rejection.table.n_categories = 4;
  CHECK_THAT(WithRejection(*model, 0, rejection).status().ToString(),
             Catch::Contains("no head of 4 classes"));
}

}  // namespace rejection_test
}  // namespace topwork
