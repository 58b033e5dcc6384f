// Shared parts of the commands.
#include "ports/cli/common.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "ports/cli/files.h"
#include "ports/cli/shapes.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "runtime/backend/device_name.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace cli {

void AddModelOption(CLI::App* command, CommonOptions* options) {
  command->add_option("MODEL", options->model, "a .tflite file")->required()->type_name("FILE");
}

namespace {

std::string CheckDevice(const std::string& text) {
  const Status status = ParseDeviceName(text).status();
  return status.ok() ? "" : status.message();
}

std::string CheckDevices(const std::string& list) {
  const Status status = ParseDeviceNames(list).status();
  return status.ok() ? "" : status.message();
}

}  // namespace

namespace {

// Empty when `text` is a finite number that is above 0, or 0 where that is allowed, and at most `most`.
std::string CheckNumber(const std::string& text, bool zero, double most) {
  double value = 0.0;
  const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
  if (number && (value > 0.0 || (zero && value == 0.0)) && value <= most) return "";
  char bound[32] = "";
  if (std::isfinite(most)) std::snprintf(bound, sizeof(bound), " to %g", most);
  const char* const from =
      std::isfinite(most) ? (zero ? "from 0" : "above 0, up") : (zero ? "from 0 on" : "above 0");
  return "'" + text + "' is not a number " + from + bound;
}

std::string CheckWhole(const std::string& text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return "'" + text + "' is not a whole number from 0 on";
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const bool fits = std::from_chars(text.data(), end, value).ec == std::errc();
  return fits ? "" : "'" + text + "' is above 18446744073709551615, the largest whole number";
}

}  // namespace

CLI::Validator PositiveCheck(double most) {
  return CLI::Validator([most](const std::string& text) { return CheckNumber(text, false, most); },
                        "");
}
CLI::Validator NonNegativeCheck(double most) {
  return CLI::Validator([most](const std::string& text) { return CheckNumber(text, true, most); },
                        "");
}
CLI::Validator WholeNumberCheck() {
  return CLI::Validator([](const std::string& text) { return CheckWhole(text); }, "");
}
CLI::Validator SizeCheck() {
  return CLI::Validator(
      [](const std::string& text) {
        const bool good = !text.empty() && text[0] >= '0' && text[0] <= '9';
        return good ? "" : "'" + text + "' is not a number of bytes, as in 64MiB";
      },
      "");
}
CLI::Validator DeviceCheck() { return CLI::Validator(CheckDevice, "DEVICE"); }
CLI::Validator DeviceListCheck() { return CLI::Validator(CheckDevices, "LIST"); }

void AddThreadsOption(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--threads", options->n_threads,
                   "threads to use; 0: as many as pay, see 'topwork devices'")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->capture_default_str();
}

void AddMemoryLimitOption(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--memory-limit", options->memory_limit_bytes,
                   "the most memory that a session may take, as in 512MiB; 0: half of the "
                   "machine's, or of what a container may take")
      ->transform(CLI::AsSizeValue(false))
      ->transform(SizeCheck())
      ->type_name("BYTES");
}

void AddDeviceOptions(CLI::App* command, CommonOptions* options,
                      const std::vector<std::string>& precisions) {
  command
      ->add_option(
          "--device", options->device,
          "where to compute: auto (the faster of CPU and best GPU, measured once), cpu, "
          "opencl (the best GPU), or an OpenCL device by number or name, as in opencl:1 or "
          "opencl:mali; see 'topwork devices'")
      ->check(DeviceCheck())
      ->capture_default_str()
      ->group("Device");
  const std::string text =
      "float32 or float16: how an OpenCL device keeps tensors; on the CPU, whether matrix "
      "products multiply 16-bit numbers where the processor can";
  const std::string trial =
      "; auto: float16 on a device that multiplies it, where that is faster and agrees with the "
      "CPU, else float32";
  command
      ->add_option("--precision", options->precision, precisions.size() > 2 ? text + trial : text)
      ->check(CLI::IsMember(precisions))
      ->capture_default_str()
      ->group("Device");
  AddTuneOption(command, options);
}

void AddTuneOption(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--tune", options->tune_ms,
                   "measure an OpenCL device's kernels for at most so many milliseconds; what is "
                   "learnt is kept for later runs")
      ->check(CLI::Range(0, 3600000))
      ->type_name("MS")
      ->capture_default_str()
      ->group("Device");
}

