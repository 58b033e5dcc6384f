// Options and memory of TFLite Micro's signal operators.
#include "kernels/ops/signal/signal_options.h"

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/state/resources.h"

namespace topwork {
namespace {

constexpr size_t kNumberBytes = 64;  // before the elements, which stay aligned

}  // namespace

Status SignalState::PlanMemory(const PrepareContext& context, int64_t memory_rows, int64_t samples,
                               size_t element_bytes) {
  int64_t total = 0;
  if (MulOverflow(memory_rows, samples * static_cast<int64_t>(element_bytes), &total) ||
      total > INT32_MAX - static_cast<int64_t>(kNumberBytes)) {
    return context.Invalid("it keeps {} samples for each of {} rows, which is too much", samples,
                           memory_rows);
  }
  owner = context.Where();
  memory_bytes = kNumberBytes + static_cast<size_t>(total);
  return Status::Ok();
}

Result<SignalState::Memory> SignalState::MemoryOf(const RunContext& context) const {
  TW_ASSIGN_OR_RETURN(uint8_t* const bytes, context.resources->MemoryOf(owner, memory_bytes));
  return Memory{reinterpret_cast<int64_t*>(bytes), bytes + kNumberBytes};
}

Status ReadSignalOption(const PrepareContext& context, const SignalOption& option, int32_t* out) {
  const FlexMap map(context.params().custom_options);
  if (!map.Has(option.key)) return context.Invalid("its options lack '{}'", option.key);
  *out = map.Int(option.key, 0);
  if (*out >= option.least && *out <= option.most) return Status::Ok();
  return context.Invalid("its option '{}' is {}, {} to {} expected", option.key, *out, option.least,
                         option.most);
}

Status PrepareSignal(PrepareContext& context, std::initializer_list<DType> inputs, int most_rank,
                     int n_outputs, std::initializer_list<SignalOption> options,
                     SignalState** state) {
  const int n = static_cast<int>(inputs.size());
  TW_RETURN_IF_ERROR(context.CheckInputs(n, n));
  TW_RETURN_IF_ERROR(context.CheckOutputs(n_outputs));
  for (int i = 0; i < n; ++i) {
    TW_RETURN_IF_ERROR(context.CheckDType(i, {inputs.begin()[i]}));
    TW_RETURN_IF_ERROR(context.CheckRank(i, i == 0 ? 1 : 0, i == 0 ? most_rank : 1));
  }
  SignalState* s = context.NewState<SignalState>();
  *state = s;
  const Shape& in = context.input(0)->shape;
  for (int d = 0; d + 1 < in.rank(); ++d) s->rows *= in[d];
  s->length = in[in.rank() - 1];
  int32_t* out = s->options;
  for (const SignalOption& option : options) {
    TW_RETURN_IF_ERROR(ReadSignalOption(context, option, out++));
  }
  return Status::Ok();
}

Status CheckSignalSize(const PrepareContext& context, int i, int64_t size) {
  const int64_t have = context.input(i)->shape.NumElements();
  if (have == size) return Status::Ok();
  return context.Invalid("{} has {} elements, {} expected", context.InputName(i), have, size);
}

Status SetSignalOutput(PrepareContext& context, int n_replaced,
                       std::initializer_list<int64_t> dims) {
  const Shape& in = context.input(0)->shape;
  Shape out(in.dims(), in.rank() - n_replaced);
  TW_RETURN_IF_ERROR(CheckOutputRank(context, out.rank() + static_cast<int>(dims.size())));
  for (const int64_t dim : dims) {
    TW_RETURN_IF_ERROR(CheckDim(context, dim, "a dimension of its output"));
    out.Append(static_cast<int32_t>(dim));
  }
  return context.SetOutput(0, context.input(0)->dtype, out);
}

}  // namespace topwork
