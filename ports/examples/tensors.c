// Prints type, shape and quantization of a model's inputs and outputs.
// Usage: tensors MODEL
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static void print_tensor(const char* what, const tw_tensor_info* info) {
  printf("%s '%s': %s [", what, info->name, tw_dtype_name(info->dtype));
  for (int i = 0; i < info->rank; ++i) {
    printf("%s%d%s", i == 0 ? "" : ", ", (int)info->dims[i],
           info->open_dims[i] < 0 ? " (open)" : "");
  }
  printf("], %zu bytes\n", info->bytes);
  for (size_t i = 0; i < info->n_scales; ++i) {
    printf("  real = %g x (stored - %d)\n", info->scales[i], (int)info->zero_points[i]);
  }
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_model_info about;
  tw_tensor_info info;
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  about.struct_size = sizeof(about);
  check(tw_model_get_info(model, &about));
  info.struct_size = sizeof(info);
  for (size_t i = 0; i < about.n_inputs; ++i) {
    check(tw_model_get_input(model, i, &info));
    print_tensor("input", &info);
  }
  for (size_t i = 0; i < about.n_outputs; ++i) {
    check(tw_model_get_output(model, i, &info));
    print_tensor("output", &info);
  }
  tw_model_free(model);
  return 0;
}
