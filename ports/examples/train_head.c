// Re-trains the last layer for two new classes, evaluates it and writes the new model.
// Usage: train_head MODEL NEW_MODEL (float32 [1, 8, 8, 1])
#include <stdio.h>
#include <stdlib.h>
#include <topwork/topwork.h>

#define N 60

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static int32_t print_epoch(void* user_data, const tw_trainer_progress* p) {
  (void)user_data;
  printf("epoch %d/%d: loss %.4f, accuracy %.3f, on the validation set %.3f\n", (int)p->epoch,
         (int)p->n_epochs, p->train_loss, p->train_accuracy, p->validation_accuracy);
  return 0;  // 1 would stop
}

int main(int argc, char** argv) {
  static float images[N][64];  // bright on the left: class 0; on the right: class 1
  int64_t labels[N];
  const char* const names[2] = {"left", "right"};
  tw_model *model = NULL, *trained = NULL;
  tw_trainer* trainer = NULL;
  tw_trainer_options options;
  tw_examples examples = {0};
  tw_fit_options fit = {0};
  tw_evaluation evaluation = {0};
  if (argc != 3) return 2;
  for (int i = 0; i < N; ++i) {
    labels[i] = i % 2;
    for (int k = 0; k < 64; ++k) {
      images[i][k] = (k % 8 < 4) == (labels[i] == 0) ? 0.5f + (float)((i + k) % 8) / 16.0f : 0.0f;
    }
  }
  check(tw_model_open_file(argv[1], &model));
  check(tw_trainer_options_init(&options, sizeof(options)));
  options.n_classes = 2;
  options.class_names = names;
  options.optimizer.learning_rate = 0.02f;
  options.n_epochs = 10;
  check(tw_trainer_create(model, &options, &trainer));
  examples.struct_size = sizeof(examples);
  examples.n_examples = N;
  examples.data = images;
  examples.data_bytes = sizeof(images);
  examples.dtype = TW_DTYPE_FLOAT32;
  examples.labels = labels;
  check(tw_trainer_add_examples(trainer, &examples));
  fit.struct_size = sizeof(fit);
  fit.progress = print_epoch;
  check(tw_trainer_fit(trainer, &fit, NULL));

  evaluation.struct_size = sizeof(evaluation);
  check(tw_trainer_evaluate(trainer, &examples, 0, &evaluation));
  printf("accuracy %.3f; %d of class 0 taken for class 1\n", evaluation.top1,
         (int)evaluation.confusion[1]);
  check(tw_trainer_export(trainer, &trained));
  check(tw_model_save(trained, argv[2]));
  tw_model_free(trained);
  tw_trainer_free(trainer);
  tw_model_free(model);
  return evaluation.top1 > 0.9 ? 0 : 1;
}
