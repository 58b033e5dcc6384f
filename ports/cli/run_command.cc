// topwork run: inputs from files, outputs to files and to the screen.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "ports/cli/common.h"
#include "ports/cli/data/base64.h"
#include "ports/cli/data/npy.h"
#include "ports/cli/data/numbers.h"
#include "ports/cli/data/thumbnail.h"
#include "ports/cli/explain.h"
#include "ports/cli/files.h"
#include "ports/cli/inputs.h"
#include "ports/cli/listen.h"
#include "ports/cli/rejection.h"
#include "ports/cli/shapes.h"
#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace cli {
namespace {

struct RunOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string output;
  ListenOptions listen;  // and labels
  std::string explain;   // picture to write
  int top = 5;
  uint64_t seed = 1;
};

struct Scored {
  int64_t index;
  double score;
};

// The output as real numbers; empty for types without a number in each element.
std::vector<double> RealValues(const tw::Tensor& tensor) {
  std::vector<double> values;
  const bool has_numbers =
      IsInteger(tensor.dtype) || IsFloat(tensor.dtype) || tensor.dtype == TW_DTYPE_BOOL;
  if (!has_numbers || tensor.data == nullptr) return values;
  int64_t n = 1;
  for (int32_t dim : tensor.shape()) n *= dim;
  for (int64_t i = 0; i < n; ++i) values.push_back(RealAt(tensor, i));
  return values;
}

// Class scores: one row of two numbers or more.
bool LooksLikeScores(const tw::Tensor& tensor, size_t n_labels) {
  const std::vector<int32_t> shape = tensor.shape();
  if (shape.empty() || shape.back() < 2) return false;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] != 1) return false;
  }
  return static_cast<size_t>(shape.back()) == n_labels || (n_labels == 0 && shape.size() <= 2);
}

std::vector<Scored> TopScores(const std::vector<double>& values, int top) {
  std::vector<Scored> scored;
  for (size_t i = 0; i < values.size(); ++i) scored.push_back({static_cast<int64_t>(i), values[i]});
  const size_t n = std::min(scored.size(), static_cast<size_t>(std::max(top, 0)));
  const auto before = [](const Scored& a, const Scored& b) {
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    return a.score > b.score || (!(a.score < b.score) && a.index < b.index);
  };
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(n), scored.end(),
                    before);
  scored.resize(n);
  return scored;
}

std::string LabelOf(const std::vector<std::string>& labels, int64_t index) {
  return static_cast<size_t>(index) < labels.size() ? Printable(labels[static_cast<size_t>(index)])
                                                    : "";
}

// A string of a model may hold any bytes: {"base64": "..."} where they are not UTF-8.
Json StringJson(const std::string& text) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    const size_t n = Utf8Length(bytes + i, text.size() - i);
    if (n == 0) return Json{{"base64", Base64(text)}};
    i += n;
  }
  return Json(text);
}

Json StringsJson(const tw::Tensor& tensor) {
  Json json = Json::array();
  for (const std::string& text : tensor.strings()) json.push_back(StringJson(text));
  return json;
}

std::string OutputPath(const std::string& folder, size_t i, const char* ending) {
  return folder + "/output_" + std::to_string(i) + ending;
}

// Refuses a folder where an output would replace an input.
void CheckOutputFolder(const RunOptions& options, size_t n_outputs) {
  if (options.output.empty()) return;
  for (size_t i = 0; i < n_outputs; ++i) {
    const std::string file = OutputPath(options.output, i, ".npy");
    for (const std::string& input : options.inputs) {
      if (!IsSameFile(file, input)) continue;
      throw CliError(kExitUsage, "--output " + options.output + ": its " + file +
                                     " is a file of --input; give another folder");
    }
  }
}

void SaveOutputs(const tw::Session& session, const std::string& folder) {
  std::vector<NewFile> files;
  for (size_t i = 0; i < session.n_outputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session.Output(i));
    const std::vector<int32_t> dims = tensor.shape();
    if (tensor.dtype == TW_DTYPE_STRING) {
      const std::string text = JsonText(StringsJson(tensor), 1) + "\n";
      files.push_back(
          {OutputPath(folder, i, ".json"), std::vector<uint8_t>(text.begin(), text.end())});
      continue;
    }
    const std::vector<int64_t> shape(dims.begin(), dims.end());
    const std::string file = OutputPath(folder, i, ".npy");
    const tw_dtype type = ArrayType(tensor.dtype);
    if (type != tensor.dtype) {
      const int64_t n =
          std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
      const std::vector<uint8_t> bytes = ToArray(tensor.dtype, tensor.data, n);
      files.push_back({file, EncodeNpy(type, shape, bytes.data(), bytes.size())});
      continue;
    }
    files.push_back({file, EncodeNpy(tensor.dtype, shape, tensor.data, tensor.bytes)});
  }
  MakeFolder(folder);
  WriteWholeFiles(files);
}

