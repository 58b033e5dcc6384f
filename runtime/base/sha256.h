// SHA-256 (FIPS 180-4): names models, cache entries and checkpoints by their content.
#ifndef TOPWORK_RUNTIME_BASE_SHA256_H_
#define TOPWORK_RUNTIME_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace topwork {

class Sha256 {
 public:
  // `portable`: without the processor's own instructions; the digest is the same.
  explicit Sha256(bool portable = false);
  void Update(const void* data, size_t size);
  // May be called once; the object is spent afterwards.
  std::array<uint8_t, 32> Finish();

 private:
  void Blocks(const uint8_t* data, size_t n_blocks);
  bool portable_;
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_;
  size_t n_pending_ = 0;
  uint64_t n_bytes_ = 0;
};

// Lower-case hexadecimal digest of one block of memory.
std::string Sha256Hex(const void* data, size_t size);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_SHA256_H_
