// L2_NORMALIZATION along the last axis: x / max(|x|, 1e-6).
#include <algorithm>
#include <cmath>

#include "kernels/ops/reduce/rowwise.h"
#include "kernels/ops/reduce/rowwise_quant.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  return ParseActivation(options.Byte(0, 0), &params->activation);
}

Status Prepare(PrepareContext& context) {
  if (context.params().activation != Activation::kNone) {
    return Unsupported("%s: a fused activation is not supported", context.Where().c_str());
  }
  return IsRowwiseQuant(context) ? PrepareL2NormalizationQuant(context)
                                 : PrepareRowwise(&context, 1);
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype != DType::kFloat32) return RunL2NormalizationQuant(context);
  constexpr float kEpsilon = 1e-6f;
  const CpuKernels& cpu = *context.cpu;
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      const float norm = std::sqrt(SumOf(cpu, UnaryFn::kSquare, in + r * n, n));
      ApplyScalar(cpu, BinaryFn::kDiv, in + r * n, std::max(norm, kEpsilon), out + r * n, n);
    }
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpL2Normalization;
const OpDef kOpL2Normalization = {
    OpCode::kL2Normalization, "L2_NORMALIZATION", 12, 2, Parse, Prepare, Run};

}  // namespace topwork
