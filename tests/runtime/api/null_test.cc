// C API: every function survives NULL in every place and says which argument it was.
#include <functional>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {
namespace {

struct NullCase {
  const char* argument;  // that the error names
  std::function<tw_status()> call;
};

void CheckAll(const std::vector<NullCase>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i << ": " << cases[i].argument);
    RequireError(cases[i].call(), TW_STATUS_INVALID_ARGUMENT,
                 std::string(cases[i].argument) + " is NULL");
  }
}

}  // namespace

TEST_CASE("freeing NULL does nothing, and the last error stays", "[api]") {
  RequireError(tw_model_open_file("no such file", nullptr), TW_STATUS_INVALID_ARGUMENT, "NULL");
  const std::string error = tw_last_error();
  tw_model_free(nullptr);
  tw_session_free(nullptr);
  tw_trainer_free(nullptr);
  tw_memory_free(nullptr);
  CHECK(tw_last_error() == error);
}

TEST_CASE("model functions refuse NULL", "[api]") {
  const ModelPtr model = OpenModel(kScaleModel);
  const tw_model* m = model.get();
  tw_model* out = nullptr;
  size_t n = 0;
  char* text = nullptr;
  const void* data = nullptr;
  tw_model_info about = {};
  about.struct_size = sizeof(about);
  tw_tensor_info tensor = {};
  tensor.struct_size = sizeof(tensor);
  tw_head_info head = {};
  head.struct_size = sizeof(head);
  CheckAll({
      {"info", [&] { return tw_device_get_info(0, nullptr); }},
      {"path", [&] { return tw_model_open_file(nullptr, &out); }},
      {"out_model", [&] { return tw_model_open_file("x", nullptr); }},
      {"data", [&] { return tw_model_open_memory(nullptr, 8, 1, &out); }},
      {"out_model", [&] { return tw_model_open_memory("x", 1, 1, nullptr); }},
      {"out_model", [&] { return tw_model_open_fd(0, 0, -1, nullptr); }},
      {"model", [&] { return tw_model_describe(nullptr, &text); }},
      {"out_json", [&] { return tw_model_describe(m, nullptr); }},
      {"model", [&] { return tw_model_save(nullptr, "x"); }},
      {"path", [&] { return tw_model_save(m, nullptr); }},
      {"model", [&] { return tw_model_get_info(nullptr, &about); }},
      {"info", [&] { return tw_model_get_info(m, nullptr); }},
      {"model", [&] { return tw_model_get_input(nullptr, 0, &tensor); }},
      {"info", [&] { return tw_model_get_input(m, 0, nullptr); }},
      {"model", [&] { return tw_model_get_output(nullptr, 0, &tensor); }},
      {"info", [&] { return tw_model_get_output(m, 0, nullptr); }},
      {"model", [&] { return tw_model_find_output(nullptr, "y", &n); }},
      {"name", [&] { return tw_model_find_output(m, nullptr, &n); }},
      {"out_index", [&] { return tw_model_find_output(m, "y", nullptr); }},
      {"model", [&] { return tw_model_get_head(nullptr, 0, &head); }},
      {"info", [&] { return tw_model_get_head(m, 0, nullptr); }},
      {"model", [&] { return tw_model_add_activation_map(nullptr, 0, &out); }},
      {"out_model", [&] { return tw_model_add_activation_map(m, 0, nullptr); }},
      {"model", [&] { return tw_model_prune(nullptr, nullptr, &out, nullptr); }},
      {"out_model", [&] { return tw_model_prune(m, nullptr, nullptr, nullptr); }},
      {"model", [&] { return tw_model_get_metadata(nullptr, "note", &data, &n); }},
      {"name", [&] { return tw_model_get_metadata(m, nullptr, &data, &n); }},
      {"out_data", [&] { return tw_model_get_metadata(m, "note", nullptr, &n); }},
      {"out_data_bytes", [&] { return tw_model_get_metadata(m, "note", &data, nullptr); }},
      {"model", [&] { return tw_model_get_file(nullptr, "labels.txt", &data, &n); }},
      {"name", [&] { return tw_model_get_file(m, nullptr, &data, &n); }},
      {"out_data", [&] { return tw_model_get_file(m, "labels.txt", nullptr, &n); }},
      {"out_data_bytes", [&] { return tw_model_get_file(m, "labels.txt", &data, nullptr); }},
      {"op", [&] { return tw_op_register(nullptr); }},
  });
  CHECK(out == nullptr);
  CHECK(text == nullptr);
}

