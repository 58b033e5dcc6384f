// --layers auto: how many of the last layers are trained, and behind what, by examples left out.
#ifndef TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_
#define TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_

#include <functional>
#include <string>

#include "ports/cli/report.h"
#include "ports/cli/train/data.h"
#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// The last layer, the last two and so on, up to kMostDepth, are trained. The optimizer auto tries the
// last layer behind a random projection and behind a hidden layer in between. With softmax every
// example is judged by a head that was fitted without it (tw_trainer_audit: in closed form, or by
// folds), and the next one is taken where fewer are wrong than with the choice before, by more than
// the standard error of the mean difference; with other losses, where the examples held back lose less
// by as much. It ends where even no error at all would not be better by as much. None is begun after
// half of --max-seconds, nor one whose folds would take longer than what is left of it, nor one whose
// features and backbone would take more memory than --cache-limit and --memory-limit together, without
// these half of the machine's.
constexpr int32_t kMostDepth = 4;
constexpr int32_t kProjected = 1024;
constexpr int32_t kHidden = 64;

struct DepthChoice {
  DepthRow chosen;
  std::vector<DepthRow> rows;
  std::string reason;
};

// `record`: what the training's own settings are given besides the options. Last layers share the
// features that options.cache keeps.
DepthChoice ChooseDepth(const TrainOptions& options, const tw::Model& model, const Dataset& data,
                        const std::string& loss,
                        const std::function<void(TrainerSettings*)>& record);

// The options of a training of that row: an optimizer auto becomes adam where it trains more than the
// last layer.
TrainOptions WithDepth(const TrainOptions& options, const DepthRow& row);

void PrintDepths(const TrainingReport& report);

// Features that the tries and the training share, for as long as the object lives.
class FeaturesFile {
 public:
  // `bytes`: of all features. Without a folder for temporary files that has room for them, or without
  // the right to write there, path() is empty.
  explicit FeaturesFile(double bytes);
  ~FeaturesFile();
  FeaturesFile(const FeaturesFile&) = delete;
  FeaturesFile& operator=(const FeaturesFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_DEPTH_H_
