// .npy reading and writing. The header is a Python literal; only the three keys that NumPy writes
// are understood, in any order.
#include "ports/cli/data/npy.h"

#include <cstring>
#include <limits>

#include "ports/cli/cli_error.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

struct NpyType {
  tw_dtype dtype;
  const char* descr;
  size_t bytes;
};
constexpr NpyType kTypes[] = {
    {TW_DTYPE_FLOAT32, "<f4", 4},   {TW_DTYPE_FLOAT16, "<f2", 2},     {TW_DTYPE_FLOAT64, "<f8", 8},
    {TW_DTYPE_INT8, "|i1", 1},      {TW_DTYPE_UINT8, "|u1", 1},       {TW_DTYPE_INT16, "<i2", 2},
    {TW_DTYPE_UINT16, "<u2", 2},    {TW_DTYPE_INT32, "<i4", 4},       {TW_DTYPE_UINT32, "<u4", 4},
    {TW_DTYPE_INT64, "<i8", 8},     {TW_DTYPE_UINT64, "<u8", 8},      {TW_DTYPE_BOOL, "|b1", 1},
    {TW_DTYPE_COMPLEX64, "<c8", 8}, {TW_DTYPE_COMPLEX128, "<c16", 16}};

[[noreturn]] void Bad(const std::string& path, const std::string& why) {
  throw CliError(kExitData, path + ": not a usable .npy file: " + why);
}

// The text after 'key': in the header.
std::string FieldText(const std::string& header, const char* key, const std::string& path) {
  const std::string quoted = std::string("'") + key + "':";
  const size_t at = header.find(quoted);
  if (at == std::string::npos) Bad(path, std::string("its header lacks '") + key + "'");
  const size_t begin = header.find_first_not_of(' ', at + quoted.size());
  return begin == std::string::npos ? "" : header.substr(begin);
}

std::vector<int64_t> ParseShape(const std::string& text, const std::string& path) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string::npos) Bad(path, "unreadable shape");
  std::vector<int64_t> shape;
  size_t i = 1;
  while (i < close) {
    if (text[i] == ' ' || text[i] == ',') {
      ++i;
      continue;
    }
    int64_t value = 0;
    const size_t start = i;
    for (; i < close && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + (text[i] - '0');
      if (value > std::numeric_limits<int32_t>::max()) Bad(path, "a dimension is too large");
    }
    if (i == start) Bad(path, "unreadable shape");
    shape.push_back(value);
  }
  return shape;
}

size_t CheckedBytes(const std::vector<int64_t>& shape, size_t element_bytes,
                    const std::string& path) {
  size_t total = element_bytes;
  for (int64_t dim : shape) {
    if (__builtin_mul_overflow(total, static_cast<size_t>(dim), &total)) {
      Bad(path, "its shape is too large");
    }
  }
  return total;
}

}  // namespace

int64_t Array::n_elements() const {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  return n;
}

size_t NpyElementBytes(tw_dtype dtype) {
  for (const NpyType& type : kTypes) {
    if (type.dtype == dtype) return type.bytes;
  }
  return 0;
}

Array ReadNpy(const std::string& path) {
  const std::vector<uint8_t> file = ReadWholeFile(path);
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0) {
    Bad(path,
        "it does not begin with NumPy's signature (images end in .jpg, .png or .bmp, sounds in .wav or .flac)");
  }
  const bool wide = file[6] >= 2;
  const size_t start = wide ? 12 : 10;
  if (file.size() < start) Bad(path, "it is truncated");
  size_t header_bytes = file[8] | static_cast<size_t>(file[9]) << 8;
  if (wide)
    header_bytes |= static_cast<size_t>(file[10]) << 16 | static_cast<size_t>(file[11]) << 24;
  if (header_bytes > file.size() - start) Bad(path, "it is truncated");
  const std::string header(file.begin() + static_cast<std::ptrdiff_t>(start),
                           file.begin() + static_cast<std::ptrdiff_t>(start + header_bytes));
  if (FieldText(header, "fortran_order", path).compare(0, 5, "False") != 0) {
    Bad(path, "it is in Fortran order; save it with numpy.ascontiguousarray");
  }
  const std::string descr_text = FieldText(header, "descr", path);
  const size_t end = descr_text.size() < 2 ? std::string::npos : descr_text.find('\'', 1);
  const std::string descr = end == std::string::npos ? descr_text : descr_text.substr(1, end - 1);
  Array array;
  size_t element_bytes = 0;
  for (const NpyType& type : kTypes) {
    if (descr != type.descr) continue;
    array.dtype = type.dtype;
    element_bytes = type.bytes;
  }
  if (element_bytes == 0) Bad(path, "its dtype " + descr + " is not one that tensors have");
  array.shape = ParseShape(FieldText(header, "shape", path), path);
  const size_t bytes = CheckedBytes(array.shape, element_bytes, path);
  const size_t present = file.size() - start - header_bytes;
  if (present < bytes) {
    Bad(path, "it is truncated: " + std::to_string(bytes) + " bytes of data expected, " +
                  std::to_string(present) + " found");
  }
  const auto data = file.begin() + static_cast<std::ptrdiff_t>(start + header_bytes);
  array.bytes.assign(data, data + static_cast<std::ptrdiff_t>(bytes));
  return array;
}

std::vector<uint8_t> EncodeNpy(tw_dtype dtype, const std::vector<int64_t>& shape, const void* data,
                               size_t data_bytes) {
  const char* descr = nullptr;
  for (const NpyType& type : kTypes) {
    if (type.dtype == dtype) descr = type.descr;
  }
  if (descr == nullptr) {
    throw CliError(kExitUnsupported,
                   std::string(".npy files cannot hold ") + tw_dtype_name(dtype) + " tensors");
  }
  std::string dims;
  for (int64_t dim : shape) dims += std::to_string(dim) + ", ";
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  if (shape.size() == 1) dims.resize(dims.size() - 1);
  std::string header =
      std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::vector<uint8_t> file = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  file.push_back(static_cast<uint8_t>(header.size() & 0xff));
  file.push_back(static_cast<uint8_t>(header.size() >> 8));
  file.insert(file.end(), header.begin(), header.end());
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  file.insert(file.end(), bytes, bytes + data_bytes);
  return file;
}

}  // namespace cli
}  // namespace topwork
