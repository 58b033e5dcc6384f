// C API: re-training the last layer.
#ifdef TW_HAVE_TRAIN
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/trainer_data.h"

namespace topwork {
namespace api_test {
namespace {

int32_t CountEpochs(void* user_data, const tw_trainer_progress* progress) {
  std::vector<double>& losses = *static_cast<std::vector<double>*>(user_data);
  losses.push_back(progress->train_loss);
  return progress->epoch == 3 ? 1 : 0;
}

ModelPtr Export(tw_trainer* trainer) {
  tw_model* model = nullptr;
  const tw_status status = tw_trainer_export(trainer, &model);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return ModelPtr(model);
}

// A file name that is gone after the test.
struct ScratchFile {
  explicit ScratchFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() /
              ("topwork_api_" + name + std::to_string(std::random_device()())))
                 .string()) {}
  ~ScratchFile() {
    (void)std::remove(path.c_str());
    (void)std::remove((path + ".previous").c_str());
  }
  std::string path;
};

}  // namespace

TEST_CASE("the C API trains, evaluates and exports a new head", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const char* const names[2] = {"left", "right"};
  tw_trainer_options options = TwoClasses();
  options.class_names = names;
  const TrainerPtr owned = MakeTrainer(model.get(), options);
  tw_trainer* trainer = owned.get();
  tw_tensor_info input = {};
  input.struct_size = sizeof(input);
  REQUIRE(tw_trainer_get_input(trainer, 0, &input) == TW_STATUS_OK);
  CHECK(input.bytes == 256);
  CHECK(std::string(input.name) == "x");
  CHECK(input.data == nullptr);
  RequireError(tw_trainer_get_input(trainer, 1, &input), TW_STATUS_INVALID_ARGUMENT, "input 1");

  const Pictures pictures;
  tw_examples examples = pictures.examples();
  REQUIRE(tw_trainer_add_examples(trainer, &examples) == TW_STATUS_OK);
  CHECK(Info(trainer).n_examples == kExamples);
  std::vector<double> losses;
  REQUIRE(Fit(trainer, 0, CountEpochs, &losses) == TW_STATUS_OK);
  CHECK(losses.size() == 3);  // stopped by the callback
  REQUIRE(Fit(trainer, 0) == TW_STATUS_OK);
  CHECK(Info(trainer).n_epochs_done == 10);
  REQUIRE(Fit(trainer, 12, CountEpochs, &losses) == TW_STATUS_OK);
  REQUIRE(losses.size() == 5);
  CHECK(losses[4] < losses[0]);
  const tw_trainer_info info = Info(trainer);
  CHECK(info.n_inputs == 1);
  CHECK(info.n_classes == 2);
  CHECK(info.n_validation == 8);
  CHECK(info.n_values == info.n_features * 2 + 2);
  CHECK(std::string(info.class_names[1]) == "right");
  CHECK(info.cache_bytes >= static_cast<size_t>(info.n_features) * kExamples * sizeof(float));

  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  REQUIRE(tw_trainer_evaluate(trainer, &examples, 0, &evaluation) == TW_STATUS_OK);
  CHECK(evaluation.n_examples == kExamples);
  CHECK(evaluation.top1 > 0.9);
  CHECK(evaluation.top5 == 1.0);
  REQUIRE(evaluation.n_classes == 2);
  CHECK(evaluation.confusion[0] + evaluation.confusion[1] == kExamples / 2);
  REQUIRE(tw_trainer_evaluate(trainer, nullptr, 0, &evaluation) == TW_STATUS_OK);
  CHECK(evaluation.n_examples == 8);

  const ModelPtr exported = Export(trainer);
  CHECK(std::string(ModelInfo(exported.get()).labels[1]) == "right");
  const SessionPtr session = MakeSession(exported.get());
  REQUIRE(tw_session_write_input(session.get(), 0, pictures.data.data() + 64, 256) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  float scores[2];
  REQUIRE(tw_session_read_output(session.get(), 0, scores, sizeof(scores)) == TW_STATUS_OK);
  CHECK(scores[1] > scores[0]);
}

TEST_CASE("the default optimizer says what it tried", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  CHECK(options.optimizer.kind == TW_OPTIMIZER_AUTO);
  options.n_classes = 2;
  const TrainerPtr trainer = MakeTrainer(model.get(), options);
  CHECK(Info(trainer.get()).n_candidates == 0);
  const Pictures pictures;
  const tw_examples examples = pictures.examples();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  REQUIRE(Fit(trainer.get(), 0) == TW_STATUS_OK);
  const tw_trainer_info info = Info(trainer.get());
  CHECK(info.optimizer == TW_OPTIMIZER_AUTO);
  CHECK(info.is_finished == 1);
  CHECK(info.fitted_on_all == 1);
  CHECK(std::string(info.choice_reason) != "");
  int n_chosen = 0;
  REQUIRE(info.n_candidates > 1);
  for (size_t i = 0; i < info.n_candidates; ++i) {
    const tw_trainer_candidate& candidate = info.candidates[i];
    CHECK(std::string(candidate.name) != "");
    CHECK(candidate.accuracy >= 0.0);
    CHECK(candidate.accuracy <= 1.0);
    n_chosen += candidate.is_chosen;
  }
  CHECK(n_chosen == 1);
  const TrainerPtr steps = MakeTrainer(model.get(), TwoClasses());
  CHECK(Info(steps.get()).optimizer == TW_OPTIMIZER_ADAM);
}

TEST_CASE("examples are pulled one by one, and the source may fail", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const TrainerPtr trainer = MakeTrainer(model.get(), TwoClasses());
  const Pictures pictures;
  struct Source {
    const Pictures* pictures;
    int64_t fail_at;
    int n_progress;
  } source = {&pictures, 7, 0};
  tw_examples examples = {};
  examples.struct_size = sizeof(examples);
  examples.n_examples = kExamples;
  examples.user_data = &source;
  examples.read = [](void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                     int64_t* out_label) {
    const Source& s = *static_cast<Source*>(user_data);
    if (index == s.fail_at || n_inputs != 1) return TW_STATUS_IO;
    const size_t at = static_cast<size_t>(index);
    std::memcpy(inputs[0], s.pictures->data.data() + at * 64, 256);
    *out_label = s.pictures->labels[at];
    return TW_STATUS_OK;
  };
  examples.progress = [](void* user_data, int64_t n_done, int64_t n_total) {
    static_cast<Source*>(user_data)->n_progress++;
    return n_done > n_total ? int32_t{1} : int32_t{0};
  };
  RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_IO, "example 7");
  CHECK(Info(trainer.get()).n_examples == 0);
  source.fail_at = -1;
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  CHECK(source.n_progress > 0);
  CHECK(Info(trainer.get()).n_examples == kExamples);
  examples.progress = [](void*, int64_t, int64_t) { return int32_t{1}; };
  RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_CANCELLED, "");
  CHECK(Info(trainer.get()).n_examples == kExamples);
}

