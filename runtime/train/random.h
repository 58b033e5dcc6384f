// Random: SplitMix64, written out here so that a seed gives the same order on every platform.
//
// The whole state is one 64-bit number, which a checkpoint stores. Not for cryptography.
#ifndef TOPWORK_RUNTIME_TRAIN_RANDOM_H_
#define TOPWORK_RUNTIME_TRAIN_RANDOM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace topwork {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t state() const { return state_; }

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, n), n ≥ 1, without bias: draws in the incomplete last interval are repeated.
  uint64_t Below(uint64_t n) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t draw = Next();
    while (draw >= limit) draw = Next();
    return draw % n;
  }

  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Standard normal, by Box and Muller; two draws each.
  double Gaussian() {
    const double u = (static_cast<double>(Next() >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
    const double v = static_cast<double>(Next() >> 11) * 0x1p-53;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

  // Fisher-Yates from the last element down.
  template <typename T>
  void Shuffle(std::vector<T>* items) {
    for (size_t i = items->size(); i > 1; --i) {
      std::swap((*items)[i - 1], (*items)[static_cast<size_t>(Below(i))]);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_RANDOM_H_
