// The report of a training: as one JSON document, and as one HTML file that opens from disk, on a
// desk or a phone, and draws itself from that document.
#ifndef TOPWORK_PORTS_CLI_REPORT_H_
#define TOPWORK_PORTS_CLI_REPORT_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ports/cli/evaluation.h"

namespace topwork {
namespace cli {

struct EpochRow {
  int64_t epoch = 0;
  double train_loss = 0.0;
  bool has_accuracy = true;  // false: regression
  double train_accuracy = 0.0;
  bool has_validation = false;
  double validation_loss = 0.0;
  double validation_accuracy = 0.0;
  double learning_rate = 0.0;  // 0: the optimizer has none
  double seconds = 0.0;
};

// Temperature scaling on the validation set.
struct CalibrationResult {
  double temperature = 1.0;
  bool at_bound = false;
  double error_before = 0.0, error_after = 0.0;
  double loss_before = 0.0, loss_after = 0.0;
};

// Two heads on the same examples: accuracy, or minus the mean loss.
struct ComparisonResult {
  int64_t n_examples = 0;
  double before = 0.0, after = 0.0;
};

struct WorstRow {
  std::string name;  // "digit_3/0012.png"
  std::string label, predicted;
  double loss = 0.0;
  std::string image;  // data: URI; empty for none
};

// A label that is probably wrong.
struct SuspectRow {
  std::string name, label, suggested;
  double margin = 0.0;
  std::string image;  // as in WorstRow
};

// A way to fit the last layer that was tried; see tw_trainer_candidate.
struct CandidateRow {
  std::string name;
  double accuracy = NAN;  // of regression: none
  double loss = 0.0, seconds = 0.0;
  bool chosen = false;
};

// What --layers auto tried: how many of the last layers, or one that is put in front of the last; its
// accuracy with softmax is that of examples left out in turn, other figures are of examples held back.
struct DepthRow {
  int32_t layers = 1;
  int32_t projected = 0, hidden = 0;  // units in front of the last layer; 0: none
  double accuracy = NAN;              // of regression: none
  double loss = 0.0, seconds = 0.0;
  double bytes = 0.0;  // of features and backbone
  bool chosen = false;
  std::string skipped;  // why it was not tried; empty: it was
};
std::string NameOf(const DepthRow& row);

struct TrainingReport {
  std::string model;
  std::string data;
  std::string output;
  std::string note;                                             // a warning; usually empty
  std::vector<std::pair<std::string, std::string>> settings;    // name, value
  std::vector<std::pair<std::string, std::string>> model_info;  // name, value
  std::vector<std::pair<std::string, double>> timings;          // name, seconds; "total" among them
  std::vector<std::pair<std::string, double>> memory;           // name, bytes; "peak" among them
  std::vector<EpochRow> epochs;
  std::vector<CandidateRow> candidates;  // of --optimizer auto
  std::string choice;                    // why one of them was taken
  std::vector<DepthRow> depths;          // of --layers auto
  std::string depth_reason;
  bool has_evaluation = false;
  std::string evaluated_on;  // "200 examples of the validation set"
  Evaluation evaluation;
  // The head was fitted once more on all examples after it was judged on those held back.
  bool fitted_on_all = false;
  int64_t n_examples = 0;
  bool has_calibration = false;
  CalibrationResult calibration;
  bool has_intervals = false;
  double interval_coverage = 0.0;  // that was asked for
  tw_interval_check intervals{};   // on the validation set
  bool has_golden = false;
  ComparisonResult golden;  // the shipped head and the new one on the golden set
  bool has_stored = false;
  ComparisonResult stored;           // the new head as trained and as the model's storage rounds it
  tw_rejection_summary rejection{};  // n_calibrated 0: the new model refuses nothing
  float promised = 0.0f;             // the share of known examples that it may refuse
  std::vector<WorstRow> worst;       // largest loss first
  bool has_audit = false;
  int64_t n_suspects = 0;            // of all examples' labels
  std::vector<SuspectRow> suspects;  // the first of them, the smallest margin first
};

// What `train --json` prints; without thumbnails.
Json ReportJson(const TrainingReport& report);

// The whole page, everything inlined. Of more than kMaxMatrixClasses classes it shows the most
// frequent confusions in place of the matrix.
constexpr size_t kMaxMatrixClasses = 50;
std::string RenderReport(const TrainingReport& report);

// The page of an evaluation. `facts`: what else the page tells, by the names that ReportJson has, with
// title, about and evaluated_on.
std::string RenderEvaluation(const Json& facts, const Evaluation& evaluation,
                             const std::vector<WorstRow>& worst);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_REPORT_H_