Json OutputJson(const tw::Tensor& tensor, const std::vector<Scored>& top,
                const std::vector<std::string>& labels) {
  Json json = TensorJson(tensor);
  const std::vector<double> values = RealValues(tensor);
  if (!values.empty()) {
    json["min"] = *std::min_element(values.begin(), values.end());
    json["max"] = *std::max_element(values.begin(), values.end());
    json["mean"] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  if (tensor.dtype == TW_DTYPE_STRING) json["strings"] = StringsJson(tensor);
  for (const Scored& scored : top) {
    Json entry;
    entry["class"] = scored.index;
    if (!LabelOf(labels, scored.index).empty()) entry["label"] = LabelOf(labels, scored.index);
    entry["score"] = scored.score;
    json["top"].push_back(entry);
  }
  return json;
}

void PrintTop(const std::vector<Scored>& top, bool probabilities,
              const std::vector<std::string>& labels) {
  Table table({"", "", "", ""});
  for (const Scored& scored : top) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", std::isnan(scored.score) ? NAN : scored.score);
    const double width = probabilities ? scored.score : 0.0;
    const std::string label = LabelOf(labels, scored.index);
    const std::string number = "class " + std::to_string(scored.index);
    table.Row({probabilities
                   ? std::string(scored.score < 0.0995 ? " " : "") + PercentText(scored.score)
                   : text,
               probabilities && UseColour(1) ? Paint(1, "32", Bar(width, 20)) : "",
               label.empty() ? number : Paint(1, &scored == &top[0] ? "1" : "0", label),
               label.empty() ? "" : Paint(1, "2", number)});
  }
  table.Print(2);
}

void PrintOutput(size_t i, const tw::Tensor& tensor, const std::vector<Scored>& top,
                 const std::vector<std::string>& labels) {
  std::printf("%s  %s  %s\n", Paint(1, "1", "output " + std::to_string(i)).c_str(),
              Shorten(ShortName(tensor.name), 48).c_str(),
              Paint(1, "2", TensorText(tensor)).c_str());
  const std::vector<double> values = RealValues(tensor);
  if (!top.empty()) {
    PrintTop(top, AreProbabilities(values, HasSoftmaxQuantization(tensor)), labels);
    return;
  }
  const std::vector<std::string> strings = tensor.strings();
  for (size_t k = 0; k < std::min<size_t>(strings.size(), 20); ++k) {
    std::printf("  %s\n", JsonText(StringJson(strings[k]), -1).c_str());
  }
  if (strings.size() > 20) std::printf("  and %zu more\n", strings.size() - 20);
  if (values.empty()) return;
  std::printf("  min %.6g, max %.6g, values", *std::min_element(values.begin(), values.end()),
              *std::max_element(values.begin(), values.end()));
  for (size_t k = 0; k < std::min<size_t>(values.size(), 6); ++k) std::printf(" %.6g", values[k]);
  std::printf("%s\n", values.size() > 6 ? " …" : "");
}

// A label file that fits none of the outputs is a mistake of the user's.
void CheckLabels(const RunOptions& options, const tw::Session& session, size_t n_labels) {
  if (options.listen.labels.empty()) return;
  std::string found;
  for (size_t i = 0; i < session.n_outputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session.Output(i));
    if (LooksLikeScores(tensor, n_labels)) return;
    found += (found.empty() ? "" : ", ") + TensorText(tensor);
  }
  throw CliError(kExitData, options.listen.labels + ": has " +
                                CountText(static_cast<int64_t>(n_labels), "name") +
                                ", but no output has as many classes (" + found + ")");
}

bool IsPngPath(const std::string& path) {
  std::string ending = path.substr(std::max<size_t>(path.size(), 4) - 4);
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".png";
}

// --explain: what it needs, before anything runs.
void CheckExplain(const RunOptions& options) {
  if (options.inputs.size() != 1 || !IsImagePath(options.inputs[0])) {
    throw CliError(kExitUsage, "--explain colours a photograph: give one with --input");
  }
  if (!options.common.signature.empty()) {
    throw CliError(kExitUsage, "--explain and --signature exclude each other");
  }
  CheckOutputs({{"--explain", options.explain}}, options.common.model, {},
               {{"--input", options.inputs[0]},
                {"--labels", options.listen.labels},
                {"--device-policy", options.common.device_policy}});
  if (IsImagePath(options.explain) && !IsPngPath(options.explain)) {
    throw CliError(kExitUsage, "--explain " + options.explain +
                                   ": is written as PNG; give a name that ends in .png");
  }
}

