// Checks of an LSTM's inputs (see lstm.h).
#include "kernels/ops/recurrent/lstm.h"

namespace topwork {
namespace {

const char* const kGateNames[] = {"input", "forget", "cell", "output"};

class Checker {
 public:
  Checker(const PrepareContext& context, const LstmInputs& inputs, LstmShape* shape)
      : context_(context), inputs_(inputs), shape_(*shape) {}

  Status Run(bool may_be_diagonal) {
    TW_RETURN_IF_ERROR(FindSizes(may_be_diagonal));
    TW_RETURN_IF_ERROR(FindForm());
    for (int gate = 0; gate < kNumLstmGates; ++gate) {
      if (gate == kInputGate && shape_.cifg) continue;
      TW_RETURN_IF_ERROR(CheckGate(gate, may_be_diagonal));
    }
    TW_RETURN_IF_ERROR(CheckProjection());
    const DType data = context_.input(inputs_.input)->dtype;
    const int64_t batch = shape_.sequence.batch;
    TW_RETURN_IF_ERROR(CheckState(context_, inputs_.output_state, data, batch * shape_.n_output));
    TW_RETURN_IF_ERROR(CheckState(context_, inputs_.cell_state,
                                  integer() ? DType::kInt16 : DType::kFloat32,
                                  batch * shape_.n_cell));
    const OpParams& params = context_.params();
    if (params.cell_clip >= 0.0f && params.proj_clip >= 0.0f) return Status::Ok();
    return context_.Invalid("cell_clip {} and proj_clip {} must not be below 0", params.cell_clip,
                            params.proj_clip);
  }

 private:
  bool Has(int input) const { return input >= 0 && context_.input(input) != nullptr; }
  bool integer() const { return context_.input(inputs_.input)->dtype == DType::kInt8; }
  static Shape Vector(int64_t n) { return Shape{static_cast<int32_t>(n)}; }
  static Shape Matrix(int64_t rows, int64_t columns) {
    return Shape{static_cast<int32_t>(rows), static_cast<int32_t>(columns)};
  }

  Status FindSizes(bool may_be_diagonal) {
    const int weights = inputs_.input_weights[kOutputGate];
    const int recurrent = inputs_.recurrent_weights[kOutputGate];
    for (int i : {weights, recurrent}) {
      if (!Has(i)) {
        return InvalidModel("{} lacks its input {}, weights of the output gate", context_.Where(),
                            i);
      }
    }
    TW_RETURN_IF_ERROR(context_.CheckRank(weights, 2, 2));
    TW_RETURN_IF_ERROR(context_.CheckRank(recurrent, may_be_diagonal ? 1 : 2, 2));
    shape_.n_input = shape_.sequence.depth;
    shape_.n_cell = context_.input(weights)->shape[0];
    shape_.n_output = context_.input(recurrent)->shape.back();
    if (shape_.n_input >= 1 && shape_.n_cell >= 1 && shape_.n_output >= 1) return Status::Ok();
    return context_.Invalid("{} inputs, {} cells and {} outputs: none may be 0", shape_.n_input,
                            shape_.n_cell, shape_.n_output);
  }

  // Which of the optional parts there are; those that belong together must come together.
  Status FindForm() {
    shape_.cifg = !Has(inputs_.input_weights[kInputGate]);
    shape_.projection = Has(inputs_.projection);
    shape_.peephole = Has(inputs_.peephole[kOutputGate]);
    shape_.norm = Has(inputs_.norm[kForgetGate]);
    shape_.aux = Has(inputs_.aux_weights[kForgetGate]);
    if (shape_.aux) shape_.n_aux = context_.input(inputs_.aux)->shape.back();
    for (int gate = 0; gate < kNumLstmGates; ++gate) {
      const bool used = gate != kInputGate || !shape_.cifg;
      TW_RETURN_IF_ERROR(Together(inputs_.recurrent_weights[gate], gate, used, "weights"));
      TW_RETURN_IF_ERROR(Together(inputs_.bias[gate], gate, used, "weights"));
      TW_RETURN_IF_ERROR(
          Together(inputs_.peephole[gate], gate, used && shape_.peephole, "peephole weights"));
      TW_RETURN_IF_ERROR(Together(inputs_.norm[gate], gate, used && shape_.norm,
                                  "layer normalization coefficients"));
      TW_RETURN_IF_ERROR(
          Together(inputs_.aux_weights[gate], gate, used && shape_.aux, "auxiliary weights"));
    }
    return Status::Ok();
  }

