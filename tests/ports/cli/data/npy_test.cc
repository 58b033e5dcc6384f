// .npy files: what is written is read again, and everything else is refused with its reason.
#include "ports/cli/data/npy.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_npy_test {

using Catch::Matchers::Contains;
using cli::Array;
using cli::EncodeNpy;
using cli::ReadNpy;
using cli_test::Failure;
using cli_test::Folder;

// A file of the format's `version` with this header and as many bytes of data.
std::vector<uint8_t> File(const std::string& header, size_t data_bytes, int version = 1) {
  std::vector<uint8_t> file = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0};
  const size_t n = header.size();
  file.push_back(static_cast<uint8_t>(n & 0xff));
  file.push_back(static_cast<uint8_t>(n >> 8));
  if (version > 1) file.insert(file.end(), {0, 0});
  file.insert(file.end(), header.begin(), header.end());
  for (size_t i = 0; i < data_bytes; ++i) file.push_back(static_cast<uint8_t>(i));
  return file;
}

std::string ReadFailure(const Folder& folder, const std::vector<uint8_t>& file) {
  const std::string path = folder.Write("x.npy", file);
  return Failure([&] { (void)ReadNpy(path); });
}

TEST_CASE("npy: every dtype comes back as it was written", "[cli]") {
  const Folder folder;
  const struct {
    tw_dtype dtype;
    const char* descr;
    size_t bytes;
  } kTypes[] = {
      {TW_DTYPE_FLOAT32, "<f4", 4},  {TW_DTYPE_FLOAT16, "<f2", 2}, {TW_DTYPE_FLOAT64, "<f8", 8},
      {TW_DTYPE_INT8, "|i1", 1},     {TW_DTYPE_UINT8, "|u1", 1},   {TW_DTYPE_INT16, "<i2", 2},
      {TW_DTYPE_UINT16, "<u2", 2},   {TW_DTYPE_INT32, "<i4", 4},   {TW_DTYPE_UINT32, "<u4", 4},
      {TW_DTYPE_INT64, "<i8", 8},    {TW_DTYPE_UINT64, "<u8", 8},  {TW_DTYPE_BOOL, "|b1", 1},
      {TW_DTYPE_COMPLEX64, "<c8", 8}};
  for (const auto& type : kTypes) {
    CAPTURE(type.descr);
    std::vector<uint8_t> data(6 * type.bytes);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
    const std::vector<uint8_t> file = EncodeNpy(type.dtype, {2, 3}, data.data(), data.size());
    const std::string text(file.begin(), file.end());
    CHECK_THAT(text, Contains(std::string("'descr': '") + type.descr + "'"));
    const Array array = ReadNpy(folder.Write("x.npy", file));
    CHECK(array.dtype == type.dtype);
    CHECK(array.shape == std::vector<int64_t>{2, 3});
    CHECK(array.bytes == data);
    CHECK(array.n_elements() == 6);
    CHECK(cli::NpyElementBytes(type.dtype) == type.bytes);
  }
  CHECK(cli::NpyElementBytes(TW_DTYPE_STRING) == 0);
}

TEST_CASE("npy: the header is NumPy's, byte for byte", "[cli]") {
  const float value = 1.0f;
  const std::vector<uint8_t> file = EncodeNpy(TW_DTYPE_FLOAT32, {1}, &value, sizeof(value));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  REQUIRE(file.size() == 128 + 4);
  CHECK(std::string(file.begin() + 10, file.begin() + 128) ==
        header + std::string(117 - header.size(), ' ') + "\n");
  CHECK(file[8] == 118);
  CHECK(file[9] == 0);
}

TEST_CASE("npy: scalars, empty arrays and all versions are read", "[cli]") {
  const Folder folder;
  const double value = 2.5;
  const Array scalar =
      ReadNpy(folder.Write("x.npy", EncodeNpy(TW_DTYPE_FLOAT64, {}, &value, sizeof(value))));
  CHECK(scalar.shape.empty());
  CHECK(scalar.n_elements() == 1);
  const Array empty =
      ReadNpy(folder.Write("x.npy", EncodeNpy(TW_DTYPE_INT32, {3, 0, 2}, nullptr, 0)));
  CHECK(empty.shape == std::vector<int64_t>{3, 0, 2});
  CHECK(empty.bytes.empty());
  for (int version : {1, 2, 3}) {
    CAPTURE(version);
    const Array array = ReadNpy(folder.Write(
        "x.npy", File("{'shape': (2, 1), 'fortran_order': False, 'descr': '<i2'}\n", 4, version)));
    CHECK(array.shape == std::vector<int64_t>{2, 1});
    CHECK(array.bytes == std::vector<uint8_t>{0, 1, 2, 3});
  }
}

TEST_CASE("npy: wrong files are refused with their path and the reason", "[cli]") {
  const Folder folder;
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const auto with = [&](const std::string& old_text, const std::string& new_text) {
    std::string header = good;
    header.replace(header.find(old_text), old_text.size(), new_text);
    return ReadFailure(folder, File(header, 64));
  };
  CHECK_THAT(with("False", "True"), Contains("5 ") && Contains("x.npy") &&
                                        Contains("Fortran order") && Contains("ascontiguousarray"));
  CHECK_THAT(with("<f4", ">f4"), Contains("dtype >f4"));
  CHECK_THAT(with("<f4", "|O"), Contains("dtype |O"));
  CHECK_THAT(with("'<f4'", "[('a', '<f4')]"), Contains("dtype"));
  CHECK_THAT(with("'descr'", "'desc'"), Contains("lacks 'descr'"));
  CHECK_THAT(with("'shape'", "'form'"), Contains("lacks 'shape'"));
  CHECK_THAT(with("(2,)", "2"), Contains("unreadable shape"));
  CHECK_THAT(with("(2,)", "(-2,)"), Contains("unreadable shape"));
  CHECK_THAT(with("(2,)", "(99999999999,)"), Contains("too large"));
  CHECK_THAT(with("(2,)", "(2147483647, 2147483647, 2147483647)"), Contains("too large"));
  CHECK_THAT(ReadFailure(folder, File(good, 7)),
             Contains("truncated: 8 bytes of data expected, 7"));
  CHECK_THAT(ReadFailure(folder, {}), Contains("signature"));
  CHECK_THAT(ReadFailure(folder, {'P', 'K', 3, 4, 5, 6, 7, 8, 9, 10}), Contains("signature"));
  CHECK_THAT(Failure([&] { (void)ReadNpy(folder.path() + "/absent.npy"); }),
             Contains("6 ") && Contains("absent.npy") && Contains("No such file"));
  // Every prefix of a good file ends before its data does.
  const std::vector<uint8_t> whole = File(good, 8);
  for (size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK_THAT(
        ReadFailure(folder, std::vector<uint8_t>(whole.begin(),
                                                 whole.begin() + static_cast<std::ptrdiff_t>(n))),
        Contains("5 "));
  }
  CHECK_THAT(Failure([] { (void)EncodeNpy(TW_DTYPE_STRING, {1}, "a", 1); }),
             Contains("4 ") && Contains("string"));
}

}  // namespace cli_npy_test
}  // namespace topwork
