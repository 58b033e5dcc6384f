// OpDef: one operator = one row, with everything that the library believes about it.
//
// A family's file ends with a table of rows. A row names the operator and then what differs from
// the defaults. The planner, the quantizer, the trainer and the GPU ask the row; they keep no list
// of their own. kernels/ADDING_AN_OPERATOR.md shows how to write one.
#ifndef TOPWORK_KERNELS_CONTRACT_OP_DEF_H_
#define TOPWORK_KERNELS_CONTRACT_OP_DEF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernels/contract/op_codes.h"
#include "kernels/contract/op_options.h"
#include "kernels/contract/op_params.h"
#include "kernels/contract/options_view.h"
#include "kernels/contract/selection.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

class GpuContext;
class PrepareContext;
struct BackwardDef;
struct RunContext;

// Which tensors, constants apart, an operator's GPU kernels take. Results of kReals and kAny are
// rounded to the steps of quantized outputs afterwards.
enum class GpuTypes : uint8_t {
  kReals,
  kOnGrid,  // reals; the planning function itself rounds to the output's steps
  kMoves,   // all reals or all integers; values pass unchanged
  kAny,     // the planning function checks them
};

// How the operator computes in int8 when a float model is quantized.
enum class IntegerForm : uint8_t {
  kNone,      // it stays float
  kWeighted,  // constant weights and bias; the result has a scale of its own
  kOwn,       // every tensor has a scale of its own
  kSame,      // all float inputs and results have one scale
  kFixed,     // the result has the scale that the format prescribes
};

// Whether rows of an image may be computed apart, with the bits that the whole gets.
enum class BandRule : uint8_t {
  kNone,
  kWindow,  // it depends on the rows of input 0 that the window reads, and on its row of input 3
  kApart,   // the same, where the window is 1x1, or moves down by more than 1
};

// How many floating-point operations a run takes.
enum class WorkRule : uint8_t {
  kElements,    // one for each element of the outputs
  kFunctions,   // a function such as exp for each element of the outputs
  kWindow,      // the window's area for each element of the outputs
  kWeights,     // 2 * outputs * weights / weights' first dimension
  kDepthwise,   // 2 * outputs * weights / weights' last dimension
  kTransposed,  // every element of input 2 meets the whole filter, input 1
  kMatMul,      // 2 * outputs * depth of input 0
};

// What an operator is to the search for a model's head.
enum class HeadRole : uint8_t {
  kNone,
  kDense,      // weights times features: the head itself
  kMatMul,     // the same where the second factor is constant
  kBias,       // adds a constant to every score
  kLayer,      // a layer with weights that is no head
  kScores,     // turns scores into probabilities or their logarithms
  kPooling,    // means over pixels
  kPassing,    // hands values on in another shape or type
  kEmbedding,  // what else features come out of: a maximum over pixels, vectors of length 1
};

// The scale and zero point of a tensor whose integers q mean scale * (q - zero_point).
struct Affine {
  float scale = 0.0f;
  int32_t zero_point = 0;
};

// OpDef::data_input where no input is data.
constexpr uint8_t kNoData = 255;

// Which inputs of an operator with weights are what.
struct WeightedInputs {
  uint8_t data = 0, weights = 1, bias = 2;
  uint8_t axis = 0;  // of the weights' output channels
};

using ParseFunction = Status (*)(const OptionsView& options, OpParams* params);
using PrepareFunction = Status (*)(PrepareContext& context);
using RunFunction = Status (*)(const RunContext& context);
// Turns an operator into launches; refuses with the reason for the printed plan ("its axes are not
// constant").
using PlanGpuFunction = Status (*)(GpuContext& context);

// Wide members come first: there are many rows, and none should hold gaps.
struct OpDef {
  const char* custom_name = nullptr;  // of kCustom
  ParseFunction parse = nullptr;      // fills the parameters, checks enumerations; null: no options
  PrepareFunction prepare = nullptr;
  RunFunction run_cpu = nullptr;
  PlanGpuFunction plan_gpu = nullptr;     // null: the CPU computes it
  const BackwardDef* gradient = nullptr;  // null: nothing before it can be trained

  OpCode code = OpCode::kCustom;
  uint32_t types = 0;       // of the data: bit i for DType i
  Affine integer_scale;     // of kFixed
  WeightedInputs weighted;  // of kWeighted

