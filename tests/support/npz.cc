#include "tests/support/npz.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/format/zip.h"

namespace topwork {
namespace test {
namespace {

// The text between `begin` and `end` behind `key` of a .npy header, a Python dictionary.
std::string HeaderField(const std::string& header, const char* key, char begin, char end) {
  const size_t at = header.find(key);
  REQUIRE(at != std::string::npos);
  const size_t first = header.find(begin, at + std::strlen(key)) + 1;
  return header.substr(first, header.find(end, first) - first);
}

NpyArray ParseNpy(const std::string& bytes) {
  REQUIRE(bytes.size() > 10);
  REQUIRE(bytes.compare(1, 5, "NUMPY") == 0);
  const size_t header_bytes =
      static_cast<uint8_t>(bytes[8]) + 256u * static_cast<uint8_t>(bytes[9]);
  const std::string header = bytes.substr(10, header_bytes);
  REQUIRE(header.find("'fortran_order': False") != std::string::npos);
  NpyArray array;
  array.descr = HeaderField(header, "'descr':", '\'', '\'');
  std::stringstream dims(HeaderField(header, "'shape':", '(', ')'));
  for (std::string dim; std::getline(dims, dim, ',');) {
    if (dim.find_first_of("0123456789") != std::string::npos)
      array.shape.push_back(std::stoll(dim));
  }
  array.data = bytes.substr(10 + header_bytes);
  return array;
}

template <typename From, typename To>
std::vector<To> Convert(const std::string& data) {
  std::vector<To> values(data.size() / sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, data.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

}  // namespace

int64_t NpyArray::size() const {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  return n;
}

template <typename T>
std::vector<T> NpyArray::as() const {
  if (descr == "<f4") return Convert<float, T>(data);
  if (descr == "<f8") return Convert<double, T>(data);
  if (descr == "<i4") return Convert<int32_t, T>(data);
  if (descr == "<i8") return Convert<int64_t, T>(data);
  FAIL("npy arrays of type " << descr << " are not read");
  return {};
}
template std::vector<float> NpyArray::as() const;
template std::vector<double> NpyArray::as() const;
template std::vector<int32_t> NpyArray::as() const;

NpyArray ReadNpy(const void* data, size_t size) {
  return ParseNpy(std::string(static_cast<const char*>(data), size));
}

Npz ReadNpz(const void* data, size_t size) {
  const auto files = ReadAppendedZip({static_cast<const uint8_t*>(data), size});
  INFO(files.status().ToString());
  REQUIRE(files.ok());
  REQUIRE_FALSE(files.value().empty());
  Npz npz;
  for (const AssociatedFile& file : files.value()) {
    npz[file.name.substr(0, file.name.rfind(".npy"))] = ParseNpy(file.content);
  }
  return npz;
}

Npz ReadNpzFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  INFO(path);
  REQUIRE(stream.good());
  std::stringstream content;
  content << stream.rdbuf();
  const std::string bytes = content.str();
  return ReadNpz(bytes.data(), bytes.size());
}

std::string SharedModelsFolder() {
  const char* shared = std::getenv("TOPWORK_SHARED");
  if (shared == nullptr) return "";
  const std::string folder = std::string(shared) + "/models";
  return std::ifstream(folder + "/MODELS.tsv").good() ? folder : "";
}

}  // namespace test
}  // namespace topwork
