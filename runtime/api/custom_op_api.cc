// C API: custom operators. Wraps the application's callbacks as a kernels/contract/custom_ops.h
// operator.
//
// Scratch memory of run: the operator's own bytes, then the tw_tensor_infos and the pointers to
// them that a tw_op_call shows; so run allocates nothing.
#include <cstring>
#include <memory>

#include "kernels/contract/custom_ops.h"
#include "runtime/api/handles.h"

namespace topwork {
namespace api {
namespace {

constexpr size_t kErrorBytes = 256;

// An instance of the application's, freed with the plan that it was made for.
struct ApiOpState : CustomOpState {
  ~ApiOpState() override {
    if (free != nullptr) free(user_data, instance);
  }
  void (*free)(void* user_data, void* instance) = nullptr;
  void* user_data = nullptr;
  void* instance = nullptr;
  size_t scratch_bytes = 0;
};

void ParallelFor(const tw_op_call* call, int64_t n_tasks,
                 void (*task)(void* argument, int64_t i, int32_t thread), void* argument) {
  static_cast<ThreadPool*>(call->internal)->ParallelFor(n_tasks, [&](int64_t i, int thread) {
    task(argument, i, thread);
  });
}

// `where` ends in ": " or is empty.
Status CallFailed(const std::string& where, const char* function, tw_status status,
                  const char* text) {
  const int code = static_cast<int>(status);
  const bool known = code > TW_STATUS_OK && code <= TW_STATUS_INTERNAL;
  std::string message = where + function;
  message += text[0] != '\0' ? std::string(": ") + text
                             : StrFormat(" failed with status {} and gave no reason", code);
  return Status(known ? static_cast<StatusCode>(code) : StatusCode::kInternal, message);
}

class ApiOp final : public CustomOp {
 public:
  explicit ApiOp(const tw_custom_op& op) : op_(op), name_(op.name) { op_.name = name_.c_str(); }

  Status Prepare(PrepareContext& context) const override;
  Status Run(const RunContext& context) const override;
  bool SameAs(const CustomOp& other) const override {
    const tw_custom_op& o = static_cast<const ApiOp&>(other).op_;
    return op_.user_data == o.user_data && op_.init == o.init && op_.free == o.free &&
           op_.prepare == o.prepare && op_.run == o.run;
  }

 private:
  Status MakeInstance(PrepareContext& context, ApiOpState** out_state) const;
  Status SetOutputs(PrepareContext& context, const std::vector<tw_tensor_info>& outputs) const;

