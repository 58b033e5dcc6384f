// Functions of one float32 tensor that TensorFlow has and the format lacks: a converter leaves them
// under TensorFlow's name. y = f(x), element by element.
#include <cmath>
#include <cstring>

#include "kernels/ops/elementwise/unary.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

using Function = float (*)(float);

struct NamedFunction {
  const char* name;
  Function function;
};

constexpr NamedFunction kFunctions[] = {
    {"FlexAtan", [](float x) { return std::atan(x); }},
    {"FlexErf", [](float x) { return std::erf(x); }},
    {"FlexSinh", [](float x) { return std::sinh(x); }},
    // ln(1 + e^x) without overflow.
    {"FlexSoftplus",
     [](float x) { return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }},
    {"FlexTan", [](float x) { return std::tan(x); }},
};

struct FunctionState : OpState {
  Function function = nullptr;
};

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(PrepareUnaryFloat(context));
  FunctionState* const state = context.NewState<FunctionState>();
  for (const NamedFunction& named : kFunctions) {
    if (std::strcmp(named.name, context.params().custom_name) == 0) {
      state->function = named.function;
    }
  }
  return state->function != nullptr ? Status::Ok() : InternalError("no function of that name");
}

Status Run(const RunContext& context) {
  const Function function = context.get_state<FunctionState>().function;
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  ParallelRows(context.pool, context.out(0).shape.NumElements(), int64_t{sizeof(float)},
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) y[i] = function(x[i]);
               });
  return Status::Ok();
}

constexpr OpDef Row(int i) {
  return OpDef(OpCode::kCustom)
      .Name(kFunctions[i].name)
      .Cpu(Prepare, Run)
      .WidensHalf()
      .Work(WorkRule::kFunctions);
}

}  // namespace

constexpr OpDef kOps[] = {Row(0), Row(1), Row(2), Row(3), Row(4)};
static_assert(sizeof(kOps) / sizeof(OpDef) == sizeof(kFunctions) / sizeof(NamedFunction));

Span<const OpDef> FlexUnaryOps() { return Selected<kOps>(); }

}  // namespace topwork
