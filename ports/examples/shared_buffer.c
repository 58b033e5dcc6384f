// A camera process and this one share memory: the model reads frames where the camera wrote them. Nothing is copied.
// So does a driver's buffer (V4L2's mmap, a dma-buf): give tw_session_bind_input its mapped address, and let a phone's
// GPU have it, too, by tw_session_options.shared_memory (the dma-buf's file descriptor: VIDIOC_EXPBUF, or an AHardwareBuffer).
// Usage: shared_buffer MODEL (float32 [1, 8, 8, 1] to float32 [1, 10])
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <topwork/topwork.h>
#include <unistd.h>

enum { kFrames = 3, kPixels = 64 };

static void check(tw_status status) {
  if (status == TW_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

// The camera: another process, which maps the same memory.
static void shoot(float* frames) {
  for (int i = 0; i < kFrames; ++i) {
    for (int k = 0; k < kPixels; ++k) frames[i * kPixels + k] = (float)((i + k) % 17) / 16.0f;
  }
}

// Pages are aligned for any device. One that shares the processor's memory reads large frames in place, too.
static float* map_frames(void) {
  void* memory = mmap(NULL, sizeof(float) * kFrames * kPixels, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  return memory;
}

int main(int argc, char** argv) {
  tw_model* model = NULL;
  tw_session* session = NULL;
  tw_tensor_info input = {.struct_size = sizeof(input)};
  tw_tensor_info output = {.struct_size = sizeof(output)};
  float* const frames = map_frames();
  if (argc != 2) return 2;
  check(tw_model_open_file(argv[1], &model));
  check(tw_session_create(model, NULL, &session));
  const pid_t camera = fork();
  if (camera == 0) {
    shoot(frames);
    _exit(0);
  }
  int ended = 1;
  if (camera < 0 || waitpid(camera, &ended, 0) != camera || ended != 0) return 1;
  for (int i = 0; i < kFrames; ++i) {
    float* const frame = frames + i * kPixels;
    check(tw_session_bind_input(session, 0, frame, sizeof(float) * kPixels));
    check(tw_session_get_input(session, 0, &input));
    if (input.data != frame)
      return 1;  // the model would read something else than the camera's memory
    check(tw_session_run(session));
    check(tw_session_get_output(session, 0, &output));
    const float* const scores = output.data;
    int best = 0;
    for (int c = 1; c < 10; ++c) {
      if (scores[c] > scores[best]) best = c;
    }
    printf("frame %d: class %d has %.3f\n", i, best, scores[best]);
  }
  tw_session_free(session);  // before the memory goes
  tw_model_free(model);
  munmap(frames, sizeof(float) * kFrames * kPixels);
  return 0;
}
