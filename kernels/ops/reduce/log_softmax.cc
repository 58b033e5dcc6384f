// LOG_SOFTMAX along the last axis: x - max - log(sum of e^(x - max)).
#include <cmath>

#include "kernels/ops/reduce/rowwise.h"
#include "kernels/ops/reduce/rowwise_quant.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  return IsRowwiseQuant(context) ? PrepareLogSoftmaxQuant(context) : PrepareRowwise(&context, 1);
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype != DType::kFloat32) return RunLogSoftmaxQuant(context);
  const CpuKernels& cpu = *context.cpu;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      float* y = out + r * n;
      const float max =
          cpu.elementwise->reduce_row[static_cast<int>(ReduceFn::kMax)](in + r * n, n);
      ApplyScalar(cpu, BinaryFn::kSub, in + r * n, max, y, n);
      ApplyScalar(cpu, BinaryFn::kSub, y, std::log(SumOf(cpu, UnaryFn::kExp, y, n)), y, n);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpLogSoftmax;
const OpDef kOpLogSoftmax = {OpCode::kLogSoftmax, "LOG_SOFTMAX", 36, 2, nullptr, Prepare, Run};

}  // namespace topwork
