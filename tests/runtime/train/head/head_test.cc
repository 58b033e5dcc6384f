// Head discovery: the tails of real models, and what is said of others.
#include "runtime/train/head/head.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "models/format/find_output.h"
#include "tests/support/classifiers.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace head_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::Tail;
using test::ToBytes;

std::string Refusal(ModelSpec spec, int output = 0) {
  spec.signatures.clear();  // they name the outputs that the tests change
  const auto model = test::OpenBytes(test::BuildModel(spec));
  const auto head = FindHead(model->main(), output);
  REQUIRE_FALSE(head.ok());
  return head.status().ToString();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("head: found in every kind of classifier", "[train]") {
  for (Tail tail : test::kAllTails) {
    INFO(test::TailName(tail));
    const auto model = test::OpenBytes(test::ClassifierBytes(tail));
    const auto head = FindHead(model->main(), 0);
    REQUIRE(head.status().ToString() == "OK");
    CHECK(head->dim == 8);
    CHECK(head->n_classes == 5);
    CHECK(head->batch == 1);
    CHECK_FALSE(head->quantized);
    CHECK(head->shipped_weights.size() == 40);
    CHECK(head->shipped_bias.size() == 5);
    CHECK(head->activation == Activation::kNone);
    const bool before_pooling = tail == Tail::kConvPoolReshape || tail == Tail::kConvMean;
    CHECK(head->n_positions == (before_pooling ? 4 : 1));
    const OpCode code = model->main().ops[static_cast<size_t>(head->op)].code;
    const bool conv = tail >= Tail::kConvReshape;
    CHECK(code == (conv ? OpCode::kConv2d : OpCode::kFullyConnected));
    CHECK((head->bias < 0) == (tail == Tail::kDenseNoBias));
    const auto checked = FindHead(model->main(), 0, false, false);
    REQUIRE(checked.status().ToString() == "OK");
    CHECK(checked->op == head->op);
    CHECK(checked->shipped_weights.empty());
    CHECK(checked->shipped_bias == head->shipped_bias);
  }
}

TEST_CASE("head: weights are read in whatever type they are stored", "[train]") {
  const auto read = [](Tail tail) {
    const auto model = test::OpenBytes(test::ClassifierBytes(tail));
    const auto head = FindHead(model->main(), 0);
    REQUIRE(head.ok());
    return head->shipped_weights;
  };
  const std::vector<float> exact = read(Tail::kDense);
  const std::vector<float> half = read(Tail::kDenseHalf);
  const std::vector<float> int8 = read(Tail::kDenseInt8);
  for (size_t i = 0; i < exact.size(); ++i) {
    CHECK(half[i] == Approx(exact[i]).margin(3e-4));
    CHECK(half[i] == HalfToFloat(FloatToHalf(exact[i])));
    CHECK(int8[i] == Approx(exact[i]).margin(0.0026));
  }
}

TEST_CASE("head: the tail behind it is known in order", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kConvPoolReshape));
  const auto head = FindHead(model->main(), 0);
  REQUIRE(head.ok());
  std::vector<OpCode> codes;
  for (int i : head->tail) codes.push_back(model->main().ops[static_cast<size_t>(i)].code);
  CHECK(codes == std::vector<OpCode>{OpCode::kAveragePool2d, OpCode::kReshape, OpCode::kSoftmax});
  CHECK(head->final_activation == OpCode::kSoftmax);
}