TEST_CASE("session functions refuse NULL", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr owned = MakeSession(model.get());
  tw_session* s = owned.get();
  tw_session* out = nullptr;
  int32_t running = 0;
  size_t n = 0;
  char* text = nullptr;
  float x[4] = {};
  tw_tensor_info info;
  info.struct_size = sizeof(info);
  tw_session_info memory;
  memory.struct_size = sizeof(memory);
  CheckAll({
      {"model", [&] { return tw_session_create(nullptr, nullptr, &out); }},
      {"out_session", [&] { return tw_session_create(model.get(), nullptr, nullptr); }},
      {"session", [&] { return tw_session_find_input(nullptr, "x", &n); }},
      {"name", [&] { return tw_session_find_input(s, nullptr, &n); }},
      {"out_index", [&] { return tw_session_find_input(s, "x", nullptr); }},
      {"session", [&] { return tw_session_find_output(nullptr, "y", &n); }},
      {"name", [&] { return tw_session_find_output(s, nullptr, &n); }},
      {"out_index", [&] { return tw_session_find_output(s, "y", nullptr); }},
      {"session", [&] { return tw_session_get_input(nullptr, 0, &info); }},
      {"info", [&] { return tw_session_get_input(s, 0, nullptr); }},
      {"session", [&] { return tw_session_get_output(nullptr, 0, &info); }},
      {"info", [&] { return tw_session_get_output(s, 0, nullptr); }},
      {"session", [&] { return tw_session_write_input(nullptr, 0, x, sizeof(x)); }},
      {"data", [&] { return tw_session_write_input(s, 0, nullptr, sizeof(x)); }},
      {"session", [&] { return tw_session_write_strings(nullptr, 0, nullptr, 0); }},
      {"strings", [&] { return tw_session_write_strings(s, 0, nullptr, 1); }},
      {"session", [&] { return tw_session_read_output(nullptr, 0, x, sizeof(x)); }},
      {"data", [&] { return tw_session_read_output(s, 0, nullptr, sizeof(x)); }},
      {"session", [&] { return tw_session_bind_input(nullptr, 0, x, sizeof(x)); }},
      {"session", [&] { return tw_session_bind_output(nullptr, 0, x, sizeof(x)); }},
      {"session", [&] { return tw_session_resize_input(nullptr, 0, nullptr, 0); }},
      {"dims", [&] { return tw_session_resize_input(s, 0, nullptr, 2); }},
      {"session", [&] { return tw_session_prepare(nullptr); }},
      {"session", [&] { return tw_session_run(nullptr); }},
      {"session", [&] { return tw_session_reset_state(nullptr); }},
      {"session", [&] { return tw_session_cancel(nullptr); }},
      {"session", [&] { return tw_session_run_async(nullptr, nullptr, nullptr); }},
      {"session", [&] { return tw_session_wait(nullptr); }},
      {"session", [&] { return tw_session_is_running(nullptr, &running); }},
      {"out_is_running", [&] { return tw_session_is_running(s, nullptr); }},
      {"session", [&] { return tw_session_clone(nullptr, &out); }},
      {"out_session", [&] { return tw_session_clone(s, nullptr); }},
      {"session", [&] { return tw_session_set_profile(nullptr, nullptr, nullptr); }},
      {"session", [&] { return tw_session_get_info(nullptr, &memory); }},
      {"info", [&] { return tw_session_get_info(s, nullptr); }},
      {"session", [&] { return tw_session_describe_plan(nullptr, TW_PLAN_TEXT, &text); }},
      {"out_text", [&] { return tw_session_describe_plan(s, TW_PLAN_TEXT, nullptr); }},
      {"session", [&] { return tw_session_verify(nullptr, 0.0, &text); }},
      {"out_json", [&] { return tw_session_verify(s, 0.0, nullptr); }},
  });
  CHECK(out == nullptr);
  CHECK(tw_session_set_profile(s, nullptr, nullptr) == TW_STATUS_OK);
}

