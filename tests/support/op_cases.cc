// Reader of the .twcases containers (layout in op_cases.h) and comparison with reference outputs.
// Every length is checked against the bytes left, so a damaged file is an error and not a crash.
#include "tests/support/op_cases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/embedded.h"

namespace topwork {
namespace test {
namespace {

const std::string kCaseFolder = "tests/data/ops/", kCaseEnding = ".twcases";
constexpr uint32_t kRefused = 0xFFFFFFFFu;
constexpr int kFloat32 = 0, kFloat16 = 1, kFloat64 = 10, kComplex64 = 8, kComplex128 = 11;
constexpr int kInt32 = 2, kInt64 = 4, kInt16 = 7, kInt8 = 9;

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  template <typename T>
  T Number() {
    T value{};
    if (const uint8_t* at = Bytes(sizeof(T))) std::memcpy(&value, at, sizeof(T));
    return value;
  }

  const uint8_t* Bytes(uint64_t count) {
    if (failed_ || count > size_ - at_) {
      failed_ = true;
      return nullptr;
    }
    const uint8_t* result = data_ + at_;
    at_ += static_cast<size_t>(count);
    return result;
  }

  const uint8_t* AlignedBytes(uint64_t count) {
    Bytes((16 - at_ % 16) % 16);
    return Bytes(count);
  }

  // A count of things that take at least `least` bytes each; fails when they cannot be there.
  uint32_t Count(size_t least) {
    const uint32_t count = Number<uint32_t>();
    if (count > (size_ - at_) / least) failed_ = true;
    return failed_ ? 0 : count;
  }

  CaseTensor Tensor() {
    CaseTensor tensor;
    tensor.dtype = Number<uint8_t>();
    const int rank = Number<uint8_t>();
    Bytes(2);
    for (int i = 0; i < rank && !failed_; ++i) tensor.dims.push_back(Number<int32_t>());
    const uint64_t n_bytes = Number<uint64_t>();
    tensor.data = AlignedBytes(n_bytes);
    tensor.n_bytes = failed_ ? 0 : static_cast<size_t>(n_bytes);
    return tensor;
  }

