// SELECT and SELECT_V2 (see select.h).
#include "kernels/ops/elementwise/select.h"

#include <cstring>

#include "kernels/ops/elementwise/elementwise_gpu.h"
#include "kernels/ops/shared/broadcast.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

// The checks and loops of SELECT and SELECT_V2 (see select.h).

template <typename T>
void SelectTile(const NestTile& t, const uint8_t* condition, const T* a, const T* b, T* y) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const uint8_t* pc = condition + t.offset[0] + r * t.row[0];
    const T* pa = a + t.offset[1] + r * t.row[1];
    const T* pb = b + t.offset[2] + r * t.row[2];
    T* py = y + t.out + r * t.n;
    if (t.step[0] == 1 && t.step[1] == 1 && t.step[2] == 1) {
      for (int64_t i = 0; i < t.n; ++i) py[i] = pc[i] != 0 ? pa[i] : pb[i];
    } else if (t.step[0] == 1 && t.step[1] == 1) {
      const T other = *pb;
      for (int64_t i = 0; i < t.n; ++i) py[i] = pc[i] != 0 ? pa[i] : other;
    } else if (t.step[0] == 1 && t.step[2] == 1) {
      const T value = *pa;
      for (int64_t i = 0; i < t.n; ++i) py[i] = pc[i] != 0 ? value : pb[i];
    } else if (t.step[0] == 1) {
      const T value = *pa, other = *pb;
      for (int64_t i = 0; i < t.n; ++i) py[i] = pc[i] != 0 ? value : other;
    } else {
      const T* source = *pc != 0 ? pa : pb;
      const int step = *pc != 0 ? t.step[1] : t.step[2];
      if (step == 0) {
        const T value = *source;
        for (int64_t i = 0; i < t.n; ++i) py[i] = value;
      } else if (source != py) {
        std::memcpy(py, source, static_cast<size_t>(t.n) * sizeof(T));
      }
    }
  }
}

template <typename T>
void SelectAs(const RunContext& context) {
  ForEachTile(context.get_state<NestState>().nest, context.pool, [&](const NestTile& t) {
    SelectTile<T>(t, context.input_data<uint8_t>(0), context.input_data<T>(1),
                  context.input_data<T>(2), context.output_data<T>(0));
  });
}

}  // namespace

Status CheckSelect(const PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(3, 3));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kBool}));
  TW_RETURN_IF_ERROR(CheckMovable(context, 1));
  TW_RETURN_IF_ERROR(CheckSameDType(context, 1, 2));
  if (DTypeBits(context.input(1)->dtype) > 64) {
    return context.Unsupported("{} is {}; types of more than 8 bytes are not supported here",
                               context.InputName(1), DTypeName(context.input(1)->dtype));
  }
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 1, 0));
  return CheckSameQuantization(context, 2, 0);
}

bool IsSingleChoice(const PrepareContext& context, Shape* shape) {
  *shape = context.output(0).shape;
  bool single = shape->NumElements() == 1;
  for (int i = 0; i < 3; ++i) single = single && context.input(i)->shape.NumElements() == 1;
  return single;
}

Status FinishSelect(PrepareContext* context, const Shape& condition, const Shape& out) {
  TW_RETURN_IF_ERROR(context->SetOutput(0, context->input(1)->dtype, out));
  PlanNest(context, out, {condition, context->input(1)->shape, context->input(2)->shape},
           &context->NewState<NestState>()->nest);
  AllowInPlaceWhereSafe(context, 0, 3);
  return Status::Ok();
}

Status RunSelect(const RunContext& context) {
  switch (DTypeBits(context.out(0).dtype)) {
    case 8:
      SelectAs<uint8_t>(context);
      break;
    case 16:
      SelectAs<uint16_t>(context);
      break;
    case 32:
      SelectAs<uint32_t>(context);
      break;
    default:
      SelectAs<uint64_t>(context);
      break;
  }
  return Status::Ok();
}

namespace {

// SELECT: y = condition ? a : b. a and b have one shape; the condition has that shape too, or is a
// scalar, or a vector with one value for each of the first dimension's slices.

Status PrepareSelect(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckSelect(context));
  const Shape& a = context.input(1)->shape;
  const Shape& b = context.input(2)->shape;
  Shape condition = context.input(0)->shape, declared;
  if (IsSingleChoice(context, &declared)) return FinishSelect(&context, condition, declared);
  if (a != b) {
    return context.Invalid("{} has shape {} and {} has shape {}; they must be equal",
                           context.InputName(1), a.ToString(), context.InputName(2), b.ToString());
  }
  const bool slices = condition.rank() == 1 && a.rank() > 1 && condition[0] == a[0];
  if (condition != a && condition.NumElements() != 1 && !slices) {
    return context.Invalid(
        "the condition {} has shape {}; it must be {} (that of the operands), one value, or "
        "one value for each slice of the first dimension",
        context.InputName(0), condition.ToString(), a.ToString());
  }
  if (slices) {
    while (condition.rank() < a.rank()) condition.Append(1);
  } else if (condition != a) {
    condition = Shape();
  }
  return FinishSelect(&context, condition, a);
}

// SELECT_V2: y = condition ? a : b, all three broadcast to one shape.

Status PrepareSelectV2(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckSelect(context));
  Shape out;
  if (IsSingleChoice(context, &out)) return FinishSelect(&context, context.input(0)->shape, out);
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 3, &out));
  return FinishSelect(&context, context.input(0)->shape, out);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kSelect)
        .Versions(4)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .DataInput(1)
        .Options(OptionsType::kSelect)
        .Cpu(PrepareSelect, RunSelect)
        .Gpu(PlanSelect, GpuTypes::kAny),
    OpDef(OpCode::kSelectV2)
        .Versions(2)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kUInt32, DType::kBFloat16})
        .DataInput(1)
        .Options(OptionsType::kSelectV2)
        .Cpu(PrepareSelectV2, RunSelect)
        .Gpu(PlanSelect, GpuTypes::kAny),
};

Span<const OpDef> SelectOps() { return Selected<kOps>(); }

}  // namespace topwork
