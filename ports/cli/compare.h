// A model before and after a change, on the same examples: what `quantize` and `prune` report.
#ifndef TOPWORK_PORTS_CLI_COMPARE_H_
#define TOPWORK_PORTS_CLI_COMPARE_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/evaluation.h"

namespace topwork {
namespace cli {

struct ModelComparison {
  int64_t n_examples = 0;
  Evaluation before, after;
  double agreement = 0.0;  // share of examples with the same largest output; 0 for regression
  double mean_difference = 0.0, max_difference = 0.0;  // of the outputs, in real numbers
  std::string note;
};

struct ComparisonOptions {
  CommonOptions common;  // common.model: the name of the model before
  std::string after;     // the name of the model after
  std::string data;
  std::string output_name;        // as of `evaluate`
  std::vector<int64_t> examples;  // of the data; empty: all
};

// Throws CliError as `evaluate` does.
ModelComparison CompareModels(const ComparisonOptions& options, const tw::Model& before,
                              const tw::Model& after);

// {"n_examples", "before", "after", "agreement", ...}, merged into *json.
void AddComparisonJson(const ModelComparison& comparison, Json* json);
void PrintComparison(const ModelComparison& comparison);
// "digits.tflite: 98.2 KiB, 27 % of 361.4 KiB".
void PrintSizes(const std::string& before, const std::string& after);
void AddSizesJson(const std::string& before, const std::string& after, Json* json);

// Numbers 0 to n − 1 in an order that depends on n alone; the first n_first go to *first.
void SplitExamples(int64_t n, int64_t n_first, std::vector<int64_t>* first,
                   std::vector<int64_t>* rest);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_COMPARE_H_
