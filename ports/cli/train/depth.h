// --layers auto: how many of the last layers are trained, by the loss of examples held back.
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
// judged on the others. One more layer is taken where the examples held back lose less by it than by
// the choice before, by more than the standard error of the mean difference. No depth is begun after
// half of --max-seconds, nor one whose features and backbone would take more memory than
// --cache-limit and --memory-limit together, without these half of the machine's.
constexpr int32_t kMostDepth = 4;

struct DepthChoice {
  int32_t layers = 1;
  std::vector<DepthRow> rows;
  std::string reason;
};

// `record`: what the training's own settings are given besides the options.
DepthChoice ChooseDepth(const TrainOptions& options, const tw::Model& model, const Dataset& data,
                        const std::string& loss,
                        const std::function<void(TrainerSettings*)>& record);

// The options of a training of so many layers: an optimizer auto becomes adam below the last one.
TrainOptions WithDepth(const TrainOptions& options, int32_t layers);

void PrintDepths(const TrainingReport& report);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_
