// Examples in the order of a number.
#ifndef TOPWORK_RUNTIME_TRAIN_AUDIT_ORDER_H_
#define TOPWORK_RUNTIME_TRAIN_AUDIT_ORDER_H_

#include <cstdint>
#include <vector>

namespace topwork {

// Sorts `order` so that keys[i · stride] falls over its members i; equals come by their number.
void SortByKeys(const float* keys, int64_t stride, std::vector<int32_t>* order);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_AUDIT_ORDER_H_
