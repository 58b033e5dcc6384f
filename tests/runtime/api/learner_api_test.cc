// C API: learners, from an empty one to an exported model, by the C functions and by topwork.hpp.
#include <cmath>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"
#include "tests/support/classifiers.h"
#include "tests/support/temp_folder.h"

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
  REQUIRE(learner.SetClasses({"cup", "plate", "spoon"}).ok());
  CHECK(*learner.AddClass("plate") == 1);
  const Pictures pictures(30);
  const std::vector<std::string> ids = Ids(30);
  REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y).SetIds(ids)).ok());
  tw_learner_info info = *learner.Info();
  CHECK(info.n_examples == 30);
  CHECK(info.n_kept == 30);
  CHECK(info.n_features == 8);
  CHECK(info.class_counts[1] == 10);
  CHECK(info.penalty == 0.0);
  REQUIRE(learner.Relabel({{ids[4]}, {}}, (pictures.y[4] + 1) % 3).ok());
  CHECK(learner.Info()->examples[4].label == (pictures.y[4] + 1) % 3);
  REQUIRE(learner.Relabel({{ids[4]}, {}}, pictures.y[4]).ok());
  REQUIRE(learner.Remove({{ids[0]}, {}}).ok());
  info = *learner.Info();
  CHECK(info.n_kept == 29);
  CHECK(std::string(info.examples[0].id) == ids[1]);
  CHECK(info.examples[0].group == -1);

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
  const test::TempFolder folder;
  const std::string path = folder / "memory";
  const Pictures pictures(30);
  const char* names[] = {"cup", "plate", "spoon"};
  tw::TrainerOptions trainer;
  trainer.n_classes = 3;
  trainer.class_names = names;
  tw::LearnerOptions options;
  options.trainer = &trainer;
  options.penalty = 2.0;
  {
    options.memory_path = path.c_str();  // which is not there yet
    tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
    REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y).SetIds(Ids(30))).ok());
    REQUIRE(learner.Save(path).ok());
    CHECK(tw::Learner::Create(model, options).status().code() == TW_STATUS_FAILED_PRECONDITION);
    options.read_only = 1;
    CHECK(tw::Learner::Create(model, options).ok());
  }
  options = tw::LearnerOptions();
  options.memory_path = path.c_str();
  options.read_only = 1;
  tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
  CHECK(learner.class_names() == std::vector<std::string>{"cup", "plate", "spoon"});
  CHECK(learner.Info()->penalty == 2.0);
  options.penalty = 3.0;
  CHECK(tw::Learner::Create(model, options)->Info()->penalty == 3.0);
  options.penalty = -1.0;
  CHECK(tw::Learner::Create(model, options)->Info()->penalty == 0.0);
  CHECK(*learner.Merge(path) == 30);
  // The file's spoons are no forks.
  REQUIRE(learner.SetClasses({"cup", "plate", "fork"}, {0, 1, 2}).ok());
  RequireError(tw_learner_merge(learner.get(), path.c_str(), nullptr),
               TW_STATUS_FAILED_PRECONDITION, "is in both memories");
  REQUIRE(learner.SetClasses({"crockery", "fork"}, {0, 0, 1}).ok());
  CHECK(learner.Info()->class_counts[0] == 20);
  CHECK(learner.Info()->n_kept == 30);
  REQUIRE(learner.SetClasses({"fork"}).ok());
  CHECK(learner.Info()->n_kept == 10);
  options.memory_path = "learner_api_test.absent";
  RequireError(tw::Learner::Create(model, options).status().code(), TW_STATUS_IO, "absent");
}

TEST_CASE("a learner selects by ids, groups and examples together", "[api]") {
  const tw::Model model = Classifier();
  const test::TempFolder folder;
  const std::string path = folder / "sums";
  const Pictures pictures(30), more(6, 3);
  std::vector<int32_t> groups(30);
  for (size_t i = 0; i < 30; ++i) groups[i] = static_cast<int32_t>(i / 10);
  tw::LearnerOptions options;
  {
    tw::Learner other = std::move(tw::Learner::Create(model)).value();
    REQUIRE(other.SetClasses({"cup", "plate", "spoon"}).ok());
    REQUIRE(other.Add(tw::Examples(more.x, more.y).SetIds(Ids(6))).ok());
    REQUIRE(other.Save(path, true).ok());
    CHECK(other.Info()->n_kept == 6);
  }
  options.memory_path = path.c_str();
  tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
  CHECK(learner.Info()->n_examples == 6);
  CHECK(learner.Info()->n_kept == 0);
  tw::Examples examples(pictures.x, pictures.y);
  examples.SetIds(Ids(30));
  examples.groups = groups.data();
  REQUIRE(learner.Add(examples).ok());
  const tw::Examples unkept(more.x, more.y);
  // All or nothing.
  CHECK(learner.Remove({{"nobody"}, {1}, &unkept}).code() == TW_STATUS_NOT_FOUND);
  CHECK(learner.Info()->n_examples == 36);
  REQUIRE(learner.Relabel({{"picture 2", "picture 3"}, {1}, &unkept}, 2).ok());
  CHECK(learner.Info()->n_examples == 36);
  CHECK(learner.Info()->examples[3].label == 2);
  const std::vector<int64_t> third(6, 2);
  REQUIRE(learner.Remove({{"picture 2"}, {1}}).ok());
  const tw::Examples relabelled(more.x, third);
  REQUIRE(learner.Remove({{}, {}, &relabelled}).ok());
  CHECK(learner.Info()->n_examples == 19);
}

