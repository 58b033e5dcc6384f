// ZEROS_LIKE: zeros of the input's shape and type. Quantized types are refused: their zero bytes do
// not mean 0.
#include <cstring>

#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(
      0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kFloat16, DType::kBool}));
  return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
}

Status Run(const RunContext& context) {
  uint8_t* y = context.output_data<uint8_t>(0);
  ParallelRows(context.pool, static_cast<int64_t>(context.out(0).bytes()), 1,
               [&](int64_t begin, int64_t end) {
                 std::memset(y + begin, 0, static_cast<size_t>(end - begin));
               });
  return Status::Ok();
}

}  // namespace

extern const OpDef kOpZerosLike;
const OpDef kOpZerosLike = {OpCode::kZerosLike, "ZEROS_LIKE", 67, 1, nullptr, Prepare, Run};

}  // namespace topwork
