// C API: several heads on one run of a backbone give what each exported model gives.
#ifdef TW_HAVE_TRAIN
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "tests/runtime/api/trainer_data.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace session_head_api_test {

using api_test::MakeSession;
using api_test::ModelPtr;
using api_test::OpenModel;
using api_test::OutputInfo;
using api_test::Pictures;
using api_test::RequireError;
using api_test::SessionInfo;
using api_test::SessionPtr;
using api_test::TrainerPtr;

constexpr size_t kPixels = 64;

// A head in a file, and the model that its trainer exports.
struct Taught {
  std::unique_ptr<test::TempFile> file{new test::TempFile("head")};
  const char* path() const { return file->path.c_str(); }
  ModelPtr model;
};

Taught Teach(const tw_model* model, const tw_trainer_options& options) {
  const Pictures pictures;
  const TrainerPtr trainer = api_test::MakeTrainer(model, options);
  const tw_examples examples = pictures.examples();
  REQUIRE(tw_trainer_add_examples(trainer.get(), &examples) == TW_STATUS_OK);
  const tw_status status = tw_trainer_fit(trainer.get(), nullptr, nullptr);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  Taught taught;
  REQUIRE(tw_trainer_save_head(trainer.get(), taught.path()) == TW_STATUS_OK);
  tw_model* exported = nullptr;
  REQUIRE(tw_trainer_export(trainer.get(), &exported) == TW_STATUS_OK);
  taught.model.reset(exported);
  return taught;
}

tw_trainer_options Options() {
  tw_trainer_options options;
  REQUIRE(tw_trainer_options_init(&options, sizeof(options)) == TW_STATUS_OK);
  options.n_classes = 2;
  options.n_threads = 1;
  return options;
}

tw_status Attach(tw_session* session, const char* name, const char* path) {
  tw_head_file file = {};
  file.struct_size = sizeof(file);
  file.name = name;
  file.path = path;
  return tw_session_attach_head(session, &file);
}

std::vector<float> Output(tw_session* session, size_t index) {
  const tw_tensor_info info = OutputInfo(session, index);
  std::vector<float> values(info.bytes / sizeof(float));
  REQUIRE(tw_session_read_output(session, index, values.data(), info.bytes) == TW_STATUS_OK);
  return values;
}

void Write(tw_session* session, const float* picture) {
  REQUIRE(tw_session_write_input(session, 0, picture, kPixels * sizeof(float)) == TW_STATUS_OK);
}

std::vector<float> RunOn(tw_session* session, const float* picture, size_t output) {
  Write(session, picture);
  REQUIRE(tw_session_run(session) == TW_STATUS_OK);
  return Output(session, output);
}

size_t Find(const tw_session* session, const char* name) {
  size_t index = 0;
  const tw_status status = tw_session_find_output(session, name, &index);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return index;
}