TEST_CASE("examples that do not fit are refused", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const TrainerPtr trainer = MakeTrainer(model.get(), TwoClasses());
  Pictures pictures;
  const auto refuse = [&](const tw_examples& examples, const char* part) {
    RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_INVALID_ARGUMENT,
                 part);
    CHECK(Info(trainer.get()).n_examples == 0);
  };
  tw_examples examples = pictures.examples();
  examples.dtype = TW_DTYPE_INT8;
  refuse(examples, "'x' is float32");
  examples = pictures.examples();
  examples.data_bytes -= 4;
  refuse(examples, "256 each");
  examples = pictures.examples();
  examples.n_examples = std::numeric_limits<int64_t>::max();
  refuse(examples, "data_bytes");
  examples.n_examples = -1;
  refuse(examples, "n_examples is -1");
  examples = pictures.examples();
  examples.labels = nullptr;
  refuse(examples, "labels is NULL");
  examples.data = nullptr;
  refuse(examples, "neither data nor read");
  examples = pictures.examples();
  examples.struct_size = 0;
  refuse(examples, "tw_examples.struct_size");
  pictures.labels[5] = 2;
  refuse(pictures.examples(), "2");
  pictures.labels[5] = -1;
  refuse(pictures.examples(), "-1");
  pictures.labels[5] = int64_t{1} << 40;
  refuse(pictures.examples(), "1099511627776");
}

