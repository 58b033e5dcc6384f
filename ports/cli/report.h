// The HTML report of a training: one file that opens from disk, on a desk or a phone.
#ifndef TOPWORK_PORTS_CLI_REPORT_H_
#define TOPWORK_PORTS_CLI_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "ports/cli/metrics.h"

namespace topwork {
namespace cli {

struct EpochRow {
  int64_t epoch = 0;
  double train_loss = 0.0;
  double train_accuracy = 0.0;
  bool has_validation = false;
  double validation_loss = 0.0;
  double validation_accuracy = 0.0;
  double seconds = 0.0;
};

struct TrainingReport {
  std::string model;
  std::string data;
  std::string output;
  std::vector<std::pair<std::string, std::string>> settings;  // name, value
  std::vector<std::pair<std::string, double>> timings;        // name, seconds
  std::vector<EpochRow> epochs;
  bool has_evaluation = false;
  std::string evaluated_on;  // "200 held-back examples"
  Evaluation evaluation;
};

// The whole document; everything inlined, no script needed to read it.
std::string RenderReport(const TrainingReport& report);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_REPORT_H_