void AddPlacementOptions(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--cpu-ops", options->cpu_ops,
                   "operators that stay on the CPU, separated by commas: by name as in SOFTMAX, by "
                   "number in the file as in #12, or by the name of a tensor that they make")
      ->type_name("LIST")
      ->group("Device");
  command
      ->add_option(
          "--device-memory", options->device_memory_bytes,
          "what an OpenCL device may hold, as in 64MiB; what goes beyond it is left to the "
          "CPU; 0: as much as it has")
      ->transform(CLI::AsSizeValue(false))
      ->transform(SizeCheck())
      ->type_name("BYTES")
      ->group("Device");
  command
      ->add_flag("--all-on-device", options->all_on_device,
                 "an OpenCL device computes all that it can, even what the CPU would finish sooner")
      ->group("Device");
  command
      ->add_option("--max-kernel-ms", options->max_kernel_ms,
                   "cut kernels of an OpenCL device that run longer into pieces, so that a display "
                   "keeps drawing; 0: never")
      ->check(CLI::Range(0, 10000))
      ->type_name("MS")
      ->group("Device");
  command
      ->add_flag("--low-priority", options->low_priority,
                 "let other programs on an OpenCL device go first, where its driver can")
      ->group("Device");
  command
      ->add_flag("--check-first-answer", options->check_first_answer,
                 "the CPU computes the first answer of an OpenCL device once more, and all the "
                 "others if it was wrong")
      ->group("Device");
  command
      ->add_option("--float32-ops", options->float32_ops,
                   "operators that keep float32 with --precision float16, named as for --cpu-ops")
      ->type_name("LIST")
      ->group("Device");
  command
      ->add_option(
          "--device-policy", options->device_policy,
          "take --cpu-ops and --float32-ops from a file that 'topwork verify --policy' wrote")
      ->type_name("FILE")
      ->group("Device");
}

void AddSignatureOption(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--signature", options->signature,
                   "run the signature of this name; default: the main subgraph")
      ->type_name("KEY");
}

void AddSessionOptions(CLI::App* command, CommonOptions* options) {
  AddSignatureOption(command, options);
  AddThreadsOption(command, options);
  AddMemoryLimitOption(command, options);
  AddDeviceOptions(command, options, {"float32", "float16", "auto"});
  AddPlacementOptions(command, options);
}

namespace {

void AddSoundOptions(CLI::App* command, CommonOptions* options) {
  command
      ->add_option("--rate", options->rate,
                   "samples a second that the model wants of sounds; other files are converted; "
                   "default: what the model's metadata says, else 16000")
      ->check(CLI::Range(1, 768000))
      ->type_name("HZ")
      ->group("Sounds");
  command
      ->add_option("--hop", options->hop,
                   "seconds from one window of a sound to the next; default: the length of a "
                   "window, which is the model's input")
      ->check(PositiveCheck())
      ->type_name("SECONDS")
      ->group("Sounds");
  command
      ->add_option("--level", options->level,
                   "bring each sound to this root mean square, in decibels below full scale, as in "
                   "-20; default: as recorded")
      ->check(CLI::Range(-120.0, 0.0))
      ->type_name("DB")
      ->group("Sounds");
}

}  // namespace

void AddReadingOptions(CLI::App* command, CommonOptions* options) {
  command
      ->add_option(
          "--mean", options->mean,
          "pixels of images (0 to 255) become (pixel - M) / S: M, one value or one a channel "
          "as in 123.7,116.3,103.5; default: what the model's metadata says, else its "
          "input's quantization, else 127.5 and 127.5")
      ->delimiter(',')
      ->type_name("M")
      ->group("Images");
  command->add_option("--std", options->std, "S, one value or one a channel")
      ->delimiter(',')
      ->type_name("S")
      ->group("Images");
  AddSoundOptions(command, options);
}

void RefuseFlagsOfExamples(const CLI::App& command, const std::string& source) {
  for (const char* flag : {"--mean", "--std", "--rate", "--hop", "--level", "--threads"}) {
    if (command.count(flag) == 0) continue;
    throw CliError(kExitUsage, std::string(flag) + " needs " + source +
                                   ": without examples to judge by it would do nothing");
  }
}

void AddJsonOption(CLI::App* command, CommonOptions* options) {
  command->add_flag("--json", options->json,
                    "print one JSON document on standard output and nothing else");
}

