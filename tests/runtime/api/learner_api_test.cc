// C API: learners, from an empty one to an exported model, by the C functions and by topwork.hpp.
#include <cstdio>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/classifiers.h"

namespace topwork {
namespace api_test {
namespace learner_api {

struct Pictures {
  std::vector<float> x;
  std::vector<int64_t> y;
  explicit Pictures(int n, uint64_t seed = 5) {
    std::vector<int32_t> labels;
    test::MakeImages(n, 3, seed, &x, &labels);
    y.assign(labels.begin(), labels.end());
  }
};

std::vector<std::string> Ids(size_t n) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < n; ++i) ids.push_back("picture " + std::to_string(i));
  return ids;
}

tw::Model Classifier() {
  const test::Bytes bytes = test::ClassifierBytes(test::Tail::kDense);
  auto model = tw::Model::OpenMemory(bytes.data(), bytes.size());
  REQUIRE(model.ok());
  return std::move(model).value();
}

TEST_CASE("a learner learns, forgets, corrects, and exports a model", "[api]") {
  const tw::Model model = Classifier();
  auto created = tw::Learner::Create(model);
  REQUIRE(created.ok());
  tw::Learner learner = std::move(created).value();
  for (const char* name : {"cup", "plate", "spoon"}) REQUIRE(learner.AddClass(name).ok());
  CHECK(*learner.AddClass("plate") == 1);
  const Pictures pictures(30);
  const std::vector<std::string> ids = Ids(30);
  REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y), ids).ok());
  tw_learner_info info = *learner.Info();
  CHECK(info.n_examples == 30);
  CHECK(info.n_kept == 30);
  CHECK(info.n_features == 8);
  CHECK(info.class_counts[1] == 10);
  CHECK(info.penalty == 0.0);
  REQUIRE(learner.Relabel(ids[4], (pictures.y[4] + 1) % 3).ok());
  CHECK(learner.Example(4)->label == (pictures.y[4] + 1) % 3);
  REQUIRE(learner.Relabel(ids[4], pictures.y[4]).ok());
  REQUIRE(learner.Remove({ids[0]}).ok());
  CHECK(std::string(learner.Example(0)->id) == ids[1]);
  CHECK(learner.Example(0)->group == -1);

  const Pictures others(12, 9);
  REQUIRE(learner.Cancel().ok());  // nothing is in progress
  const auto scores = learner.Predict(tw::Examples(others.x, others.y));
  REQUIRE(scores.ok());
  const auto exported = learner.Export();
  REQUIRE(exported.ok());
  CHECK(exported->labels() == std::vector<std::string>{"cup", "plate", "spoon"});
  info = *learner.Info();
  CHECK(info.penalty > 0.0);
  CHECK(info.is_solved == 1);
  CHECK(info.memory_bytes > 0);
  int n_right = 0;
  for (size_t i = 0; i < 12; ++i) {
    const auto begin = scores->begin() + static_cast<std::ptrdiff_t>(3 * i);
    n_right += std::max_element(begin, begin + 3) - begin == others.y[i] ? 1 : 0;
    CHECK(begin[0] + begin[1] + begin[2] == Approx(1.0).margin(1e-5));
  }
  CHECK(n_right >= 10);
}

TEST_CASE("a learner's memory is saved, loaded, merged, and kept as sums", "[api]") {
  const tw::Model model = Classifier();
  const std::string path = "learner_api_test.memory";
  const Pictures pictures(30);
  const char* names[] = {"cup", "plate", "spoon"};
  tw::TrainerOptions trainer;
  trainer.n_classes = 3;
  trainer.class_names = names;
  tw::LearnerOptions options;
  options.trainer = &trainer;
  options.penalty = 2.0;
  {
    tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
    REQUIRE(learner.HoldFile(path).ok());
    REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y), Ids(30)).ok());
    REQUIRE(learner.Save(path).ok());
  }
  tw::Learner learner = std::move(tw::Learner::Create(model)).value();
  REQUIRE(learner.Load(path).ok());
  CHECK(learner.class_names() == std::vector<std::string>{"cup", "plate", "spoon"});
  CHECK(learner.Info()->penalty == 2.0);
  CHECK(*learner.Merge(path) == 30);
  REQUIRE(learner.RenameClass(2, "fork").ok());  // the file's spoons are no forks
  RequireError(tw_learner_merge(learner.get(), path.c_str(), nullptr),
               TW_STATUS_FAILED_PRECONDITION, "is in both memories");
  std::remove(path.c_str());
  std::remove((path + ".previous").c_str());
}

