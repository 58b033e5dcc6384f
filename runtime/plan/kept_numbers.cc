// Numbers as record files of doubles.
#include "runtime/plan/kept_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ports/port.h"
#include "runtime/base/record_file.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace {

RecordId NumbersId(const std::string& key) { return {RecordKind::kNumbers, 1, key}; }

}  // namespace

std::string NumbersPath(const std::string& folder, const std::string& key) {
  return folder + "/" + Sha256Hex(key.data(), key.size()) + ".twnum";
}

bool LoadNumbers(const std::string& folder, const std::string& key, Span<double> numbers) {
  const size_t bytes = numbers.size() * sizeof(double);
  std::vector<uint8_t> payload;
  if (folder.empty() || !LoadRecord(NumbersPath(folder, key), NumbersId(key), bytes, &payload)) {
    return false;
  }
  if (payload.size() != bytes) return false;
  if (bytes > 0) std::memcpy(numbers.data(), payload.data(), bytes);
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

bool KeepNumbers(const std::string& folder, const std::string& key, Span<const double> numbers) {
  return KeepRecord(
      folder, NumbersPath(folder, key), NumbersId(key),
      {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size() * sizeof(double)});
}

}  // namespace topwork
