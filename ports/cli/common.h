// What the commands share: options of the same meaning, opening models, turning a library failure
// into a CliError.
#ifndef TOPWORK_PORTS_CLI_COMMON_H_
#define TOPWORK_PORTS_CLI_COMMON_H_

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <topwork/topwork.hpp>
#include <vector>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/reading.h"

namespace topwork {
namespace cli {

using Json = nlohmann::ordered_json;

// Options that most commands take.
struct CommonOptions {
  std::string model;
  int n_threads = 0;
  std::string device = "auto";
  std::string precision = "float32";
  std::string cpu_ops, float32_ops, device_policy;  // see tw_session_options
  uint64_t device_memory_bytes = 0;                 // 0: what the device has
  uint64_t memory_limit_bytes = 0;                  // see tw_session_options
  int tune_ms = 0;
  int max_kernel_ms = 0;
  bool all_on_device = false;  // see tw_session_options.all_on_device
  bool low_priority = false;
  bool check_first_answer = false;
  bool json = false;
  std::string signature;                  // empty: the main subgraph
  std::vector<std::string> input_shapes;  // "x=1,224,224,3", see shapes.h
  std::vector<float> mean;
  std::vector<float> std;
  int rate = 0;      // of sounds, samples a second; 0: what the model says
  double hop = 0.0;  // see SoundReading
  std::optional<double> level;
};

void AddModelOption(CLI::App* command, CommonOptions* options);
void AddThreadsOption(CLI::App* command, CommonOptions* options);
void AddMemoryLimitOption(CLI::App* command, CommonOptions* options);
// --device and what goes with it.
// precisions: those that --precision may name.
void AddDeviceOptions(CLI::App* command, CommonOptions* options,
                      const std::vector<std::string>& precisions = {"float32", "float16"});
void AddTuneOption(CLI::App* command, CommonOptions* options);
// What a flag accepts that names a device, or several: the names that the library accepts.
CLI::Validator DeviceCheck();
CLI::Validator DeviceListCheck();
// Numbers above 0; from 0 on; whole ones from 0 on.
CLI::Validator PositiveCheck(double most = HUGE_VAL);
CLI::Validator NonNegativeCheck(double most = HUGE_VAL);
CLI::Validator WholeNumberCheck();
// In front of CLI::AsSizeValue, which takes a minus for a large number: as the transform after it.
CLI::Validator SizeCheck();
void AddPlacementOptions(CLI::App* command, CommonOptions* options);
void AddSignatureOption(CLI::App* command, CommonOptions* options);
// All that a session is made from: --signature, --threads, --memory-limit, --device and the rest.
void AddSessionOptions(CLI::App* command, CommonOptions* options);
// How images and sounds become inputs.
void AddReadingOptions(CLI::App* command, CommonOptions* options);
// Throws where a flag was given that is about examples alone: those of AddReadingOptions, and
// --threads. A command calls it that got no examples; `source` is the flag that names them.
void RefuseFlagsOfExamples(const CLI::App& command, const std::string& source);
void AddJsonOption(CLI::App* command, CommonOptions* options);

// Throws unless ok; `what` is put before the library's sentence when not empty. What the user
// stopped himself is told as that.
void Check(const tw::Status& status, const std::string& what = "");
template <typename T>
T CheckValue(tw::Result<T> result, const std::string& what = "") {
  Check(result.status(), what);
  return std::move(result).value();
}
// Throws kExitCancelled after the user asked to stop: between runs there is nothing to cancel.
void CheckStop();
ExitCode ExitCodeOf(tw_status status);

tw::Model OpenModel(const std::string& path);
tw_precision PrecisionOf(const std::string& name);
tw::SessionOptions SessionOptionsOf(const CommonOptions& options);
// The session that the options ask for, with the shapes of --input-shape; or with `shapes`, one for
// each input, where there are any.
tw::Result<tw::Session> TrySession(const tw::Model& model, const CommonOptions& options,
                                   const std::vector<tw_shape>& shapes = {});
// The same; throws when there is none.
tw::Session OpenSession(const tw::Model& model, const CommonOptions& options,
                        const std::vector<tw_shape>& shapes = {});
// What TrySession's failure says, in terms of the command line.
void CheckSession(const tw::Status& status, const CommonOptions& options);

// Pixel scaling of an image input: the flags, else the model's metadata, else the input's own
// quantization, else [-1, 1]. Rate of a sound: the flag, else the model's metadata, else 16000.
Reading ReadingFor(const CommonOptions& options, const tw::Model& model,
                   const tw_tensor_info& input);

// On standard error, where a command has no place of its own for it; nothing where it is empty.
void PrintNote(const std::string& note);

// Class names: the file when given, else the model's own, else none.
std::vector<std::string> LabelsFor(const tw::Model& model, const std::string& file);

// "float32 [1, 224, 224, 3]".
std::string TensorText(const tw_tensor_info& info);
Json TensorJson(const tw_tensor_info& info);

// True when the numbers are probabilities: none negative, and together 1; rounded ones may sum to
// less.
bool AreProbabilities(const std::vector<double>& scores, bool rounded);

// JSON that a terminal may show: it holds no control character but line ends. indent −1: one line.
std::string JsonText(const Json& json, int indent);

// One JSON document on standard output.
void PrintJson(const Json& json);

// The commands; each adds its sub-command to the tool.
void AddInfoCommand(CLI::App* app);
void AddRunCommand(CLI::App* app);
void AddTrainCommand(CLI::App* app);
void AddLearnCommand(CLI::App* app);
void AddEvaluateCommand(CLI::App* app);
void AddDevicesCommand(CLI::App* app);
void AddBenchmarkCommand(CLI::App* app);
void AddVerifyCommand(CLI::App* app);
void AddQuantizeCommand(CLI::App* app);
void AddPruneCommand(CLI::App* app);
void AddAuditCommand(CLI::App* app);
void AddSuggestCommand(CLI::App* app);
void AddMergeCommand(CLI::App* app);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_COMMON_H_
