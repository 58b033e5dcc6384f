#include "tests/support/classifiers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/session/session.h"
#include "runtime/tensor/packed.h"
#include "runtime/tensor/tensor.h"
#include "runtime/train/random.h"

namespace topwork {
namespace test {
namespace {

constexpr int kClasses = 5;
constexpr int kChannels = 8;

float Noise(Random* random) {
  return static_cast<float>(static_cast<double>(random->Next() >> 11) / 9007199254740992.0) - 0.5f;
}

std::vector<float> Noises(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = Noise(&random);
  return values;
}

Bytes Halves(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (float value : values) halves.push_back(FloatToHalf(value));
  return ToBytes(halves);
}

struct Builder {
  ModelSpec spec;
  bool conv_head = false;

  std::vector<float> Weights() const { return Noises(kClasses * kChannels, 21); }

  int HalfConstant(const char* name, std::vector<int32_t> shape, const std::vector<float>& values) {
    const int half =
        spec.AddConstant(std::string(name) + "/half", DType::kFloat16, shape, Halves(values));
    const int full = spec.AddTensor(name, DType::kFloat32, shape);
    spec.AddOp(OpCode::kDequantize, {half}, {full});
    return full;
  }

  int IntegerWeights(DType dtype) {
    const float scale = dtype == DType::kInt2 ? 0.25f : 1.0f / 200.0f;
    const float lo = dtype == DType::kInt2 ? -2.0f : -128.0f, hi = -1.0f - lo;
    std::vector<int8_t> q;
    for (float w : Weights()) {
      q.push_back(static_cast<int8_t>(std::min(std::max(std::round(w / scale), lo), hi)));
    }
    Bytes bytes = ToBytes(q);
    if (dtype == DType::kInt2) {
      PackBytes(dtype, q.data(), kClasses * kChannels, 0, kClasses * kChannels / 4, bytes.data());
      bytes.resize(kClasses * kChannels / 4);
    }
    const int index = spec.AddConstant("head/weights", dtype, {kClasses, kChannels}, bytes);
    TensorSpec& tensor = spec.main().tensors[static_cast<size_t>(index)];
    tensor.scales.assign(kClasses, scale);
    tensor.zero_points.assign(kClasses, 0);
    return index;
  }

