// LSTM cells: which inputs they have, and their float and dynamic-range form.
//
//   i = σ(W_xi x + W_ai a + W_hi h + w_ci c + b_i)     f, o likewise (o looks at the new c)
//   g = act(W_xg x + W_ag a + W_hg h + b_g)
//   c = clip(f c + i g)        (without an input gate, "CIFG": i = 1 − f)
//   h = clip(W_p (o act(c)) + b_p)                      (without a projection: h = o act(c))
// With layer normalization a gate's sum without bias is scaled to mean 0 and deviation 1 and
// multiplied by coefficients; then the bias is added.
#ifndef TOPWORK_KERNELS_OPS_RECURRENT_LSTM_H_
#define TOPWORK_KERNELS_OPS_RECURRENT_LSTM_H_

#include <cstdint>

#include "kernels/ops/recurrent/recurrent.h"

namespace topwork {

enum LstmGate : int { kInputGate, kForgetGate, kCellGate, kOutputGate, kNumLstmGates };

// Positions among the operator's inputs; −1: the form has no such input.
struct LstmInputs {
  int input = 0;
  int aux = -1;
  int input_weights[kNumLstmGates] = {1, 2, 3, 4};
  int aux_weights[kNumLstmGates] = {-1, -1, -1, -1};
  int recurrent_weights[kNumLstmGates] = {5, 6, 7, 8};
  int peephole[kNumLstmGates] = {9, 10, -1, 11};
  int bias[kNumLstmGates] = {12, 13, 14, 15};
  int projection = 16, projection_bias = 17;
  int output_state = 18, cell_state = 19;
  int norm[kNumLstmGates] = {20, 21, 22, 23};
};

struct LstmShape {
  Sequence sequence;
  int64_t n_input = 0, n_aux = 0, n_cell = 0, n_output = 0;
  bool cifg = false, peephole = false, projection = false, norm = false, aux = false;
  bool diagonal[kNumLstmGates] = {};  // recurrent weights of rank 1
};

// What the inputs hold: weights of all gates or of none; float32 biases with float data, int32 ones
// with int8 data, and so on. Diagonal recurrent weights only where `may_be_diagonal`.
Status CheckLstm(const PrepareContext& context, const LstmInputs& inputs, bool may_be_diagonal,
                 const Sequence& sequence, LstmShape* shape);

// Float and dynamic-range cells.
struct LstmCell {
  LstmInputs inputs;
  LstmShape shape;
  CellArithmetic arithmetic = CellArithmetic::kFloat;
  CellMatrix input_weights[kNumLstmGates], aux_weights[kNumLstmGates];
  CellMatrix recurrent_weights[kNumLstmGates];
  CellMatrix projection;
  CellRowsPlan input_rows, aux_rows, state_rows, hidden_rows;
  size_t gates_offset = 0, hidden_offset = 0, peephole_offset = 0;
};

Status PlanLstm(PrepareContext* context, const LstmInputs& inputs, const LstmShape& shape,
                ScratchLayout* scratch, LstmCell* cell);
// Writes h of every row to output + row * ld; `backward` walks from the last step to the first.
void RunLstm(const RunContext& context, const LstmCell& cell, bool backward, float* output,
             int64_t ld);

// LSTM with kernel_type BASIC (lstm_basic.cc).
Status PrepareBasicLstm(PrepareContext* context);
Status RunBasicLstm(const RunContext& context);
// int8 data and weights, int16 cell state (lstm_int8.cc); the output is set.
Status PrepareInt8Lstm(PrepareContext* context, const LstmInputs& inputs, const LstmShape& shape);
Status RunInt8Lstm(const RunContext& context);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_RECURRENT_LSTM_H_
