// Prints the time of every operator of one run.
// Usage: profile MODEL
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static void print_entry(void* user_data, const tw_profile_entry* entry) {
  int64_t* total = user_data;
  *total += entry->nanos;
  printf("%3d %-20s %-24s %8" PRId64 " us  %s\n", (int)entry->step, entry->op, entry->variant,
         entry->nanos / 1000, entry->output_name);
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  int64_t total = 0;
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));
  check(tw_session_run(session));  // warms the caches
  check(tw_session_set_profile(session, print_entry, &total));
  check(tw_session_run(session));
  printf("all operators: %" PRId64 " us\n", total / 1000);
  tw_session_free(session);
  tw_model_free(model);
  return total > 0 ? 0 : 1;
}
