// The loader without a library, with a broken one, and with this machine's.
#include "runtime/backend/opencl/loader.h"

#include <catch2/catch.hpp>

#include "ports/port.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace loader_test {

// LoadFrom fails with NOT_FOUND and a text that holds all of `parts`.
void ExpectNotFound(const std::vector<opencl::LibraryRow>& rows,
                    const std::vector<std::string>& parts) {
  const Result<const opencl::ClApi*> api = opencl::LoadFrom({rows.data(), rows.size()});
  REQUIRE(!api.ok());
  CHECK(api.status().code() == StatusCode::kNotFound);
  INFO(api.status().message());
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(api.status().message().find(part) != std::string::npos);
  }
}

TEST_CASE("opencl loader: every path tried is named with its reason", "[backend]") {
  const test::TempFolder folder;
  const std::string text = folder / "text.so";
  test::WriteWhole(text, "no library at all");
  std::vector<std::string> parts = {"libno-such-opencl.so: ", text + ": ",
                                    "libc.so.6: ", "TOPWORK_OPENCL_LIBRARY"};
  // A library without OpenCL functions. musl's and bionic's C libraries have other names, and a program
  // that is linked with musl statically opens no library at all.
  if (port::LoadLibrary("libc.so.6") != nullptr) {
    parts.insert(parts.end(), {"No such file", "it lacks clGetPlatformIDs, clGetPlatformInfo"});
  }
  ExpectNotFound({{"libno-such-opencl.so", true}, {text.c_str(), false}, {"libc.so.6", false}},
                 parts);
  ExpectNotFound({}, {"no OpenCL library"});
}

TEST_CASE("opencl loader: the ICD loader comes before vendors' paths", "[backend]") {
  const Span<const opencl::LibraryRow> rows = opencl::LibraryRows();
  REQUIRE(rows.size() > 10);
  CHECK(rows[0].is_icd_loader);
  for (const opencl::LibraryRow& row : rows) CHECK(std::string(row.path).find(".so") > 0);
}

TEST_CASE("opencl loader: the machine's library has all required functions", "[opencl]") {
  TW_NEED_DEVICE(device);
  CHECK(device.api->clGetPlatformIDs != nullptr);
  CHECK(device.api->clEnqueueNDRangeKernel != nullptr);
  CHECK(!device.api->path.empty());
  const Result<const opencl::ClApi*> again = opencl::LoadOpencl();
  REQUIRE(again.ok());
  CHECK(again.value() == device.api);
}

}  // namespace loader_test
}  // namespace topwork