  tw_custom_op op_;
  std::string name_;
};

Status ApiOp::MakeInstance(PrepareContext& context, ApiOpState** out_state) const {
  ApiOpState* state = context.NewState<ApiOpState>();
  state->op = this;
  state->user_data = op_.user_data;
  *out_state = state;
  if (op_.init == nullptr) return Status::Ok();
  const Span<const uint8_t> options = context.params().custom_options;
  const tw_status status =
      op_.init(op_.user_data, options.data(), options.size(), &state->instance);
  if (status != TW_STATUS_OK) return CallFailed(context.Where() + ": ", "init", status, "");
  state->free = op_.free;
  return Status::Ok();
}

Status ApiOp::SetOutputs(PrepareContext& context,
                         const std::vector<tw_tensor_info>& outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tw_tensor_info& info = outputs[i];
    if (info.rank < 0 || info.rank > kMaxRank) {
      return InvalidArgument("{}: prepare gave output {} rank {}; 0 to {} are possible",
                             context.Where(), i, info.rank, kMaxRank);
    }
    const int at = static_cast<int>(i);
    TW_RETURN_IF_ERROR(
        context.SetOutput(at, context.output(at).dtype, Shape(info.dims, info.rank)));
  }
  return Status::Ok();
}

Status ApiOp::Prepare(PrepareContext& context) const {
  const size_t n_inputs = static_cast<size_t>(context.n_inputs());
  const size_t n_outputs = static_cast<size_t>(context.n_outputs());
  std::vector<tw_tensor_info> inputs(n_inputs);
  std::vector<const tw_tensor_info*> input_pointers(n_inputs);
  for (size_t i = 0; i < n_inputs; ++i) {
    const TensorView* view = context.input(static_cast<int>(i));
    if (view == nullptr) continue;
    inputs[i] = TensorInfo(*view, "", nullptr);
    input_pointers[i] = &inputs[i];
  }
  std::vector<tw_tensor_info> outputs(n_outputs);
  std::vector<tw_tensor_info*> output_pointers(n_outputs);
  for (size_t i = 0; i < n_outputs; ++i) {
    outputs[i] = TensorInfo(context.output(static_cast<int>(i)), "", nullptr);
    output_pointers[i] = &outputs[i];
  }
  char error[kErrorBytes] = "";
  ApiOpState* state = nullptr;
  TW_RETURN_IF_ERROR(MakeInstance(context, &state));
  const Span<const uint8_t> options = context.params().custom_options;
  tw_op_call call = {};
  call.struct_size = sizeof(call);
  call.n_inputs = n_inputs;
  call.inputs = input_pointers.data();
  call.n_outputs = n_outputs;
  call.outputs = output_pointers.data();
  call.options = options.data();
  call.options_bytes = options.size();
  call.n_threads = context.max_threads();
  call.error = error;
  call.error_bytes = kErrorBytes;
  const tw_status status = op_.prepare(op_.user_data, state->instance, &call);
  error[kErrorBytes - 1] = '\0';
  if (status == TW_STATUS_FAILED_PRECONDITION) {
    // The shapes depend on values: the planner comes back while running, if there are any unknown.
    for (int i = 0; i < context.n_inputs(); ++i) {
      if (context.input(i) != nullptr) TW_RETURN_IF_ERROR(context.NeedValue(i));
    }
  }
  if (status != TW_STATUS_OK) return CallFailed(context.Where() + ": ", "prepare", status, error);
  TW_RETURN_IF_ERROR(SetOutputs(context, outputs));
  state->scratch_bytes = call.scratch_bytes;
  context.RequestScratch(uint64_t{AlignUp(call.scratch_bytes)} +
                         (n_inputs + n_outputs) * (sizeof(tw_tensor_info) + sizeof(void*)));
  return Status::Ok();
}

Status ApiOp::Run(const RunContext& context) const {
  const ApiOpState& state = context.get_state<ApiOpState>();
  const size_t n_inputs = context.inputs.size();
  const size_t n_outputs = context.outputs.size();
  uint8_t* free_scratch = context.scratch + AlignUp(state.scratch_bytes);
  tw_tensor_info* infos = reinterpret_cast<tw_tensor_info*>(free_scratch);
  const tw_tensor_info** inputs =
      reinterpret_cast<const tw_tensor_info**>(infos + n_inputs + n_outputs);
  tw_tensor_info** outputs = const_cast<tw_tensor_info**>(inputs + n_inputs);
  for (size_t i = 0; i < n_inputs; ++i) {
    const TensorView* view = context.inputs[i];
    if (view != nullptr) infos[i] = TensorInfo(*view, "", nullptr);
    inputs[i] = view != nullptr ? &infos[i] : nullptr;
  }
  for (size_t i = 0; i < n_outputs; ++i) {
    const TensorView& view = *context.outputs[i];
    // Strings that run() does not set are empty.
    if (view.dtype == DType::kString && view.data != nullptr) {
      std::memset(view.data, 0, view.bytes());
    }
    infos[n_inputs + i] = TensorInfo(view, "", nullptr);
    outputs[i] = &infos[n_inputs + i];
  }
  char error[kErrorBytes] = "";
  tw_op_call call = {};
  call.struct_size = sizeof(call);
  call.n_inputs = n_inputs;
  call.inputs = inputs;
  call.n_outputs = n_outputs;
  call.outputs = outputs;
  call.options = context.params->custom_options.data();
  call.options_bytes = context.params->custom_options.size();
  call.n_threads = context.pool->n_threads();
  call.scratch_bytes = state.scratch_bytes;
  call.scratch = state.scratch_bytes == 0 ? nullptr : context.scratch;
  call.error = error;
  call.error_bytes = kErrorBytes;
  call.parallel_for = ParallelFor;
  call.internal = context.pool;
  const tw_status status = op_.run(op_.user_data, state.instance, &call);
  error[kErrorBytes - 1] = '\0';
  if (status == TW_STATUS_OK) return Status::Ok();
  return CallFailed("", "run", status, error);
}

}  // namespace
}  // namespace api
}  // namespace topwork

tw_status tw_op_register(const tw_custom_op* op) {
  TW_REQUIRE(op);
  using topwork::InvalidArgument;
  tw_custom_op copy = {};
  TW_REPORT_IF_ERROR(topwork::api::ReadStruct("tw_custom_op", op, &copy));
  if (copy.name == nullptr || copy.name[0] == '\0') {
    return topwork::api::Report(InvalidArgument("tw_custom_op.name is NULL or empty"));
  }
  if (copy.prepare == nullptr || copy.run == nullptr) {
    return topwork::api::Report(
        InvalidArgument("custom operator '{}': {} is NULL; prepare and run are needed", copy.name,
                        copy.prepare == nullptr ? "prepare" : "run"));
  }
  const std::string name = copy.name;
  return topwork::api::Report(
      topwork::RegisterCustomOp(name, std::make_unique<topwork::api::ApiOp>(copy)));
}