TEST_CASE("a learner of statistics alone unlearns what comes again", "[api]") {
  const tw::Model model = Classifier();
  tw::LearnerOptions options;
  options.statistics_only = 1;
  tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
  for (const char* name : {"cup", "plate", "spoon"}) REQUIRE(learner.AddClass(name).ok());
  const Pictures pictures(30);
  REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y), {}).ok());
  CHECK(learner.Info()->n_kept == 0);
  const Pictures some(6, 3);
  REQUIRE(learner.Add(tw::Examples(some.x, some.y), {}).ok());
  REQUIRE(learner.Solve().ok());
  REQUIRE(learner.Subtract(tw::Examples(some.x, some.y)).ok());
  CHECK(learner.Info()->n_examples == 30);
  RequireError(tw_learner_remove_class(learner.get(), 1), TW_STATUS_FAILED_PRECONDITION,
               "not kept");
}

TEST_CASE("learners refuse wrong use", "[api]") {
  const tw::Model model = Classifier();
  tw_learner* out = nullptr;
  tw::TrainerOptions trainer;
  tw::LearnerOptions options;
  options.trainer = &trainer;
  trainer.loss.kind = TW_LOSS_SIGMOID;
  RequireError(tw_learner_create(model.get(), &options, &out), TW_STATUS_UNSUPPORTED, "sigmoid");
  trainer.loss.kind = TW_LOSS_SOFTMAX;
  options.penalty = -1.0;
  RequireError(tw_learner_create(model.get(), &options, &out), TW_STATUS_INVALID_ARGUMENT,
               "penalty");
  RequireError(tw_learner_create(nullptr, &options, &out), TW_STATUS_INVALID_ARGUMENT, "model");
  tw::Learner learner = std::move(tw::Learner::Create(model)).value();
  tw_learner* l = learner.get();
  RequireError(tw_learner_relabel(l, "x", 0), TW_STATUS_NOT_FOUND, "'x'");
  const char* ids[] = {nullptr};
  RequireError(tw_learner_remove(l, ids, 1), TW_STATUS_INVALID_ARGUMENT, "ids[0] is NULL");
  RequireError(tw_learner_remove_group(l, 3), TW_STATUS_NOT_FOUND, "group 3");
  RequireError(tw_learner_remove_class(l, 0), TW_STATUS_INVALID_ARGUMENT, "class 0");
  RequireError(tw_learner_solve(l, 0.0), TW_STATUS_FAILED_PRECONDITION, "two or more");
  RequireError(tw_learner_save(l, "learner_api_test.none"), TW_STATUS_FAILED_PRECONDITION,
               "nothing to save");
  tw_learner_example example = {};
  example.struct_size = sizeof(example);
  RequireError(tw_learner_get_example(l, 0, &example), TW_STATUS_INVALID_ARGUMENT, "example 0");
  // NULL in every place.
  RequireError(tw_learner_load(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "path is NULL");
  RequireError(tw_learner_merge(nullptr, "x", nullptr), TW_STATUS_INVALID_ARGUMENT, "learner");
  RequireError(tw_learner_add(l, nullptr, nullptr), TW_STATUS_INVALID_ARGUMENT, "examples");
  RequireError(tw_learner_add_class(l, nullptr, nullptr), TW_STATUS_INVALID_ARGUMENT, "name");
  RequireError(tw_learner_export(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "out_model");
  RequireError(tw_learner_get_info(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "info");
  tw_tensor_info input = {};
  input.struct_size = sizeof(input);
  REQUIRE(tw_learner_get_input(l, 0, &input) == TW_STATUS_OK);
  CHECK(input.dims[1] == 4);
  const struct {
    const char* argument;
    tw_status status;
  } nulls[] = {{"path", tw_learner_hold_file(l, nullptr)},
               {"path", tw_learner_save(l, nullptr)},
               {"name", tw_learner_rename_class(l, 0, nullptr)},
               {"examples", tw_learner_subtract(l, nullptr)},
               {"learner", tw_learner_drop_features(nullptr)},
               {"examples", tw_learner_predict(l, nullptr, nullptr, 0)},
               {"learner", tw_learner_cancel(nullptr)},
               {"example", tw_learner_get_example(l, 0, nullptr)},
               {"ids", tw_learner_remove(l, nullptr, 0)}};
  for (const auto& null : nulls) {
    INFO(null.argument);
    CHECK(null.status == TW_STATUS_INVALID_ARGUMENT);
  }
  tw_learner_free(nullptr);
}

}  // namespace learner_api
}  // namespace api_test
}  // namespace topwork