TEST_CASE("the trainer's options are checked", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_trainer* trainer = nullptr;
  tw_trainer_options options = TwoClasses();
  CHECK(options.batch_size == 32);
  CHECK(options.optimizer.kind == TW_OPTIMIZER_AUTO);
  CHECK(options.optimizer.beta2 == 0.999f);
  const auto refuse = [&](const char* part) {
    RequireError(tw_trainer_create(model.get(), &options, &trainer), TW_STATUS_INVALID_ARGUMENT,
                 part);
    options = TwoClasses();
  };
  options = TwoClasses();
  options.optimizer.kind = static_cast<tw_optimizer>(9);
  refuse("optimizer.kind 9");
  options.head.init = static_cast<tw_head_init>(3);
  refuse("head.init 3");
  options.head.init = TW_HEAD_INIT_SHIPPED;
  refuse("10 classes");
  options.n_classes = 1;
  refuse("1 class");
  options.n_classes = -2;
  refuse("n_classes is -2");
  options.n_classes = int64_t{1} << 40;
  refuse("n_classes");
  const char* const names[2] = {"a", nullptr};
  options.class_names = names;
  refuse("class_names[1] is NULL");
  options.class_names = names;
  options.n_classes = 0;
  refuse("n_classes, which is 0");
  options.optimizer.learning_rate = std::nanf("");
  refuse("learning_rate");
  options.struct_size = 1;
  refuse("tw_trainer_options.struct_size");
  CHECK(trainer == nullptr);
  RegisterTestOps();
  RequireError(tw_trainer_create(OpenModel(kScaleModel).get(), nullptr, &trainer),
               TW_STATUS_UNSUPPORTED, "");
  REQUIRE(tw_trainer_create(model.get(), nullptr, &trainer) == TW_STATUS_OK);
  CHECK(Info(TrainerPtr(trainer).get()).n_classes == 10);
}