TEST_CASE("head: refusals say what was found", "[train]") {
  {
    ModelSpec spec = test::ClassifierSpec(Tail::kDense);
    const int scores = spec.main().outputs[0];
    const int doubled = spec.AddTensor("doubled", DType::kFloat32, {1, 5});
    spec.AddOp(OpCode::kAdd, {scores, scores}, {doubled}, OptionsSpec(test::kAddOptions));
    spec.main().outputs = {doubled};
    const std::string text = Refusal(spec);
    CHECK(Contains(text, "UNSUPPORTED: output #0 'doubled' comes from ADD (operator #4)"));
    CHECK(Contains(
        text,
        "a trainable head is a FULLY_CONNECTED, a BATCH_MATMUL by a constant or a 1x1 CONV_2D"));
    CHECK(Contains(Refusal(spec, 3), "output #3 does not exist, the model has 1"));
  }
  {
    // The scores are needed elsewhere.
    ModelSpec spec = test::ClassifierSpec(Tail::kDense);
    const int logits = spec.main().ops[2].outputs[0];
    const int doubled = spec.AddTensor("doubled", DType::kFloat32, {1, 5});
    spec.AddOp(OpCode::kAdd, {logits, logits}, {doubled}, OptionsSpec(test::kAddOptions));
    spec.main().outputs.push_back(doubled);
    CHECK(Contains(Refusal(spec), "'logits' are also read by ADD (operator #4)"));
  }
  {
    ModelSpec spec = test::ClassifierSpec(Tail::kConvReshape);
    spec.main().outputs = {spec.main().inputs[0]};
    CHECK(Contains(Refusal(spec), "which no operator computes"));
  }
  {
    // Scores of every position of a map.
    ModelSpec spec = test::ClassifierSpec(Tail::kConvMean);
    spec.main().ops.resize(2);
    spec.main().outputs = {spec.main().ops[1].outputs[0]};
    CHECK(Contains(Refusal(spec), "scores each of 2 x 2 positions"));
  }
  {
    // A 3 × 3 filter.
    ModelSpec spec = test::ClassifierSpec(Tail::kDense);
    spec.main().ops.resize(1);
    spec.main().outputs = {spec.main().ops[0].outputs[0]};
    CHECK(Contains(Refusal(spec),
                   "ends in CONV_2D (operator #0) with a filter of shape [8, 3, 3, 3]"));
  }
  {
    // A convolution with an activation before the pooling.
    ModelSpec spec = test::ClassifierSpec(Tail::kConvMean);
    spec.main().ops[1].options =
        OptionsSpec(test::kConv2dOptions).Byte(0, 1).Int(1, 1).Int(2, 1).Byte(3, 1);
    CHECK(Contains(Refusal(spec), "stands before pooling with a fused activation"));
  }
  {
    // A SOFTMAX right behind the pooling: no dense layer at all.
    ModelSpec spec = test::ClassifierSpec(Tail::kDense);
    spec.main().ops[3].inputs = {spec.main().ops[1].outputs[0]};
    CHECK(Contains(Refusal(spec), "with a filter of shape [8, 3, 3, 3]"));
  }
  {
    ModelSpec spec = test::ClassifierSpec(Tail::kDense);
    spec.main().ops[3].inputs.clear();
    CHECK(Contains(Refusal(spec), "SOFTMAX (operator #3) lacks its input 0"));
    spec = test::ClassifierSpec(Tail::kDense);
    spec.main().ops[2].inputs[1] = -1;
    CHECK(Contains(Refusal(spec), "FULLY_CONNECTED (operator #2) lacks its input 1"));
  }
  {
    // The number of classes cannot change where a shape is computed.
    ModelSpec spec = test::ClassifierSpec(Tail::kConvReshape);
    for (test::OpSpec& op : spec.main().ops) {
      if (op.inputs.size() == 2 &&
          spec.main().tensors[static_cast<size_t>(op.inputs[1])].name == "shape") {
        op.inputs[1] = spec.AddInput("wanted", DType::kInt32, {2});
      }
    }
    CHECK(Contains(Refusal(spec), "computes its shape while running"));
  }
}

TEST_CASE("head: outputs are found by the names of tensors and signatures", "[train]") {
  ModelSpec spec = test::ClassifierSpec(Tail::kDenseShared);
  spec.signatures[0].outputs = {{"probabilities", static_cast<uint32_t>(spec.main().outputs[0])},
                                {"other", static_cast<uint32_t>(spec.main().outputs[1])}};
  const auto model = test::OpenBytes(test::BuildModel(spec));
  CHECK(FindOutput(*model, "scores").value() == 0);
  CHECK(FindOutput(*model, "twin").value() == 1);
  CHECK(FindOutput(*model, "probabilities").value() == 0);
  CHECK(FindOutput(*model, "other").value() == 1);
  const auto missing = FindOutput(*model, "map");
  CHECK(missing.status().code() == StatusCode::kNotFound);
  CHECK(missing.status().message() ==
        "no output is named 'map'; the model has 'scores', 'twin', 'probabilities' (signature "
        "serve), 'other' (signature serve)");
}

