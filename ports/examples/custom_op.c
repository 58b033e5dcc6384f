// Adds an operator of the application: TopworkScale multiplies by the factor in its options.
// Usage: custom_op MODEL (whose operator is TopworkScale, float32 [1, 4])
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static tw_status prepare(void* user_data, void* instance, tw_op_call* call) {
  (void)user_data;
  (void)instance;
  if (call->n_inputs != 1 || call->inputs[0]->dtype != TW_DTYPE_FLOAT32 ||
      call->options_bytes != sizeof(float)) {
    snprintf(call->error, call->error_bytes, "needs one float32 input and a float32 factor");
    return TW_STATUS_INVALID_MODEL;
  }
  call->outputs[0]->rank = call->inputs[0]->rank;
  memcpy(call->outputs[0]->dims, call->inputs[0]->dims, sizeof(call->inputs[0]->dims));
  return TW_STATUS_OK;
}

static tw_status run(void* user_data, void* instance, const tw_op_call* call) {
  const float* x = call->inputs[0]->data;
  float* y = call->outputs[0]->data;
  float factor;
  (void)user_data;
  (void)instance;
  memcpy(&factor, call->options, sizeof(factor));
  for (size_t i = 0; i < call->inputs[0]->bytes / sizeof(float); ++i) y[i] = factor * x[i];
  return TW_STATUS_OK;
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  const float x[4] = {1, 2, 3, 4};
  float y[4];
  tw_custom_op op = {0};
  if (argc != 2) return 2;
  op.struct_size = sizeof(op);
  op.name = "TopworkScale";
  op.prepare = prepare;
  op.run = run;
  check(tw_op_register(&op));
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));
  check(tw_session_write_input(session, 0, x, sizeof(x)));
  check(tw_session_run(session));
  check(tw_session_read_output(session, 0, y, sizeof(y)));
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  tw_session_free(session);
  tw_model_free(model);
  return y[3] == 12.0f ? 0 : 1;
}