TEST_CASE("a trainer says when it is used in the wrong order", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_trainer_options options = TwoClasses();
  options.validation_fraction = 0;
  const TrainerPtr trainer = MakeTrainer(model.get(), options);
  RequireError(Fit(trainer.get(), 0), TW_STATUS_FAILED_PRECONDITION, "no examples");
  RequireError(Fit(trainer.get(), -1), TW_STATUS_INVALID_ARGUMENT, "n_epochs -1");
  const Pictures pictures;
  tw_examples examples = pictures.examples();
  examples.n_examples = 1;
  examples.data_bytes = 256;
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  RequireError(Fit(trainer.get(), 0), TW_STATUS_INVALID_ARGUMENT, "one class");
  examples = pictures.examples();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  RequireError(tw_trainer_evaluate(trainer.get(), nullptr, 0, &evaluation),
               TW_STATUS_FAILED_PRECONDITION, "validation");
  evaluation.struct_size = 4;
  RequireError(tw_trainer_evaluate(trainer.get(), &examples, 0, &evaluation),
               TW_STATUS_INVALID_ARGUMENT, "tw_evaluation.struct_size");
  REQUIRE(Fit(trainer.get(), 1) == TW_STATUS_OK);
  CHECK(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  tw_status cancelled = TW_STATUS_INTERNAL;
  std::thread([&] { cancelled = tw_trainer_cancel(trainer.get()); }).join();
  CHECK(cancelled == TW_STATUS_OK);
  tw_fit_options cancelling = {};
  cancelling.struct_size = sizeof(cancelling);
  cancelling.user_data = trainer.get();
  cancelling.progress = [](void* user_data, const tw_trainer_progress*) {
    (void)tw_trainer_cancel(static_cast<tw_trainer*>(user_data));
    return int32_t{0};
  };
  // Nothing was in progress when the thread cancelled: an epoch is done.
  RequireError(tw_trainer_fit(trainer.get(), &cancelling, nullptr), TW_STATUS_CANCELLED,
               "cancelled");
  CHECK(Info(trainer.get()).n_epochs_done == 2);
  CHECK(Fit(trainer.get(), 0) == TW_STATUS_OK);
}

TEST_CASE("a training run goes on from its checkpoint", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const Pictures pictures;
  const tw_examples examples = pictures.examples();
  const ScratchFile checkpoint("checkpoint");
  const TrainerPtr first = MakeTrainer(model.get(), TwoClasses());
  REQUIRE(tw_trainer_add_examples(first.get(), &examples) == TW_STATUS_OK);
  REQUIRE(Fit(first.get(), 4) == TW_STATUS_OK);
  REQUIRE(tw_trainer_save_checkpoint(first.get(), checkpoint.path.c_str(), 0) == TW_STATUS_OK);
  REQUIRE(Fit(first.get(), 10) == TW_STATUS_OK);

  const TrainerPtr second = MakeTrainer(model.get(), TwoClasses());
  RequireError(tw_trainer_load(second.get(), "there is no such file"), TW_STATUS_IO,
               "there is no such file");
  REQUIRE(tw_trainer_add_examples(second.get(), &examples) == TW_STATUS_OK);
  const tw_status restored = tw_trainer_load(second.get(), checkpoint.path.c_str());
  INFO(tw_last_error());
  REQUIRE(restored == TW_STATUS_OK);
  CHECK(Info(second.get()).n_epochs_done == 4);
  REQUIRE(Fit(second.get(), 10) == TW_STATUS_OK);

  const ModelPtr one = Export(first.get()), other = Export(second.get());
  const tw_model_info a = ModelInfo(one.get()), b = ModelInfo(other.get());
  CHECK((a.data_bytes == b.data_bytes && std::memcmp(a.data, b.data, a.data_bytes) == 0));
  RequireError(tw_trainer_save_checkpoint(first.get(), "/no/such/folder/c", 0), TW_STATUS_IO,
               "/no/such/folder/c");
}

TEST_CASE("the head is described, in the model and in the trainer", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  char* text = nullptr;
  REQUIRE(tw_model_describe(model.get(), &text) == TW_STATUS_OK);
  const TextPtr model_text(text);
  const nlohmann::json head = nlohmann::json::parse(text)["head"];
  CHECK(head["op"] == "FULLY_CONNECTED");
  CHECK(head["n_classes"] == 10);
  CHECK(head["tail"] == std::vector<std::string>{"SOFTMAX"});
  tw_head_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_model_get_head(model.get(), 0, &info) == TW_STATUS_OK);
  CHECK(std::string(info.op) == "FULLY_CONNECTED");
  CHECK(info.n_classes == 10);
  CHECK(info.n_features == head["n_features"]);
  CHECK(info.feature == head["feature"].get<std::string>());
  CHECK(info.is_appended == 0);
  CHECK(std::string(info.storage) == "float32");
  RequireError(tw_model_get_head(model.get(), 1, &info), TW_STATUS_INVALID_ARGUMENT, "output 1");
  tw_model* mapped = nullptr;
  RequireError(tw_model_add_activation_map(model.get(), 1, &mapped), TW_STATUS_INVALID_ARGUMENT,
               "output 1");
  REQUIRE(tw_model_add_activation_map(model.get(), 0, &mapped) == TW_STATUS_OK);
  CHECK(ModelInfo(ModelPtr(mapped).get()).n_outputs == 2);
  const TrainerPtr trainer = MakeTrainer(model.get(), TwoClasses());
  const tw_trainer_info about = Info(trainer.get());
  CHECK(about.n_features == info.n_features);
  CHECK(about.n_classes == 2);
  CHECK(about.class_names == nullptr);
  CHECK(std::string(about.head->logits) == info.logits);
  CHECK(std::string(about.device) == "cpu");
  CHECK(std::string(about.device_reason).empty());
  REQUIRE(about.n_workers >= 1);
  CHECK(std::string(about.workers[0].place) == "cpu");
}

