// Running a model over a data set, a row of numbers an example.
#ifndef TOPWORK_PORTS_CLI_EVALUATOR_H_
#define TOPWORK_PORTS_CLI_EVALUATOR_H_

#include <functional>
#include <string>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

class Evaluator {
 public:
  // `output_name`: a tensor's name, or a signature's name for it; empty: the one output that holds
  // a row of numbers for each example. Throws CliError where the model has several inputs, no such
  // output, or several outputs that would do.
  Evaluator(const CommonOptions& options, const std::string& output_name, const tw::Model& model);

  // The input as it is now; its pointers go with the next run.
  tw::Tensor input() const { return CheckValue(session_.Input(0)); }
  // Likewise for the output judged.
  tw::Tensor output() const { return CheckValue(session_.Output(output_)); }
  std::string output_name() const { return output().name; }
  // Numbers an example, at least 1.
  int64_t n_outputs() const { return n_outputs_; }

  // Calls take(i, numbers) for each example in order; quantized outputs are dequantized. Throws
  // CliError for numbers that are NaN or +infinity, and what `take` throws.
  using Take = std::function<void(int64_t, const std::vector<double>&)>;
  void Run(const Dataset& data, const Take& take);
  // What the model said of each example of the last Run; empty where it refuses nothing. The names
  // of the nearest examples go with the object.
  const std::vector<tw_rejection>& rejections() const { return rejections_; }

 private:
  size_t ChooseOutput(const std::string& name, const tw::Model& model) const;
  size_t CountRowOutputs() const;
  bool HoldsRows(const tw::Tensor& output) const;
  std::string ListOutputs() const;
  void ChooseBatch();
  void RunBatch(const Dataset& data, int64_t first, int64_t n);

  const CommonOptions& options_;
  tw::Session session_;
  int32_t batch_ = 1;
  size_t output_ = 0;
  int64_t n_outputs_ = 0;
  bool refuses_ = false;
  std::vector<tw_rejection> rejections_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_EVALUATOR_H_
