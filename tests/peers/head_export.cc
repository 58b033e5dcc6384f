// Exports a model with given parameters as its head: the writer alone, without a trainer.
//
//   topwork_head_export MODEL describe
//   topwork_head_export MODEL append-describe
//   topwork_head_export MODEL OUT LOSS replace|append|float N_CLASSES PARAMETERS MIN MAX
// PARAMETERS is a file of float32, weights [n_classes, dim] and then bias; what they become in the
// model's storage is written beside it, with ".rounded" behind its name. LOSS is softmax, sigmoid
// or mse. Prints one JSON object that describes the head.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "models/format/write.h"
#include "ports/port.h"
#include "runtime/train/head/head.h"

namespace {

using topwork::Head;
using topwork::HeadFormat;
using topwork::HeadReplacement;
using topwork::Loss;
using topwork::Model;

int Fail(const topwork::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

std::vector<float> ReadFloatFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void WriteFloatFile(const std::string& path, const std::vector<float>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

void Describe(const Head& head) {
  std::printf(
      "{\"storage\": \"%s\", \"per_channel\": %s, \"appended\": %s, \"embedding\": %d, "
      "\"dim\": %d, \"n_classes\": %d, \"n_positions\": %d, \"batch\": %d, \"activation\": %d}\n",
      topwork::HeadStorageName(head.format.storage), head.format.per_channel ? "true" : "false",
      head.appended() ? "true" : "false", head.feature, head.dim, head.n_classes, head.n_positions,
      head.batch, static_cast<int>(head.final_activation));
}

Loss LossNamed(const std::string& name) {
  return name == "sigmoid" ? Loss::kSigmoidCrossEntropy
         : name == "mse"   ? Loss::kMeanSquaredError
                           : Loss::kSoftmaxCrossEntropy;
}

int Export(const Model& model, const Head& head, char** argv) {
  const std::string parameters_path = argv[6];
  HeadReplacement replacement = ReplacementFor(model.main(), head, LossNamed(argv[3]));
  replacement.float_head = std::strcmp(argv[4], "float") == 0;
  replacement.n_classes = std::atoi(argv[5]);
  const size_t n_bias = static_cast<size_t>(replacement.n_classes);
  const std::vector<float> parameters = ReadFloatFile(parameters_path);
  const size_t n_weights = n_bias * static_cast<size_t>(head.dim);
  if (parameters.size() != n_weights + n_bias) {
    return Fail(topwork::InvalidArgument("{} parameters, expected {}", parameters.size(),
                                         n_weights + n_bias));
  }
  replacement.weights = {parameters.data(), n_weights};
  replacement.bias = {parameters.data() + n_weights, n_bias};
  replacement.scores_min = std::strtof(argv[7], nullptr);
  replacement.scores_max = std::strtof(argv[8], nullptr);
  const auto bytes = ExportWithHead(model, replacement);
  if (!bytes.ok()) return Fail(bytes.status());
  const int error = topwork::port::WriteFileAtomic(argv[2], bytes->data(), bytes->size());
  if (error != 0) return Fail(topwork::IoError("cannot write '{}'", argv[2]));
  std::vector<float> rounded(parameters.size());
  topwork::RoundHead(replacement.float_head ? HeadFormat() : head.format, replacement.n_classes,
                     head.dim, replacement.weights, replacement.bias, rounded.data(),
                     rounded.data() + n_weights);
  WriteFloatFile(parameters_path + ".rounded", rounded);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 9) {
    std::fprintf(stderr, "usage: see the head of tests/peers/head_export.cc\n");
    return 2;
  }
  const auto model = Model::OpenFile(argv[1]);
  if (!model.ok()) return Fail(model.status());
  const bool append =
      std::strcmp(argc == 3 ? argv[2] : argv[4], argc == 3 ? "append-describe" : "append") == 0;
  const auto head = FindHead((*model)->main(), 0, append);
  if (!head.ok()) return Fail(head.status());
  Describe(head.value());
  return argc == 3 ? 0 : Export(**model, head.value(), argv);
}
