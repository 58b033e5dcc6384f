// --layers auto: how many of the last layers are trained, and behind what, by the loss of examples held
// back.
#ifndef TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_
#define TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_

#include <functional>
#include <string>

#include "ports/cli/report.h"
#include "ports/cli/train/data.h"
#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// The last layer, the last two and so on, up to kMostDepth, are trained on the training examples and
// judged on the others. The optimizer auto tries the last layer behind a random projection and behind
// a hidden layer in between. The next one is taken where the examples held back lose less by it than by
// the choice before, by more than the standard error of the mean difference. None is begun after
// half of --max-seconds, nor one whose features and backbone would take more memory than
// --cache-limit and --memory-limit together, without these half of the machine's.
constexpr int32_t kMostDepth = 4;
constexpr int32_t kProjected = 1024;
constexpr int32_t kHidden = 64;

struct DepthChoice {
  DepthRow chosen;
  std::vector<DepthRow> rows;
  std::string reason;
};

// `record`: what the training's own settings are given besides the options.
DepthChoice ChooseDepth(const TrainOptions& options, const tw::Model& model, const Dataset& data,
                        const std::string& loss,
                        const std::function<void(TrainerSettings*)>& record);

// The options of a training of that row: an optimizer auto becomes adam where it trains more than the
// last layer.
TrainOptions WithDepth(const TrainOptions& options, const DepthRow& row);

void PrintDepths(const TrainingReport& report);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_