// The class with the largest score in the first output; the map's own mean where that is no score.
int ExplainedClass(const tw::Tensor& scores, const tw::Tensor& map, int n_classes) {
  std::vector<double> values = RealValues(scores);
  if (values.size() != static_cast<size_t>(n_classes)) {
    values.assign(static_cast<size_t>(n_classes), 0.0);
    const float* cells = static_cast<const float*>(map.data);
    const size_t n = map.bytes / sizeof(float);
    for (size_t i = 0; i < n; ++i) values[i % values.size()] += static_cast<double>(cells[i]);
  }
  return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
}

// Writes the picture; the class that it is of.
int Explain(const RunOptions& options, const tw::Session& session) {
  const tw::Tensor map = CheckValue(session.Output(session.n_outputs() - 1));
  const std::vector<int32_t> shape = map.shape();
  const int n_classes = shape.back();
  const int index = ExplainedClass(CheckValue(session.Output(0)), map, n_classes);
  const std::vector<uint8_t> png = PngBytes(
      ActivationPicture(ReadImage(options.inputs[0], 3), static_cast<const float*>(map.data),
                        shape[1], shape[2], n_classes, index));
  WriteWholeFile(options.explain, png.data(), png.size());
  return index;
}

tw::Model ModelFor(const RunOptions& options) {
  tw::Model model = OpenModel(options.common.model);
  if (options.explain.empty()) return model;
  CheckExplain(options);
  return CheckValue(model.WithActivationMap(), options.common.model);
}

// A sound is many runs.
void RunOnSound(const RunOptions& options) {
  for (const auto& [flag, value] :
       {std::pair{"--output", options.output}, std::pair{"--explain", options.explain}}) {
    if (value.empty()) continue;
    throw CliError(kExitUsage, std::string(flag) + ": is of one run, and a sound is many");
  }
  Listen(options.common, options.inputs, options.listen);
}

// What the model says of each row. True where it was printed.
bool TellVerdicts(const tw::Tensor& rejection, tw::Session* session, Json* json) {
  const size_t n_rows = rejection.rank > 1 ? static_cast<size_t>(rejection.dims[0]) : 1;
  for (size_t row = 0; row < n_rows; ++row) {
    const tw::Result<tw_rejection> verdict = session->Rejection(row);
    if (!verdict.ok()) return false;
    if (json == nullptr) {
      if (n_rows > 1) std::printf("row %zu  ", row);
      PrintVerdict(*verdict);
    } else if (n_rows > 1) {
      (*json)["rejections"].push_back(VerdictJson(*verdict));
    } else {
      (*json)["rejection"] = VerdictJson(*verdict);
    }
  }
  return json == nullptr;
}

// Flags that would do nothing.
void CheckFlags(const RunOptions& options) {
  const CommonOptions& common = options.common;
  const auto usage = [](bool wrong, const char* message) {
    if (wrong) throw CliError(kExitUsage, message);
  };
  const ListenOptions plain;
  usage(options.listen.every_window && !options.listen.stream,
        "--every-window belongs to --stream");
  const bool images = std::any_of(options.inputs.begin(), options.inputs.end(), IsImagePath);
  usage(!images && (!common.mean.empty() || !common.std.empty()),
        "--mean and --std are of images, and --input names none");
  const bool sounds = IsListening(options.inputs, options.listen);
  usage(!sounds && (common.rate != 0 || common.hop != 0.0 || common.level),
        "--rate, --hop and --level are of sounds, and --input names none");
  usage(!sounds && (options.listen.threshold != plain.threshold || options.listen.gap != plain.gap),
        "--threshold and --gap are of sounds, and --input names none");
}

