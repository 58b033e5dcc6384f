#include "runtime/train/audit/order.h"

#include <algorithm>

namespace topwork {

void SortByKeys(const float* keys, int64_t stride, std::vector<int32_t>* order) {
  std::sort(order->begin(), order->end(), [=](int32_t a, int32_t b) {
    const float key_a = keys[a * stride], key_b = keys[b * stride];
    return key_a != key_b ? key_a > key_b : a < b;
  });
}

}  // namespace topwork
