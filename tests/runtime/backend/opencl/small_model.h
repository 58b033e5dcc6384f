// Small float models made by hand, run on the CPU and on a device.
#ifndef TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SMALL_MODEL_H_
#define TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SMALL_MODEL_H_

#include <memory>
#include <vector>

#include "runtime/backend/device.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {

// A model of one operator and one float32 output, whose tensors are added in the order of inputs.
class OneOpModel {
 public:
  OneOpModel& Input(std::vector<int32_t> shape);
  OneOpModel& Constant(std::vector<int32_t> shape, const std::vector<float>& values);
  OneOpModel& Constant(std::vector<int32_t> shape, const std::vector<int32_t>& values);
  Bytes Build(OpCode code, std::vector<int32_t> output_shape,
              const OptionsSpec& options = OptionsSpec());

 private:
  ModelSpec spec_;
  std::vector<int32_t> inputs_;
};

// The first output, float32, for float32 inputs; on the CPU where backend is null. Otherwise all
// operators must run on the backend.
std::vector<float> RunModel(const Bytes& model, const std::vector<std::vector<float>>& inputs,
                            const std::shared_ptr<const Device>& backend);

// The largest difference, in parts of the largest expected magnitude (at least 1e-3). NaN if any
// value is NaN; there must be as many values as expected.
float WorstError(const std::vector<float>& got, const std::vector<float>& expected);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_SMALL_MODEL_H_
