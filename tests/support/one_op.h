// OneOp: prepares and runs one operator on tensors made by hand, without a model or a session.
//
//   OneOp op(OpCode::kGather);
//   op.params.axis = 1;
//   op.In<float>({2, 2}, {1, 2, 3, 4}).In<int32_t>({1}, {1}).Out(DType::kFloat32);
//   REQUIRE(op.Run().ok());  op.Values<float>(0) is {2, 4}
// No zero-copy view is ever granted. Memory is heap blocks of the exact size, for sanitizers.
//
// Refusals are rows: a correct operator, what is changed in a copy of it, the error.
//   const OneOp pad = Accepted(OneOp(OpCode::kPad).Unknown(DType::kFloat32, {2, 3})
//                                  .In<int32_t>({2, 2}, {0, 0, 1, 1}).Out(DType::kFloat32));
//   CheckRefusals({{pad.With(1).In<int32_t>({3}, {1, 1, 1}), kInvalidModel, "rank 2 expected"},
//                  {pad.First(1), kInvalidModel, "lacks its input 1"}});
#ifndef TOPWORK_TESTS_SUPPORT_ONE_OP_H_
#define TOPWORK_TESTS_SUPPORT_ONE_OP_H_

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/prepare.h"

namespace topwork {
namespace test {

class OneOp {
 public:
  explicit OneOp(OpCode code);
  ~OneOp();
  OneOp(OneOp&&) noexcept;
  // Copies the operator and its tensors, and nothing that was prepared or run.
  OneOp(const OneOp& other);

  OpParams params;
  const GemmKernels* half_products = nullptr;  // that the operator may use

  // An input whose value is known at plan time.
  template <typename T>
  OneOp& In(const Shape& shape, const std::vector<T>& values) {
    std::vector<T> copy = values;  // std::vector<bool> has no data()
    return AddInput(DTypeOf<T>::kValue, shape, copy.data(), copy.size() * sizeof(T));
  }
  OneOp& InBool(const Shape& shape, const std::vector<uint8_t>& values) {
    return AddInput(DType::kBool, shape, values.data(), values.size());
  }
  // An input of a packed type, as it lies in memory.
  OneOp& InPacked(DType dtype, const Shape& shape, const std::vector<uint8_t>& bytes) {
    return AddInput(dtype, shape, bytes.data(), bytes.size());
  }
  // An input that only a run would know: its data is null.
  OneOp& Unknown(DType dtype, const Shape& shape);
  // A variable, all zeros; Run writes to it.
  OneOp& Variable(DType dtype, const Shape& shape);
  // How the next value inside the operator is quantized (the file's `intermediates`).
  OneOp& Hidden(float scale, int64_t zero_point);
  // An optional input that is left out.
  OneOp& Missing();
  OneOp& Out(DType dtype);
  // Output i anew; i may be the number of outputs: one more.
  OneOp& Out(int i, DType dtype);
  // The next input takes the place of input i; i may be the number of inputs: one more.
  OneOp& At(int i);
  // Quantization of the input (the output) added last.
  OneOp& Quantized(const std::vector<float>& scales, const std::vector<int64_t>& zero_points);
  // The axis that several scales of the tensor added last belong to; 0 unless told.
  OneOp& ScaleAxis(int axis);

  // Parse functions are not called: `params` holds the options. Set(f) calls f(params).
  template <typename F>
  OneOp& Set(F f) {
    f(params);
    return *this;
  }
  template <typename T, typename U>
  OneOp& Set(T OpParams::*option, U value) {
    params.*option = static_cast<T>(value);
    return *this;
  }

  // Changed copies: whose next call makes input i anew, with another option, with the first n
  // inputs alone.
  OneOp With() const { return *this; }
  OneOp With(int i) const { return OneOp(*this).At(i); }
  template <typename T, typename U>
  OneOp With(T OpParams::*option, U value) const {
    return OneOp(*this).Set(option, value);
  }
  OneOp First(int n) const;

  Status Prepare();
  // The values of input i, a variable's after a run.
  template <typename T>
  std::vector<T> InputValues(int i) const {
    const TensorView& view = inputs_[Index(i)]->view;
    return {view.as<const T>(), view.as<const T>() + view.shape.NumElements()};
  }
  // Prepare and run.
  Status Run(int n_threads = 1);

  const Shape& shape(int output) const { return context_->outputs()[Index(output)].shape; }
  template <typename T>
  std::vector<T> Values(int output) const {
    const std::vector<uint8_t>& bytes = results_[Index(output)];
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // No present input is Unknown, unless it has no elements.
  bool has_all_values() const;
  // The input whose value prepare asked for in vain, or −1.
  int unknown_value_input() const { return context_->unknown_value_input(); }
  const PlanPrepareContext& context() const { return *context_; }

 private:
  struct Tensor {
    bool present = true;
    TensorView view;
    std::unique_ptr<uint8_t[]> data;
    size_t data_bytes = 0;
    std::vector<float> scales;
    std::vector<int64_t> zero_points;
    Quantization quantization;
  };
  using Tensors = std::vector<std::unique_ptr<Tensor>>;
  static size_t Index(int i) { return static_cast<size_t>(i); }
  static Tensors Copies(const Tensors& tensors);
  // A new tensor at that index, which is the vector's size at most.
  Tensor* NewTensor(Tensors* tensors, size_t index);
  OneOp& AddInput(DType dtype, const Shape& shape, const void* data, size_t bytes);

  OpCode code_;
  Op op_;
  Tensors inputs_, outputs_;
  int next_input_ = -1;  // where the next one goes; −1: behind the last
  Tensor* last_ = nullptr;
  std::string name_ = "t";
  std::unique_ptr<PlanPrepareContext> context_;
  std::vector<std::vector<uint8_t>> results_;
};

// Empty when op.Prepare() fails with that code and a message that names the operator and holds
// `text`; otherwise what it did instead. For CHECK(Refusal(...) == "").
std::string Refusal(OneOp& op, StatusCode code, const char* text);
// The same for a prepare that succeeds and a run that fails.
std::string RunRefusal(OneOp& op, StatusCode code, const char* text);

// The input whose value, which only a run knows, makes op.Prepare() defer the operator; −1 when it
// does something else.
int DeferredFor(OneOp op);

struct RefusalRow {
  OneOp op;
  StatusCode code;
  const char* text;  // that the message holds
};
// What most rows expect.
constexpr StatusCode kInvalidModel = StatusCode::kInvalidModel;
constexpr StatusCode kUnsupported = StatusCode::kUnsupported;

// Every row's operator must be refused as it says: by prepare, or by a run after it.
void CheckRefusals(std::initializer_list<RefusalRow> rows);
void CheckRunRefusals(std::initializer_list<RefusalRow> rows);
// The operator, which must be accepted: what rows are changed copies of.
OneOp Accepted(OneOp op);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_ONE_OP_H_