#ifdef TW_HAVE_TRAIN
TEST_CASE("trainer functions refuse NULL", "[api][train]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  tw_trainer* t = nullptr;
  const tw_status made = tw_trainer_create(model.get(), nullptr, &t);
  INFO(tw_last_error());
  REQUIRE(made == TW_STATUS_OK);
  const TrainerPtr owned(t);
  tw_trainer* out = nullptr;
  tw_examples examples = {};
  examples.struct_size = sizeof(examples);
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  tw_tensor_info tensor = {};
  tensor.struct_size = sizeof(tensor);
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  tw_export_check check = {};
  check.struct_size = sizeof(check);
  tw_audit audit = {};
  audit.struct_size = sizeof(audit);
  tw_suggestion suggestion = {};
  tw_model* exported = nullptr;
  const char* const names[1] = {"a"};
  CheckAll({
      {"options", [&] { return tw_trainer_options_init(nullptr, 64); }},
      {"model", [&] { return tw_trainer_create(nullptr, nullptr, &out); }},
      {"out_trainer", [&] { return tw_trainer_create(model.get(), nullptr, nullptr); }},
      {"trainer", [&] { return tw_trainer_get_input(nullptr, 0, &tensor); }},
      {"info", [&] { return tw_trainer_get_input(t, 0, nullptr); }},
      {"trainer", [&] { return tw_trainer_add_examples(nullptr, &examples); }},
      {"examples", [&] { return tw_trainer_add_examples(t, nullptr); }},
      {"trainer", [&] { return tw_trainer_fit(nullptr, nullptr, nullptr); }},
      {"trainer", [&] { return tw_trainer_cancel(nullptr); }},
      {"trainer", [&] { return tw_trainer_evaluate(nullptr, &examples, 0, &evaluation); }},
      {"evaluation", [&] { return tw_trainer_evaluate(t, &examples, 0, nullptr); }},
      {"trainer", [&] { return tw_trainer_audit(nullptr, nullptr, &audit); }},
      {"audit", [&] { return tw_trainer_audit(t, nullptr, nullptr); }},
      {"trainer", [&] { return tw_trainer_suggest(nullptr, &examples, &suggestion, 1); }},
      {"examples", [&] { return tw_trainer_suggest(t, nullptr, &suggestion, 1); }},
      {"suggestions", [&] { return tw_trainer_suggest(t, &examples, nullptr, 1); }},
      {"trainer", [&] { return tw_trainer_check_export(nullptr, &check); }},
      {"check", [&] { return tw_trainer_check_export(t, nullptr); }},
      {"trainer", [&] { return tw_trainer_export(nullptr, &exported); }},
      {"out_model", [&] { return tw_trainer_export(t, nullptr); }},
      {"trainer", [&] { return tw_trainer_set_classes(nullptr, names, nullptr, 1); }},
      {"names", [&] { return tw_trainer_set_classes(t, nullptr, nullptr, 1); }},
      {"models", [&] { return tw_model_merge_heads(nullptr, 2, nullptr); }},
      {"trainer", [&] { return tw_trainer_save_checkpoint(nullptr, "x", 0); }},
      {"path", [&] { return tw_trainer_save_checkpoint(t, nullptr, 0); }},
      {"trainer", [&] { return tw_trainer_load(nullptr, "x"); }},
      {"path", [&] { return tw_trainer_load(t, nullptr); }},
      {"trainer", [&] { return tw_trainer_hold_file(nullptr, "x"); }},
      {"path", [&] { return tw_trainer_hold_file(t, nullptr); }},
      {"trainer", [&] { return tw_trainer_get_info(nullptr, &info); }},
      {"info", [&] { return tw_trainer_get_info(t, nullptr); }},
  });
  CHECK(out == nullptr);
}
#endif

}  // namespace api_test
}  // namespace topwork
