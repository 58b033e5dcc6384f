// Hash64: four lanes, so that four multiplications are under way at a time.
#include "runtime/base/hash64.h"

#include <cstring>

namespace topwork {
namespace {

constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;

uint64_t Step(uint64_t x, uint64_t word) {
  x = (x ^ word) * kOdd;
  return x << 29 | x >> 35;
}

uint64_t Load(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

}  // namespace

uint64_t Hash64(const void* data, size_t size, uint64_t seed) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  uint64_t lanes[4] = {seed, seed + 1 * kOdd, seed + 2 * kOdd, seed + 3 * kOdd};
  size_t i = 0;
  for (; i + 32 <= size; i += 32) {
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = Step(lanes[lane], Load(bytes + i + 8 * lane));
    }
  }
  for (; i + 8 <= size; i += 8) lanes[0] = Step(lanes[0], Load(bytes + i));
  uint64_t rest = 0;
  if (i < size) std::memcpy(&rest, bytes + i, size - i);
  lanes[1] = Step(lanes[1], rest);
  uint64_t hash = Step(seed, size);
  for (uint64_t lane : lanes) hash = Step(hash, lane);
  // The last steps reach all bits only after one more mix.
  hash = (hash ^ hash >> 32) * kOdd;
  return hash ^ hash >> 29;
}

}  // namespace topwork