  bool failed() const { return failed_; }
  size_t at() const { return at_; }
  uint32_t PeekCount() const {
    uint32_t value = 0;
    if (!failed_ && size_ - at_ >= sizeof(value)) std::memcpy(&value, data_ + at_, sizeof(value));
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
  bool failed_ = false;
};

OpCase ReadCase(Reader* reader, const OpCase* before) {
  constexpr size_t kLeastTensor = 12;
  OpCase result;
  const uint32_t name_bytes = reader->Count(1);
  if (const uint8_t* name = reader->Bytes(name_bytes)) {
    result.name.assign(reinterpret_cast<const char*>(name), name_bytes);
  }
  const size_t at_sign = result.name.find('@');
  if (at_sign != std::string::npos) {
    result.signature = result.name.substr(at_sign + 1);
    result.name.resize(at_sign);
  }
  result.model_bytes = reader->Number<uint32_t>();
  if (result.model_bytes > 0) {
    result.model = reader->AlignedBytes(result.model_bytes);
  } else if (before != nullptr) {
    result.same_session = true;
    result.model = before->model;
    result.model_bytes = before->model_bytes;
  }
  const uint32_t n_inputs = reader->Count(kLeastTensor);
  for (uint32_t i = 0; i < n_inputs; ++i) result.inputs.push_back(reader->Tensor());
  if (reader->PeekCount() == kRefused) {
    result.refused = true;
    reader->Bytes(sizeof(uint32_t));
  } else {
    const uint32_t n_outputs = reader->Count(kLeastTensor);
    for (uint32_t i = 0; i < n_outputs; ++i) result.outputs.push_back(reader->Tensor());
  }
  result.rtol = reader->Number<float>();
  return result;
}

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double value;
  if (exponent == 31) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T Load(const void* data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(data) + index * sizeof(T), sizeof(T));
  return value;
}

double FloatAt(int dtype, const void* data, size_t index) {
  if (dtype == kFloat32) return static_cast<double>(Load<float>(data, index));
  if (dtype == kFloat16) return HalfToDouble(Load<uint16_t>(data, index));
  return Load<double>(data, index);
}

std::string Dims(const std::vector<int32_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

// Of complex numbers both parts, one by one.
std::string CompareFloats(CaseTensor ref, const void* got, float rtol) {
  if (ref.dtype == kComplex64) ref.dtype = kFloat32;
  if (ref.dtype == kComplex128) ref.dtype = kFloat64;
  const size_t size = ref.dtype == kFloat32 ? 4 : ref.dtype == kFloat16 ? 2 : 8;
  const size_t n = ref.n_bytes / size;
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    const double value = std::fabs(FloatAt(ref.dtype, ref.data, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  double worst = -1;
  size_t worst_at = 0;
  for (size_t i = 0; i < n; ++i) {
    const double want = FloatAt(ref.dtype, ref.data, i);
    const double have = FloatAt(ref.dtype, got, i);
    double error = std::fabs(want - have);
    if (!std::isfinite(want) || !std::isfinite(have)) {
      const bool same = std::isnan(want) ? std::isnan(have) : want == have;
      error = same ? 0 : std::numeric_limits<double>::infinity();
    }
    if (error > worst) {
      worst = error;
      worst_at = i;
    }
  }
#if defined(__arm__)  // NEON of 32-bit processors takes denormal numbers for zero
  if (worst < static_cast<double>(std::numeric_limits<float>::min())) return "";
#endif
  if (worst <= static_cast<double>(rtol) * largest) return "";
  return "element " + std::to_string(worst_at) + " of " + std::to_string(n) + ": got " +
         std::to_string(FloatAt(ref.dtype, got, worst_at)) + ", reference " +
         std::to_string(FloatAt(ref.dtype, ref.data, worst_at)) + " (allowed difference " +
         std::to_string(static_cast<double>(rtol) * largest) + ")";
}

int64_t IntAt(int dtype, const void* data, size_t index) {
  switch (dtype) {
    case kInt8:
      return Load<int8_t>(data, index);
    case kInt16:
      return Load<int16_t>(data, index);
    case kInt32:
      return Load<int32_t>(data, index);
    case kInt64:
      return Load<int64_t>(data, index);
    default:
      return Load<uint8_t>(data, index);
  }
}

size_t IntSize(int dtype) {
  return dtype == kInt64 ? 8 : dtype == kInt32 ? 4 : dtype == kInt16 ? 2 : 1;
}

// The first element that is further than `steps` from its reference.
std::string CompareInts(const CaseTensor& ref, const void* got, int64_t steps) {
  const size_t n = ref.n_bytes / IntSize(ref.dtype);
  for (size_t i = 0; i < n; ++i) {
    const int64_t want = IntAt(ref.dtype, ref.data, i), have = IntAt(ref.dtype, got, i);
    if (want - have <= steps && have - want <= steps) continue;
    return "element " + std::to_string(i) + " of " + std::to_string(n) + ": got " +
           std::to_string(have) + ", reference " + std::to_string(want);
  }
  return "";
}

}  // namespace

std::string ReadOpCases(const void* data, size_t n_bytes, std::vector<OpCase>* cases) {
  cases->clear();
  Reader reader(static_cast<const uint8_t*>(data), n_bytes);
  const uint8_t* magic = reader.Bytes(8);
  if (magic == nullptr || std::memcmp(magic, "TWCASES1", 8) != 0) {
    return "not a .twcases file: it does not begin with TWCASES1";
  }
  const uint32_t n_cases = reader.Count(20);
  for (uint32_t i = 0; i < n_cases; ++i) {
    const OpCase* before = cases->empty() ? nullptr : &cases->back();
    OpCase next = ReadCase(&reader, before);
    if (reader.failed()) break;
    if (next.model == nullptr) return "case " + next.name + ": no model and no case before it";
    cases->push_back(std::move(next));
  }
  if (reader.failed()) {
    return "case " + std::to_string(cases->size()) + ": the file ends early, at byte " +
           std::to_string(reader.at()) + " of " + std::to_string(n_bytes);
  }
  if (reader.at() != n_bytes) return "bytes left over after the last case";
  return "";
}

std::vector<std::string> CaseFiles(const std::string& prefix) {
  const std::string begin = kCaseFolder + prefix;
  std::vector<std::string> names;
  size_t n_files = 0;
  const EmbeddedFile* files = EmbeddedFiles(&n_files);
  for (size_t i = 0; i < n_files; ++i) {
    const std::string path = files[i].name;
    if (path.compare(0, begin.size(), begin) != 0) continue;
    const size_t end = path.rfind(kCaseEnding);
    if (end == std::string::npos) continue;
    names.push_back(path.substr(kCaseFolder.size(), end - kCaseFolder.size()));
  }
  return names;
}

std::vector<OpCase> CasesOf(const std::string& file) {
  const std::string path = kCaseFolder + file + kCaseEnding;
  INFO(path);
  const EmbeddedFile* bytes = FindEmbedded(path.c_str());
  REQUIRE(bytes != nullptr);
  std::vector<OpCase> cases;
  REQUIRE(ReadOpCases(bytes->data, bytes->size, &cases) == "");
  REQUIRE_FALSE(cases.empty());
  for (OpCase& op_case : cases) op_case.file = file;
  return cases;
}

size_t ForEachCase(const CaseFilter& filter, const std::function<void(const OpCase&)>& visit) {
  size_t n_visited = 0;
  for (const std::string& file : CaseFiles()) {
    for (const OpCase& op_case : CasesOf(file)) {
      if (!filter(op_case)) continue;
      INFO(file << ": " << op_case.name);
      visit(op_case);
      ++n_visited;
    }
  }
  return n_visited;
}

bool IsAccepted(const OpCase& op_case) { return !op_case.refused; }
bool OpensModel(const OpCase& op_case) { return IsAccepted(op_case) && !op_case.same_session; }
bool OpensFirstSubgraph(const OpCase& op_case) {
  return OpensModel(op_case) && op_case.signature.empty();
}

std::string CompareWithReference(const CaseTensor& reference, int dtype,
                                 const std::vector<int32_t>& dims, const void* got, size_t n_bytes,
                                 float rtol) {
  if (dtype != reference.dtype) {
    return "dtype " + std::to_string(dtype) + ", reference " + std::to_string(reference.dtype);
  }
  if (dims != reference.dims) return "shape " + Dims(dims) + ", reference " + Dims(reference.dims);
  if (n_bytes != reference.n_bytes) {
    return std::to_string(n_bytes) + " bytes, reference " + std::to_string(reference.n_bytes);
  }
  if (n_bytes == 0) return "";
  if (dtype == kFloat32 || dtype == kFloat16 || dtype == kFloat64 || dtype == kComplex64 ||
      dtype == kComplex128) {
    return CompareFloats(reference, got, rtol);
  }
  return CompareInts(reference, got, rtol >= 1.0f ? static_cast<int64_t>(rtol) : 0);
}

}  // namespace test
}  // namespace topwork
