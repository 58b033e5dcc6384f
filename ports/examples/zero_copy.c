// Reads the input from memory of the program and writes the output into it: no copies.
// Usage: zero_copy MODEL (float32 [1, 8, 8, 1] to float32 [1, 10])
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
  float frames[3][64];  // a camera's ring of frames, say
  float scores[3][10];
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 64; ++k) frames[i][k] = (float)((i + k) % 17) / 16.0f;
    check(tw_session_bind_input(session, 0, frames[i], sizeof(frames[i])));
    check(tw_session_bind_output(session, 0, scores[i], sizeof(scores[i])));
    check(tw_session_run(session));
    printf("frame %d: class 0 has %.3f\n", i, scores[i][0]);
  }
  tw_session_free(session);  // the frames stay the program's
  tw_model_free(model);
  return 0;
}
