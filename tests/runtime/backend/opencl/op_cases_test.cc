// Every golden operator case that has device kernels, on the device, in both storages, against
// LiteRT's answers: 1e-5 of the output's range in float32, 2e-3 with float16 storage.
#include "tests/support/op_cases.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <memory>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_backend.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace opencl_op_cases_test {

using testing::CaseTensor;
using testing::OpCase;

// Largest finite magnitude of what float16 keeps with all its digits.
constexpr float kMostHalf = 2000.0f, kLeastHalf = 1e-3f;

// Whether float16 can hold the tensor's numbers at full precision.
bool FitsHalf(const CaseTensor& tensor) {
  if (tensor.dtype != static_cast<int>(DType::kFloat32)) return true;
  for (size_t i = 0; i < tensor.n_bytes / sizeof(float); ++i) {
    float value;
    std::memcpy(&value, tensor.data + i * sizeof(value), sizeof(value));
    const float magnitude = std::fabs(value);
    if (!(magnitude <= kMostHalf) || (magnitude != 0.0f && magnitude < kLeastHalf)) return false;
  }
  return true;
}

bool FitsHalf(const OpCase& op_case) {
  for (const CaseTensor& tensor : op_case.inputs) {
    if (!FitsHalf(tensor)) return false;
  }
  for (const CaseTensor& tensor : op_case.outputs) {
    if (!FitsHalf(tensor)) return false;
  }
  return true;
}

struct Counts {
  size_t n_cases = 0, n_parts = 0;
};

void RunCase(const OpCase& op_case, const Backend& backend, Counts* counts) {
  const bool half = backend.storage() == Storage::kFloat16;
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  if (!model.ok()) return;
  SessionOptions options;
  options.n_threads = 1;
  options.backends = {&backend};
  auto made = Session::Create(model.value(), options);
  REQUIRE(made.status().ToString() == "OK");
  Session& session = *made.value();
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const std::vector<int32_t>& dims = op_case.inputs[i].dims;
    REQUIRE(
        session.ResizeInput(static_cast<int>(i), Shape(dims.data(), static_cast<int>(dims.size())))
            .ok());
  }
  REQUIRE(session.Prepare().ToString() == "OK");
  size_t n_parts = 0;
  for (const Step& step : session.plan().steps) n_parts += step.parts.size();
  if (n_parts == 0) return;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const TensorView& input = session.input(static_cast<int>(i));
    if (input.bytes() > 0) std::memcpy(input.data, op_case.inputs[i].data, input.bytes());
  }
  const Status status = session.Run();
  CHECK(status.ToString() == "OK");
  if (!status.ok()) return;
  for (size_t i = 0; i < op_case.outputs.size(); ++i) {
    const TensorView& output = session.output(static_cast<int>(i));
    const std::vector<int32_t> dims(output.shape.dims(), output.shape.dims() + output.shape.rank());
    const float rtol = half ? 2e-3f : std::fmax(op_case.rtol, 1e-5f);
    CHECK(testing::CompareWithReference(op_case.outputs[i], static_cast<int>(output.dtype), dims,
                                        output.data, output.bytes(), rtol) == "");
  }
  ++counts->n_cases;
  counts->n_parts += n_parts;
}

void RunAll(const Backend& backend, size_t least) {
  Counts counts;
  size_t n_files = 0;
  const test::EmbeddedFile* files = test::EmbeddedFiles(&n_files);
  for (size_t f = 0; f < n_files; ++f) {
    if (std::strstr(files[f].name, ".twcases") == nullptr) continue;
    std::vector<OpCase> cases;
    REQUIRE(testing::ReadOpCases(files[f].data, files[f].size, &cases) == "");
    for (const OpCase& op_case : cases) {
      if (op_case.same_session || op_case.refused || !op_case.signature.empty()) continue;
      if (backend.storage() == Storage::kFloat16 && !FitsHalf(op_case)) continue;
      INFO(files[f].name << " " << op_case.name);
      RunCase(op_case, backend, &counts);
    }
  }
  INFO(counts.n_cases << " cases, " << counts.n_parts << " operators");
  CHECK(counts.n_cases > least);
}

TEST_CASE("opencl operators in float32 agree with LiteRT", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  RunAll(*opencl::MakeBackend(context.value(), Storage::kFloat32), 500);
}

TEST_CASE("opencl operators in float16 storage agree with LiteRT", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  RunAll(*opencl::MakeBackend(context.value(), Storage::kFloat16), 200);
}

}  // namespace opencl_op_cases_test
}  // namespace topwork