TEST_CASE("head: one is appended where it is asked for, or where the model ends in a feature",
          "[train]") {
  {
    const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
    const auto head = FindHead(model->main(), 0, true);
    REQUIRE(head.status().ToString() == "OK");
    CHECK(head->appended());
    CHECK(head->dim == 5);
    CHECK(head->n_classes == 0);
    CHECK(head->feature == model->main().outputs[0]);
    CHECK(head->shipped_weights.empty());
    CHECK_FALSE(head->quantized);
  }
  ModelSpec spec = test::ClassifierSpec(Tail::kDense);
  spec.signatures.clear();
  spec.main().ops.resize(2);  // to the MEAN
  spec.main().outputs = {spec.main().ops[1].outputs[0]};
  const auto embedder = test::OpenBytes(test::BuildModel(spec));
  const auto head = FindHead(embedder->main(), 0);
  REQUIRE(head.status().ToString() == "OK");
  CHECK(head->appended());
  CHECK(head->dim == 8);
  // A whole map is one only when asked for.
  spec.main().ops.resize(1);
  spec.main().outputs = {spec.main().ops[0].outputs[0]};
  const auto map = test::OpenBytes(test::BuildModel(spec));
  CHECK_FALSE(FindHead(map->main(), 0).ok());
  CHECK(FindHead(map->main(), 0, true)->dim == 32);
  spec.main().outputs = {spec.main().inputs[0]};
  const auto input = test::OpenBytes(test::BuildModel(spec));
  CHECK(Contains(FindHead(input->main(), 0, true).status().message(),
                 "which no operator computes: no head can follow it"));
}

// D and C of the shared models' heads; D 0: refused; C 0: an embedding.
struct Expected {
  const char* path;
  int dim, n_classes;
  HeadStorage storage = HeadStorage::kFloat32;
};
const Expected kShared[] = {
    {"float/gen_digits_cnn_f32", 64, 10},
    {"float/gen_digits_cnn_batch8_f32", 64, 10},
    {"float/gen_digits_cnn_dynbatch_f32", 64, 10},
    {"float/gen_digits_mlp_f32", 32, 10},
    {"float/gen_digits_lstm_f32", 32, 10},
    {"float/gen_text_transformer_f32", 32, 4},
    {"float/gotflite_iris", 16, 3},
    {"float/gotflite_xor", 8, 1},
    {"float/mlperf_ic_resnet8_f32", 64, 10},
    {"float/mlperf_vww_mbv1_f32", 256, 2},
    {"float/mltkzip_rock_paper_scissors.float32", 32, 4},
    {"float/mlts_mobilenet_v1_0.25_128", 256, 1001},
    {"float/mp_custom_gesture_classifier", 128, 11},
    {"float/tfex_planestrike", 64, 64},
    {"float/aeq_conv_fc_mnist", 32, 10},
    {"float/aeq_single_fc_bias_logistic", 10, 5},
    {"float/tflm_mnist_lstm_f32", 560, 10},
    {"fp16/efficientnet_lite0_fp16", 1280, 1000, HeadStorage::kFloat16},
    {"fp16/gen_digits_cnn_fp16", 64, 10, HeadStorage::kFloat16},
    {"fp16/gen_mlperf_resnet8_fp16", 64, 10, HeadStorage::kFloat16},
    {"dynamic/mlperf_kws_dscnn_dynamic", 64, 12},
    {"int8/efficientnet_lite0_int8", 1280, 1000, HeadStorage::kInt8},
    {"int8/coral_mobilenet_v1_0.25_128_quant", 256, 1001, HeadStorage::kUInt8},
    {"int8/gen_digits_cnn_int8_floatio", 64, 10, HeadStorage::kInt8},
    {"int8/tflm_person_detect_int8", 256, 2, HeadStorage::kInt8},
    {"int8/gen_digits_cnn_int16x8", 64, 10, HeadStorage::kInt16x8},
    {"int8/mww_v2_okay_nabu", 384, 1, HeadStorage::kInt8},
    {"int8/tflm_keyword_scrambled_int8_int16in", 32, 2, HeadStorage::kInt8},
    {"int8/tflm_mnist_lstm_int8", 560, 10, HeadStorage::kInt8},
    {"int8/coral_keras_lstm_mnist_ptq", 560, 10, HeadStorage::kInt8},
    {"dynamic/mlperf_ad_fcae_dynamic", 128, 640, HeadStorage::kDynamicRange},
    {"int8/gen_digits_embedder_int8_floatio", 64, 0},
    {"float/gen_unet_ops_f32", 0, 0},
    {"float/aeq_branching_conv_fc", 0, 0},
    {"float/gen_digits_embedder_f32", 64, 0},
    {"float/gen_train_head_signatures_f32", 0, 0},
    {"float/nntrainer_conv4_60classes", 64, 0},
    {"float/oww_embedding_model", 0, 0},
    {"float/tfs_dilated_conv", 0, 0},
    {"float/aeq_single_fc_bias", 0, 0},
    {"dynamic/tfex_mobilenet_v2_035_96_embedder", 1280, 0},
    {"fp16/mp_face_detection_short_range", 0, 0},
    {"int8/coral_deeplabv3_mnv2_dm05_pascal_quant", 0, 0},
};

