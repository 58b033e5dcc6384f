// The flags of `topwork train`, and what they mean to the library.
#ifndef TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_
#define TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/dataset.h"

namespace topwork {
namespace cli {

struct TrainOptions {
  CommonOptions common;
  // Files.
  std::string data;
  std::string output;
  std::string report;
  std::string golden;
  std::string checkpoint;
  bool resume = false;
  std::string memory;
  std::string head;
  std::string save_head;
  // What is trained.
  std::string output_name;
  std::string layers = "last";
  bool bias_only = false;
  std::string init = "zeros";
  bool append_head = false;
  bool float_head = false;
  std::vector<std::string> remove_classes;
  std::vector<std::string> rename_classes;  // OLD=NEW
  // Loss.
  std::string loss;  // empty: by the data
  float label_smoothing = 0.0f;
  float huber_delta = 1.0f;
  std::vector<float> class_weights;
  bool balance = false;
  // Optimizer.
  std::string optimizer = "adam";
  float learning_rate = 0.0f;  // chosen from the features
  float momentum = 0.9f;
  bool nesterov = false;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0.0f;
  float l1 = 0.0f;
  float clip_norm = 0.0f;
  std::string schedule = "constant";
  int warmup = 0;
  int schedule_epochs = 10;
  float schedule_factor = 0.1f;
  int epochs = 20;
  int batch = 32;
  double max_seconds = 0.0;
  int patience = 0;
  float min_improvement = 0.0f;
  bool keep_last = false;
  uint64_t seed = 1;
  float validation = 0.2f;
  bool keep_held_back = false;
  bool calibrate = false;
  // Features.
  std::string cache;
  uint64_t cache_limit = 0;
  uint64_t memory_limit = 0;
  std::string features = "float32";
  std::string extract_on;
  int augment = 0;
  bool flip = false;
  float crop = 0.0f;
  float brightness = 0.0f;
  float noise = 0.0f;
  int64_t replay = 0;
};

// Registers the flags, in groups.
void AddTrainOptions(CLI::App* command, TrainOptions* options);

// What is wrong with the flags alone, and files that cannot be written. Throws CliError.
void CheckTrainOptions(const TrainOptions& options);

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
  void FillOptimizer(const TrainOptions& options);
  void FillFeatures(const TrainOptions& options);

  tw::TrainerOptions trainer_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  std::vector<float> class_weights_;
  std::string output_name_;
  std::string cache_;
  std::string device_;
  std::string extraction_;
  std::string preprocessing_;
  PixelScale scale_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_OPTIONS_H_