void Run(const RunOptions& options) {
  CheckFlags(options);
  if (IsListening(options.inputs, options.listen)) return RunOnSound(options);
  const tw::Model model = ModelFor(options);
  const std::vector<std::string> labels = LabelsFor(model, options.listen.labels);
  tw::Session session = OpenSessionFor(model, options.common, options.inputs);
  CheckOutputFolder(options, session.n_outputs());
  const CancelOnStop cancel([&] { (void)session.Cancel(); });
  FillInputs(options.common, model, options.inputs, options.seed, &session);
  const int64_t start = port::NowNanos();
  Check(session.Run(), options.common.model);
  const double seconds = port::SecondsSince(start);
  CheckLabels(options, session, labels.size());
  if (!options.output.empty()) SaveOutputs(session, options.output);
  Json json;
  json["model"] = options.common.model;
  json["run_ms"] = seconds * 1e3;
  json["outputs"] = Json::array();
  for (size_t i = 0; i < session.n_outputs(); ++i) {
    const bool is_map = !options.explain.empty() && i + 1 == session.n_outputs();
    if (is_map && !options.common.json) continue;  // a picture is made of it
    const tw::Tensor tensor = CheckValue(session.Output(i));
    std::vector<Scored> top;
    if (tensor.name == std::string(kRejectionOutput)) {
      if (TellVerdicts(tensor, &session, options.common.json ? &json : nullptr)) continue;
    } else if (LooksLikeScores(tensor, labels.size()))
      top = TopScores(RealValues(tensor), options.top);
    if (options.common.json) {
      json["outputs"].push_back(OutputJson(tensor, top, labels));
    } else {
      PrintOutput(i, tensor, top, labels);
    }
  }
  if (options.common.json) {
    if (!options.explain.empty()) json["explained_class"] = Explain(options, session);
    PrintJson(json);
    return;
  }
  std::printf("%s\n", Paint(1, "2",
                            "in " + HumanSeconds(seconds) +
                                (options.inputs.empty() ? ", on random input" : ""))
                          .c_str());
  if (!options.output.empty()) std::printf("outputs written to %s\n", options.output.c_str());
  if (options.explain.empty()) return;
  const int index = Explain(options, session);
  const std::string label = LabelOf(labels, index);
  std::printf("%s shows what speaks for %s\n", options.explain.c_str(),
              (label.empty() ? "class " + std::to_string(index) : label).c_str());
}

}  // namespace

void AddRunCommand(CLI::App* app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app->add_subcommand("run", "Run a model once on files, or on random input");
  AddModelOption(command, &options->common);
  CLI::Option* const input =
      command
          ->add_option(
              "--input", options->inputs,
              "one per model input, in order: a .npy file of the input's dtype (another shape "
              "resizes the input), a JPEG, PNG or BMP for an image input, a .txt file for "
              "strings, one a line; or one WAV or FLAC file, or - for samples on standard "
              "input (16-bit, little-endian, one channel); none at all: seeded random values, "
              "empty strings")
          ->type_name("FILE");
  command
      ->add_option("--output", options->output,
                   "folder for output_0.npy, output_1.npy, ... (.json for strings)")
      ->type_name("DIR");
  command->add_option("--labels", options->listen.labels, "class names, one a line")
      ->type_name("FILE");
  command
      ->add_option("--explain", options->explain,
                   "write the photograph of --input with the places coloured that speak for its "
                   "first class; for networks that end in pooling and one layer")
      ->type_name("PNG");
  command->add_option("--top", options->top, "classes to print")
      ->type_name("K")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the random input")
      ->check(WholeNumberCheck())
      ->excludes(input)
      ->type_name("N")
      ->capture_default_str();
  AddInputShapeOption(command, &options->common);
  AddSessionOptions(command, &options->common);
  AddReadingOptions(command, &options->common);
  AddListenOptions(command, &options->listen);
  AddJsonOption(command, &options->common);
  command->footer(
      "Images are decoded to as many channels as the input has, resized to its height and width\n"
      "(bilinear, averaging over the pixels when shrinking), and normalised by --mean and "
      "--std.\n\n"
      "Sounds are cut into windows of the input's length, and each goes through one session, which\n"
      "keeps its state. Windows in which a class reaches --threshold are joined into events. Where a\n"
      "model gives [n, classes], its n rows are n equal parts of the window.\n\n"
      "A model that keeps state from run to run (recurrent layers, resource variables) begins in\n"
      "its initial state, so one run is the first step of a sequence.\n\n"
      "Examples:\n"
      "  topwork run mobilenet.tflite --input cat.jpg --labels labels.txt --top 3\n"
      "  topwork run detector.tflite --input photo.png --mean 127 --std 128 --output results/\n"
      "  topwork run mobilenet.tflite --input cat.jpg --explain why.png\n"
      "  topwork run birds.tflite --input dawn.flac --rate 48000 --hop 1 --threshold 0.7\n"
      "  arecord -t raw -f S16_LE -c 1 -r 16000 | topwork run wake.tflite --stream --input -\n"
      "  topwork run two_inputs.tflite --input a.npy --input b.npy --json");
  command->callback([options] { Run(*options); });
}

}  // namespace cli
}  // namespace topwork
