// C API: judging scores that anybody computed, and the form of every evaluation.
#include <limits>
#include <new>

#include "runtime/api/evaluation.h"
#include "runtime/api/handles.h"
#include "runtime/train/judge/score_judge.h"

struct tw_judge {
  topwork::ScoreJudge judge;
  int64_t n_scores;
  topwork::api::EvaluationArrays arrays;
};

using topwork::InvalidArgument;
using topwork::ScoreJudgeOptions;
using topwork::Status;
using topwork::api::Report;

namespace topwork {
namespace api {

void EvaluationArrays::KeepClasses(const Evaluation& evaluation) {
  classes_.assign(static_cast<size_t>(evaluation.n_classes), {});
  for (size_t c = 0; c < evaluation.classes.size(); ++c) {
    const ClassMetrics& from = evaluation.classes[c];
    tw_class_metrics& to = classes_[c];
    to.n_examples = from.n_examples;
    to.n_predicted = from.n_predicted;
    to.n_elsewhere = from.n_elsewhere;
    to.precision = from.precision;
    to.recall = from.recall;
    to.f1 = from.f1;
    to.average_precision = from.average_precision;
  }
  for (size_t c = 0; c < evaluation.outputs.size(); ++c) {
    classes_[c].mean_absolute_error = evaluation.outputs[c].mae;
    classes_[c].root_mean_squared_error = evaluation.outputs[c].rmse;
    classes_[c].r2 = evaluation.outputs[c].r2;
  }
}

tw_status EvaluationArrays::Give(const Evaluation& evaluation, bool are_probabilities,
                                 const std::vector<WorstExample>& worst, tw_evaluation* out) {
  KeepClasses(evaluation);
  confusion_ = evaluation.confusion;
  n_largest_ = evaluation.n_largest;
  reliability_.clear();
  for (const ReliabilityBin& bin : evaluation.reliability) {
    reliability_.push_back({bin.n_examples, bin.confidence, bin.accuracy});
  }
  worst_.clear();
  for (const WorstExample& example : worst) {
    const int32_t predicted = example.label < 0 ? -1 : example.predicted;
    worst_.push_back({example.index, example.label, predicted, example.loss});
  }
  groups_.clear();
  for (const GroupMetrics& group : evaluation.groups) {
    groups_.push_back({group.group, group.n_examples, group.accuracy, group.loss});
  }
  tw_evaluation result = {};
  result.kind = static_cast<tw_loss>(evaluation.kind);
  result.are_probabilities = are_probabilities ? 1 : 0;
  result.n_examples = evaluation.n_examples;
  result.n_classes = evaluation.n_classes;
  result.loss = evaluation.loss;
  result.accuracy = evaluation.accuracy;
  result.top1 = evaluation.top1;
  result.top5 = evaluation.top5;
  result.top_k = evaluation.top_k;
  result.macro_precision = evaluation.macro_precision;
  result.macro_recall = evaluation.macro_recall;
  result.macro_f1 = evaluation.macro_f1;
  result.calibration_error = evaluation.calibration_error;
  result.exact_match = evaluation.exact_match;
  result.mean_average_precision = evaluation.mean_average_precision;
  result.mean_absolute_error = evaluation.regression.mae;
  result.root_mean_squared_error = evaluation.regression.rmse;
  result.r2 = evaluation.regression.r2;
  result.classes = classes_.data();
  result.confusion = confusion_.empty() ? nullptr : confusion_.data();
  result.n_scores = n_largest_.size();
  result.n_largest = n_largest_.empty() ? nullptr : n_largest_.data();
  result.n_bins = reliability_.size();
  result.reliability = reliability_.data();
  result.n_worst = worst_.size();
  result.worst = worst_.data();
  result.n_groups = groups_.size();
  result.groups = groups_.data();
  return Report(WriteStruct("tw_evaluation", result, out));
}

}  // namespace api
}  // namespace topwork

namespace {

static_assert(static_cast<int>(topwork::ScoreKind::kProbabilities) == TW_SCORES_PROBABILITIES, "");
static_assert(static_cast<int>(topwork::Loss::kHuber) == TW_LOSS_HUBER, "");

Status ToInt(const char* name, int64_t value, int* out) {
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("tw_judge_options.{} is {}", name, value);
  }
  *out = static_cast<int>(value);
  return Status::Ok();
}

Status ConvertOptions(const tw_judge_options& in, ScoreJudgeOptions* out) {
  const int loss = static_cast<int>(in.loss);
  if (loss < 0 || loss > TW_LOSS_HUBER) {
    return InvalidArgument("loss {} does not exist; it is one of 0 to {}", loss, TW_LOSS_HUBER);
  }
  out->loss.loss = static_cast<topwork::Loss>(loss);
  if (in.huber_delta != 0.0f) out->loss.huber_delta = in.huber_delta;
  if (!(out->loss.huber_delta > 0.0f)) {
    return InvalidArgument("tw_judge_options.huber_delta is {}; it must be above 0",
                           in.huber_delta);
  }
  out->kind = static_cast<topwork::ScoreKind>(in.scores);
  TW_RETURN_IF_ERROR(ToInt("n_classes", in.n_classes, &out->n_classes));
  TW_RETURN_IF_ERROR(
      ToInt("n_scores", in.n_scores == 0 ? in.n_classes : in.n_scores, &out->n_scores));
  for (int64_t c = 0; in.score_of_class != nullptr && c < in.n_classes; ++c) {
    int score = -1;
    if (in.score_of_class[c] != -1) {
      TW_RETURN_IF_ERROR(ToInt("score_of_class", in.score_of_class[c], &score));
    }
    out->score_of_class.push_back(score);
  }
  if (in.top_k != 0) out->top_k = in.top_k;
  out->n_worst = in.n_worst;
  out->smallest_probability = in.smallest_probability;
  return topwork::CheckJudgeOptions(*out);
}

}  // namespace

tw_status tw_judge_create(const tw_judge_options* options, tw_judge** out_judge) {
  TW_REQUIRE(options);
  TW_REQUIRE(out_judge);
  tw_judge_options in = {};
  TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_judge_options", options, &in));
  ScoreJudgeOptions converted;
  TW_REPORT_IF_ERROR(ConvertOptions(in, &converted));
  tw_judge* handle =
      new (std::nothrow) tw_judge{topwork::ScoreJudge(converted), converted.n_scores, {}};
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_judge"));
  *out_judge = handle;
  return TW_STATUS_OK;
}

void tw_judge_free(tw_judge* judge) { delete judge; }

tw_status tw_judge_add(tw_judge* judge, const float* scores, size_t n_scores, int64_t label,
                       const float* targets, int32_t group) {
  TW_REQUIRE(judge);
  TW_REQUIRE(scores);
  if (n_scores != static_cast<size_t>(judge->n_scores)) {
    return Report(InvalidArgument("n_scores is {}; this judge's examples have {}", n_scores,
                                  judge->n_scores));
  }
  judge->judge.SetGroup(group);
  return Report(targets != nullptr ? judge->judge.AddTargets(scores, targets)
                                   : judge->judge.AddLabel(scores, label));
}

tw_status tw_judge_read(tw_judge* judge, tw_evaluation* evaluation) {
  TW_REQUIRE(judge);
  TW_REQUIRE(evaluation);
  const topwork::ScoreEvaluation result = judge->judge.Finish();
  return judge->arrays.Give(result, result.are_probabilities, result.worst, evaluation);
}
