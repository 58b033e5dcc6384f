// Sends the library's messages to the application's log, then silences them; handles an error.
// Usage: log
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static void to_app_log(void* user_data, tw_log_level level, const char* message) {
  static const char* const names[] = {"", "error", "warning", "info", "debug"};
  fprintf(user_data, "[%s] %s\n", names[level], message);
}

int main(void) {
  tw_model* model = NULL;
  tw_status status;
  check(tw_log_set(TW_LOG_DEBUG, to_app_log, stdout));
  status = tw_model_open_file("there-is-no-such-file.tflite", &model);
  printf("%s: %s\n", tw_status_name(status), tw_last_error());
  check(tw_log_set(TW_LOG_SILENT, NULL, NULL));
  return status == TW_STATUS_IO && strlen(tw_last_error()) > 0 ? 0 : 1;
}
