// TailNetwork: runs the steps of a TailPlan; knows nothing of any operator.
#include "runtime/train/head/tail_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/train/blocks.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

constexpr size_t kMaxPlans = 4;  // batch, last batch of an epoch, and both without a backward pass

}  // namespace

AddedLayer AddedBy(const TrainerOptions& options) {
  AddedLayer added;
  added.trained = options.n_hidden > 0;
  added.n_units = added.trained ? options.n_hidden : options.n_projected;
  added.dropout = added.trained ? float{options.dropout} : 0.0f;
  added.seed = options.seed;
  return added;
}

Result<std::unique_ptr<TailNetwork>> TailNetwork::Create(const Graph& graph, const Head& head,
                                                         const Tail& tail, int n_outputs,
                                                         const TrainerOptions& options,
                                                         ThreadPool* pool) {
  if (n_outputs < 1) return InvalidArgument("{} outputs, at least 1 expected", n_outputs);
  std::unique_ptr<TailNetwork> network(new TailNetwork);
  TW_ASSIGN_OR_RETURN(network->graph_,
                      MakeTailGraph(graph, head, tail, AddedBy(options), n_outputs));
  network->batch_size_ = std::max(1, options.batch_size);
  network->limit_bytes_ = options.memory_limit_bytes;
  network->pool_ = pool;
  network->allocator_ = options.allocator != nullptr ? options.allocator : &DefaultAllocator();
  network->cpu_ = options.cpu != nullptr ? options.cpu : &BestCpuKernels();
  network->kernels_ = TrainLoops(*network->cpu_);
  for (const TailValue& value : network->graph_.values) {
    network->constant_bytes_ += value.floats.size() * sizeof(float);
  }
  const int64_t n = network->graph_.n_parameters;
  const Allocator& allocator = *network->allocator_;
  TW_ASSIGN_OR_RETURN(network->parameters_,
                      AllocateZeroFloats(n, "the weights of the last layers", allocator));
  TW_ASSIGN_OR_RETURN(network->gradient_,
                      AllocateZeroFloats(n, "the gradient of the last layers", allocator));
  TW_RETURN_IF_ERROR(
      ReadShippedParameters(graph, head, tail, network->graph_, network->parameters()));
  // What cannot be planned is known now rather than at the first step.
  TW_RETURN_IF_ERROR(network->PlanFor(network->batch_size_, true).status());
  return network;
}

Result<TailPlan*> TailNetwork::PlanFor(int64_t n_rows, bool backward) {
  const auto wanted = [&](const std::unique_ptr<TailPlan>& plan) {
    return plan->n_rows == n_rows && plan->backward == backward;
  };
  auto found = std::find_if(plans_.begin(), plans_.end(), wanted);
  if (found == plans_.end()) {
    TailPlanOptions options;
    options.n_rows = n_rows;
    options.backward = backward;
    options.limit_bytes = limit_bytes_;
    options.pool = pool_;
    options.cpu = cpu_;
    TW_ASSIGN_OR_RETURN(auto plan, MakeTailPlan(graph_, options));
    if (memory_.size() < plan->bytes()) {
      memory_.Reset();  // first: the old and the new block are never held together
      TW_ASSIGN_OR_RETURN(memory_, Buffer::Allocate(static_cast<size_t>(plan->bytes()),
                                                    "activations of the last layers", *allocator_));
    }
    if (plans_.size() == kMaxPlans) plans_.erase(plans_.begin());
    plans_.push_back(std::move(plan));
    found = plans_.end() - 1;
  }
  std::rotate(found, found + 1, plans_.end());
  return plans_.back().get();
}

void TailNetwork::LoadRows(const TailPlan& plan, const float* const* rows) {
  float* to = reinterpret_cast<float*>(arena(plan.cut));
  const size_t bytes = static_cast<size_t>(graph_.dim) * sizeof(float);
  pool_->ParallelFor(plan.n_rows,
                     [&](int64_t b, int) { std::memcpy(to + b * graph_.dim, rows[b], bytes); });
}

void TailNetwork::FillTensors(const TailNode& node, const TailStep& step,
                              TailPlan::Prepared* prepared) {
  for (size_t i = 0; i < node.op.inputs.size(); ++i) {
    const int v = node.op.inputs[i];
    if (v < 0) continue;
    const TailValue& value = graph_.value(v);
    TensorView& view = prepared->inputs[i];
    if (value.kind == TailValue::kParameter) {
      const ParameterInfo& info = graph_.parameters[static_cast<size_t>(value.parameter)];
      view.data = parameters_.as<float>() + info.offset;
    } else if (value.kind == TailValue::kActivation) {
      view.data = step.inputs[i] < 0 ? nullptr : arena(step.inputs[i]);
    } else if (value.dtype == DType::kFloat32) {
      view.data = const_cast<float*>(value.floats.data());
    }
  }
  prepared->output.data = step.output < 0 ? nullptr : arena(step.output);
}

