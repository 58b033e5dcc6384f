// Runs a batch of images through a model made for one.
// Usage: resize_batch MODEL (whose input is float32 [1, 8, 8, 1])
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

#define BATCH 5

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  tw_tensor_info output;
  float images[BATCH * 64];
  const int32_t dims[4] = {BATCH, 8, 8, 1};
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));

  check(tw_session_resize_input(session, 0, dims, 4));
  check(tw_session_prepare(session));  // plans anew; the tensors have their new memory from here on
  for (int i = 0; i < BATCH * 64; ++i) images[i] = (float)(i % 17) / 16.0f;
  check(tw_session_write_input(session, 0, images, sizeof(images)));
  check(tw_session_run(session));

  output.struct_size = sizeof(output);
  check(tw_session_get_output(session, 0, &output));
  printf("output: %d x %d\n", (int)output.dims[0], (int)output.dims[1]);
  tw_session_free(session);
  tw_model_free(model);
  return output.dims[0] == BATCH ? 0 : 1;
}