ExitCode ExitCodeOf(tw_status status) {
  switch (status) {
    case TW_STATUS_OK:
      return kExitOk;
    case TW_STATUS_INVALID_ARGUMENT:
      return kExitData;
    case TW_STATUS_INVALID_MODEL:
      return kExitModel;
    case TW_STATUS_UNSUPPORTED:
    case TW_STATUS_DEVICE_LOST:
      return kExitUnsupported;
    case TW_STATUS_OUT_OF_MEMORY:
      return kExitMemory;
    case TW_STATUS_IO:
      return kExitIo;
    case TW_STATUS_CANCELLED:
      return kExitCancelled;
    case TW_STATUS_FAILED_PRECONDITION:
      return kExitData;
    case TW_STATUS_NUMERIC:
      return kExitNumeric;
    case TW_STATUS_NOT_FOUND:
      return kExitData;
    case TW_STATUS_CORRUPT:
      return kExitData;
    default:
      return kExitInternal;
  }
}

void CheckStop() {
  if (StopRequested()) throw CliError(kExitCancelled, "stopped by the user");
}

void Check(const tw::Status& status, const std::string& what) {
  if (status.ok()) return;
  if (status.code() == TW_STATUS_CANCELLED) CheckStop();
  throw CliError(ExitCodeOf(status.code()),
                 what.empty() ? status.message() : what + ": " + status.message());
}

tw::Model OpenModel(const std::string& path) {
  CheckIsFile(path);
  return CheckValue(tw::Model::OpenFile(path));
}

tw_precision PrecisionOf(const std::string& name) {
  if (name == "auto") return TW_PRECISION_AUTO;
  return name == "float16" ? TW_PRECISION_FLOAT16 : TW_PRECISION_FLOAT32;
}

tw::SessionOptions SessionOptionsOf(const CommonOptions& options) {
  tw::SessionOptions session_options;
  session_options.n_threads = options.n_threads;
  session_options.device = options.device.c_str();
  session_options.precision = PrecisionOf(options.precision);
  session_options.opencl.all_on_device = options.all_on_device ? 1 : 0;
  if (!options.cpu_ops.empty()) session_options.opencl.cpu_ops = options.cpu_ops.c_str();
  session_options.opencl.memory_limit_bytes = static_cast<size_t>(options.device_memory_bytes);
  session_options.memory_limit_bytes = static_cast<size_t>(options.memory_limit_bytes);
  session_options.opencl.tune_ms = options.tune_ms;
  session_options.opencl.max_kernel_ms = options.max_kernel_ms;
  session_options.opencl.low_priority = options.low_priority ? 1 : 0;
  session_options.opencl.check_first_answer = options.check_first_answer ? 1 : 0;
  if (!options.float32_ops.empty()) session_options.float32_ops = options.float32_ops.c_str();
  if (!options.device_policy.empty()) session_options.policy_path = options.device_policy.c_str();
  if (!options.signature.empty()) session_options.signature = options.signature.c_str();
  return session_options;
}

tw::Result<tw::Session> TrySession(const tw::Model& model, const CommonOptions& options,
                                   const std::vector<tw_shape>& shapes) {
  tw::SessionOptions session_options = SessionOptionsOf(options);
  const std::vector<tw_shape> given = shapes.empty() ? InputShapes(model, options) : shapes;
  session_options.input_shapes = given.data();
  session_options.n_input_shapes = given.size();
  return tw::Session::Create(model, session_options);
}

tw::Session OpenSession(const tw::Model& model, const CommonOptions& options,
                        const std::vector<tw_shape>& shapes) {
  tw::Result<tw::Session> session = TrySession(model, options, shapes);
  CheckSession(session.status(), options);
  return std::move(session).value();
}

void CheckSession(const tw::Status& status, const CommonOptions& options) {
  if (status.ok()) return;
  std::string message = status.message();
  const std::string member = "tw_session_options.input_shapes";
  const size_t at = message.find(member);
  if (at != std::string::npos) message.replace(at, member.size(), "--input-shape");
  throw CliError(ExitCodeOf(status.code()), options.model + ": " + message);
}