Status TailNetwork::Forward(TailPlan* plan, const TailStep& step) {
  const TailNode& node = graph_.nodes[static_cast<size_t>(step.node)];
  TailPlan::Prepared& prepared = plan->nodes[static_cast<size_t>(step.node)];
  FillTensors(node, step, &prepared);
  TensorView* output = &prepared.output;
  RunContext context;
  context.params = &node.op.params;
  context.inputs = {prepared.input_pointers.data(), prepared.input_pointers.size()};
  context.outputs = {&output, 1};
  context.state = prepared.state.get();
  context.scratch = arena(static_cast<int64_t>(plan->arena_bytes));
  context.pool = pool_;
  context.cpu = cpu_;
  const Status status = node.op.def->run_cpu(context);
  return status.ok() ? status : status.WithPrefix(node.where + ": ");
}

void TailNetwork::Backward(TailPlan* plan, const TailStep& step) {
  const TailNode& node = graph_.nodes[static_cast<size_t>(step.node)];
  TailPlan::Prepared& prepared = plan->nodes[static_cast<size_t>(step.node)];
  FillTensors(node, step, &prepared);
  std::vector<float*> gradients(node.op.inputs.size(), nullptr);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if ((node.wanted & InputBit(static_cast<int>(i))) == 0) continue;
    const TailValue& value = graph_.value(node.op.inputs[i]);
    if (value.kind == TailValue::kParameter) {
      const ParameterInfo& info = graph_.parameters[static_cast<size_t>(value.parameter)];
      gradients[i] = gradient_.as<float>() + info.offset;
    } else {
      gradients[i] = reinterpret_cast<float*>(arena(step.input_gradients[i]));
    }
  }
  BackwardContext context;
  context.params = &node.op.params;
  context.inputs = {prepared.input_pointers.data(), prepared.input_pointers.size()};
  context.output = &prepared.output;
  context.output_gradient = reinterpret_cast<float*>(arena(step.output_gradient));
  context.input_gradients = {gradients.data(), gradients.size()};
  context.accumulate = step.accumulate;
  context.scratch = arena(static_cast<int64_t>(plan->arena_bytes));
  context.pool = pool_;
  context.cpu = cpu_;
  node.backward->run(context);
}

void TailNetwork::Loss(const LossOptions& loss, const Targets& targets, const TailPlan& plan,
                       const TailStep& step, double weight_sum, BatchLoss* out) {
  const int64_t n = graph_.n_outputs;
  const float* logits = reinterpret_cast<const float*>(arena(step.output));
  float* delta = reinterpret_cast<float*>(arena(step.output_gradient));
  std::memcpy(delta, logits, static_cast<size_t>(plan.n_rows * n) * sizeof(float));
  const float scale = static_cast<float>(1.0 / weight_sum);
  for (int64_t b = 0; b < plan.n_rows; ++b) {
    double hits = 0.0;
    out->loss_sum += LossRow(loss, targets, b, n, scale, delta + b * n, &hits);
    out->hits += hits;
  }
}

// Inverted dropout (Srivastava et al. 2014) in place: what stays grows by 1 / (1 − share). Every
// row has a generator of its own, so neither parts of a batch nor repeated steps change the draw.
void TailNetwork::Drop(const TailNode& node, int64_t first, int64_t n_rows, float* values) const {
  if (node.dropout == 0.0f || step_ < 0) return;
  const int64_t n_units = graph_.value(node.op.outputs[0]).shape[1];
  const float scale = 1.0f / (1.0f - node.dropout);
  const uint64_t limit = static_cast<uint64_t>(static_cast<double>(node.dropout) * 0x1p53);
  for (int64_t b = 0; b < n_rows; ++b) {
    Random row(Random(graph_.seed ^ (static_cast<uint64_t>(step_) << 24)).Next() +
               static_cast<uint64_t>(first + b));
    Random random(row.Next());
    for (int64_t u = 0; u < n_units; ++u) {
      float& value = values[b * n_units + u];
      value = (random.Next() >> 11) < limit ? 0.0f : value * scale;
    }
  }
}

