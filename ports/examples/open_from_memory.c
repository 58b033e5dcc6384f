// Opens a model from memory, borrowed, and reads what was packed into it.
// Usage: open_from_memory MODEL (with a packed notes.txt and the metadata entry "note")
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
  const void* data = NULL;
  size_t n = 0;
  if (argc != 2) return 2;
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL) return 1;
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char* bytes = malloc(size);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) return 1;
  fclose(file);

  check(tw_model_open_memory(bytes, size, 0, &model));
  check(tw_model_get_metadata(model, "note", &data, &n));
  printf("note: %.*s\n", (int)n, (const char*)data);
  check(tw_model_get_file(model, "notes.txt", &data, &n));
  printf("notes.txt: %.*s\n", (int)n, (const char*)data);
  tw_model_free(model);
  free(bytes);  // only now: the model borrowed them
  return 0;
}
