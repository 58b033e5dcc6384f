// What the tests of the OpenCL backend share: the machine's device, or the reason to skip.
#ifndef TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SUPPORT_H_
#define TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SUPPORT_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/backend/opencl/device.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {

// The device that tests use ($TOPWORK_TEST_DEVICE, "opencl:0" by default); null when the machine
// has none, with the reason. Where $TOPWORK_REQUIRE_OPENCL is 1 that is a failure of the test.
const opencl::Device* TestDevice(std::string* reason);

// What names it: $TOPWORK_TEST_DEVICE or "opencl:0".
DeviceName TestDeviceName();

// "gemm" of kernels/ops/products/gemm.cl.
inline std::string NameOf(const opencl::KernelFile& file) {
  const std::string path = file.path;
  const size_t begin = path.rfind('/') + 1;
  return path.substr(begin, path.find('.') - begin);
}

}  // namespace test
}  // namespace topwork

// Declares `const opencl::Device& name`, or leaves the test as skipped.
#define TW_NEED_DEVICE(name)                                                                   \
  std::string name##_reason;                                                                   \
  const ::topwork::opencl::Device* name##_found = ::topwork::test::TestDevice(&name##_reason); \
  if (name##_found == nullptr) TW_SKIP(name##_reason);                                         \
  const ::topwork::opencl::Device& name = *name##_found

#endif  // TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SUPPORT_H_
