// Every golden operator case that has device kernels, on the device, in both storages: 1e-5 of the
// output's range in float32, 2e-3 with float16 storage.
#include "tests/support/op_cases.h"

#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
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

using Backends = std::vector<std::shared_ptr<const Device>>;

struct Counts {
  size_t n_cases = 0, n_parts = 0;
};

// Differences allowed, relative to the output's range. A float16 weight is off by 2^-12 of itself,
// so outputs smaller than the sums behind them need more.
struct Tolerance {
  const char* name;  // of the case; null: all others
  float float16;
};
constexpr Tolerance kTolerances[] = {
    {"act_relu_n1_to_1", 8e-3f},  // sums of about 6 are cut to 1
    {"9_to_1", 4e-3f},            // the products nearly cancel
    {"arithmetic", 8e-3f},        // bfloat16, rounded a second time: one step of it
    {nullptr, 2e-3f},
};

// Whether float data meets integer weights on the device: the CPU then quantizes the data, too,
// and the device does not.
bool IsDynamicRange(const Plan& plan) {
  for (const Step& step : plan.steps) {
    for (const Step& part : step.parts) {
      if (part.inputs.size() < 2 || part.inputs[0] < 0 || part.inputs[1] < 0) continue;
      const PlanValue& data = plan.values[static_cast<size_t>(part.inputs[0])];
      const PlanValue& weights = plan.values[static_cast<size_t>(part.inputs[1])];
      const DType to = weights.view.dtype;
      if (data.view.dtype == DType::kFloat32 && weights.view.quantization != nullptr &&
          (to == DType::kInt8 || to == DType::kUInt8 || IsPacked(to))) {
        return true;
      }
    }
  }
  return false;
}

constexpr float kDynamicRange = 0.15f;  // of data rounded to 8 bits, on the CPU only
// Steps of quantized results, which are rounded once, from reals; float16 rounds weights, too.
constexpr float kSteps = 1.0f, kStepsFloat16 = 2.0f;

float ToleranceOf(const OpCase& op_case, Storage storage) {
  if (storage == Storage::kFloat32) return std::fmax(op_case.rtol, 1e-5f);
  const Tolerance* row = kTolerances;
  while (row->name != nullptr && op_case.name != row->name) ++row;
  return row->float16;
}

// A device may take numbers too small for a float's exponent as 0.
bool IsSubnormal(const CaseTensor& tensor) {
  if (tensor.dtype != static_cast<int>(DType::kFloat32)) return false;
  for (size_t i = 0; i < tensor.n_bytes / sizeof(float); ++i) {
    float value;
    std::memcpy(&value, tensor.data + i * sizeof(value), sizeof(value));
    if (!(std::fabs(value) < FLT_MIN)) return false;
  }
  return tensor.n_bytes > 0;
}

// Devices have 32 bits for an int64; the CPU takes over where a value needs more.
bool NeedsCpu(const OpCase& op_case) {
  for (const CaseTensor& tensor : op_case.inputs) {
    if (tensor.dtype != static_cast<int>(DType::kInt64)) continue;
    for (size_t i = 0; i < tensor.n_bytes / sizeof(int64_t); ++i) {
      int64_t value;
      std::memcpy(&value, tensor.data + i * sizeof(value), sizeof(value));
      if (value != static_cast<int32_t>(value)) return true;
    }
  }
  return false;
}

// A session on the case's inputs; null for a model that does not open.
std::unique_ptr<Session> Prepared(const OpCase& op_case, const Backends& backends, bool halves) {
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  if (!model.ok()) return nullptr;
  SessionOptions options;
  options.n_threads = 1;
  options.devices = backends;
  auto made = Session::Create(model.value(), options);
  REQUIRE(made.status().ToString() == "OK");
  std::unique_ptr<Session> session = std::move(made.value());
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const std::vector<int32_t>& dims = op_case.inputs[i].dims;
    const Shape shape(dims.data(), static_cast<int>(dims.size()));
    REQUIRE(session->ResizeInput(static_cast<int>(i), shape).ok());
  }
  REQUIRE(session->Prepare().ToString() == "OK");
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const TensorView& input = session->input(static_cast<int>(i));
    if (input.bytes() == 0 || input.dtype == DType::kString) continue;
    std::memcpy(input.data, op_case.inputs[i].data, input.bytes());
    if (!halves || input.dtype != DType::kFloat32) continue;
    float* values = input.as<float>();
    for (int64_t k = 0; k < input.shape.NumElements(); ++k) {
      values[k] = HalfToFloat(FloatToHalf(values[k]));
    }
  }
  return session;
}