namespace {

PixelScale ScaleFor(const CommonOptions& options, const tw_model_info& info,
                    const tw_tensor_info& input) {
  PixelScale scale;
  if (info.n_input_scales > 0) {
    scale.mean.assign(info.input_mean, info.input_mean + info.n_input_scales);
    scale.std.assign(info.input_std, info.input_std + info.n_input_scales);
    scale.source = "the model's metadata";
  } else if (input.n_scales > 0 && input.dtype != TW_DTYPE_FLOAT32) {
    // real = scale * (stored - zero_point); stored = pixel (uint8) or pixel - 128 (int8).
    const float zero = static_cast<float>(input.zero_points[0]);
    scale.mean = {input.dtype == TW_DTYPE_INT8 ? zero + 128.0f : zero};
    scale.std = {1.0f / input.scales[0]};
    scale.source = "the input's quantization";
  }
  if (!options.mean.empty()) scale.mean = options.mean;
  if (!options.std.empty()) scale.std = options.std;
  if (!options.mean.empty() || !options.std.empty()) scale.source = "--mean and --std";
  for (float value : scale.mean) {
    if (!std::isfinite(value)) throw CliError(kExitUsage, "--mean must be finite numbers");
  }
  for (float value : scale.std) {
    if (value == 0.0f || !std::isfinite(value)) {
      throw CliError(kExitUsage, "--std must be finite numbers other than 0");
    }
  }
  return scale;
}

SoundReading SoundsFor(const CommonOptions& options, const tw_model_info& info) {
  SoundReading reading;
  if (options.rate > 0) {
    reading.rate = options.rate;
    reading.rate_source = "--rate";
  } else if (info.input_sample_rate > 0) {
    reading.rate = info.input_sample_rate;
    reading.rate_source = "the model's metadata";
  } else {
    reading.rate_source = "assumed, as the model does not say; --rate HZ does";
  }
  reading.hop = options.hop;
  reading.level = options.level;
  return reading;
}

}  // namespace

Reading ReadingFor(const CommonOptions& options, const tw::Model& model,
                   const tw_tensor_info& input) {
  const tw_model_info info = CheckValue(model.Info());
  return {ScaleFor(options, info, input), SoundsFor(options, info)};
}

void PrintNote(const std::string& note) {
  if (note.empty()) return;
  std::fprintf(stderr, "%s %s\n", Paint(2, "33", "note:").c_str(), note.c_str());
}

std::vector<std::string> LabelsFor(const tw::Model& model, const std::string& file) {
  if (file.empty()) return model.labels();
  const std::vector<std::string> labels = ReadLines(file);
  if (labels.empty()) throw CliError(kExitData, file + ": holds no class names; give one a line");
  return labels;
}

std::string TensorText(const tw_tensor_info& info) {
  std::string text = std::string(tw_dtype_name(info.dtype)) + " [";
  for (int32_t i = 0; i < info.rank; ++i) {
    text +=
        (i > 0 ? ", " : "") + (info.open_dims[i] < 0 ? "open (" + std::to_string(info.dims[i]) + ")"
                                                     : std::to_string(info.dims[i]));
  }
  return text + "]";
}

Json TensorJson(const tw_tensor_info& info) {
  Json json;
  json["name"] = info.name;
  json["dtype"] = tw_dtype_name(info.dtype);
  json["shape"] = std::vector<int32_t>(info.dims, info.dims + info.rank);
  json["open_shape"] = std::vector<int32_t>(info.open_dims, info.open_dims + info.rank);
  json["bytes"] = info.bytes;
  return json;
}

bool AreProbabilities(const std::vector<double>& scores, bool rounded) {
  double sum = 0.0;
  for (double score : scores) {
    if (!(score >= 0.0 && score <= 1.0)) return false;
    sum += score;
  }
  return rounded || std::fabs(sum - 1.0) < 0.02;
}

std::string JsonText(const Json& json, int indent) {
  std::string text = json.dump(indent, ' ', false, nlohmann::detail::error_handler_t::replace);
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(text.data()) + i;
    const size_t n = std::max<size_t>(1, Utf8Length(bytes, text.size() - i));
    if (text[i] != '\n' && IsControl(bytes, n)) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", Utf8Code(bytes, n) & 0xffffu);
      shown += escape;
    } else {
      shown.append(text, i, n);
    }
    i += n;
  }
  return shown;
}

void PrintJson(const Json& json) {
  const std::string text = JsonText(json, 2) + "\n";
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
    throw CliError(kExitIo, "standard output cannot be written");
  }
}

}  // namespace cli
}  // namespace topwork