TEST_CASE("head: found or refused in real models", "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  for (const Expected& expected : kShared) {
    const auto model = Model::OpenFile(folder + "/" + expected.path + ".tflite");
    INFO(expected.path << ": " << model.status().ToString());
    REQUIRE(model.ok());
    const auto head = FindHead((*model)->main(), 0);
    INFO(head.status().ToString());
    CHECK(head.ok() == (expected.dim > 0));
    if (!head.ok()) {
      CHECK(head.status().code() == StatusCode::kUnsupported);
      continue;
    }
    CHECK(head->dim == expected.dim);
    CHECK(head->n_classes == expected.n_classes);
    CHECK(head->appended() == (expected.n_classes == 0));
    CHECK(head->format.storage == expected.storage);
    CHECK(head->quantized == IsInteger(expected.storage));
  }
}

// Models that a person may take for classifiers, and in which no head is found.
struct Headless {
  const char* path;
  const char* reason;  // part of the refusal
  bool is_classifier;  // a person would see a head
};
const Headless kHeadless[] = {
    // Two branches, of which only one ends in a dense layer.
    {"float/aeq_branching_conv_fc", "comes from CONCATENATION", false},
    // Its weights are variables, which the model trains itself.
    {"float/gen_train_head_signatures_f32", "comes from ADD", true},
    // An embedding.
    {"float/oww_embedding_model", "with a filter of shape [96, 3, 1, 96]", false},
    // A layer of its own, to test its conversion.
    {"float/tfs_dilated_conv", "comes from BATCH_TO_SPACE_ND", false},
};

// One row of numbers an example, and an operator that could be a last layer.
bool LooksLikeClassifier(const Graph& graph) {
  if (graph.outputs.empty() || graph.inputs.empty()) return false;
  const Value& out = graph.values[static_cast<size_t>(graph.outputs[0])];
  const Shape& in = graph.values[static_cast<size_t>(graph.inputs[0])].shape;
  if (out.shape.rank() == 0 || out.dtype == DType::kInt32) return false;
  const int64_t n_rows = out.shape.NumElements() / std::max(1, out.shape.back());
  if (n_rows != 1 && (in.rank() == 0 || n_rows != in[0])) return false;
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) {
    const HeadRole role = op.def == nullptr ? HeadRole::kNone : op.def->head;
    return role == HeadRole::kDense || role == HeadRole::kMatMul;
  });
}

TEST_CASE("head: found in 97 of 100 classifiers", "[train][shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  int n_found = 0, n_classifiers = 0;
  size_t n_headless = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".tflite") continue;
    const auto model = Model::OpenFile(entry.path().string());
    if (!model.ok() || !LooksLikeClassifier((*model)->main())) continue;
    const auto head = FindHead((*model)->main(), 0);
    if (head.ok()) {
      n_found += !head->appended();
      n_classifiers += !head->appended();
      continue;
    }
    const std::string path = entry.path().string();
    const auto known = std::find_if(
        std::begin(kHeadless), std::end(kHeadless),
        [&](const Headless& h) { return Contains(path, std::string(h.path) + ".tflite"); });
    INFO(path << ": " << head.status().message());
    REQUIRE(known != std::end(kHeadless));
    CHECK(Contains(head.status().message(), known->reason));
    n_classifiers += known->is_classifier;
    ++n_headless;
  }
  CHECK(n_headless == std::size(kHeadless));
  CHECK(n_found * 100 >= n_classifiers * 97);
  CHECK(n_found >= 60);
}

}  // namespace head_test
}  // namespace topwork