  Status Together(int input, int gate, bool wanted, const char* what) const {
    if (input < 0 || Has(input) == wanted) return Status::Ok();
    return context_.Invalid(
        "input {} of the {} gate is {} although the other {} are {}; all gates have theirs or "
        "none (the input gate may be left out as a whole)",
        input, kGateNames[gate], wanted ? "left out" : "present", what,
        wanted ? "present" : "left out");
  }

  Status CheckGate(int gate, bool may_be_diagonal) {
    const int weights = inputs_.input_weights[gate];
    const int recurrent = inputs_.recurrent_weights[gate];
    TW_RETURN_IF_ERROR(CheckCellShape(context_, weights, Matrix(shape_.n_cell, shape_.n_input)));
    shape_.diagonal[gate] = may_be_diagonal && context_.input(recurrent)->shape.rank() == 1;
    const bool diagonal = shape_.diagonal[gate];
    if (diagonal && shape_.n_output != shape_.n_cell) {
      return context_.Invalid("{} is a diagonal, but there are {} cells and {} outputs",
                              context_.InputName(recurrent), shape_.n_cell, shape_.n_output);
    }
    TW_RETURN_IF_ERROR(
        CheckCellShape(context_, recurrent,
                       diagonal ? Vector(shape_.n_cell) : Matrix(shape_.n_cell, shape_.n_output)));
    const DType type = context_.input(inputs_.input_weights[kOutputGate])->dtype;
    TW_RETURN_IF_ERROR(context_.CheckDType(weights, {type}));
    TW_RETURN_IF_ERROR(context_.CheckDType(recurrent, {type}));
    TW_RETURN_IF_ERROR(CheckVector(inputs_.bias[gate], shape_.n_cell,
                                   integer() ? DType::kInt32 : DType::kFloat32));
    TW_RETURN_IF_ERROR(
        CheckVector(inputs_.peephole[gate], shape_.n_cell, integer() ? DType::kInt16 : type));
    TW_RETURN_IF_ERROR(CheckVector(inputs_.norm[gate], shape_.n_cell,
                                   integer() ? DType::kInt16 : DType::kFloat32));
    if (!shape_.aux) return Status::Ok();
    TW_RETURN_IF_ERROR(context_.CheckDType(inputs_.aux_weights[gate], {type}));
    return CheckCellShape(context_, inputs_.aux_weights[gate], Matrix(shape_.n_cell, shape_.n_aux));
  }

  // One value a cell, where the input is present.
  Status CheckVector(int input, int64_t n, DType dtype) const {
    if (!Has(input)) return Status::Ok();
    TW_RETURN_IF_ERROR(context_.CheckDType(input, {dtype}));
    return CheckCellShape(context_, input, Vector(n));
  }

  Status CheckProjection() const {
    if (!shape_.projection) {
      if (Has(inputs_.projection_bias)) {
        return context_.Invalid("{} is the bias of a projection, whose weights are left out",
                                context_.InputName(inputs_.projection_bias));
      }
      if (shape_.n_output == shape_.n_cell) return Status::Ok();
      return context_.Invalid("{} cells without a projection cannot make {} outputs", shape_.n_cell,
                              shape_.n_output);
    }
    TW_RETURN_IF_ERROR(context_.CheckDType(
        inputs_.projection, {context_.input(inputs_.input_weights[kOutputGate])->dtype}));
    TW_RETURN_IF_ERROR(
        CheckCellShape(context_, inputs_.projection, Matrix(shape_.n_output, shape_.n_cell)));
    return CheckVector(inputs_.projection_bias, shape_.n_output,
                       integer() ? DType::kInt32 : DType::kFloat32);
  }

  const PrepareContext& context_;
  const LstmInputs& inputs_;
  LstmShape& shape_;
};

}  // namespace

Status CheckLstm(const PrepareContext& context, const LstmInputs& inputs, bool may_be_diagonal,
                 const Sequence& sequence, LstmShape* shape) {
  shape->sequence = sequence;
  return Checker(context, inputs, shape).Run(may_be_diagonal);
}

}  // namespace topwork
