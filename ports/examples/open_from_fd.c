// Opens a model that lies inside another file, as an asset lies in an Android package.
// Usage: open_from_fd MODEL
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

int fileno(FILE*);  // POSIX; hidden from C99 programs by default

int main(int argc, char** argv) {
  tw_model* model = NULL;
  char* text = NULL;
  char block[4096];
  size_t n;
  long offset, length;
  if (argc != 2) return 2;
  FILE* package = tmpfile();
  FILE* source = fopen(argv[1], "rb");
  if (package == NULL || source == NULL) return 1;
  fputs("the package's other content", package);
  offset = ftell(package);
  while ((n = fread(block, 1, sizeof(block), source)) > 0) fwrite(block, 1, n, package);
  length = ftell(package) - offset;
  fputs("and more of it", package);
  fflush(package);
  fclose(source);

  check(tw_model_open_fd(fileno(package), offset, length, &model));
  fclose(package);  // the model keeps its own hold of the file
  check(tw_model_describe(model, &text));
  printf("%.100s...\n", text);
  tw_memory_free(text);
  tw_model_free(model);
  return 0;
}
