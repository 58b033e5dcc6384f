// Writes small models of sounds into a folder, whose answers follow from how they are made:
//   tones.tflite            [1, 800] float32 at 16 kHz, as its metadata says: energies at 300, 1000 and
//                           3000 Hz, a dense layer, SOFTMAX; labels low, middle, high
//   tones_row.tflite        the same of [800], tones_column.tflite of [1, 800, 1]
//   tones_int16.tflite      the same of int16 samples without a scale, tones_int8.tflite of int8
//                           samples with the scale 1/128
//   tones_rows.tflite       the same of [1, 3200], its four quarters as rows [4, 3], after what it hears of each, [4, 6]
//   tones_bare.tflite       [1, 800] without metadata
//   total.tflite            [1, 800] without metadata: the mean square, added up from run to run
//   spectrogram.tflite      [1, 49, 10, 1]; features.tflite [1, 40]; open.tflite an open length: their mean
//   mel.tflite, embedding.tflite, head.tflite: a chain as of a wake word, small; and mel_16k.tflite,
//                           embedding_16k.tflite, head_16k.tflite with openWakeWord's sizes
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "ports/cli/files.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace {

using test::Bytes;
using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

constexpr int kSamples = 800;
constexpr double kPi = 3.14159265358979323846;

void Write(const std::string& folder, const std::string& name, const ModelSpec& spec,
           const std::string& labels = "") {
  Bytes bytes = test::BuildModel(spec);
  if (!labels.empty()) {
    const Bytes zip = test::BuildZip({test::StoredEntry("labels.txt", labels)},
                                     static_cast<uint32_t>(bytes.size()));
    bytes.insert(bytes.end(), zip.begin(), zip.end());
  }
  cli::WriteWholeFile(folder + "/" + name + ".tflite", bytes.data(), bytes.size());
}

int Reshape(ModelSpec* spec, int from, const std::vector<int32_t>& shape, const std::string& name) {
  const int target = spec->AddConstant(name + "_shape", DType::kInt32,
                                       {static_cast<int32_t>(shape.size())}, ToBytes(shape));
  const int out = spec->AddTensor(name, DType::kFloat32, shape);
  spec->AddOp(OpCode::kReshape, {from, target}, {out},
              OptionsSpec(test::kReshapeOptions).Ints(0, shape));
  return out;
}

// [rows, inputs] to [rows, outputs]; weights[output][input].
int Dense(ModelSpec* spec, int from, const std::vector<std::vector<float>>& weights,
          const std::vector<float>& bias, const std::string& name, int rows = 1) {
  std::vector<float> flat;
  for (const std::vector<float>& row : weights) flat.insert(flat.end(), row.begin(), row.end());
  const int32_t n = static_cast<int32_t>(weights.size());
  const int w = spec->AddConstant(name + "_w", DType::kFloat32,
                                  {n, static_cast<int32_t>(weights[0].size())}, ToBytes(flat));
  const int b = spec->AddConstant(name + "_b", DType::kFloat32, {n}, ToBytes(bias));
  const int out = spec->AddTensor(name, DType::kFloat32, {rows, n});
  spec->AddOp(OpCode::kFullyConnected, {from, w, b}, {out},
              OptionsSpec(test::kFullyConnectedOptions));
  return out;
}

int Square(ModelSpec* spec, int from, const std::vector<int32_t>& shape) {
  const int out = spec->AddTensor("square", DType::kFloat32, shape);
  spec->AddOp(OpCode::kMul, {from, from}, {out}, OptionsSpec(test::kMulOptions));
  return out;
}

void AddMetadata(ModelSpec* spec, uint32_t rate) {
  spec->metadata.push_back(
      {"TFLITE_METADATA", spec->AddBuffer(test::BuildMetadata({}, {}, "labels.txt", rate))});
}

// Samples [rows, 800] to classes [rows, 3].
void AddTones(ModelSpec* spec, int samples, int rows = 1) {
  const double frequencies[] = {300, 1000, 3000};
  std::vector<std::vector<float>> waves, pairs(3, std::vector<float>(6, 0.0f));
  for (size_t f = 0; f < 3; ++f) {
    for (const double phase : {0.0, kPi / 2}) {
      std::vector<float> wave;
      for (int i = 0; i < kSamples; ++i) {
        wave.push_back(static_cast<float>(2.0 / kSamples *
                                          std::sin(2 * kPi * frequencies[f] * i / 16000 + phase)));
      }
      waves.push_back(wave);
    }
    pairs[f][2 * f] = pairs[f][2 * f + 1] = 16.0f;  // 1 for a sine of 1/4
  }
  const int heard = Dense(spec, samples, waves, std::vector<float>(6, 0.0f), "waves", rows);
  const int energies = Dense(spec, Square(spec, heard, {rows, 6}), pairs,
                             std::vector<float>(3, 0.0f), "energies", rows);
  std::vector<std::vector<float>> head(3, std::vector<float>(3, 0.0f));
  for (size_t c = 0; c < 3; ++c) head[c][c] = 25.0f;
  const int logits = Dense(spec, energies, head, std::vector<float>(3, 0.0f), "logits", rows);
  const int scores = spec->AddTensor("scores", DType::kFloat32, {rows, 3});
  spec->AddOp(OpCode::kSoftmax, {logits}, {scores},
              OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f));
  spec->main().outputs = {scores};
  if (rows > 1) spec->main().outputs = {heard, scores};
}

