// CLBlast, where it is installed: its products beside sums made here.
#include "runtime/backend/opencl/clblast.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/backend/opencl/stream.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace clblast_test {

using namespace opencl;  // NOLINT: a test of little else

TEST_CASE("opencl clblast: refused beside a library that is no ICD loader", "[backend]") {
  ClApi api;
  api.path = "/vendor/lib64/libOpenCL.so";
  const auto blas = LoadClBlast(api);
  REQUIRE(!blas.ok());
  CHECK(blas.status().code() == StatusCode::kUnsupported);
  CHECK(blas.status().message().find("/vendor/lib64/libOpenCL.so") != std::string::npos);
  CHECK(BlasStatus(0, "x").ok());
  CHECK(BlasStatus(-6, "x").code() == StatusCode::kOutOfMemory);
  CHECK(BlasStatus(-1023, "x").message().find("x failed") != std::string::npos);
  CHECK(BlasStatus(-2044, "x").message().find("CLBlast status -2044") != std::string::npos);
}

TEST_CASE("opencl clblast: sgemm with and without working memory", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto loaded = LoadClBlast(*device.api);
  if (!loaded.ok()) TW_SKIP(loaded.status().message());
  const ClBlast& blas = *loaded.value();
  const size_t m = 9, n = 7, k = 13;
  auto context = CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.ok());
  auto queue = CreateQueue(context.value(), device.id, 0);
  REQUIRE(queue.ok());
  cl_command_queue raw = queue->get();
  const std::vector<float> a = test::RandomFloats(m * k, 1), b = test::RandomFloats(n * k, 2);
  std::vector<MemHandle> buffers;
  for (const auto& values : {a, b, std::vector<float>(m * n)}) {
    auto buffer = CreateBuffer(context.value(), values.size() * 4);
    REQUIRE(buffer.ok());
    REQUIRE(device.api->clEnqueueWriteBuffer(raw, buffer->get(), CL_TRUE, 0, values.size() * 4,
                                             values.data(), 0, nullptr, nullptr) == CL_SUCCESS);
    buffers.push_back(std::move(buffer.value()));
  }
  size_t temp_bytes = 0;
  REQUIRE(blas.sgemm_temp_bytes(kBlasRowMajor, kBlasNoTranspose, kBlasTranspose, m, n, k, 0, k, 0,
                                k, 0, n, &raw, &temp_bytes) == 0);
  auto temp = CreateBuffer(context.value(), temp_bytes + 64);
  REQUIRE(temp.ok());
  for (const bool with_temp : {false, true}) {
    const int error =
        with_temp ? blas.sgemm_with_temp(kBlasRowMajor, kBlasNoTranspose, kBlasTranspose, m, n, k,
                                         1.0f, buffers[0].get(), 0, k, buffers[1].get(), 0, k, 0.0f,
                                         buffers[2].get(), 0, n, &raw, nullptr, temp->get())
                  : blas.sgemm(kBlasRowMajor, kBlasNoTranspose, kBlasTranspose, m, n, k, 1.0f,
                               buffers[0].get(), 0, k, buffers[1].get(), 0, k, 0.0f,
                               buffers[2].get(), 0, n, &raw, nullptr);
    REQUIRE(BlasStatus(error, "CLBlastSgemm").ToString() == "OK");
    std::vector<float> c(m * n);
    REQUIRE(device.api->clEnqueueReadBuffer(raw, buffers[2].get(), CL_TRUE, 0, c.size() * 4,
                                            c.data(), 0, nullptr, nullptr) == CL_SUCCESS);
    for (size_t i = 0; i < m * n; ++i) {
      float sum = 0.0f;
      for (size_t j = 0; j < k; ++j) sum += a[i / n * k + j] * b[i % n * k + j];
      CHECK(std::fabs(c[i] - sum) < 1e-4f);
    }
  }
  CHECK(blas.clear_cache() == 0);
}

}  // namespace clblast_test
}  // namespace topwork