// In float16 storage inputs are rounded, which functions with jumps (FLOOR_DIV) show: the reference
// is then the CPU, whose own cases agree with LiteRT, on the rounded inputs.
void RunCase(const OpCase& op_case, const std::shared_ptr<const Device>& backend, int n_runs,
             Counts* counts) {
  const bool halves = backend->storage() == Storage::kFloat16;
  const std::unique_ptr<Session> session = Prepared(op_case, {backend}, halves);
  if (session == nullptr) return;
  size_t n_parts = 0;
  for (const Step& step : session->plan().steps) n_parts += step.parts.size();
  if (n_parts == 0) return;
  const bool dynamic_range = IsDynamicRange(session->plan());
  for (int i = 0; i < n_runs; ++i) REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->options().devices.size() == (NeedsCpu(op_case) ? 0 : 1));  // else it failed
  std::unique_ptr<Session> cpu;
  if (halves) {
    cpu = Prepared(op_case, {}, true);
    REQUIRE(cpu->Run().ToString() == "OK");
  }
  for (size_t i = 0; i < op_case.outputs.size(); ++i) {
    const TensorView& output = session->output(static_cast<int>(i));
    const std::vector<int32_t> dims(output.shape.dims(), output.shape.dims() + output.shape.rank());
    CaseTensor reference = op_case.outputs[i];
    if (halves) reference.data = cpu->output(static_cast<int>(i)).as<const uint8_t>();
    if (IsSubnormal(reference)) continue;
    float tolerance = ToleranceOf(op_case, backend->storage());
    if (dynamic_range) tolerance = kDynamicRange;
    if (output.quantization != nullptr) tolerance = halves ? kStepsFloat16 : kSteps;
    CHECK(testing::CompareWithReference(reference, static_cast<int>(output.dtype), dims,
                                        output.data, output.bytes(), tolerance) == "");
  }
  ++counts->n_cases;
  counts->n_parts += n_parts;
}

// Every `stride`-th case, each `n_runs` times.
void RunAll(const std::shared_ptr<const Device>& backend, size_t least, size_t stride = 1,
            int n_runs = 1) {
  Counts counts;
  size_t n_seen = 0;
  size_t n_files = 0;
  const test::EmbeddedFile* files = test::EmbeddedFiles(&n_files);
  for (size_t f = 0; f < n_files; ++f) {
    if (std::strstr(files[f].name, ".twcases") == nullptr) continue;
    std::vector<OpCase> cases;
    REQUIRE(testing::ReadOpCases(files[f].data, files[f].size, &cases) == "");
    for (const OpCase& op_case : cases) {
      if (op_case.same_session || op_case.refused || !op_case.signature.empty()) continue;
      if (backend->storage() == Storage::kFloat16 && !FitsHalf(op_case)) continue;
      if (n_seen++ % stride != 0) continue;
      INFO(files[f].name << " " << op_case.name);
      RunCase(op_case, backend, n_runs, &counts);
    }
  }
  INFO(counts.n_cases << " cases, " << counts.n_parts << " operators");
  CHECK(counts.n_cases > least);
}

TEST_CASE("opencl operators in float32 agree with LiteRT", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  RunAll(opencl::MakeDevice(context.value(), Storage::kFloat32), 1200);
}

TEST_CASE("opencl operators cut into many pieces give the same", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  OpenOptions options;
  options.max_kernel_nanos = 1;
  RunAll(opencl::MakeDevice(context.value(), options), 60, 13, 2);
}

TEST_CASE("opencl operators in float16 storage agree with the CPU", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  RunAll(opencl::MakeDevice(context.value(), Storage::kFloat16), 800);
}

// The device notices the wrong index, and the CPU, which takes over, says which it was.
TEST_CASE("opencl operators: an index outside its tensor is an error", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const auto backend = opencl::MakeDevice(context.value(), Storage::kFloat32);
  for (const char* name : {"gather", "gather_nd"}) {
    const test::EmbeddedFile* file =
        test::FindEmbedded(("tests/data/ops/" + std::string(name) + ".twcases").c_str());
    REQUIRE(file != nullptr);
    std::vector<OpCase> cases;
    REQUIRE(testing::ReadOpCases(file->data, file->size, &cases) == "");
    size_t n_tried = 0;
    for (const OpCase& op_case : cases) {
      if (n_tried > 0 || op_case.refused || op_case.same_session || op_case.inputs.size() != 2 ||
          op_case.inputs[1].dtype != static_cast<int>(DType::kInt32)) {
        continue;
      }
      INFO(name << " " << op_case.name);
      const std::unique_ptr<Session> session = Prepared(op_case, {backend}, false);
      REQUIRE(session != nullptr);
      if (session->plan().steps[0].parts.empty()) continue;
      const int32_t right = session->input(1).as<int32_t>()[0];
      for (const int32_t wrong : {-1, 1 << 20}) {
        session->input(1).as<int32_t>()[0] = wrong;
        const Status status = session->Run();
        CHECK(status.code() == StatusCode::kInvalidArgument);
        CHECK(status.message().find("index " + std::to_string(wrong)) != std::string::npos);
      }
      session->input(1).as<int32_t>()[0] = right;
      CHECK(session->Run().ToString() == "OK");
      ++n_tried;
    }
    CHECK(n_tried == 1);
  }
}

}  // namespace opencl_op_cases_test
}  // namespace topwork
