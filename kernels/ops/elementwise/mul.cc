// MUL: y = activation(a * b), float32, int8, uint8, int16, int32, uint32 and int64, with
// broadcasting; complex64 without activation.
#include "kernels/ops/elementwise/binary_quant.h"

namespace topwork {
namespace {

struct Complex {
  float re, im;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  if (context.input(0)->dtype != DType::kComplex64) return PrepareBinary<BinaryFn::kMul>(context);
  return PrepareBinaryOf(context, {DType::kComplex64});
}

Status Run(const RunContext& context) {
  if (context.in(0).dtype != DType::kComplex64) {
    return RunBinaryNumber(context, BinaryFn::kMul, "MUL");
  }
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    MapTile(t, context.input_data<Complex>(0), context.input_data<Complex>(1),
            context.output_data<Complex>(0), [](Complex a, Complex b) {
              return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
            });
  });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpMul;
const OpDef kOpMul = {OpCode::kMul, "MUL", 21, 8, ParseBinaryActivation, Prepare, Run};

}  // namespace topwork
