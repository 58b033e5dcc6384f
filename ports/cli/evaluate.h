// Judging one model on labelled data, as `topwork evaluate` does.
#ifndef TOPWORK_PORTS_CLI_EVALUATE_H_
#define TOPWORK_PORTS_CLI_EVALUATE_H_

#include <optional>
#include <string>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/data/dataset.h"
#include "ports/cli/evaluation.h"
#include "ports/cli/evaluator.h"
#include "ports/cli/rejection.h"

namespace topwork {
namespace cli {

struct EvaluateOptions {
  CommonOptions common;
  std::string data;
  std::string unknown;  // folder of examples that the model should refuse; may be empty
  std::string labels;
  std::string output_name;
  std::string loss;     // empty: as the data asks for
  std::string monitor;  // a monitor's file; may be empty
  std::string report;   // a page to write; may be empty
  std::string fold;     // the model with the data's class frequencies; may be empty
  int top = 5;
  int worst = 0;
  float huber_delta = 1.0f;
  std::vector<int64_t> examples;  // of the data; empty: all
};

struct EvaluationExtras {
  Evaluator::Take take;     // in: also gets every example's numbers; may be empty
  bool wants_data = false;  // in: the data is needed again, and comes back in `data`
  std::optional<Dataset> data;
  std::string note;  // what is worth telling; usually empty
  std::vector<WorstExample> worst;
  bool has_rejection = false;  // the model refuses unknown examples
  RejectionResult rejection;
};

// Writes the page of --report.
void WriteEvaluationPage(const EvaluateOptions& options, const Evaluation& evaluation,
                         const EvaluationExtras& extras, double seconds);

// A file of `train --monitor`. Throws CliError.
tw::Monitor OpenMonitor(const std::string& path);
// What the data of EvaluateModel looks like to it: JSON, or text. Throws CliError.
Json MonitorData(const EvaluateOptions& options, const tw::Model& model, Dataset data,
                 tw::Monitor* monitor);
void PrintMonitor(const Json& monitor);

// Throws CliError where model and data do not fit together. options.common.model names the model in
// messages.
Evaluation EvaluateModel(const EvaluateOptions& options, const tw::Model& model,
                         EvaluationExtras* extras);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_EVALUATE_H_
