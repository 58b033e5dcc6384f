// The file that a *_peers.py script gives to its bench: examples and the rows of every step.
//
// Little endian: int32 dim, classes, examples, batch, steps; float32 rate; then rows [examples,
// dim] f32, labels [examples] i32, and the rows of every step [steps, batch] i32.
#ifndef TOPWORK_TESTS_PEERS_STEPS_FILE_H_
#define TOPWORK_TESTS_PEERS_STEPS_FILE_H_

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "runtime/base/buffer.h"

namespace topwork {
namespace peers {

template <typename T>
bool ReadArray(std::FILE* file, size_t n, std::vector<T>* out) {
  out->resize(n);
  return std::fread(out->data(), sizeof(T), n, file) == n;
}

struct StepsFile {
  int32_t dim = 0, n_classes = 0, n_examples = 0, batch = 0, n_steps = 0;
  float learning_rate = 0.0f;
  Buffer x;  // aligned, as the feature cache is
  std::vector<int32_t> labels, rows;
};

inline bool ReadSteps(const char* path, StepsFile* p) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::vector<int32_t> head;
  std::vector<float> rate;
  bool ok = ReadArray(file, 5, &head) && ReadArray(file, 1, &rate);
  if (ok) {
    p->dim = head[0];
    p->n_classes = head[1];
    p->n_examples = head[2];
    p->batch = head[3];
    p->n_steps = head[4];
    p->learning_rate = rate[0];
    const size_t n = static_cast<size_t>(p->n_examples);
    const size_t n_floats = n * static_cast<size_t>(p->dim);
    auto buffer = Buffer::Allocate(n_floats * sizeof(float), "the examples");
    if (buffer.ok()) p->x = std::move(buffer.value());
    ok = buffer.ok() && std::fread(p->x.data(), sizeof(float), n_floats, file) == n_floats &&
         ReadArray(file, n, &p->labels) &&
         ReadArray(file, static_cast<size_t>(p->n_steps) * static_cast<size_t>(p->batch), &p->rows);
  }
  std::fclose(file);
  return ok;
}

}  // namespace peers
}  // namespace topwork

#endif  // TOPWORK_TESTS_PEERS_STEPS_FILE_H_
