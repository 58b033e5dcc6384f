// Prints what a model is, how it will be run, and what memory that takes.
// Usage: describe MODEL
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  char* text = NULL;
  tw_device_info device;
  tw_model_info info;
  tw_session_info memory;
  if (argc != 2) return 2;
  printf("Topwork %s\n", tw_version());
  device.struct_size = sizeof(device);
  for (size_t i = 0; tw_device_get_info(i, &device) == TW_STATUS_OK; ++i) {
    printf("device %s: %s %s\n", device.id, device.name, device.reason);
  }

  check(tw_model_open_file(argv[1], &model));
  check(tw_model_describe(model, &text));
  printf("model: %s\n", text);
  tw_memory_free(text);
  info.struct_size = sizeof(info);
  check(tw_model_get_info(model, &info));
  for (size_t i = 0; i < info.n_labels; ++i) printf("label %zu: %s\n", i, info.labels[i]);

  check(tw_session_create(model, NULL, &session));
  check(tw_session_describe_plan(session, TW_PLAN_TEXT, &text));
  printf("plan:\n%s", text);
  tw_memory_free(text);
  memory.struct_size = sizeof(memory);
  check(tw_session_get_info(session, &memory));
  printf("arena %zu bytes, scratch %zu, packed weights %zu\n", memory.arena_bytes,
         memory.scratch_bytes, memory.packed_bytes);
  tw_session_free(session);
  tw_model_free(model);
  return 0;
}
