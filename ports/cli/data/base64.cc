#include "ports/cli/data/base64.h"

#include <algorithm>
#include <cstdint>

namespace topwork {
namespace cli {

std::string Base64(const std::string& bytes) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = (group << 8) | (j < n ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= n ? kDigits[(group >> (18 - 6 * j)) & 63] : '=';
    }
  }
  return text;
}

}  // namespace cli
}  // namespace topwork
