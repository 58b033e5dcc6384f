// Listens for a wake word with three models in a chain, as openWakeWord does: frames of a mel
// spectrogram, embeddings of the last frames, and a head over the last embeddings.
// Usage: wake_word MEL EMBEDDING HEAD [SAMPLES [HOP]]
// SAMPLES: raw 16-bit little-endian samples of one channel; none, or "-": standard input, as in
//   arecord -t raw -f S16_LE -c 1 -r 16000 | wake_word mel.tflite embedding.tflite alexa.tflite
// HOP: samples between two calls of the chain; none: 1280, which is 80 ms at 16 kHz.
// It prints a line for each answer of the head: seconds heard so far, scores.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topwork/topwork.h>

// What openWakeWord's first model looks back at, where the file leaves its length open.
#define CONTEXT 480
#define THRESHOLD 0.5f

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

// A model of the chain: its input is a window over a row of floats that slides on.
typedef struct stage {
  tw_model* model;
  tw_session* session;
  tw_tensor_info input, output;
  size_t n_inputs, n_outputs;  // floats
  float* window;
  size_t n_filled;
} stage;

// n_samples above 0: the length of an input that is open in the file.
static void open_stage(stage* it, const char* path, int32_t n_samples) {
  tw_session_options options;
  tw_shape shape = {2, {1, 0}};
  memset(it, 0, sizeof(*it));
  check(tw_model_open_file(path, &it->model));
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.device = "cpu";  // small models gain nothing elsewhere
  options.n_threads = 1;
  it->input.struct_size = sizeof(it->input);
  it->output.struct_size = sizeof(it->output);
  check(tw_model_get_input(it->model, 0, &it->input));
  if (n_samples > 0 && it->input.rank == 2 && it->input.open_dims[1] < 0) {
    shape.dims[1] = n_samples;
    options.input_shapes = &shape;
    options.n_input_shapes = 1;
  }
  check(tw_session_create(it->model, &options, &it->session));
  check(tw_session_get_input(it->session, 0, &it->input));
  check(tw_session_get_output(it->session, 0, &it->output));
  require(it->input.dtype == TW_DTYPE_FLOAT32 && it->output.dtype == TW_DTYPE_FLOAT32 &&
              it->input.rank >= 2 && it->output.rank >= 2,
          "a model of the chain takes and gives rows of float32");
  it->n_inputs = it->input.bytes / sizeof(float);
  it->n_outputs = it->output.bytes / sizeof(float);
  it->window = calloc(it->n_inputs, sizeof(float));
  require(it->window != NULL, "out of memory");
}

static void close_stage(stage* it) {
  free(it->window);
  tw_session_free(it->session);
  tw_model_free(it->model);
}

// Puts `n` values behind the others; the oldest ones leave. 1: the window is full.
static int slide(stage* it, const float* values, size_t n) {
  const size_t kept = it->n_inputs - n;
  memmove(it->window, it->window + n, kept * sizeof(float));
  memcpy(it->window + kept, values, n * sizeof(float));
  it->n_filled = it->n_filled + n < it->n_inputs ? it->n_filled + n : it->n_inputs;
  return it->n_filled == it->n_inputs;
}

static const float* run(stage* it) {
  check(tw_session_write_input(it->session, 0, it->window, it->input.bytes));
  check(tw_session_run(it->session));
  check(tw_session_get_output(it->session, 0, &it->output));
  return it->output.data;
}

// `hop` samples as openWakeWord's models take them, of the size of 16-bit integers; 0 at the end.
static int read_samples(FILE* file, float* samples, size_t hop) {
  for (size_t i = 0; i < hop; ++i) {
    const int low = getc(file), high = getc(file);
    if (low == EOF || high == EOF) return 0;
    samples[i] = (float)(int16_t)(low | high << 8);
  }
  return 1;
}

// Runs the chain on hop new samples; the head's scores, or NULL while its window is not full.
static const float* hear(stage* mel, stage* embedding, stage* head, const float* samples,
                         size_t hop, float* frames) {
  const float* spectrum;
  slide(mel, samples, hop);
  spectrum = run(mel);
  for (size_t i = 0; i < mel->n_outputs; ++i) frames[i] = spectrum[i] / 10.0f + 2.0f;
  if (!slide(embedding, frames, mel->n_outputs)) return NULL;
  if (!slide(head, run(embedding), embedding->n_outputs)) return NULL;
  return run(head);
}

int main(int argc, char** argv) {
  stage mel, embedding, head;
  const size_t hop = argc > 5 ? (size_t)strtoul(argv[5], NULL, 10) : 1280;
  FILE* file = stdin;
  double seconds = 0.0;
  if (argc < 4 || argc > 6 || hop == 0) {
    fprintf(stderr, "usage: wake_word MEL EMBEDDING HEAD [SAMPLES [HOP]]\n");
    return 2;
  }
  open_stage(&mel, argv[1], (int32_t)(hop + CONTEXT));
  open_stage(&embedding, argv[2], 0);
  open_stage(&head, argv[3], 0);
  require(mel.n_inputs >= hop, "the first model takes fewer samples than a hop has");
  require(mel.output.dims[mel.output.rank - 1] == embedding.input.dims[2] &&
              mel.n_outputs <= embedding.n_inputs,
          "the second model takes other frames than the first one makes");
  require(embedding.n_outputs == (size_t)head.input.dims[head.input.rank - 1],
          "the third model takes other embeddings than the second one makes");
  if (argc > 4 && strcmp(argv[4], "-") != 0) file = fopen(argv[4], "rb");
  require(file != NULL, "the file of samples cannot be opened");

  float* const samples = malloc(hop * sizeof(float));
  float* const frames = malloc(mel.n_outputs * sizeof(float));
  require(samples != NULL && frames != NULL, "out of memory");
  while (read_samples(file, samples, hop)) {
    const float* const scores = hear(&mel, &embedding, &head, samples, hop, frames);
    seconds += (double)hop / 16000.0;
    if (scores == NULL) continue;
    printf("%.3f s ", seconds);
    for (size_t i = 0; i < head.n_outputs; ++i) {
      printf(" %.6f%s", scores[i], scores[i] >= THRESHOLD ? " heard" : "");
    }
    printf("\n");
    fflush(stdout);
  }
  free(samples);
  free(frames);
  if (file != stdin) fclose(file);
  close_stage(&mel);
  close_stage(&embedding);
  close_stage(&head);
  return 0;
}