TEST_CASE("session: attached heads give what exported models give, in one run", "[api][train]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  std::vector<Taught> taught;
  tw_trainer_options options = Options();
  const char* names[] = {"left", "right"};
  options.class_names = names;
  taught.push_back(Teach(model.get(), options));
  options.optimizer.kind = TW_OPTIMIZER_KNN;
  options.head.n_neighbours = 2;
  taught.push_back(Teach(model.get(), options));
  options = Options();
  options.head.n_hidden = 5;
  options.n_epochs = 3;
  taught.push_back(Teach(model.get(), options));
  options = Options();
  options.head.n_projected = 30;
  options.optimizer.kind = TW_OPTIMIZER_RIDGE;
  taught.push_back(Teach(model.get(), options));

  const Pictures pictures;
  const SessionPtr session = MakeSession(model.get());
  const std::vector<float> shipped = RunOn(session.get(), pictures.data.data(), 0);
  for (size_t k = 0; k < taught.size(); ++k) {
    const std::string name = "head " + std::to_string(k);
    const tw_status status = Attach(session.get(), name.c_str(), taught[k].path());
    INFO(tw_last_error());
    REQUIRE(status == TW_STATUS_OK);
  }
  // What was written to the input is still there.
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(Output(session.get(), 0) == shipped);
  const tw_session_info info = SessionInfo(session.get());
  REQUIRE(info.n_heads == 4);
  CHECK(info.n_outputs == 5);
  CHECK(std::string(info.heads[0].name) == "head 0");
  CHECK(std::string(info.heads[0].class_names[1]) == "right");
  CHECK(info.heads[3].class_names == nullptr);
  for (size_t k = 0; k < taught.size(); ++k) {
    INFO("head " << k);
    CHECK(info.heads[k].output == k + 1);
    CHECK(info.heads[k].n_classes == 2);
    CHECK(Find(session.get(), info.heads[k].name) == k + 1);
    const SessionPtr alone = MakeSession(taught[k].model.get());
    for (size_t i = 0; i < 6; ++i) {
      const float* picture = &pictures.data[i * kPixels];
      const std::vector<float> expected = RunOn(alone.get(), picture, 0);
      CHECK(RunOn(session.get(), picture, k + 1) == expected);
    }
  }
  // A clone has them, too, and a batch is a batch.
  tw_session* copied = nullptr;
  REQUIRE(tw_session_clone(session.get(), &copied) == TW_STATUS_OK);
  const SessionPtr clone(copied);
  const std::vector<float> first = RunOn(session.get(), pictures.data.data(), 1);
  CHECK(RunOn(clone.get(), pictures.data.data(), Find(clone.get(), "head 0")) == first);
  const int32_t dims[] = {2, 8, 8, 1};
  REQUIRE(tw_session_resize_input(session.get(), 0, dims, 4) == TW_STATUS_OK);
  REQUIRE(tw_session_prepare(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_write_input(session.get(), 0, pictures.data.data(),
                                 2 * kPixels * sizeof(float)) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  const std::vector<float> both = Output(session.get(), 1);
  REQUIRE(both.size() == 4);
  for (size_t c = 0; c < 2; ++c) CHECK(both[c] == Approx(first[c]).margin(1e-6));

  // Those after one that goes move up.
  REQUIRE(tw_session_detach_head(session.get(), "head 1") == TW_STATUS_OK);
  CHECK(SessionInfo(session.get()).n_outputs == 4);
  CHECK(Find(session.get(), "head 2") == 2);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(Output(session.get(), 1) == both);
  RequireError(tw_session_detach_head(session.get(), "head 1"), TW_STATUS_NOT_FOUND,
               "there is no head 'head 1'; there are 'head 0', 'head 2', 'head 3'");
  for (const char* name : {"head 3", "head 0", "head 2"}) {
    REQUIRE(tw_session_detach_head(session.get(), name) == TW_STATUS_OK);
  }
  CHECK(SessionInfo(session.get()).n_outputs == 1);
  CHECK(SessionInfo(session.get()).n_heads == 0);
}

TEST_CASE("session: a head's output can be bound, and its bytes attached", "[api][train]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  tw_trainer_options options = Options();
  options.loss.kind = TW_LOSS_SOFTMAX;
  const Taught taught = Teach(model.get(), options);
  const std::string bytes = taught.file->Read();
  const SessionPtr session = MakeSession(model.get());
  tw_head_file file = {};
  file.struct_size = sizeof(file);
  file.name = "a";
  file.data = bytes.data();
  file.data_bytes = bytes.size();
  REQUIRE(tw_session_attach_head(session.get(), &file) == TW_STATUS_OK);
  Pictures pictures;
  float scores[2] = {};
  REQUIRE(tw_session_bind_input(session.get(), 0, pictures.data.data(), kPixels * sizeof(float)) ==
          TW_STATUS_OK);
  REQUIRE(tw_session_bind_output(session.get(), 1, scores, sizeof(scores)) == TW_STATUS_OK);
  file.name = "b";
  REQUIRE(tw_session_attach_head(session.get(), &file) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(scores[0] + scores[1] == Approx(1.0));
  CHECK(Output(session.get(), 2) == std::vector<float>{scores[0], scores[1]});
}

TEST_CASE("session: a head that does not belong is refused, and the session stays",
          "[api][train]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  const ModelPtr other = OpenModel("models/zoo/digits_cnn_fp16.tflite");
  const Taught right = Teach(model.get(), Options());
  const Taught wrong = Teach(other.get(), Options());
  tw_trainer_options deep = Options();
  deep.head.n_layers = 2;
  deep.n_epochs = 1;
  const Taught deeper = Teach(model.get(), deep);
  const Pictures pictures;
  const SessionPtr session = MakeSession(model.get());
  const std::vector<float> before = RunOn(session.get(), pictures.data.data(), 0);
  RequireError(Attach(session.get(), "x", wrong.path()), TW_STATUS_FAILED_PRECONDITION,
               "head 'x': it belongs to the model");
  RequireError(Attach(session.get(), "x", deeper.path()), TW_STATUS_UNSUPPORTED,
               "was trained with it, so its backbone is another");
  RequireError(Attach(session.get(), "", right.path()), TW_STATUS_INVALID_ARGUMENT,
               "tw_head_file.name is empty");
  RequireError(Attach(session.get(), "x", nullptr), TW_STATUS_INVALID_ARGUMENT,
               "needs either path or data");
  RequireError(Attach(session.get(), "x", "session_head_api_test_none"), TW_STATUS_IO, "the head");
  tw_head_file torn = {};
  torn.struct_size = sizeof(torn);
  torn.name = "x";
  torn.data = "no head";
  torn.data_bytes = 7;
  CHECK(tw_session_attach_head(session.get(), &torn) == TW_STATUS_CORRUPT);
  REQUIRE(Attach(session.get(), "x", right.path()) == TW_STATUS_OK);
  RequireError(Attach(session.get(), "x", right.path()), TW_STATUS_INVALID_ARGUMENT,
               "there is an output 'x' already");
  CHECK(SessionInfo(session.get()).n_outputs == 2);
  CHECK(RunOn(session.get(), pictures.data.data(), 0) == before);
  // Sessions of the model share state whether they have heads or not.
  tw_session_options options = api_test::DefaultSessionOptions();
  options.share_state_with = session.get();
  CHECK(MakeSession(model.get(), &options) != nullptr);
}

// What a callback does with its session's heads.
struct InCallback {
  const char* path = nullptr;
  tw_status attached = TW_STATUS_INTERNAL, detached = TW_STATUS_INTERNAL;
};

void SwapHeads(void* user_data, tw_session* session, tw_status) {
  InCallback* call = static_cast<InCallback*>(user_data);
  call->attached = Attach(session, "second", call->path);
  call->detached = tw_session_detach_head(session, "first");
}

TEST_CASE("session: heads come and go in a run's callback", "[api][train]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  const Taught taught = Teach(model.get(), Options());
  const Pictures pictures;
  const SessionPtr session = MakeSession(model.get());
  REQUIRE(Attach(session.get(), "first", taught.path()) == TW_STATUS_OK);
  const std::vector<float> expected = RunOn(session.get(), pictures.data.data(), 1);
  InCallback call;
  call.path = taught.path();
  REQUIRE(tw_session_run_async(session.get(), SwapHeads, &call) == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);
  CHECK(call.attached == TW_STATUS_OK);
  CHECK(call.detached == TW_STATUS_OK);
  CHECK(RunOn(session.get(), pictures.data.data(), Find(session.get(), "second")) == expected);
  REQUIRE(tw_session_run_async(session.get(), nullptr, nullptr) == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_detach_head(session.get(), "second") == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);  // the same again
}

TEST_CASE("session: other threads cancel and ask while heads come and go", "[api][train]") {
  const ModelPtr model = OpenModel(api_test::kDigitsModel);
  const Taught taught = Teach(model.get(), Options());
  const SessionPtr session = MakeSession(model.get());
  std::atomic<bool> stop{false};
  std::atomic<int> n_running{0}, n_asked{0};
  std::thread other([&] {
    while (!stop) {
      int32_t is_running = 0;
      (void)tw_session_cancel(session.get());
      (void)tw_session_is_running(session.get(), &is_running);
      n_running += is_running;
      ++n_asked;
    }
  });
  while (n_asked == 0) std::this_thread::yield();
  for (int i = 0; i < 50; ++i) {
    REQUIRE(Attach(session.get(), "x", taught.path()) == TW_STATUS_OK);
    REQUIRE(tw_session_detach_head(session.get(), "x") == TW_STATUS_OK);
  }
  stop = true;
  other.join();
  CHECK(n_running == 0);
}

}  // namespace session_head_api_test
}  // namespace topwork
#endif  // TW_HAVE_TRAIN