  uint16_t max_version = 1;
  uint8_t data_input = 0;    // the input that is the data; others are indices, shapes ...
  uint8_t least_inputs = 1;  // of what can be trained: the inputs that must be there
  bool counts_axes = false;  // of what can be trained: it counts dimensions, the example's first

  // The table that the operator's options lie in. A table of another type is refused by the
  // verifier; an absent one means defaults.
  OptionsType options = OptionsType::kNone;
  OptionsType2 options2 = OptionsType2::kNone;

  GpuTypes gpu_types = GpuTypes::kReals;
  bool gpu_int16 = true;  // false: its int16 results are coarser than float32's

  IntegerForm integer = IntegerForm::kNone;
  uint8_t integer_version = 1;  // the first that takes int8
  uint8_t dynamic_version = 0;  // the first that takes float data and int8 weights; 0: none
  bool reads_float16 = false;   // its constants may be float16 ones after a DEQUANTIZE
  bool widens_half = false;     // float16 and bfloat16: it computes in float32 between two CASTs
  bool packs_halves = false;  // constant weights, input 1, may be float16: HalfConstant (kernel.h)
  WorkRule work = WorkRule::kElements;
  BandRule band_rule = BandRule::kNone;
  HeadRole head = HeadRole::kNone;

  bool has_effects = false;        // does more than make its outputs, or makes others each time
  bool keeps_state = false;        // keeps memory of its own in the session's resources
  bool needs_shapes_only = false;  // its result is known as soon as its input's shape is
  bool fuses_activation = false;   // a clamp that follows it can become part of it
  bool fuses_residual = false;     // so can an ADD
  bool adds_to_dynamic = false;    // also where its weights are quantized and its data are floats
  bool fuses_product = false;      // so can a MUL with its own input
  bool fuses_function = false;     // so can one of a byte, or of floats LOGISTIC and HARD_SWISH
  // Every element of its one output follows from the inputs' elements there, as broadcast, and from
  // nothing else; inputs can have any values.
  bool by_element = false;
  Activation as_activation = Activation::kNone;  // what it is once it is part of another

  template <typename T>
  constexpr OpDef With(T OpDef::*fact, T value) const {
    OpDef row = *this;
    row.*fact = value;
    return row;
  }

  constexpr OpDef() = default;
  constexpr explicit OpDef(OpCode op) : code(op) {}
  bool is_custom() const { return code == OpCode::kCustom; }
  const char* name() const { return custom_name != nullptr ? custom_name : OpCodeName(code); }
  bool takes(DType dtype) const { return (types >> static_cast<int>(dtype) & 1u) != 0; }

