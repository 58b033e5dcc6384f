// Runs a classifier on one image of zeros and prints the best class.
// Usage: run_model MODEL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  tw_tensor_info input, output;
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));

  input.struct_size = sizeof(input);
  check(tw_session_get_input(session, 0, &input));
  memset(input.data, 0, input.bytes);
  check(tw_session_run(session));

  output.struct_size = sizeof(output);
  check(tw_session_get_output(session, 0, &output));
  const float* scores = output.data;
  size_t best = 0;
  for (size_t i = 1; i < output.bytes / sizeof(float); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  printf("class %zu with %.3f\n", best, scores[best]);
  tw_session_free(session);
  tw_model_free(model);
  return 0;
}
