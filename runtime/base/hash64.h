// A fast 64-bit checksum of memory, for cache files: notices damage, not malice.
//
// The input is read as eight-byte words, which go to four lanes in turn. Each step is x ← rotate((x
// ^ word) · odd, 29); at the end the length and the lanes are folded by the same step. A step maps
// neither two words nor two lanes to one result. So a change within one word (thus every flipped
// bit) always changes the result; any other change does so with probability 1 − 2^-64. Results
// depend on the processor's byte order.
#ifndef TOPWORK_RUNTIME_BASE_HASH64_H_
#define TOPWORK_RUNTIME_BASE_HASH64_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

// Different seeds give unrelated hashes.
uint64_t Hash64(const void* data, size_t size, uint64_t seed);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_HASH64_H_
