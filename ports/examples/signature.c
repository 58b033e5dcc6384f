// Calls a model by one of its signatures: inputs and outputs go by the signature's names.
// Usage: signature MODEL (with a signature "mix": a, b -> sum, difference)
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
  tw_session_options options = {0};
  tw_model_info info;
  size_t a = 0, b = 0, sum = 0;
  const float av[4] = {1, 2, 3, 4}, bv[4] = {10, 20, 30, 40};
  float result[4];
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  info.struct_size = sizeof(info);
  check(tw_model_get_info(model, &info));
  for (size_t i = 0; i < info.n_signatures; ++i) {
    printf("signature %zu: %s\n", i, info.signatures[i]);
  }
  options.struct_size = sizeof(options);
  options.signature = "mix";
  check(tw_session_create(model, &options, &session));
  check(tw_session_find_input(session, "a", &a));
  check(tw_session_find_input(session, "b", &b));
  check(tw_session_find_output(session, "sum", &sum));
  check(tw_session_write_input(session, a, av, sizeof(av)));
  check(tw_session_write_input(session, b, bv, sizeof(bv)));
  check(tw_session_run(session));
  check(tw_session_read_output(session, sum, result, sizeof(result)));
  printf("sum: %g %g %g %g\n", result[0], result[1], result[2], result[3]);
  tw_session_free(session);
  tw_model_free(model);
  return result[3] == 44.0f ? 0 : 1;
}