TEST_CASE("a trainer takes its steps on a device, or says why not", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_trainer_options options = TwoClasses();
  options.device = "opencl:no such device";
  tw_trainer* trainer = nullptr;
  CHECK(tw_trainer_create(model.get(), &options, &trainer) != TW_STATUS_OK);
  CHECK(std::string(tw_last_error()).find("OpenCL") != std::string::npos);
  options.device = "gpu";
  RequireError(tw_trainer_create(model.get(), &options, &trainer), TW_STATUS_INVALID_ARGUMENT,
               "tw_trainer_options.device: 'gpu' names no device");
  options.device = "cpu";
  for (const char* list : {"", "cpu,", "cpu,abacus", "auto,cpu"}) {
    options.features.devices = list;
    RequireError(tw_trainer_create(model.get(), &options, &trainer), TW_STATUS_INVALID_ARGUMENT,
                 "features.devices");
  }
}

TEST_CASE("limits of a trainer are kept", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const Pictures pictures;
  tw_trainer_options options = TwoClasses();
  options.features.cache_limit_bytes = 100;
  const TrainerPtr trainer = MakeTrainer(model.get(), options);
  const tw_examples examples = pictures.examples();
  RequireError(tw_trainer_add_examples(trainer.get(), &examples), TW_STATUS_OUT_OF_MEMORY, "100");
  options = TwoClasses();
  options.memory_limit_bytes = 100;
  tw_trainer* none = nullptr;
  RequireError(tw_trainer_create(model.get(), &options, &none), TW_STATUS_OUT_OF_MEMORY, "100");
}

TEST_CASE("C++: a trainer trains, judges and exports", "[api][train]") {
  const Pictures pictures;
  const ModelPtr c_model = OpenModel(kDigitsModel);
  const TrainerPtr first = MakeTrainer(c_model.get(), TwoClasses());
  tw_model* handle = nullptr;
  const tw_status made = tw_trainer_export(first.get(), &handle);
  const tw::Result<tw::Model> model = tw::Model::Take(made, handle);
  REQUIRE(model.ok());
  tw::TrainerOptions options;
  options.optimizer.kind = TW_OPTIMIZER_ADAM;
  tw::Result<tw::Trainer> trainer = tw::Trainer::Create(*model, options);
  REQUIRE(trainer.ok());
  CHECK(trainer->Input(0)->size<float>() == 64);
  CHECK(trainer->Info()->learning_rate == 0);  // still to be chosen
  REQUIRE(trainer->AddExamples(tw::Examples(pictures.data, pictures.labels)).ok());
  int n_epochs = 0;
  REQUIRE(trainer->Fit(15, [&](const tw_trainer_progress&) { return ++n_epochs < 12; }).ok());
  CHECK(n_epochs == 12);
  CHECK(trainer->Info()->n_epochs_done == 12);
  CHECK(trainer->Info()->learning_rate > 0);
  const tw::Result<tw::Evaluation> validation = trainer->Evaluate();
  REQUIRE(validation.ok());
  CHECK(validation->n_examples == 8);
  const tw::Examples again(kExamples, [&](int64_t i, void* const* inputs, size_t) {
    std::memcpy(inputs[0], pictures.data.data() + i * 64, 256);
    return pictures.labels[static_cast<size_t>(i)];
  });
  const tw::Result<tw::Evaluation> all = trainer->Evaluate(again);
  REQUIRE(all.ok());
  CHECK(all->top1 > 0.9);
  CHECK(all->matrix.size() == 4);
  CHECK(all->matrix[0] + all->matrix[1] == 20);
  const tw::Examples broken(2, [](int64_t, void* const*, size_t) { return -1; });
  CHECK(trainer->Evaluate(broken).status().code() == TW_STATUS_CANCELLED);
  const tw::Result<tw::Model> exported = trainer->Export();
  REQUIRE(exported.ok());
  CHECK(exported->bytes().size > 1000);
  CHECK(exported->Save("/no/such/folder/m.tflite").code() == TW_STATUS_IO);
  CHECK(trainer->SaveCheckpoint("/no/such/folder/c").code() == TW_STATUS_IO);
  CHECK(trainer->Load("/no/such/folder/c").code() == TW_STATUS_IO);
  CHECK(trainer->Cancel().ok());
  CHECK(trainer->Fit(20).ok());
}

}  // namespace api_test
}  // namespace topwork
#endif
