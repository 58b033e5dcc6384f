// WHILE: as long as the condition's subgraph says true, the body's outputs become its next inputs.
//
// Where the body keeps all shapes, each variable has two places, the operator's output and one in
// scratch. An iteration writes into the one that it does not read, so nothing is copied or
// allocated in the loop. A variable that the body changes in place has the output alone: setting an
// element of a list copies that element. A variable that the body passes on unchanged stays where it
// is, and one that is a constant before the loop is a constant in the subgraphs. A list whose
// elements have no shape before the loop gets the one that the body gives it. Other loops are
// deferred: their variables move to held memory after every iteration.
#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/ops/control/subgraph_call.h"

namespace topwork {
namespace {

constexpr int kCondition = 0, kBody = 1;

struct Variable {
  bool passed = false;        // the body's output is its input
  bool in_place = false;      // the body may write it where it read it
  bool enters = false;        // it begins in its place: in_place, or a list that has no memory yet
  size_t scratch_offset = 0;  // of its second place
};

struct WhileState final : OpState {
  bool shapes_known = false;
  std::vector<Variable> variables;
  size_t views_offset = 0;  // of two arrays of TensorView in scratch
};

Status Parse(const OptionsView& options, OpParams* params) {
  TW_RETURN_IF_ERROR(CheckCallOptions(options));
  params->subgraph = options.Int(0, 0);
  params->else_subgraph = options.Int(1, 0);
  return Status::Ok();
}

Status CheckCondition(const PrepareContext& context, const Callee& condition) {
  const bool fits = condition.outputs.size() == 1 && condition.outputs[0].dtype == DType::kBool &&
                    (!condition.shapes_known || condition.outputs[0].shape.NumElements() == 1);
  if (fits) return Status::Ok();
  return context.Invalid("its condition, subgraph {}, must give one bool",
                         context.params().subgraph);
}

bool KeepsShapes(const Callee& body, const std::vector<Shape>& shapes) {
  if (!body.shapes_known) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (body.outputs[i].shape != shapes[i]) return false;
  }
  return true;
}

// Lists without memory, of whose elements the body tells the shape, get that shape. False: there is
// none.
bool ShapeLists(const PrepareContext& context, const Callee& body, std::vector<Shape>* shapes) {
  bool any = false;
  for (size_t i = 0; body.shapes_known && i < shapes->size(); ++i) {
    Shape& shape = (*shapes)[i];
    const Shape& made = body.outputs[i].shape;
    if (!context.is_list(static_cast<int>(i)) || shape.NumElements() > 0) continue;
    if (made == shape || made.rank() == 0 || made[0] != shape[0]) continue;
    shape = made;
    any = true;
  }
  return any;
}

// Plans the condition and the body for variables of these shapes.
Result<const Callee*> PlanCallees(PrepareContext& context, std::vector<CalleeInput> inputs,
                                  const std::vector<Shape>& shapes, uint64_t* bytes) {
  const OpParams& params = context.params();
  for (size_t i = 0; i < shapes.size(); ++i) inputs[i].shape = &shapes[i];
  context.ForgetCallees();
  TW_ASSIGN_OR_RETURN(const Callee* condition, context.PlanCallee(params.subgraph, inputs));
  TW_RETURN_IF_ERROR(CheckCondition(context, *condition));
  TW_ASSIGN_OR_RETURN(const Callee* body, context.PlanCallee(params.else_subgraph, inputs));
  TW_RETURN_IF_ERROR(CheckCalleeOutputs(context, *body, params.else_subgraph));
  *bytes = AlignUp(std::max(condition->memory_bytes, body->memory_bytes));
  return body;
}

// The variables' places, where the body keeps the shapes.
Status PlaceVariables(PrepareContext& context, const Callee& body, const std::vector<Shape>& shapes,
                      uint64_t bytes, WhileState* state) {
  const int n = context.n_inputs();
  for (int i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    TW_RETURN_IF_ERROR(context.SetOutput(i, context.input(i)->dtype, shapes[at]));
    Variable& variable = state->variables[at];
    variable.in_place = !variable.passed && body.in_place[at] == i;
    variable.enters = variable.in_place || context.input(i)->shape != shapes[at];
    if (variable.in_place) OfferInPlace(context, i, i);
    variable.scratch_offset = static_cast<size_t>(bytes);
    if (!variable.passed && !variable.in_place) bytes += AlignUp(body.outputs[at].bytes());
  }
  state->views_offset = static_cast<size_t>(bytes);
  context.RequestScratch(bytes + 2 * static_cast<uint64_t>(n) * sizeof(TensorView));
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  const int n = context.n_inputs();
  TW_RETURN_IF_ERROR(context.CheckInputs(n, n));
  TW_RETURN_IF_ERROR(context.CheckOutputs(n));
  WhileState* const state = context.NewState<WhileState>();
  state->variables.resize(static_cast<size_t>(n));
  std::vector<CalleeInput> inputs;
  std::vector<Shape> given;
  for (int i = 0; i < n; ++i) {
    const bool passed = context.PassedInput(context.params().else_subgraph, i) == i;
    state->variables[static_cast<size_t>(i)].passed = passed;
    inputs.push_back({i, passed});
    given.push_back(context.input(i)->shape);
  }
  uint64_t bytes = 0;
  TW_ASSIGN_OR_RETURN(const Callee* body, PlanCallees(context, inputs, given, &bytes));
  std::vector<Shape> shapes = given;
  if (ShapeLists(context, *body, &shapes)) {
    TW_ASSIGN_OR_RETURN(body, PlanCallees(context, inputs, shapes, &bytes));
    if (!KeepsShapes(*body, shapes)) {
      shapes = given;
      TW_ASSIGN_OR_RETURN(body, PlanCallees(context, inputs, shapes, &bytes));
    }
  }
  state->shapes_known = KeepsShapes(*body, shapes);
  if (state->shapes_known) return PlaceVariables(context, *body, shapes, bytes, state);
  context.RequestScratch(bytes);
  for (int i = 0; i < n; ++i) TW_RETURN_IF_ERROR(context.LeaveShapeToRun(i));
  return Status::Ok();
}

// True: another iteration.
Status Ask(const RunContext& context, Span<const TensorView> variables, bool* out_again) {
  TensorView answer;
  TW_RETURN_IF_ERROR(context.calls->Call(kCondition, variables, {&answer, 1}));
  if (answer.shape.NumElements() != 1) {
    return InvalidModel("the condition of WHILE gave shape {}, one bool expected",
                        answer.shape.ToString());
  }
  *out_again = *answer.as<const uint8_t>() != 0;
  return Status::Ok();
}

// Moves the variable to its place. A list without memory becomes zeros.
void Enter(const TensorView& place, TensorView* variable) {
  const size_t bytes = place.bytes(), known = variable->bytes();
  if (known > 0 && variable->data != place.data) std::memcpy(place.data, variable->data, known);
  if (bytes > known) std::memset(place.data, 0, bytes);
  *variable = place;
}

Status RunPlanned(const RunContext& context, const WhileState& state) {
  const size_t n = state.variables.size();
  TensorView* const now = reinterpret_cast<TensorView*>(context.scratch + state.views_offset);
  TensorView* const next = now + n;
  for (size_t i = 0; i < n; ++i) {
    new (now + i) TensorView(*context.inputs[i]);
    new (next + i) TensorView();
    if (state.variables[i].enters) Enter(*context.outputs[i], now + i);
  }
  for (;;) {
    bool again = false;
    TW_RETURN_IF_ERROR(Ask(context, {now, n}, &again));
    if (!again) break;
    for (size_t i = 0; i < n; ++i) {
      const Variable& variable = state.variables[i];
      void* const place = context.outputs[i]->data;
      void* const other = context.scratch + variable.scratch_offset;
      const bool stays = variable.in_place || now[i].data != place;
      next[i].data = variable.passed ? nullptr : stays ? place : other;
    }
    TW_RETURN_IF_ERROR(context.calls->Call(kBody, {now, n}, {next, n}));
    for (size_t i = 0; i < n; ++i) {
      if (!state.variables[i].passed) now[i].data = next[i].data;
    }
  }
  for (size_t i = 0; i < n; ++i) {
    void* const place = context.outputs[i]->data;
    const size_t bytes = now[i].bytes();
    if (now[i].data != place && bytes > 0) std::memcpy(place, now[i].data, bytes);
  }
  return Status::Ok();
}

Status RunDeferred(const RunContext& context, const WhileState& state) {
  const size_t n = state.variables.size();
  std::vector<TensorView> now, next;
  for (const TensorView* input : context.inputs) now.push_back(*input);
  for (int parity = 0;; parity ^= 1) {
    bool again = false;
    TW_RETURN_IF_ERROR(Ask(context, now, &again));
    if (!again) break;
    next.assign(n, TensorView());
    TW_RETURN_IF_ERROR(context.calls->Call(kBody, now, next));
    for (size_t i = 0; i < n; ++i) {
      if (state.variables[i].passed) continue;
      const size_t bytes = next[i].bytes();
      const int slot = 2 * static_cast<int>(i) + parity;
      TW_ASSIGN_OR_RETURN(void* place, context.calls->Hold(slot, bytes));
      if (bytes > 0) std::memcpy(place, next[i].data, bytes);
      next[i].data = place;
    }
    for (size_t i = 0; i < n; ++i) {
      if (!state.variables[i].passed) now[i] = next[i];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    TW_RETURN_IF_ERROR(context.SetOutputShape(static_cast<int>(i), now[i].shape));
    const size_t bytes = now[i].bytes();
    if (bytes > 0) std::memcpy(context.outputs[i]->data, now[i].data, bytes);
  }
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const WhileState& state = context.get_state<WhileState>();
  return state.shapes_known ? RunPlanned(context, state) : RunDeferred(context, state);
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kWhile)
        .Types({DType::kInt32})
        .Options(OptionsType::kWhile, Parse)
        .Cpu(Prepare, Run)
        .Effects(),
};

Span<const OpDef> WhileOps() { return Selected<kOps>(); }

}  // namespace topwork
