// The loader without a library, with a broken one, and with this machine's.
#include "runtime/backend/opencl/loader.h"

#include <catch2/catch.hpp>

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
  // A library without OpenCL functions; musl's and bionic's C libraries have other names.
  ExpectNotFound({{"libno-such-opencl.so", true}, {text.c_str(), false}, {"libc.so.6", false}},
                 {"libno-such-opencl.so: ", "No such file", text + ": ", "libc.so.6: ",
                  "it lacks clGetPlatformIDs, clGetPlatformInfo", "TOPWORK_OPENCL_LIBRARY"});
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
