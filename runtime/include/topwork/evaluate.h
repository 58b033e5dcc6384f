// Evaluations: how good scores are. A judge compares scores with the truth and counts, no matter who
// computed the scores. A trainer gives its own judgement in the same form.
#ifndef TOPWORK_EVALUATE_H_
#define TOPWORK_EVALUATE_H_

#include "topwork/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is minimized, and with it what a label is.
typedef enum tw_loss TW_ENUM_INT {
  TW_LOSS_SOFTMAX = 0,  // cross-entropy; each example has one class
  TW_LOSS_SIGMOID = 1,  // cross-entropy of each output; each example has any number of classes
  TW_LOSS_MSE = 2,      // mean squared error; each example has n_classes numbers
  TW_LOSS_HUBER = 3     // squared below huber_delta, linear above
} tw_loss;

// A class of an evaluation, or an output of a regression. What would be divided by 0 is 0.
typedef struct tw_class_metrics {
  int64_t n_examples;
  // Examples that were taken for this class.
  int64_t n_predicted;
  // Of its examples, those that were taken for none of the classes.
  int64_t n_elsewhere;
  // Of the examples taken for this class, the share that is of it.
  double precision;
  // Of its examples, the share that was found.
  double recall;
  // Harmonic mean of the two.
  double f1;
  // TW_LOSS_SIGMOID.
  double average_precision;
  // Regression, as the next two.
  double mean_absolute_error;
  double root_mean_squared_error;
  double r2;
} tw_class_metrics;

// The examples (TW_LOSS_SOFTMAX) or decisions (TW_LOSS_SIGMOID) whose confidence lies in one step.
typedef struct tw_reliability_bin {
  int64_t n_examples;
  // Their mean.
  double confidence;
  // The share that was right.
  double accuracy;
} tw_reliability_bin;

// An example on which the model does badly.
typedef struct tw_worst_example {
  // In the order in which examples were added.
  int64_t index;
  // Its class; -1 if it has targets.
  int64_t label;
  // The position of the largest score; -1 if it has targets.
  int64_t predicted;
  double loss;
} tw_worst_example;

// How well a model does on the examples of a group (tw_examples.groups).
typedef struct tw_group_metrics {
  int32_t group;
  int64_t n_examples;
  // As tw_evaluation.accuracy.
  double accuracy;
  // TW_LOSS_MSE, TW_LOSS_HUBER: mean; else 0.
  double loss;
} tw_group_metrics;

// How well a model does on examples. `kind` tells which numbers mean anything; the others are 0.
// The arrays are borrowed from the trainer or judge that filled them, until its next evaluation.
typedef struct tw_evaluation {
  size_t struct_size;
  // The loss that examples were judged by.
  tw_loss kind;
  // 1: a judge took the scores for probabilities; 0: for logits.
  int32_t are_probabilities;
  int64_t n_examples;
  // Or outputs.
  int64_t n_classes;
  // Mean over the examples whose class has a score, NaN if none has one. With natural logarithms.
  double loss;
  // TW_LOSS_SOFTMAX: top1; TW_LOSS_SIGMOID: share of all decisions that are right.
  double accuracy;
  // TW_LOSS_SOFTMAX, as the next two: shares of the examples, 0 to 1.
  double top1;
  double top5;
  double top_k;
  // Mean over the classes that have examples or were predicted.
  double macro_precision;
  double macro_recall;
  double macro_f1;
  // Expected (ECE), 0 to 1.
  double calibration_error;
  // TW_LOSS_SIGMOID: share of examples with every decision right.
  double exact_match;
  // TW_LOSS_SIGMOID.
  double mean_average_precision;
  // Regression, as the next two.
  double mean_absolute_error;
  double root_mean_squared_error;
  double r2;
  // n_classes.
  const tw_class_metrics* classes;
  // TW_LOSS_SOFTMAX: n_classes x n_classes counts, with a row for each true class and a column for
  // each predicted one. NULL with more than 4096 classes.
  const int64_t* confusion;
  // Of an example, TW_LOSS_SOFTMAX in a judge.
  size_t n_scores;
  // How often each score was the largest; or NULL.
  const int64_t* n_largest;
  size_t n_bins;
  // Confidences from 0 to 1 in n_bins equal steps.
  const tw_reliability_bin* reliability;
  size_t n_worst;
  // The largest loss first.
  const tw_worst_example* worst;
  // Of examples with groups, the worst first: the least accuracy, or the largest loss.
  size_t n_groups;
  const tw_group_metrics* groups;
} tw_evaluation;

// What scores are.
typedef enum tw_score_kind TW_ENUM_INT {
  // Probabilities if all scores lie in [0, 1] (with TW_LOSS_SOFTMAX: and those of each example sum
  // to 1 within 0.02), else logits.
  TW_SCORES_UNKNOWN = 0,
  TW_SCORES_LOGITS = 1,
  TW_SCORES_PROBABILITIES = 2
} tw_score_kind;

// Zero the struct, set struct_size and n_classes, and what else is needed.
typedef struct tw_judge_options {
  size_t struct_size;
  // What examples are judged by.
  tw_loss loss;
  // Of the examples, or numbers of their targets.
  int64_t n_classes;
  // Scores of an example; 0: n_classes. One score for two classes (TW_LOSS_SOFTMAX) is that of the
  // second class.
  int64_t n_scores;
  // The position of each class's score. -1 (TW_LOSS_SOFTMAX): the model does not have the class,
  // and its examples count as wrong. NULL: in order.
  const int64_t* score_of_class;
  tw_score_kind scores;
  // What a probability of 0 counts as in the loss, say half a step of a quantized output. 0: half
  // of the smallest probability above 0 that was seen.
  double smallest_probability;
  // Of tw_evaluation.top_k; 0: 5.
  int32_t top_k;
  // Examples of the largest loss that tw_evaluation.worst names.
  int32_t n_worst;
  // TW_LOSS_HUBER; 0: 1.
  float huber_delta;
} tw_judge_options;

// Makes a judge. The caller owns *out_judge. [any]
TW_API tw_status tw_judge_create(const tw_judge_options* options, tw_judge** out_judge);

// Frees the judge. NULL is allowed. [one]
TW_API void tw_judge_free(tw_judge* judge);

// Adds an example: its n_scores scores, its class (TW_LOSS_SOFTMAX; targets is NULL) or its n_classes
// targets (the other losses; label is not looked at), and its group; below 0: none. Errors: NUMERIC (a
// score is NaN). [one]
TW_API tw_status tw_judge_add(tw_judge* judge, const float* scores, size_t n_scores, int64_t label,
                              const float* targets, int32_t group);

// Judges the examples that were added so far; more may be added afterwards. Set
// evaluation->struct_size first. Its arrays are borrowed from the judge until the next reading.
// [one]
TW_API tw_status tw_judge_read(tw_judge* judge, tw_evaluation* evaluation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_EVALUATE_H_
