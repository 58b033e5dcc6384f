// A fast 64-bit checksum of memory, for cache files: notices damage, not malice.
//
// Eight-byte words go round four lanes, each step x ← rotate((x ^ word) · odd, 29); the length and
// the lanes are then folded by the same step. Every step is a bijection of the word and of the
// lane, so a change within one word (every flipped bit, then) always changes the result, any other
// one with probability 1 − 2^-64. Results depend on the processor's byte order.
#ifndef TOPWORK_RUNTIME_BASE_HASH64_H_
#define TOPWORK_RUNTIME_BASE_HASH64_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

// Different seeds give unrelated hashes.
uint64_t Hash64(const void* data, size_t size, uint64_t seed);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_HASH64_H_
