// UNIQUE: the different values of a one-dimensional tensor in order of first appearance (output 0),
// and for every element the position of its value there (output 1, int32 or int64).
//
// The size of output 0 depends on the values, so prepare does the work and run copies. All NaN
// count as one value, and so do 0 and -0; the first of them is the one that is kept.
#include <algorithm>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

struct UniqueState : OpState {
  std::vector<int32_t> firsts;   // positions in the input of the different values
  std::vector<int32_t> indices;  // for each element of the input
};

Status Parse(const OptionsView& options, OpParams* params) {
  const int8_t type = options.Byte(0, static_cast<int8_t>(DType::kInt32));
  if (type != static_cast<int8_t>(DType::kInt32) && type != static_cast<int8_t>(DType::kInt64)) {
    return InvalidModel("idx_out_type {} is neither int32 nor int64", type);
  }
  params->out_dtype = static_cast<DType>(type);
  return Status::Ok();
}

// A strict weak order in which all NaN are equal and follow every number.
template <typename T>
bool Less(T a, T b) {
  if (a < b) return true;
  if (b < a || a == b) return false;
  return a == a && b != b;
}

template <typename T>
void FindUnique(const TensorView& input, UniqueState* state) {
  const T* x = input.as<T>();
  const int32_t n = input.shape.dim(0);
  std::vector<int32_t> order(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  std::sort(order.begin(), order.end(),
            [x](int32_t a, int32_t b) { return Less(x[a], x[b]) || (!Less(x[b], x[a]) && a < b); });
  // Equal values are neighbours now, the first of the input ahead: `indices` gets that position.
  state->indices.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && !Less(x[order[i - 1]], x[order[i]]);
    const size_t at = static_cast<size_t>(order[i]);
    state->indices[at] = same ? state->indices[static_cast<size_t>(order[i - 1])] : order[i];
  }
  // The values are numbered as they come; a position's number replaces the position.
  std::vector<int32_t>& number = order;
  for (int32_t i = 0; i < n; ++i) {
    const int32_t first = state->indices[static_cast<size_t>(i)];
    if (first == i) {
      number[static_cast<size_t>(i)] = static_cast<int32_t>(state->firsts.size());
      state->firsts.push_back(i);
    }
    state->indices[static_cast<size_t>(i)] = number[static_cast<size_t>(first)];
  }
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 1));
  TW_RETURN_IF_ERROR(context.CheckOutputs(2));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt8, DType::kUInt8,
                                            DType::kInt16, DType::kInt32, DType::kInt64}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 1, 1));
  TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
  TW_RETURN_IF_ERROR(context.NeedValue(0));
  const TensorView& input = *context.input(0);
  UniqueState* state = context.NewState<UniqueState>();
  VisitDType<float, int8_t, uint8_t, int16_t, int32_t, int64_t>(
      input.dtype, [&](auto type) { FindUnique<decltype(type)>(input, state); });
  const int32_t n_unique = static_cast<int32_t>(state->firsts.size());
  TW_RETURN_IF_ERROR(context.SetOutput(0, input.dtype, Shape({n_unique})));
  return context.SetOutput(1, context.params().out_dtype, input.shape);
}

Status Run(const RunContext& context) {
  const UniqueState& s = context.get_state<UniqueState>();
  const int64_t bytes = ElementBytes(context.in(0));
  const uint8_t* in = context.input_data<uint8_t>(0);
  uint8_t* out = context.output_data<uint8_t>(0);
  for (const int32_t first : s.firsts) {
    CopyBytes(out, in + first * bytes, bytes);
    out += bytes;
  }
  if (context.out(1).dtype == DType::kInt64) {
    std::copy(s.indices.begin(), s.indices.end(), context.output_data<int64_t>(1));
  } else {
    std::copy(s.indices.begin(), s.indices.end(), context.output_data<int32_t>(1));
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kUnique)
        .Types({DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt64, DType::kInt16,
                DType::kInt8})
        .Options(OptionsType::kUnique, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> UniqueOps() { return Selected<kOps>(); }

}  // namespace topwork
