// Heads of several models in one: the same outputs, and what is refused.
#include "runtime/train/head/merge_heads.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/session/session.h"
#include "tests/runtime/train/trainer_data.h"

namespace topwork {
namespace merge_heads_test {

using test::Images;
using Form = test::Tail;

TrainerOptions Options(int n_classes, int n_hidden = 0) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.n_hidden = n_hidden;
  return options;
}

// A head of the small classifier's backbone, trained.
std::shared_ptr<const Model> Trained(TrainerOptions options, Form form = Form::kDense) {
  options.n_threads = 1;
  for (int c = 0; c < options.n_classes; ++c) {
    options.class_names.push_back("class " + std::to_string(c));
  }
  const auto trainer = test::NewTrainer(options, form);
  REQUIRE(trainer->AddExamples(Images(60, options.n_classes).examples()).ok());
  REQUIRE(trainer->Train().ToString() == "OK");
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(bytes.value());
}

std::vector<float> OutputOf(Session* session, const float* image, int output) {
  std::copy_n(image, test::kImageFloats, session->input(0).as<float>());
  REQUIRE(session->Run().ToString() == "OK");
  const TensorView view = session->output(output);
  return {view.as<float>(), view.as<float>() + view.shape.NumElements()};
}

void CheckMerged(const std::vector<std::shared_ptr<const Model>>& models) {
  std::vector<const Model*> pointers;
  for (const auto& model : models) pointers.push_back(model.get());
  const auto bytes = MergeHeads(pointers);
  REQUIRE(bytes.status().ToString() == "OK");
  const auto merged = test::OpenBytes(bytes.value());
  REQUIRE(merged->main().outputs.size() == models.size());
  auto all = Session::Create(merged, SessionOptions());
  REQUIRE(all.status().ToString() == "OK");
  const auto images = Images(10, 3, 33);
  for (size_t k = 0; k < models.size(); ++k) {
    auto alone = Session::Create(models[k], SessionOptions());
    REQUIRE(alone.ok());
    for (size_t b = 0; b < 10; ++b) {
      const float* image = images.x.data() + b * test::kImageFloats;
      const std::vector<float> expected = OutputOf(alone->get(), image, 0);
      const std::vector<float> got = OutputOf(all->get(), image, static_cast<int>(k));
      REQUIRE(got.size() == expected.size());
      for (size_t c = 0; c < got.size(); ++c) CHECK(got[c] == Approx(expected[c]).margin(1e-5));
    }
  }
}

TEST_CASE("merge: every head gives its own outputs", "[train]") {
  CheckMerged({Trained(Options(3)), Trained(Options(2)), Trained(Options(4, 6))});
  // In front of the first model's hidden layer lies the second one's feature.
  CheckMerged({Trained(Options(3, 6)), Trained(Options(2))});
  CheckMerged({Trained(Options(3), Form::kDenseLogits), Trained(Options(2), Form::kDenseLogits)});
  CheckMerged({Trained(Options(3), Form::kConvReshape), Trained(Options(2), Form::kConvReshape)});
  CheckMerged(
      {Trained(Options(3), Form::kConvPoolReshape), Trained(Options(2), Form::kConvPoolReshape)});
}

TEST_CASE("merge: labels of further heads lie in the file", "[train]") {
  const auto first = Trained(Options(3)), second = Trained(Options(2));
  const auto bytes = MergeHeads({first.get(), second.get()});
  REQUIRE(bytes.status().ToString() == "OK");
  const auto merged = test::OpenBytes(bytes.value());
  CHECK(merged->labels() == first->labels());
  const std::string text(bytes->begin(), bytes->end());
  CHECK(text.find("scores_2_labels.txt") != std::string::npos);
}

TEST_CASE("merge: other backbones are refused", "[train]") {
  const auto first = Trained(Options(3));
  TrainerOptions deep = Options(2);
  deep.n_layers = 2;
  const auto other = Trained(deep);
  const Status status = MergeHeads({first.get(), other.get()}).status();
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK(status.message().find("model 2: '") == 0);
  CHECK(status.message().find("backbones differ") != std::string::npos);
  CHECK(MergeHeads({first.get()}).status().code() == StatusCode::kInvalidArgument);
  const auto log_softmax = test::OpenBytes(test::ClassifierBytes(Form::kConvMean));
  CHECK(MergeHeads({first.get(), log_softmax.get()}).status().code() == StatusCode::kUnsupported);
}

TEST_CASE("merge: digests see constants, parameters and what they cannot know", "[train]") {
  const auto model = test::OpenBytes(test::ClassifierBytes(Form::kDense));
  Graph graph = model->main();
  const std::vector<std::string> digests = ValueDigests(graph);
  const size_t out = static_cast<size_t>(graph.outputs[0]);
  CHECK_FALSE(digests[out].empty());
  graph.ops[0].params.stride_h = 2;
  CHECK(ValueDigests(graph)[out] != digests[out]);
  graph = model->main();
  CHECK(ValueDigests(graph) == digests);
  Value& weights = graph.values[static_cast<size_t>(graph.ops[0].inputs[1])];
  const std::vector<float> changed(static_cast<size_t>(weights.shape.NumElements()), 0.25f);
  weights.data = changed.data();
  CHECK(ValueDigests(graph)[out] != digests[out]);
  graph = model->main();
  graph.ops[0].code = OpCode::kCustom;
  CHECK(ValueDigests(graph)[out].empty());
}

}  // namespace merge_heads_test
}  // namespace topwork