ModelSpec RowsOfTones() {
  ModelSpec spec;
  const int input = spec.AddInput("samples", DType::kFloat32, {1, 4 * kSamples});
  AddTones(&spec, Reshape(&spec, input, {4, kSamples}, "quarters"), 4);
  return spec;
}

ModelSpec Tones(const std::vector<int32_t>& shape) {
  ModelSpec spec;
  int samples = spec.AddInput("samples", DType::kFloat32, shape);
  if (shape.size() != 2) samples = Reshape(&spec, samples, {1, kSamples}, "row");
  AddTones(&spec, samples);
  return spec;
}

ModelSpec IntegerTones(DType type) {
  ModelSpec spec;
  const int input = spec.AddInput("samples", type, {1, kSamples});
  const int samples = spec.AddTensor("floats", DType::kFloat32, {1, kSamples});
  if (type == DType::kInt8) {
    spec.main().tensors[0].scales = {1.0f / 128};
    spec.main().tensors[0].zero_points = {0};
    spec.AddOp(OpCode::kDequantize, {input}, {samples});
    AddTones(&spec, samples);
    return spec;
  }
  spec.AddOp(OpCode::kCast, {input}, {samples});
  const int full = spec.AddConstant("full", DType::kFloat32, {1}, ToBytes<float>({1.0f / 32768}));
  const int scaled = spec.AddTensor("scaled", DType::kFloat32, {1, kSamples});
  spec.AddOp(OpCode::kMul, {samples, full}, {scaled}, OptionsSpec(test::kMulOptions));
  AddTones(&spec, scaled);
  return spec;
}

// A variable adds up the mean squares of all runs.
ModelSpec Total() {
  ModelSpec spec;
  const int samples = spec.AddInput("samples", DType::kFloat32, {1, kSamples});
  spec.subgraphs.resize(2);
  spec.subgraphs[1].name = "init";
  const auto handle = [&spec](int subgraph) {
    const int tensor = spec.AddTensor("handle", DType::kResource, {1}, subgraph);
    spec.AddOp(OpCode::kVarHandle, {}, {tensor},
               OptionsSpec(test::kVarHandleOptions).Text(0, "c").Text(1, "total"), subgraph);
    return tensor;
  };
  const int zero = spec.AddConstant("zero", DType::kFloat32, {1, 1}, ToBytes<float>({0}), 1);
  const int at_first = handle(1);
  spec.AddOp(OpCode::kAssignVariable, {at_first, zero}, {}, OptionsSpec(), 1);
  spec.AddOp(OpCode::kCallOnce, {}, {}, OptionsSpec(test::kCallOnceOptions).Int(0, 1));
  const int squares = Square(&spec, samples, {1, kSamples});
  const int mean =
      Dense(&spec, squares, {std::vector<float>(kSamples, 1.0f / kSamples)}, {0}, "mean");
  const int variable = handle(0);
  const int before = spec.AddTensor("before", DType::kFloat32, {1, 1});
  spec.AddOp(OpCode::kReadVariable, {variable}, {before});
  const int total = spec.AddTensor("total", DType::kFloat32, {1, 1});
  spec.AddOp(OpCode::kAdd, {before, mean}, {total}, OptionsSpec(test::kAddOptions));
  spec.AddOp(OpCode::kAssignVariable, {variable, total}, {});
  const int out = spec.AddTensor("out", DType::kFloat32, {1, 1});
  spec.AddOp(OpCode::kAbs, {total}, {out});
  spec.main().outputs = {out};
  return spec;
}

// A model of something else than samples: an input of this shape, whose mean is the only score.
ModelSpec Refused(const std::vector<int32_t>& shape) {
  ModelSpec spec;
  const int input = spec.AddInput("features", DType::kFloat32, shape);
  std::vector<int32_t> axes;
  for (size_t i = 1; i < shape.size(); ++i) axes.push_back(static_cast<int32_t>(i));
  const int over =
      spec.AddConstant("axes", DType::kInt32, {static_cast<int32_t>(axes.size())}, ToBytes(axes));
  const int mean = spec.AddTensor("mean", DType::kFloat32, {1});
  spec.AddOp(OpCode::kMean, {input, over}, {mean}, OptionsSpec(test::kReducerOptions));
  spec.main().outputs = {Reshape(&spec, mean, {1, 1}, "out")};
  return spec;
}

// Sizes of a chain as of a wake word.
struct Chain {
  int samples, width, stride, mels;  // of a call of the first model; of a frame and its step
  int frames, numbers;               // frames and features of an embedding
  int embeddings;                    // that the head sees
};

