// SPACE_TO_DEPTH and DEPTH_TO_SPACE.
#include "kernels/ops/movement/movement_gpu.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

Status ParseBlockSize(const OptionsView& options, OpParams* params) {
  params->block_size = options.Int(0, 0);
  return Status::Ok();
}

Status CheckImage(const PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  return context.CheckRank(0, 4, 4);
}

// SPACE_TO_DEPTH: every block_size × block_size square of pixels becomes one pixel.
//
//   out[n, h, w, (i b + j) C + c] = in[n, h b + i, w b + j, c]   (NHWC)

Status PrepareSpaceToDepth(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckImage(context));
  const Shape& from = context.input(0)->shape;
  const int64_t block = context.params().block_size;
  if (block < 1 || from.dim(1) % block != 0 || from.dim(2) % block != 0) {
    return context.Invalid("block_size {} does not divide height and width of {}", block,
                           from.ToString());
  }
  // block² first: block alone may be 2^31 when height and width are 0.
  int64_t depth = block * block;
  if (MulOverflow(depth, static_cast<int64_t>(from.dim(3)), &depth)) depth = -1;
  TW_RETURN_IF_ERROR(CheckDim(context, depth, "the output's depth"));
  const Shape shape({from.dim(0), static_cast<int32_t>(from.dim(1) / block),
                     static_cast<int32_t>(from.dim(2) / block), static_cast<int32_t>(depth)});
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));

  int64_t src[4], dst[4];
  const int64_t element = ElementBytes(*context.input(0));
  ContiguousStrides(from, element, src);
  ContiguousStrides(shape, element, dst);
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(element);
  copy->AddDim(shape.dim(0), src[0], dst[0]);
  copy->AddDim(shape.dim(1), src[1] * block, dst[1]);
  copy->AddDim(shape.dim(2), src[2] * block, dst[2]);
  copy->AddDim(block, src[1], block * from.dim(3) * element);
  copy->AddDim(block, src[2], from.dim(3) * element);
  copy->AddDim(from.dim(3), element, element);
  copy->Finish();
  context.SetVariant(copy->variant());
  return Status::Ok();
}

// DEPTH_TO_SPACE: every pixel becomes a block_size × block_size square; undoes SPACE_TO_DEPTH.
//
//   out[n, h b + i, w b + j, c] = in[n, h, w, (i b + j) C + c]   (NHWC)

Status PrepareDepthToSpace(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckImage(context));
  const Shape& from = context.input(0)->shape;
  const int64_t block = context.params().block_size;
  if (block < 1 || from.dim(3) % (block * block) != 0) {
    return context.Invalid("the square of block_size {} does not divide the depth of {}", block,
                           from.ToString());
  }
  TW_RETURN_IF_ERROR(CheckDim(context, from.dim(1) * block, "the output's height"));
  TW_RETURN_IF_ERROR(CheckDim(context, from.dim(2) * block, "the output's width"));
  const int64_t depth = from.dim(3) / (block * block);
  const Shape shape({from.dim(0), static_cast<int32_t>(from.dim(1) * block),
                     static_cast<int32_t>(from.dim(2) * block), static_cast<int32_t>(depth)});
  TW_RETURN_IF_ERROR(context.SetOutput(0, context.input(0)->dtype, shape));

  int64_t src[4], dst[4];
  const int64_t element = ElementBytes(*context.input(0));
  ContiguousStrides(from, element, src);
  ContiguousStrides(shape, element, dst);
  StridedCopy* copy = context.NewState<StridedCopy>();
  *copy = StridedCopy(element);
  copy->AddDim(from.dim(0), src[0], dst[0]);
  copy->AddDim(from.dim(1), src[1], dst[1] * block);
  copy->AddDim(block, block * depth * element, dst[1]);
  copy->AddDim(from.dim(2), src[2], dst[2] * block);
  copy->AddDim(block, depth * element, dst[2]);
  copy->AddDim(depth, element, element);
  copy->Finish();
  context.SetVariant(copy->variant());
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSpaceToDepth)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt8})
        .Options(OptionsType::kSpaceToDepth, ParseBlockSize)
        .Cpu(PrepareSpaceToDepth, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
    OpDef(OpCode::kDepthToSpace)
        .Versions(2)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt8})
        .Options(OptionsType::kDepthToSpace, ParseBlockSize)
        .Cpu(PrepareDepthToSpace, RunStridedCopy)
        .Gpu(PlanStridedCopy, GpuTypes::kMoves)
        .Int8(IntegerForm::kSame, 2),
};

Span<const OpDef> SpaceDepthOps() { return Selected<kOps>(); }

}  // namespace topwork