  // A row is written as OpDef(code).Fact(...).Fact(...); each call returns the row with that fact.
  constexpr OpDef Name(const char* name) const { return With(&OpDef::custom_name, name); }
  constexpr OpDef Versions(uint16_t max) const { return With(&OpDef::max_version, max); }
  constexpr OpDef Types(std::initializer_list<DType> dtypes) const {
    uint32_t mask = 0;
    for (DType dtype : dtypes) mask |= 1u << static_cast<int>(dtype);
    return With(&OpDef::types, mask);
  }
  constexpr OpDef DataInput(uint8_t input) const { return With(&OpDef::data_input, input); }
  constexpr OpDef Inputs(uint8_t least) const { return With(&OpDef::least_inputs, least); }
  constexpr OpDef CountsAxes() const { return With(&OpDef::counts_axes, true); }
  constexpr OpDef Options(OptionsType type, ParseFunction function = nullptr) const {
    return With(&OpDef::options, type).With(&OpDef::parse, function);
  }
  constexpr OpDef Options(OptionsType2 type, ParseFunction function = nullptr) const {
    return With(&OpDef::options2, type).With(&OpDef::parse, function);
  }
  constexpr OpDef Cpu(PrepareFunction prepare_function, RunFunction run_function) const {
    return With(&OpDef::prepare, prepare_function).With(&OpDef::run_cpu, run_function);
  }
  constexpr OpDef Gpu(PlanGpuFunction plan, GpuTypes gpu = GpuTypes::kReals) const {
    return With(&OpDef::plan_gpu, plan).With(&OpDef::gpu_types, gpu);
  }
  constexpr OpDef NoGpuInt16() const { return With(&OpDef::gpu_int16, false); }
  constexpr OpDef Gradient(const BackwardDef& def) const { return With(&OpDef::gradient, &def); }
  constexpr OpDef Int8(IntegerForm form, uint8_t version, Affine scale = {}) const {
    return With(&OpDef::integer, form)
        .With(&OpDef::integer_version, version)
        .With(&OpDef::integer_scale, scale);
  }
  constexpr OpDef Weighted(WeightedInputs inputs) const { return With(&OpDef::weighted, inputs); }
  constexpr OpDef DynamicRange(uint8_t version) const {
    return With(&OpDef::dynamic_version, version).ReadsFloat16();
  }
  constexpr OpDef ReadsFloat16() const { return With(&OpDef::reads_float16, true); }
  constexpr OpDef WidensHalf() const { return With(&OpDef::widens_half, true); }
  constexpr OpDef PacksHalves() const { return With(&OpDef::packs_halves, true); }
  constexpr OpDef Work(WorkRule rule) const { return With(&OpDef::work, rule); }
  constexpr OpDef Bands(BandRule rule) const { return With(&OpDef::band_rule, rule); }
  constexpr OpDef Head(HeadRole role) const { return With(&OpDef::head, role); }
  constexpr OpDef Effects() const { return With(&OpDef::has_effects, true); }
  constexpr OpDef KeepsState() const { return With(&OpDef::keeps_state, true); }
  constexpr OpDef ShapesOnly() const { return With(&OpDef::needs_shapes_only, true); }
  constexpr OpDef FusesActivation() const { return With(&OpDef::fuses_activation, true); }
  constexpr OpDef FusesResidual() const { return With(&OpDef::fuses_residual, true); }
  constexpr OpDef AddsToDynamic() const { return With(&OpDef::adds_to_dynamic, true); }
  constexpr OpDef FusesProduct() const { return With(&OpDef::fuses_product, true); }
  constexpr OpDef FusesFunction() const { return With(&OpDef::fuses_function, true); }
  constexpr OpDef ByElement() const { return With(&OpDef::by_element, true); }
  constexpr OpDef Becomes(Activation activation) const {
    return With(&OpDef::as_activation, activation);
  }
};

constexpr bool IsSelected(const OpDef& op) { return SelectedTypesOf(op.code, op.custom_name) != 0; }

// A family's rows as this build has them: without the operators that it leaves out, and without what
// GPUs and training would ask them where it has neither.
template <const auto& kRows>
Span<const OpDef> Selected() {
  if constexpr (kHasAllOps && kHasOpenCl && kHasTraining && !kTrainsLastAlone) {
    return kRows;
  } else {
    constexpr size_t kCount = [] {
      size_t n = 0;
      for (const OpDef& op : kRows) n += IsSelected(op) ? 1 : 0;
      return n;
    }();
    if constexpr (kCount == 0) {
      return {};
    } else {
      static constexpr std::array<OpDef, kCount> kSelected = [] {
        std::array<OpDef, kCount> rows = {};
        size_t n = 0;
        for (const OpDef& op : kRows) {
          if (!IsSelected(op)) continue;
          rows[n] = op;
          if (!kHasOpenCl) rows[n].plan_gpu = nullptr;
          if (!kHasTraining || kTrainsLastAlone) rows[n].gradient = nullptr;
          ++n;
        }
        return rows;
      }();
      return {kSelected.data(), kCount};
    }
  }
}

// The rows of each file, as Selected gives them. Making the table calls all of these functions: as hot
// ones they lie side by side, where else a piece of every file's code came into memory with them.
#define TW_OPS(name) __attribute__((hot)) Span<const OpDef> name##Ops();
#include "kernels/contract/op_table.inc"
#undef TW_OPS

// The operator with that builtin code, or null. (op_table.cc)
const OpDef* FindOp(OpCode code);
// The custom operator of the library with that name, or the builtin one that it is (flex_ops.h), or
// null. FlexTensorListStack is TensorListStack, and so for all operators on lists.
const OpDef* FindOwnCustomOp(const char* name);
// All rows, file by file.
void ForEachOp(FunctionRef<void(const OpDef& op)> visit);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_OP_DEF_H_
