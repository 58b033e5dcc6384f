/* The C API from C99: compiled with -std=c99 -pedantic. */
#include "tests/runtime/api/c99_walk.h"

#include <stdio.h>
#include <string.h>

#include "topwork/topwork.h"

#define BATCH 3
#define N_PIXELS 64
#define N_CLASSES 10

static char g_error[512];

/* Stops the walk where a call fails, with its text. */
#define TRY(call)                                                                   \
  do {                                                                              \
    if ((call) != TW_STATUS_OK) {                                                   \
      snprintf(g_error, sizeof(g_error), "line %d: %s", __LINE__, tw_last_error()); \
      return g_error;                                                               \
    }                                                                               \
  } while (0)
#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      snprintf(g_error, sizeof(g_error), "line %d: not true: %s", __LINE__, #condition); \
      return g_error;                                                                    \
    }                                                                                    \
  } while (0)

static void count_ops(void* user_data, const tw_profile_entry* entry) {
  if (entry->nanos >= 0) ++*(int*)user_data;
}

static const char* run_alone(tw_session* session, const float* image, float* probabilities) {
  tw_tensor_info info;
  float sum = 0.0f;
  int i;
  info.struct_size = sizeof(info);
  TRY(tw_session_get_input(session, 0, &info));
  EXPECT(info.dtype == TW_DTYPE_FLOAT32);
  EXPECT(info.bytes == N_PIXELS * sizeof(float));
  memcpy(info.data, image, info.bytes);
  TRY(tw_session_run(session));
  TRY(tw_session_read_output(session, 0, probabilities, N_CLASSES * sizeof(float)));
  for (i = 0; i < N_CLASSES; ++i) sum += probabilities[i];
  EXPECT(sum > 0.999f && sum < 1.001f);
  return NULL;
}

static const char* run_batch(tw_session* session, const float* image, const float* expected) {
  static float images[BATCH * N_PIXELS];
  float probabilities[BATCH * N_CLASSES];
  const int32_t dims[4] = {BATCH, 8, 8, 1};
  int i;
  for (i = 0; i < BATCH; ++i) memcpy(images + i * N_PIXELS, image, N_PIXELS * sizeof(float));
  TRY(tw_session_resize_input(session, 0, dims, 4));
  TRY(tw_session_prepare(session));
  TRY(tw_session_bind_input(session, 0, images, sizeof(images)));
  TRY(tw_session_bind_output(session, 0, probabilities, sizeof(probabilities)));
  TRY(tw_session_run(session));
  for (i = 0; i < BATCH * N_CLASSES; ++i) {
    const float difference = probabilities[i] - expected[i % N_CLASSES];
    EXPECT(difference < 1e-5f && difference > -1e-5f);
  }
  TRY(tw_session_bind_input(session, 0, NULL, 0));
  TRY(tw_session_bind_output(session, 0, NULL, 0));
  return NULL;
}

static const char* look_around(tw_model* model, tw_session* session) {
  tw_session_info memory;
  tw_model_info about;
  char* text = NULL;
  int n_ops = 0;
  memory.struct_size = sizeof(memory);
  TRY(tw_session_get_info(session, &memory));
  EXPECT(memory.session_bytes > 0);
  EXPECT(memory.n_outputs == 1);
  TRY(tw_session_describe_plan(session, TW_PLAN_TEXT, &text));
  EXPECT(strstr(text, "CONV_2D") != NULL);
  tw_memory_free(text);
  TRY(tw_model_describe(model, &text));
  EXPECT(text[0] == '{');
  tw_memory_free(text);
  about.struct_size = sizeof(about);
  TRY(tw_model_get_info(model, &about));
  EXPECT(about.n_inputs == 1);
  TRY(tw_session_set_profile(session, count_ops, &n_ops));
  TRY(tw_session_run(session));
  EXPECT(n_ops > 0);
  TRY(tw_session_set_profile(session, NULL, NULL));
  TRY(tw_session_reset_state(session));
  TRY(tw_session_cancel(session)); /* nothing runs */
  TRY(tw_session_run(session));
  return NULL;
}

const char* c99_walk(const void* model_bytes, size_t n_model_bytes) {
  float image[N_PIXELS];
  float probabilities[N_CLASSES];
  tw_model* model = NULL;
  tw_session* session = NULL;
  tw_session_options options = {0};
  const char* error;
  int i;
  for (i = 0; i < N_PIXELS; ++i) image[i] = (float)(i % 17) / 16.0f;
  EXPECT(tw_version()[0] == '0' + TW_VERSION_MAJOR);
  TRY(tw_model_open_memory(model_bytes, n_model_bytes, 1, &model));
  options.struct_size = sizeof(options);
  options.n_threads = 2;
  options.device = "cpu";
  TRY(tw_session_create(model, &options, &session));
  error = run_alone(session, image, probabilities);
  if (error == NULL) error = run_batch(session, image, probabilities);
  if (error == NULL) error = look_around(model, session);
  tw_session_free(session);
  tw_model_free(model);
  return error;
}