// Frames of squared band-pass sums, [1, 1, frames, mels]; band m is centred at 200 (m + 1) Hz.
ModelSpec Mel(const Chain& chain) {
  ModelSpec spec;
  const int input = spec.AddInput("samples", DType::kFloat32, {1, chain.samples});
  const int image = Reshape(&spec, input, {1, 1, chain.samples, 1}, "image");
  std::vector<float> filters;
  for (int m = 0; m < chain.mels; ++m) {
    for (int i = 0; i < chain.width; ++i) {
      filters.push_back(
          static_cast<float>(2.0 / chain.width * std::sin(2 * kPi * 200 * (m + 1) * i / 16000)));
    }
  }
  const int w = spec.AddConstant("filters", DType::kFloat32, {chain.mels, 1, chain.width, 1},
                                 ToBytes(filters));
  const int b = spec.AddConstant("bias", DType::kFloat32, {chain.mels},
                                 ToBytes(std::vector<float>(static_cast<size_t>(chain.mels), 0)));
  const int n = (chain.samples - chain.width) / chain.stride + 1;
  const std::vector<int32_t> shape = {1, 1, n, chain.mels};
  const int bands = spec.AddTensor("bands", DType::kFloat32, shape);
  spec.AddOp(OpCode::kConv2d, {image, w, b}, {bands},
             OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, chain.stride).Int(2, 1));
  spec.main().outputs = {Square(&spec, bands, shape)};
  return spec;
}

std::vector<std::vector<float>> Pattern(int rows, int columns, double scale) {
  std::vector<std::vector<float>> weights(static_cast<size_t>(rows));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      weights[static_cast<size_t>(r)].push_back(
          static_cast<float>(scale * std::sin(1.0 + 3.0 * r + 0.7 * c)));
    }
  }
  return weights;
}

ModelSpec Embedding(const Chain& chain) {
  ModelSpec spec;
  const int input = spec.AddInput("frames", DType::kFloat32, {1, chain.frames, chain.mels, 1});
  const int n = chain.frames * chain.mels;
  const int row = Reshape(&spec, input, {1, n}, "row");
  const int dense = Dense(&spec, row, Pattern(chain.numbers, n, 4.0 / n),
                          std::vector<float>(static_cast<size_t>(chain.numbers), 0.0f), "dense");
  spec.main().outputs = {Reshape(&spec, dense, {1, 1, 1, chain.numbers}, "embedding")};
  return spec;
}

ModelSpec Head(const Chain& chain) {
  ModelSpec spec;
  const int input =
      spec.AddInput("embeddings", DType::kFloat32, {1, chain.embeddings, chain.numbers});
  const int n = chain.embeddings * chain.numbers;
  const int row = Reshape(&spec, input, {1, n}, "row");
  const int logit = Dense(&spec, row, Pattern(1, n, 2.0), {-0.5f}, "logit");
  const int score = spec.AddTensor("score", DType::kFloat32, {1, 1});
  spec.AddOp(OpCode::kLogistic, {logit}, {score});
  spec.main().outputs = {score};
  return spec;
}

int WriteAll(const std::string& folder) {
  const char kLabels[] = "low\nmiddle\nhigh\n";
  const std::pair<const char*, std::vector<int32_t>> forms[] = {
      {"tones", {1, kSamples}}, {"tones_row", {kSamples}}, {"tones_column", {1, kSamples, 1}}};
  for (const auto& [name, shape] : forms) {
    ModelSpec spec = Tones(shape);
    AddMetadata(&spec, 16000);
    Write(folder, name, spec, kLabels);
  }
  Write(folder, "tones_bare", Tones({1, kSamples}));
  ModelSpec quarters = RowsOfTones();
  AddMetadata(&quarters, 16000);
  Write(folder, "tones_rows", quarters, kLabels);
  ModelSpec fast = Tones({1, kSamples});
  AddMetadata(&fast, 48000);
  Write(folder, "tones_48k", fast, kLabels);
  for (const DType type : {DType::kInt16, DType::kInt8}) {
    ModelSpec spec = IntegerTones(type);
    AddMetadata(&spec, 16000);
    Write(folder, type == DType::kInt16 ? "tones_int16" : "tones_int8", spec, kLabels);
  }
  Write(folder, "total", Total());
  Write(folder, "spectrogram", Refused({1, 49, 10, 1}));
  Write(folder, "features", Refused({1, 40}));
  ModelSpec open = Refused({1, 1});
  open.main().tensors[0].signature = {1, -1};
  Write(folder, "open", open);
  const std::pair<const char*, Chain> chains[] = {{"", {160, 64, 32, 4, 12, 6, 3}},
                                                  {"_16k", {1760, 640, 160, 32, 76, 96, 16}}};
  for (const auto& [ending, chain] : chains) {
    Write(folder, std::string("mel") + ending, Mel(chain));
    Write(folder, std::string("embedding") + ending, Embedding(chain));
    Write(folder, std::string("head") + ending, Head(chain));
  }
  return 0;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sound_models FOLDER\n");
    return 2;
  }
  return topwork::WriteAll(argv[1]);
}
