// Teaches two classes without epochs, forgets an example again, and writes the new model.
// Usage: learn MODEL NEW_MODEL (float32 [1, 8, 8, 1])
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

#define N 40

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

// A picture that is bright on the left (class 0) or on the right (class 1).
static void draw(float* image, int i) {
  for (int k = 0; k < 64; ++k) {
    image[k] = (k % 8 < 4) == (i % 2 == 0) ? 0.5f + (float)((i + k) % 8) / 16.0f : 0.0f;
  }
}

int main(int argc, char** argv) {
  static float images[N][64];
  static char names[N][16];
  const char* ids[N];
  int64_t labels[N];
  float scores[2] = {0.0f, 0.0f};
  tw_model *model = NULL, *taught = NULL;
  tw_learner* learner = NULL;
  tw_examples examples = {0};
  tw_selection one = {0};
  tw_learner_info info = {0};
  const char* const classes[] = {"left", "right"};
  const char* const mistake = "picture 7";
  if (argc != 3) return 2;
  for (int i = 0; i < N; ++i) {
    draw(images[i], i);
    sprintf(names[i], "picture %d", i);
    ids[i] = names[i];
    labels[i] = i % 2;
  }
  labels[7] = 0;  // a mistake
  check(tw_model_open_file(argv[1], &model));
  check(tw_learner_create(model, NULL, &learner));
  check(tw_learner_set_classes(learner, classes, NULL, 2));
  examples.struct_size = sizeof(examples);
  examples.n_examples = N;
  examples.data = images;
  examples.data_bytes = sizeof(images);
  examples.dtype = TW_DTYPE_FLOAT32;
  examples.labels = labels;
  examples.ids = ids;
  check(tw_learner_add(learner, &examples));

  // From now on each change moves the head at once.
  one.struct_size = sizeof(one);
  one.n_ids = 1;
  one.ids = &mistake;
  check(tw_learner_relabel(learner, &one, 1));
  one.ids = ids;
  check(tw_learner_remove(learner, &one));
  examples.n_examples = 1;
  examples.data_bytes = sizeof(images[0]);
  check(tw_learner_predict(learner, &examples, scores, 2));
  info.struct_size = sizeof(info);
  check(tw_learner_get_info(learner, &info));
  printf("%d examples; \"picture 0\", which was forgotten, is %s with probability %.3f\n",
         (int)info.n_examples, info.class_names[scores[1] > scores[0]],
         scores[1] > scores[0] ? scores[1] : scores[0]);
  check(tw_learner_export(learner, &taught));
  check(tw_model_save(taught, argv[2]));
  tw_model_free(taught);
  tw_learner_free(learner);
  tw_model_free(model);
  return scores[0] > scores[1] && info.n_examples == N - 1 ? 0 : 1;
}
