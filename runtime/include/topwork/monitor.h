// Monitors: new kinds of inputs, changed class frequencies.
#ifndef TOPWORK_MONITOR_H_
#define TOPWORK_MONITOR_H_

#include "topwork/base.h"
#include "topwork/examples.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a monitor watches, and when it gives an alarm. Zero the struct and set struct_size for the
// defaults.
typedef struct tw_monitor_options {
  size_t struct_size;
  // What examples are compared with, the reference, is one of the next three.
  // n_examples feature vectors, [n_examples, n_features]. They must not have taken part in training
  // what computes them.
  const float* features;
  int64_t n_examples;
  // The features of this trainer's examples, which its backbone computes and its training leaves as
  // they are. It may be freed afterwards.
  tw_trainer* trainer;
  // A file of tw_monitor_save, which has the options, too; those below are not looked at.
  const char* path;
  // Numbers of a feature vector; for a monitor of a trainer 0, its own.
  int64_t n_features;
  // Classes whose frequencies are watched; 0: none, or those of the trainer.
  int64_t n_classes;
  // How frequent each is in training, n_classes numbers of sum 1; NULL: all the same, or as among the
  // trainer's examples.
  const double* frequencies;
  // A feature is as strange as its distance to the nearest neighbour of this number; 0: 3.
  int64_t n_neighbours;
  // Examples that are looked at together; 0: 200.
  int64_t window;
  // Share of the windows without any change that may give an alarm all the same; 0: 0.01.
  double false_alarm_rate;
  // Reference examples that are kept, chosen by chance; 0: 1000.
  int64_t max_reference;
  // 0: 1.
  uint64_t seed;
} tw_monitor_options;

// What a monitor has seen. The arrays are borrowed from the monitor until its next report.
typedef struct tw_monitor_report {
  size_t struct_size;
  int64_t n_examples;
  // Of the last example: how many of the reference are as strange, 0 to 1.
  double p_value;
  // log10 of the test martingale of the present window: 2 means that examples like the reference
  // reach it in one window of 100.
  double evidence;
  // 1: it passed 1 / false_alarm_rate in the present window or the one before.
  int32_t is_alarm;
  // Windows begun, and those in which it passed.
  int64_t n_windows;
  int64_t n_alarms;
  // Position of the example at which it passed first; -1: never.
  int64_t first_alarm;
  // Frequencies of the classes in training, and among the last examples as estimated from their
  // scores; n_classes is 0 without scores.
  int64_t n_classes;
  const double* trained;
  const double* frequencies;
  // log10 of the likelihood of the last scores with these frequencies over that with the trained
  // ones.
  double frequency_evidence;
} tw_monitor_report;

// Makes a monitor, which has not watched anything yet. Of more than 64 features, 64 random projections
// are kept. The caller owns *out_monitor. Errors: INVALID_ARGUMENT for no reference or several, and
// for fewer than 16 examples; NUMERIC; of a file IO and CORRUPT. [one]
TW_API tw_status tw_monitor_create(const tw_monitor_options* options, tw_monitor** out_monitor);

// Writes options and reference, at most about 140 kB with the defaults. The file appears complete or
// not at all. Errors: IO. [one]
TW_API tw_status tw_monitor_save(const tw_monitor* monitor, const char* path);

// Frees the monitor. NULL is allowed. [one]
TW_API void tw_monitor_free(tw_monitor* monitor);

// What a monitor watches: numbers, or what a session has computed, or examples. Zero the struct, set
// struct_size and fill in one of the three.
typedef struct tw_observation {
  size_t struct_size;
  // One example: n_features numbers and n_classes probabilities or logits, either of which may be NULL.
  const float* features;
  size_t n_features;
  const float* scores;
  size_t n_scores;
  // What this session's last run computed for one example: the features are the first output of
  // n_features numbers, the scores the first one of n_classes. Either may be missing. Quantized
  // outputs are dequantized.
  const tw_session* session;
  // Examples in their order, which must not follow the classes. The trainer computes features and
  // scores, and does not keep them. Labels are not looked at.
  tw_trainer* trainer;
  const tw_examples* examples;
} tw_observation;

// Watches one example or several. Errors: INVALID_ARGUMENT for numbers that the monitor does not
// watch; NUMERIC; NOT_FOUND if a session has no such output; those of tw_trainer_predict. [one]
TW_API tw_status tw_monitor_add(tw_monitor* monitor, const tw_observation* observation);

// Tells what the monitor has seen. Set report->struct_size first. [one]
TW_API tw_status tw_monitor_get_report(tw_monitor* monitor, tw_monitor_report* report);

// Writes the probabilities that fit the class frequencies of the last examples: n_scores of them,
// from as many probabilities or logits. [one]
TW_API tw_status tw_monitor_correct(const tw_monitor* monitor, const float* scores, size_t n_scores,
                                    float* corrected);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TOPWORK_MONITOR_H_
