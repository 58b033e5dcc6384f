// Gradients of operators: what training needs beside an operator's forward pass.
//
// For y = op(x_0, x_1, ...) and a given dL/dy, run computes dL/dx_i for the wanted inputs. The
// fused activation is part of the operator. All tensors are float32, NHWC, with the batch as their
// first dimension; windows have the padding of OpParams::padding. (Explicit padding comes from
// fusion only and is never differentiated.) Sums are float32 in an order that depends on the shapes
// alone, so the number of threads changes no bit.
#ifndef TOPWORK_KERNELS_TRAIN_BACKWARD_H_
#define TOPWORK_KERNELS_TRAIN_BACKWARD_H_

#include <cstdint>
#include <string>

#include "kernels/contract/kernel.h"
#include "kernels/train/gradients.h"

namespace topwork {

// Bits of a mask over an operator's tensors: bit i for input i, kOutputBit for its output.
constexpr uint32_t kOutputBit = 1u << 31;
constexpr uint32_t InputBit(int i) { return 1u << i; }

struct BackwardContext {
  const OpParams* params = nullptr;
  // The forward tensors. Shapes are always there. Data is there for constants and where `needs`
  // asked for it; null where an input is left out.
  Span<const TensorView* const> inputs;
  const TensorView* output = nullptr;
  float* output_gradient = nullptr;  // is overwritten
  // One for each input, null where it is not wanted. `accumulate` is a mask: the gradient is added
  // to what is there; otherwise it replaces it.
  Span<float* const> input_gradients;
  uint32_t accumulate = 0;
  uint8_t* scratch = nullptr;  // scratch_bytes(...) bytes, aligned to kAlignment
  ThreadPool* pool = nullptr;
  const CpuKernels* cpu = nullptr;

  const TensorView& in(int i) const { return *inputs[static_cast<size_t>(i)]; }
  bool has_input(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  // Null where it is not wanted.
  float* gradient(int i) const {
    return static_cast<size_t>(i) < input_gradients.size() ? input_gradients[static_cast<size_t>(i)]
                                                           : nullptr;
  }
  bool accumulates(int i) const { return (accumulate & InputBit(i)) != 0; }
  uint32_t wanted() const {
    uint32_t mask = 0;
    for (size_t i = 0; i < input_gradients.size(); ++i) {
      if (input_gradients[i] != nullptr) mask |= InputBit(static_cast<int>(i));
    }
    return mask;
  }
};

// An operator's row points at its gradient (OpDef::gradient).
struct BackwardDef {
  // Which forward tensors the gradients in the mask `wanted` are computed from.
  uint32_t (*needs)(const OpParams& params, uint32_t wanted);
  // Working memory of run; looks at shapes, parameters, cpu and pool. Null: none.
  size_t (*scratch_bytes)(const BackwardContext& context, uint32_t wanted);
  void (*run)(const BackwardContext& context);
};

// Names of all operators that have one, "ADD, AVERAGE_POOL_2D, ...", for messages.
std::string BackwardOpNames();

// What definitions share.

// Turns dL/dy in output_gradient into dL/dz in place, for y = activation(z). Needs the output
// unless the activation is kNone. Where y lies on a bound of kRelu or a clamp, the gradient is 0.
void ActivationBackward(const BackwardContext& context);
// kOutputBit when the fused activation needs it.
uint32_t ActivationNeeds(const OpParams& params);
// BackwardDef::needs of products: the gradient of input 0 reads input 1, and the other way round.
uint32_t ProductNeeds(const OpParams& params, uint32_t wanted);
// True for fused activations that have a gradient: all but SIGN_BIT.
bool HasActivationGradient(Activation activation);
// Calls body(begin, end) in parallel for ranges that cover [0, n); only n decides where they are
// cut.
void ForRanges(ThreadPool* pool, int64_t n, int64_t per_task,
               FunctionRef<void(int64_t begin, int64_t end)> body);
// to[i] (+)= lo < v[i] < hi ? delta[i] : 0, for as many elements as the output has; `to` may be
// delta.
void PassBetween(const BackwardContext& context, const float* v, float lo, float hi,
                 const float* delta, bool accumulate, float* to);
// The gradient of input `input` (+)= Σ_r x[r, c] for rows of n_columns values.
void SumRows(const BackwardContext& context, const float* x, int64_t n_rows, int64_t n_columns,
             int input);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_BACKWARD_H_
