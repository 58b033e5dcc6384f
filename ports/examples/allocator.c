// Takes all large memory from the application's own allocator, and sets a limit.
// Usage: allocator MODEL
#define _POSIX_C_SOURCE 200112L  // posix_memalign
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static void* take(void* user_data, size_t bytes, size_t alignment) {
  void* memory = NULL;
  if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
  *(size_t*)user_data += bytes;
  return memory;
}

static void give_back(void* user_data, void* memory, size_t bytes) {
  *(size_t*)user_data -= bytes;
  free(memory);
}

int main(int argc, char** argv) {
  static size_t in_use = 0;  // one thread only; otherwise an atomic
  tw_model* model = NULL;
  tw_session* session = NULL;
  tw_session_options options = {0};
  tw_allocator allocator = {0};
  if (argc != 2) return 2;
  allocator.struct_size = sizeof(allocator);
  allocator.allocate = take;
  allocator.deallocate = give_back;
  allocator.user_data = &in_use;
  options.struct_size = sizeof(options);
  options.allocator = &allocator;
  options.n_threads = 1;
  options.memory_limit_bytes = 16;
  check(tw_model_open_file(argv[1], &model));
  if (tw_session_create(model, &options, &session) != TW_STATUS_OUT_OF_MEMORY) return 1;
  printf("with a limit of 16 bytes: %s\n", tw_last_error());
  options.memory_limit_bytes = 0;
  check(tw_session_create(model, &options, &session));
  check(tw_session_run(session));
  printf("in use: %zu bytes\n", in_use);
  tw_session_free(session);
  tw_model_free(model);
  printf("after freeing: %zu bytes\n", in_use);
  return in_use == 0 ? 0 : 1;
}
