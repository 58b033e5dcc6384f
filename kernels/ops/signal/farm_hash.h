// FarmHash's 64-bit fingerprint (Geoff Pike, "farmhashna"): the hash that LSH_PROJECTION is defined
// by. Not for security.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_FARM_HASH_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_FARM_HASH_H_

#include <cstddef>
#include <cstdint>

namespace topwork {

uint64_t FarmFingerprint64(const uint8_t* s, size_t n);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_FARM_HASH_H_
