// The flags of `topwork train`, and what they mean to the library.
#ifndef TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_
#define TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

// Of --reject, where nobody says it.
constexpr float kRejectRate = 0.05f;

struct TrainOptions {
  CommonOptions common;
  // What the library is told as it is; the rest of its options is made of the words below.
  tw::TrainerOptions trainer;
  // Files.
  std::string data;
  std::string output;
  std::string report;
  std::string golden;
  std::string negatives;
  std::string checkpoint;
  bool resume = false;
  std::string memory;
  std::string head;
  std::string save_head;
  std::string monitor;
  std::string cache;
  // Words.
  std::string output_name;
  std::string layers;  // empty: see ChooseLayers
  std::string init = "zeros";
  std::string balance = "none";
  std::vector<std::string> remove_classes;
  std::vector<std::string> rename_classes, merge_classes;  // OLD=NEW
  std::string loss;                                        // empty: by the data
  std::vector<float> class_weights;
  std::string optimizer;                           // empty: by the other flags, see ChooseOptimizer
  bool epochs_given = false, batch_given = false;  // even the defaults' numbers
  std::string schedule = "constant";
  std::string feature_type = "float32";
  std::string feature_devices;
  // What the command itself does.
  float reject = -1.0f;  // the share refused; below 0: kRejectRate where that is possible
  double max_seconds = 0.0;
  bool calibrate = false;
  bool activation_map = false;
};

// Registers the flags, in groups.
void AddTrainOptions(CLI::App* command, TrainOptions* options);

// Fills in an empty optimizer: auto, or what takes the steps that another flag speaks of.
void ChooseOptimizer(TrainOptions* options);
// Fills in empty layers: auto where --max-seconds says what may be spent, the optimizer is auto, and no
// other flag says what is trained; else last.
void ChooseLayers(TrainOptions* options);

// What is wrong with the flags alone, and files that cannot be written. Throws CliError.
void CheckTrainOptions(const TrainOptions& options);

// Throws CliError where a training that begins anew would write over what --checkpoint names.
void CheckCheckpoint(const TrainOptions& options);

// "softmax", "sigmoid", "mse" or "huber": as asked for, else by the data. Throws CliError where the
// data has no such targets.
std::string LossFor(const TrainOptions& options, const Dataset& data);

// The library's options with all that they point to; neither copied nor moved.
class TrainerSettings {
 public:
  // `class_names`: of the new last layer; empty: those of the model.
  TrainerSettings(const TrainOptions& options, const std::string& loss,
                  const std::vector<std::string>& class_names);
  TrainerSettings(const TrainerSettings&) = delete;
  TrainerSettings& operator=(const TrainerSettings&) = delete;

  // Records how pixels become the model's inputs: in exported models, and in the cache's key.
  void RecordPixels(const PixelScale& scale, bool in_model);

  const tw::TrainerOptions& get() const { return trainer_; }

 private:
  tw::TrainerOptions trainer_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<float> class_weights_;
  std::string output_name_;
  std::string signature_;
  std::string cache_;
  std::string device_;
  std::string feature_devices_;
  std::string preprocessing_;
  PixelScale scale_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_
