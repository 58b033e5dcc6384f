// LOCAL_RESPONSE_NORMALIZATION over channels: x (bias + alpha sum of x^2 in the window)^-beta.
//
// The window of channel c is [c - radius, c + radius), as LiteRT's reference kernel has it: its
// last channel is left out. In TensorFlow's LRN it is not (params.count is 1).
#include <algorithm>

#include "kernels/ops/reduce/reduce_gpu.h"
#include "kernels/ops/reduce/rowwise.h"
#include "kernels/ops/shared/real_inputs.h"

namespace topwork {
namespace {

Status Parse(const OptionsView& options, OpParams* params) {
  params->radius = options.Int(0, 0);
  params->bias = options.Float(1, 0.0f);
  params->alpha = options.Float(2, 0.0f);
  params->beta = options.Float(3, 0.0f);
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckReals(context, 1, 1, 4, 4));
  if (context.params().radius < 0) {
    return context.Invalid("its radius is {}, at least 0 expected", context.params().radius);
  }
  context.SetVariant("rows");
  return context.SetOutput(0, DType::kFloat32, context.input(0)->shape);
}

Status Run(const RunContext& context) {
  const CpuKernels& cpu = *context.cpu;
  const OpParams& params = *context.params;
  const BinaryFunction multiply = cpu.elementwise->binary[static_cast<int>(BinaryFn::kMul)];
  ForEachRowBlock(context, [&](const float* in, float* out, int64_t rows, int64_t n) {
    const int64_t radius = std::min<int64_t>(params.radius, n);
    for (int64_t r = 0; r < rows; ++r) {
      const float* x = in + r * n;
      for (int64_t c = 0; c < n; ++c) {
        float sum = 0.0f;
        const int64_t end = std::min(n, c + radius + params.count);
        for (int64_t i = std::max<int64_t>(0, c - radius); i < end; ++i) sum += x[i] * x[i];
        out[r * n + c] = params.bias + params.alpha * sum;
      }
    }
    ApplyScalar<BinaryFn::kPow>(cpu, out, -params.beta, out, rows * n);
    BinaryTile tile;
    tile.a = in;
    tile.b = tile.y = out;
    tile.rows = 1;
    tile.n = rows * n;
    tile.lo = -__builtin_inff();
    tile.hi = __builtin_inff();
    multiply(tile);
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kLocalResponseNormalization)
        .Types({DType::kFloat32})
        .Options(OptionsType::kLocalResponseNormalization, Parse)
        .Cpu(Prepare, Run)
        .Gpu(PlanLocalResponseNormalization)
        .WidensHalf()
        .Work(WorkRule::kFunctions),
};

Span<const OpDef> LocalResponseNormalizationOps() { return Selected<kOps>(); }

}  // namespace topwork
