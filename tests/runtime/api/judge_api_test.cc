// C API: a judge of scores that anybody computed.
#include <cmath>

#include "tests/runtime/api/support.h"
#include "topwork/topwork.hpp"

namespace topwork {
namespace api_test {
namespace {

tw::JudgeOptions Options(int64_t n_classes) {
  tw::JudgeOptions options;
  options.n_classes = n_classes;
  return options;
}

tw::Judge Make(const tw::JudgeOptions& options) {
  tw::Result<tw::Judge> judge = tw::Judge::Create(options);
  INFO(judge.status().ToString());
  REQUIRE(judge.ok());
  return std::move(judge).value();
}

}  // namespace

TEST_CASE("a judge counts classes, and its arrays last until the next reading", "[api]") {
  tw_judge_options options = {};
  options.struct_size = sizeof(options);
  options.n_classes = 3;
  options.top_k = 2;
  options.n_worst = 1;
  tw_judge* judge = nullptr;
  REQUIRE(tw_judge_create(&options, &judge) == TW_STATUS_OK);
  const float rows[3][3] = {{5, 1, 0}, {0, 1, 5}, {1, 5, 3}};
  const int64_t labels[3] = {0, 2, 2};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(tw_judge_add(judge, rows[i], 3, labels[i], nullptr, -1) == TW_STATUS_OK);
  }
  tw_evaluation e = {};
  e.struct_size = sizeof(e);
  REQUIRE(tw_judge_read(judge, &e) == TW_STATUS_OK);
  CHECK(e.kind == TW_LOSS_SOFTMAX);
  CHECK(e.are_probabilities == 0);
  CHECK(e.n_examples == 3);
  CHECK(e.n_classes == 3);
  CHECK(e.top1 == Approx(2.0 / 3));
  CHECK(e.accuracy == e.top1);
  CHECK(e.top_k == 1.0);
  CHECK(e.confusion[2 * 3 + 1] == 1);
  CHECK(e.confusion[2 * 3 + 2] == 1);
  CHECK(e.classes[2].n_examples == 2);
  CHECK(e.classes[2].recall == 0.5);
  CHECK(e.classes[1].n_predicted == 1);
  REQUIRE(e.n_worst == 1);
  CHECK(e.worst[0].index == 2);
  CHECK(e.worst[0].label == 2);
  CHECK(e.worst[0].predicted == 1);
  REQUIRE(e.n_scores == 3);
  CHECK(e.n_largest[0] == 1);
  CHECK(e.n_bins == 15);
  REQUIRE(tw_judge_add(judge, rows[0], 3, 0, nullptr, -1) == TW_STATUS_OK);
  REQUIRE(tw_judge_read(judge, &e) == TW_STATUS_OK);
  CHECK(e.n_examples == 4);
  tw_judge_free(judge);
}

TEST_CASE("a judge tells the worst group, whatever the scores are", "[api]") {
  // Scores of the second class alone, scores of both, decisions: example 1 of group 4 is wrong.
  for (const bool decisions : {false, true}) {
    for (const size_t n_scores : {size_t{1}, size_t{2}}) {
      if (decisions && n_scores == 1) continue;
      tw::JudgeOptions options;
      options.n_classes = 2;
      options.n_scores = static_cast<int64_t>(n_scores);
      options.loss = decisions ? TW_LOSS_SIGMOID : TW_LOSS_SOFTMAX;
      tw::Judge judge = Make(options);
      const float rows[3][2] = {{-2, 3}, {-2, 3}, {2, -3}};
      const int32_t groups[3] = {9, 4, -1};
      const int64_t labels[3] = {1, 0, 1};
      for (size_t i = 0; i < 3; ++i) {
        const std::vector<float> scores(rows[i] + 2 - n_scores, rows[i] + 2);
        const float targets[2] = {labels[i] == 0 ? 1.0f : 0.0f, labels[i] == 1 ? 1.0f : 0.0f};
        REQUIRE((decisions ? judge.AddTargets(scores, targets, groups[i])
                           : judge.Add(scores, labels[i], groups[i]))
                    .ok());
      }
      const tw::Result<tw::Evaluation> read = judge.Read();
      REQUIRE(read.ok());
      REQUIRE(read->per_group.size() == 2);
      CHECK(read->per_group[0].group == 4);
      CHECK(read->per_group[0].accuracy == 0.0);
      CHECK(read->per_group[1].accuracy == 1.0);
    }
  }
}

TEST_CASE("a judge sees by itself whether scores are probabilities", "[api]") {
  tw::Judge probable = Make(Options(2));
  REQUIRE(probable.Add({0.25f, 0.75f}, 1).ok());
  CHECK(probable.Read()->are_probabilities == 1);
  CHECK(probable.Read()->loss == Approx(-std::log(0.75)));
  REQUIRE(probable.Add({-1.0f, 0.75f}, 1).ok());  // no probability: all were logits
  CHECK(probable.Read()->are_probabilities == 0);
  CHECK(probable.Read()->loss ==
        Approx((std::log1p(std::exp(-0.5)) + std::log1p(std::exp(-1.75))) / 2));

  tw::JudgeOptions options = Options(2);
  options.scores = TW_SCORES_LOGITS;
  tw::Judge told = Make(options);
  REQUIRE(told.Add({0.25f, 0.75f}, 1).ok());
  CHECK(told.Read()->loss == Approx(std::log1p(std::exp(-0.5))));

  options.scores = TW_SCORES_PROBABILITIES;
  options.smallest_probability = 0.125;
  tw::Judge rounded = Make(options);
  REQUIRE(rounded.Add({1.0f, 0.0f}, 1).ok());
  CHECK(rounded.Read()->loss == Approx(std::log(8.0)));
}

TEST_CASE("a judge finds each class's score, or counts the class as unknown", "[api]") {
  tw::JudgeOptions options = Options(2);
  const int64_t score_of_class[2] = {2, -1};
  options.n_scores = 3;
  options.score_of_class = score_of_class;
  tw::Judge judge = Make(options);
  REQUIRE(judge.Add({0.0f, 1.0f, 4.0f}, 0).ok());
  REQUIRE(judge.Add({5.0f, 0.0f, 0.0f}, 1).ok());
  const tw::Evaluation e = *judge.Read();
  CHECK(e.top1 == 0.5);
  CHECK(e.loss == Approx(std::log1p(std::exp(-3.0) + std::exp(-4.0))));
  CHECK(e.per_class[1].n_elsewhere == 1);
  CHECK(e.matrix == std::vector<int64_t>{1, 0, 0, 0});
  CHECK(e.largest == std::vector<int64_t>{1, 0, 1});
}

TEST_CASE("a judge's precision and recall come from its counts", "[api]") {
  tw::JudgeOptions options = Options(2);
  options.n_scores = 3;  // the third is no class of the data
  const int64_t counts[2][3] = {{6, 2, 2}, {3, 1, 0}};
  tw::Judge judge = Make(options);
  for (int64_t label = 0; label < 2; ++label) {
    for (size_t best = 0; best < 3; ++best) {
      std::vector<float> scores(3, 0.0f);
      scores[best] = 4.0f;
      for (int64_t i = 0; i < counts[label][best]; ++i) REQUIRE(judge.Add(scores, label).ok());
    }
  }
  const std::vector<tw_class_metrics> all = judge.Read()->per_class;
  REQUIRE(all.size() == 2);
  CHECK(all[0].n_examples == 10);
  CHECK(all[0].recall == Approx(0.6));
  CHECK(all[0].precision == Approx(6.0 / 9.0));
  CHECK(all[0].n_elsewhere == 2);
  CHECK(all[1].n_examples == 4);
  CHECK(all[1].recall == Approx(0.25));
  CHECK(all[1].precision == Approx(1.0 / 3.0));
  tw::Judge wrong = Make(options);
  REQUIRE(wrong.Add({0.0f, 0.0f, 1.0f}, 1).ok());
  CHECK(wrong.Read()->per_class[0].precision == 0.0);
  CHECK(wrong.Read()->per_class[0].recall == 0.0);
}

TEST_CASE("a judge takes targets of several classes, and of a regression", "[api]") {
  tw::JudgeOptions options = Options(2);
  options.loss = TW_LOSS_SIGMOID;
  options.n_worst = 2;
  tw::Judge several = Make(options);
  const float first[2] = {1, 0}, second[2] = {0, 1};
  REQUIRE(several.AddTargets({0.75f, 0.25f}, first).ok());
  REQUIRE(several.AddTargets({0.5f, 0.5f}, second).ok());
  const tw::Evaluation e = *several.Read();
  CHECK(e.are_probabilities == 1);
  CHECK(e.accuracy == 0.75);
  CHECK(e.exact_match == 0.5);
  CHECK(e.per_class[0].average_precision == 1.0);
  REQUIRE(e.worst_examples.size() == 2);
  CHECK(e.worst_examples[0].index == 1);
  CHECK(e.worst_examples[0].loss == Approx(std::log(2.0)));

  options.loss = TW_LOSS_HUBER;
  options.huber_delta = 2.0f;
  tw::Judge errors = Make(options);
  REQUIRE(errors.AddTargets({4.0f, 1.0f}, second).ok());
  const tw::Evaluation r = *errors.Read();
  CHECK(r.loss == Approx(6.0 / 2));
  CHECK(r.mean_absolute_error == Approx(2.0));
  CHECK(r.per_class[0].mean_absolute_error == 4.0);
  REQUIRE(r.worst_examples.size() == 1);
  CHECK(r.worst_examples[0].label == -1);
}

TEST_CASE("a single score of two classes is that of the second", "[api]") {
  tw::JudgeOptions options = Options(2);
  options.n_scores = 1;
  tw::Judge judge = Make(options);
  REQUIRE(judge.Add({0.75f}, 1).ok());
  REQUIRE(judge.Add({0.25f}, 0).ok());
  CHECK(judge.Read()->top1 == 1.0);
  CHECK(judge.Read()->loss == Approx(-std::log(0.75)));
  REQUIRE(judge.Add({-3.0f}, 0).ok());  // logits, then: 0.25 is above 0
  CHECK(judge.Read()->top1 == Approx(2.0 / 3));
}

TEST_CASE("a judge refuses what does not fit", "[api]") {
  tw_judge* out = nullptr;
  const auto refuse = [&](const tw_judge_options& options, const char* part) {
    RequireError(tw_judge_create(&options, &out), TW_STATUS_INVALID_ARGUMENT, part);
    CHECK(out == nullptr);
  };
  refuse(Options(0), "n_classes is 0");
  tw::JudgeOptions options = Options(3);
  options.n_scores = 2;
  refuse(options, "3 classes have 2 scores");
  options = Options(2);
  const int64_t beyond[2] = {0, 2}, absent[2] = {0, -1};
  options.score_of_class = beyond;
  refuse(options, "score_of_class[1] is 2");
  options.score_of_class = absent;
  options.loss = TW_LOSS_MSE;
  refuse(options, "score_of_class[1] is -1");
  options = Options(2);
  options.loss = static_cast<tw_loss>(9);
  refuse(options, "loss 9");
  options.loss = TW_LOSS_SOFTMAX;
  options.scores = static_cast<tw_score_kind>(3);
  refuse(options, "scores 3");
  options.scores = TW_SCORES_UNKNOWN;
  options.huber_delta = -1.0f;
  refuse(options, "huber_delta");
  RequireError(tw_judge_create(nullptr, &out), TW_STATUS_INVALID_ARGUMENT, "options is NULL");
  options.huber_delta = 0.0f;
  RequireError(tw_judge_create(&options, nullptr), TW_STATUS_INVALID_ARGUMENT, "out_judge is NULL");

  const tw::Judge judge = Make(options);
  const float scores[2] = {0, NAN}, good[2] = {0, 1};
  RequireError(tw_judge_add(judge.get(), scores, 2, 0, nullptr, -1), TW_STATUS_NUMERIC, "score 1");
  RequireError(tw_judge_add(judge.get(), good, 1, 0, nullptr, -1), TW_STATUS_INVALID_ARGUMENT,
               "n_scores is 1");
  RequireError(tw_judge_add(judge.get(), good, 2, 2, nullptr, -1), TW_STATUS_INVALID_ARGUMENT,
               "label 2");
  RequireError(tw_judge_add(judge.get(), good, 2, 0, good, -1), TW_STATUS_INVALID_ARGUMENT,
               "a label");
  RequireError(tw_judge_add(nullptr, good, 2, 0, nullptr, -1), TW_STATUS_INVALID_ARGUMENT,
               "judge is NULL");
  RequireError(tw_judge_add(judge.get(), nullptr, 2, 0, nullptr, -1), TW_STATUS_INVALID_ARGUMENT,
               "scores is NULL");
  RequireError(tw_judge_read(judge.get(), nullptr), TW_STATUS_INVALID_ARGUMENT,
               "evaluation is NULL");
  tw_judge_free(nullptr);
}

}  // namespace api_test
}  // namespace topwork