  // The backbone; returns its map [1, 2, 2, 8].
  int Backbone() {
    const int x = spec.AddInput("image", DType::kFloat32, {1, 4, 4, 3});
    spec.main().tensors[0].signature = {-1, 4, 4, 3};
    const int filter = spec.AddConstant("conv/filter", DType::kFloat32, {kChannels, 3, 3, 3},
                                        ToBytes(Noises(kChannels * 27, 22)));
    const int bias =
        spec.AddConstant("conv/bias", DType::kFloat32, {kChannels}, ToBytes(Noises(kChannels, 23)));
    const int map = spec.AddTensor("map", DType::kFloat32, {1, 2, 2, kChannels});
    spec.AddOp(OpCode::kConv2d, {x, filter, bias}, {map},
               OptionsSpec(kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Byte(3, 1));
    return map;
  }

  int Pool(int map, int channels) {
    const int pooled = spec.AddTensor("pooled", DType::kFloat32, {1, 1, 1, channels});
    spec.AddOp(OpCode::kAveragePool2d, {map}, {pooled},
               OptionsSpec(kPool2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Int(3, 2).Int(4, 2));
    return pooled;
  }

  int Mean(int map, int channels) {
    const int axes = spec.AddConstant("axes", DType::kInt32, {2}, ToBytes<int32_t>({1, 2}));
    const int mean = spec.AddTensor("mean", DType::kFloat32, {1, channels});
    spec.AddOp(OpCode::kMean, {map, axes}, {mean}, OptionsSpec(kReducerOptions));
    return mean;
  }

  int Dense(Tail tail, int input) {
    const int logits = spec.AddTensor("logits", DType::kFloat32, {1, kClasses});
    const std::vector<float> bias_values = Noises(kClasses, 24);
    int weights = -1;
    int bias = -1;
    if (tail == Tail::kDenseHalf) {
      weights = HalfConstant("head/weights", {kClasses, kChannels}, Weights());
      bias = HalfConstant("head/bias", {kClasses}, bias_values);
    } else {
      weights = tail == Tail::kDenseInt8 ? IntegerWeights(DType::kInt8)
                : tail == Tail::kDenseInt2
                    ? IntegerWeights(DType::kInt2)
                    : spec.AddConstant("head/weights", DType::kFloat32, {kClasses, kChannels},
                                       ToBytes(Weights()));
      bias = spec.AddConstant("head/bias", DType::kFloat32, {kClasses}, ToBytes(bias_values));
    }
    if (tail == Tail::kDenseNoBias) bias = -1;
    if (tail == Tail::kDenseShared) {
      // A second output from the same weights and bias.
      const int twin = spec.AddTensor("twin", DType::kFloat32, {1, kClasses});
      spec.AddOp(OpCode::kFullyConnected, {input, weights, bias}, {twin},
                 OptionsSpec(kFullyConnectedOptions));
    }
    spec.AddOp(OpCode::kFullyConnected, {input, weights, bias}, {logits},
               OptionsSpec(kFullyConnectedOptions));
    return logits;
  }

  int Conv(int map, int size) {
    const int weights = spec.AddConstant("head/weights", DType::kFloat32,
                                         {kClasses, 1, 1, kChannels}, ToBytes(Weights()));
    const int bias =
        spec.AddConstant("head/bias", DType::kFloat32, {kClasses}, ToBytes(Noises(kClasses, 24)));
    const int logits = spec.AddTensor("logits", DType::kFloat32, {1, size, size, kClasses});
    spec.AddOp(OpCode::kConv2d, {map, weights, bias}, {logits},
               OptionsSpec(kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1));
    return logits;
  }

  int Reshape(int logits) {
    const int shape =
        spec.AddConstant("shape", DType::kInt32, {2}, ToBytes<int32_t>({-1, kClasses}));
    const int flat = spec.AddTensor("flat", DType::kFloat32, {1, kClasses});
    spec.AddOp(OpCode::kReshape, {logits, shape}, {flat},
               OptionsSpec(kReshapeOptions).Ints(0, {-1, kClasses}));
    return flat;
  }

  int Squeeze(int logits) {
    const int flat = spec.AddTensor("flat", DType::kFloat32, {1, kClasses});
    spec.AddOp(OpCode::kSqueeze, {logits}, {flat}, OptionsSpec(kSqueezeOptions).Ints(0, {1, 2}));
    return flat;
  }

  int Activate(OpCode code, int logits) {
    const int scores = spec.AddTensor("scores", DType::kFloat32, {1, kClasses});
    spec.AddOp(
        code, {logits}, {scores},
        code == OpCode::kSoftmax ? OptionsSpec(kSoftmaxOptions).Float(0, 1.0f) : OptionsSpec());
    return scores;
  }

  int Head(Tail tail, int map) {
    switch (tail) {
      case Tail::kConvReshape:
        return Activate(OpCode::kSoftmax, Reshape(Conv(Pool(map, kChannels), 1)));
      case Tail::kConvSqueeze:
        return Activate(OpCode::kSoftmax, Squeeze(Conv(Pool(map, kChannels), 1)));
      case Tail::kConvPoolReshape:
        return Activate(OpCode::kSoftmax, Reshape(Pool(Conv(map, 2), kClasses)));
      case Tail::kConvMean:
        return Activate(OpCode::kLogSoftmax, Mean(Conv(map, 2), kClasses));
      case Tail::kDenseLogits:
        return Dense(tail, Mean(map, kChannels));
      case Tail::kDenseLogistic:
        return Activate(OpCode::kLogistic, Dense(tail, Mean(map, kChannels)));
      default:
        return Activate(OpCode::kSoftmax, Dense(tail, Mean(map, kChannels)));
    }
  }
};

}  // namespace

const char* TailName(Tail tail) {
  static const char* const kNames[] = {"dense",          "dense without bias", "dense logits",
                                       "dense logistic", "dense half",         "dense int8",
                                       "dense int2",     "dense shared",       "conv reshape",
                                       "conv squeeze",   "conv pool reshape",  "conv mean"};
  return kNames[static_cast<int>(tail)];
}

ModelSpec ClassifierSpec(Tail tail) {
  Builder builder;
  builder.spec.description = "a small classifier";
  builder.spec.main().name = "main";
  const int scores = builder.Head(tail, builder.Backbone());
  ModelSpec spec = std::move(builder.spec);
  spec.main().outputs = {scores};
  if (tail == Tail::kDenseShared) {
    for (size_t i = 0; i < spec.main().tensors.size(); ++i) {
      if (spec.main().tensors[i].name == "twin") spec.main().outputs.push_back(static_cast<int>(i));
    }
  }
  SignatureSpec signature;
  signature.key = "serve";
  signature.inputs = {{"image", 0}};
  signature.outputs = {{"scores", static_cast<uint32_t>(scores)}};
  spec.signatures.push_back(signature);
  spec.metadata.push_back(
      {"TFLITE_METADATA", spec.AddBuffer(BuildMetadata({0.5f}, {2.0f}, "names.txt"))});
  spec.metadata.push_back({"note", spec.AddBuffer({'k', 'e', 'p', 't'})});
  return spec;
}

Bytes ClassifierBytes(Tail tail) {
  Bytes bytes = BuildModel(ClassifierSpec(tail));
  const Bytes zip =
      BuildZip({StoredEntry("names.txt", "a\nb\nc\nd\ne"), StoredEntry("readme.txt", "stays")},
               static_cast<uint32_t>(bytes.size()));
  bytes.insert(bytes.end(), zip.begin(), zip.end());
  return bytes;
}

std::shared_ptr<const Model> OpenBytes(const Bytes& bytes) {
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

std::vector<float> RunModel(const std::shared_ptr<const Model>& model,
                            const std::vector<float>& inputs) {
  SessionOptions options;
  options.n_threads = 1;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  const size_t example = static_cast<size_t>((*session)->input(0).shape.NumElements());
  std::vector<float> outputs;
  for (size_t first = 0; first + example <= inputs.size(); first += example) {
    std::memcpy((*session)->input(0).data, inputs.data() + first, example * sizeof(float));
    REQUIRE((*session)->Run().ToString() == "OK");
    const TensorView& output = (*session)->output(0);
    outputs.insert(outputs.end(), output.as<float>(),
                   output.as<float>() + output.shape.NumElements());
  }
  return outputs;
}

void MakeImages(int n, int n_classes, uint64_t seed, std::vector<float>* images,
                std::vector<int32_t>* labels) {
  Random random(seed);
  for (int i = 0; i < n; ++i) {
    const int label = i % n_classes;
    const std::vector<float> pattern = Noises(48, 1000 + static_cast<uint64_t>(label));
    for (float value : pattern) images->push_back(4.0f * value + Noise(&random));
    labels->push_back(label);
  }
}

}  // namespace test
}  // namespace topwork