TEST_CASE("a learner of statistics alone unlearns what comes again", "[api]") {
  const tw::Model model = Classifier();
  tw::LearnerOptions options;
  options.statistics_only = 1;
  tw::Learner learner = std::move(tw::Learner::Create(model, options)).value();
  REQUIRE(learner.SetClasses({"cup", "plate", "spoon"}).ok());
  const Pictures pictures(30);
  REQUIRE(learner.Add(tw::Examples(pictures.x, pictures.y)).ok());
  CHECK(learner.Info()->n_kept == 0);
  const Pictures some(6, 3);
  const tw::Examples again(some.x, some.y);
  REQUIRE(learner.Add(again).ok());
  REQUIRE(learner.Export().ok());
  REQUIRE(learner.Remove({{}, {}, &again}).ok());
  CHECK(learner.Info()->n_examples == 30);
  RequireError(learner.SetClasses({"cup", "spoon"}).code(), TW_STATUS_FAILED_PRECONDITION,
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
  trainer.optimizer.kind = TW_OPTIMIZER_KNN;
  RequireError(tw_learner_create(model.get(), &options, &out), TW_STATUS_UNSUPPORTED,
               "knn stores examples instead");
  trainer.optimizer.kind = TW_OPTIMIZER_AUTO;
  options.penalty = std::nan("");
  RequireError(tw_learner_create(model.get(), &options, &out), TW_STATUS_INVALID_ARGUMENT,
               "penalty");
  RequireError(tw_learner_create(nullptr, &options, &out), TW_STATUS_INVALID_ARGUMENT, "model");
  tw::Learner learner = std::move(tw::Learner::Create(model)).value();
  tw_learner* l = learner.get();
  const char* name = "x";
  const int32_t group = 3;
  tw_selection selection = {};
  selection.struct_size = sizeof(selection);
  REQUIRE(tw_learner_remove(l, &selection) == TW_STATUS_OK);  // nothing was selected
  selection.n_ids = 1;
  RequireError(tw_learner_remove(l, &selection), TW_STATUS_INVALID_ARGUMENT, "ids is NULL");
  selection.ids = &name;
  RequireError(tw_learner_relabel(l, &selection, 0), TW_STATUS_INVALID_ARGUMENT, "0 classes");
  RequireError(tw_learner_remove(l, &selection), TW_STATUS_NOT_FOUND, "'x'");
  name = nullptr;
  RequireError(tw_learner_remove(l, &selection), TW_STATUS_INVALID_ARGUMENT, "ids[0] is NULL");
  selection.n_ids = 0;
  selection.n_groups = 1;
  RequireError(tw_learner_remove(l, &selection), TW_STATUS_INVALID_ARGUMENT, "groups is NULL");
  selection.groups = &group;
  RequireError(tw_learner_remove(l, &selection), TW_STATUS_NOT_FOUND, "group 3");
  const char* const twice[] = {"a", "a"};
  const char* const none[] = {nullptr};
  RequireError(tw_learner_set_classes(l, twice, nullptr, 2), TW_STATUS_INVALID_ARGUMENT, "twice");
  RequireError(tw_learner_set_classes(l, none, nullptr, 1), TW_STATUS_INVALID_ARGUMENT,
               "names[0] is NULL");
  tw_model* model_out = nullptr;
  RequireError(tw_learner_export(l, &model_out), TW_STATUS_FAILED_PRECONDITION, "two or more");
  RequireError(tw_learner_save(l, "learner_api_test.none", 0), TW_STATUS_FAILED_PRECONDITION,
               "nothing to save");
  // NULL in every place.
  RequireError(tw_learner_merge(nullptr, "x", nullptr), TW_STATUS_INVALID_ARGUMENT, "learner");
  RequireError(tw_learner_add(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "examples");
  RequireError(tw_learner_set_classes(l, nullptr, nullptr, 1), TW_STATUS_INVALID_ARGUMENT, "names");
  RequireError(tw_learner_export(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "out_model");
  RequireError(tw_learner_get_info(l, nullptr), TW_STATUS_INVALID_ARGUMENT, "info");
  tw_tensor_info input = {};
  input.struct_size = sizeof(input);
  REQUIRE(tw_learner_get_input(l, 0, &input) == TW_STATUS_OK);
  CHECK(input.dims[1] == 4);
  const struct {
    const char* argument;
    tw_status status;
  } nulls[] = {{"path", tw_learner_save(l, nullptr, 0)},
               {"selection", tw_learner_remove(l, nullptr)},
               {"selection", tw_learner_relabel(l, nullptr, 0)},
               {"examples", tw_learner_predict(l, nullptr, nullptr, 0)},
               {"learner", tw_learner_cancel(nullptr)}};
  for (const auto& null : nulls) {
    INFO(null.argument);
    CHECK(null.status == TW_STATUS_INVALID_ARGUMENT);
  }
  tw_learner_free(nullptr);
}

}  // namespace learner_api
}  // namespace api_test
}  // namespace topwork
