// SOFTMAX along the last axis: e^(beta (x - max)) / sum.
#include "kernels/ops/reduce/rowwise.h"
#include "kernels/ops/reduce/rowwise_quant.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->beta = options.Float(0, 0.0f);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  return IsRowwiseQuant(context) ? PrepareSoftmaxQuant(context) : PrepareRowwise(&context, 1);
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype != DType::kFloat32) return RunSoftmaxQuant(context);
  const CpuKernels& cpu = *context.cpu;
  const ElementwiseKernels& kernels = *cpu.elementwise;
  const float beta = context.params->beta;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    if (n <= kernels.short_row && rows > 1) return kernels.softmax(in, out, rows, n, beta);
    for (int64_t r = 0; r < rows; ++r) {
      const float max = kernels.reduce_row[static_cast<int>(ReduceFn::kMax)](in + r * n, n);
      ApplyScalar(cpu, BinaryFn::kSub, in + r * n, max, out + r * n, n);
    }
    if (beta != 1.0f) ApplyScalar(cpu, BinaryFn::kMul, out, beta, out, rows * n);
    kernels.unary[static_cast<int>(UnaryFn::kExp)](out, out, rows * n, 0.0f);
    for (int64_t r = 0; r < rows; ++r) {
      const float sum = kernels.reduce_row[static_cast<int>(ReduceFn::kSum)](out + r * n, n);
      ApplyScalar(cpu, BinaryFn::kDiv, out + r * n, sum, out + r * n, n);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpSoftmax;
const OpDef kOpSoftmax = {OpCode::kSoftmax, "SOFTMAX", 9, 4, Parse, Prepare, Run};

}  // namespace topwork