Status TailNetwork::RunPart(const LossOptions& loss, const float* const* rows,
                            const Targets& targets, int64_t first, int64_t n, double weight_sum,
                            BatchLoss* out) {
  TW_ASSIGN_OR_RETURN(TailPlan * plan, PlanFor(n, true));
  n_segments_ = plan->n_segments;
  LoadRows(*plan, rows);
  for (const TailStep& step : plan->steps) {
    if (step.kind == TailStep::kForward) {
      TW_RETURN_IF_ERROR(Forward(plan, step));
      Drop(graph_.nodes[static_cast<size_t>(step.node)], first, n,
           reinterpret_cast<float*>(arena(step.output)));
    } else if (step.kind == TailStep::kLoss) {
      Loss(loss, targets, *plan, step, weight_sum, out);
      if (!std::isfinite(out->loss_sum)) return ExplainLoss(plan, rows);
    } else {
      // What was left out is 0, where ReLU passes no gradient; the rest had grown.
      Drop(graph_.nodes[static_cast<size_t>(step.node)], first, n,
           reinterpret_cast<float*>(arena(step.output_gradient)));
      Backward(plan, step);
    }
  }
  return Status::Ok();
}

Status TailNetwork::ComputeGradient(const LossOptions& loss, const float* const* rows,
                                    const Targets& targets, int64_t n, BatchLoss* out) {
  BatchLoss result;
  for (int64_t b = 0; b < n; ++b) result.weight_sum += RowWeight(loss, targets, b);
  std::memset(gradient_.data(), 0, gradient_.size());
  for (int64_t first = 0; first < n; first += batch_size_) {
    Targets part = targets;
    if (part.labels != nullptr) part.labels += first;
    if (part.values != nullptr) part.values += first;
    if (part.weights != nullptr) part.weights += first;
    TW_RETURN_IF_ERROR(RunPart(loss, rows + first, part, first, std::min(batch_size_, n - first),
                               result.weight_sum, &result));
  }
  TW_RETURN_IF_ERROR(CheckGradient());
  *out = result;
  return Status::Ok();
}

template <typename Place>
Status TailNetwork::RunForward(const float* const* rows, int64_t n, int64_t width,
                               const Place& place, float* out) {
  for (int64_t first = 0; first < n; first += batch_size_) {
    const int64_t n_part = std::min(batch_size_, n - first);
    TW_ASSIGN_OR_RETURN(TailPlan * plan, PlanFor(n_part, false));
    LoadRows(*plan, rows + first);
    for (const TailStep& step : plan->steps) TW_RETURN_IF_ERROR(Forward(plan, step));
    std::memcpy(out + first * width, arena(place(*plan)),
                static_cast<size_t>(n_part * width) * sizeof(float));
  }
  return Status::Ok();
}

Status TailNetwork::Scores(const float* const* rows, int64_t n, float* scores) {
  return RunForward(
      rows, n, graph_.n_outputs, [](const TailPlan& plan) { return plan.logits; }, scores);
}

// The last step is the last layer, and nothing has overwritten what it read.
Status TailNetwork::HeadInputs(const float* const* rows, int64_t n, float* inputs) {
  return RunForward(
      rows, n, graph_.parameters[0].dims[1],
      [](const TailPlan& plan) { return plan.steps.back().inputs[0]; }, inputs);
}

Span<const float> TailNetwork::added_weights() const {
  if (graph_.added_weights < 0) return {};
  const TailValue& weights = graph_.value(graph_.added_weights);
  if (weights.kind == TailValue::kConstant) return {weights.floats.data(), weights.floats.size()};
  const ParameterInfo& info = graph_.parameters[static_cast<size_t>(weights.parameter)];
  return parameters().subspan(static_cast<size_t>(info.offset), static_cast<size_t>(info.size));
}

// They follow the weights.
Span<const float> TailNetwork::added_bias() const {
  if (graph_.added_weights < 0) return {};
  const TailValue& weights = graph_.value(graph_.added_weights);
  if (weights.kind == TailValue::kConstant) return {};
  const ParameterInfo& info = graph_.parameters[static_cast<size_t>(weights.parameter) + 1];
  return parameters().subspan(static_cast<size_t>(info.offset), static_cast<size_t>(info.size));
}

std::vector<ConstantReplacement> TailNetwork::Replacements() const {
  std::vector<ConstantReplacement> replacements;
  const Span<const float> all = parameters();
  for (size_t i = 0; i < graph_.parameters.size(); ++i) {
    if (graph_.tensors[i] < 0) continue;
    const ParameterInfo& info = graph_.parameters[i];
    replacements.push_back({graph_.tensors[i], all.subspan(static_cast<size_t>(info.offset),
                                                           static_cast<size_t>(info.size))});
  }
  return replacements;
}

}  // namespace topwork
