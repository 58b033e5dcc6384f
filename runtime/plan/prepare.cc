// PlanPrepareContext: bookkeeping around OpDef::prepare.
#include "runtime/plan/prepare.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/ops/shared/indexing.h"
#include "ports/port.h"
#include "runtime/base/format.h"
#include "runtime/base/hash64.h"
#include "runtime/plan/work_graph.h"

namespace topwork {

namespace {

// A loop that plans its subgraphs twice, for the shapes it was given and for those that they made,
// doubles the work of all loops inside.
constexpr int kMaxReshapedDepth = 6;

}  // namespace

PlanPrepareContext::PlanPrepareContext(const Op& op, std::vector<const TensorView*> inputs,
                                       std::vector<TensorView> declared,
                                       std::vector<const std::string*> input_names,
                                       std::string where, const CpuKernels& cpu, int max_threads)
    : input_names_(std::move(input_names)), where_(std::move(where)) {
  params_ = &op.params;
  cpu_ = &cpu;
  max_threads_ = max_threads;
  inputs_ = std::move(inputs);
  variable_inputs_ = op.variable_inputs;
  list_inputs_ = op.list_inputs;
  intermediates_ = op.intermediates;
  outputs_ = std::move(declared);
  output_set_.assign(outputs_.size(), false);
  allocator_ = DefaultAllocator();
}

void PlanPrepareContext::SetPacking(PackMode mode, const Model* model,
                                    std::vector<const void*> keys, const Allocator& allocator) {
  mode_ = mode;
  model_ = model;
  keys_ = std::move(keys);
  allocator_ = allocator;
}

std::string PlanPrepareContext::Where() const {
  return graph_ != nullptr ? graph_->Where(*op_) : where_;
}

std::string PlanPrepareContext::InputName(int i) const {
  const size_t at = static_cast<size_t>(i);
  const std::string* name = at < input_names_.size() ? input_names_[at] : nullptr;
  if (graph_ != nullptr && at < op_->inputs.size() && op_->inputs[at] >= 0) {
    name = &graph_->values[static_cast<size_t>(op_->inputs[at])].name;
  }
  return StrFormat("input {} '{}'", i, name == nullptr ? "" : name->c_str());
}

void PlanPrepareContext::SetCallees(CalleePlanner* planner, std::vector<uint8_t> is_constant) {
  planner_ = planner;
  is_constant_ = std::move(is_constant);
}

void PlanPrepareContext::SetBand(std::vector<const TensorView*> inputs, PackCache* cache) {
  inputs_ = std::move(inputs);
  max_threads_ = 1;
  band_cache_ = cache;
}

Result<const Callee*> PlanPrepareContext::PlanCallee(int subgraph,
                                                     const std::vector<CalleeInput>& inputs) {
  if (!kHasCalls || planner_ == nullptr) return PrepareContext::PlanCallee(subgraph, inputs);
  const auto& subgraphs = planner_->model().subgraphs();
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= subgraphs.size()) {
    return InvalidModel("{} calls subgraph {}, but the model has {}", Where(), subgraph,
                        subgraphs.size());
  }
  const Graph& graph = subgraphs[static_cast<size_t>(subgraph)];
  if (graph.inputs.size() != inputs.size()) {
    return InvalidModel("{} gives {} inputs to subgraph {} '{}', which has {}", Where(),
                        inputs.size(), subgraph, graph.name, graph.inputs.size());
  }
  std::vector<Shape> shapes;
  std::vector<const void*> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& given = *input(inputs[i].input);
    const Value& wanted = graph.values[static_cast<size_t>(graph.inputs[i])];
    if (given.dtype != wanted.dtype) {
      return Invalid("{} is {}, input {} of subgraph {} is {}", InputName(inputs[i].input),
                     DTypeName(given.dtype), i, subgraph, DTypeName(wanted.dtype));
    }
    if (DTypeBits(given.dtype) == 0) {
      return Unsupported("{} is {}, which cannot be given to a subgraph",
                         InputName(inputs[i].input), DTypeName(given.dtype));
    }
    shapes.push_back(inputs[i].shape != nullptr ? *inputs[i].shape : given.shape);
    if (shapes.back() != given.shape && planner_->depth() > kMaxReshapedDepth) {
      return Unsupported("{} takes its shape from a loop, in loops more than {} deep",
                         InputName(inputs[i].input), kMaxReshapedDepth);
    }
    const bool known =
        inputs[i].same_at_every_call && is_constant_[static_cast<size_t>(inputs[i].input)];
    values.push_back(known ? given.data : nullptr);
  }
  TW_ASSIGN_OR_RETURN(PlannedCallee callee, planner_->PlanFor(subgraph, shapes, values));
  auto info = std::make_unique<Callee>();
  const Plan& plan = *callee.plan;
  for (int v : plan.inputs) info->inputs.push_back(plan.values[static_cast<size_t>(v)].view);
  for (int v : plan.outputs) {
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    if (DTypeBits(value.view.dtype) == 0) {
      return Unsupported("'{}' of subgraph {} is {}, which a subgraph cannot give back", value.name,
                         subgraph, DTypeName(value.view.dtype));
    }
    info->outputs.push_back(value.view);
    info->shapes_known = info->shapes_known && !value.deferred;
  }
  info->in_place = plan.in_place;
  info->memory_bytes = AlignUp(plan.arena_bytes + plan.scratch_bytes);
  callees_.push_back(std::move(callee));
  callee_infos_.push_back(std::move(info));
  return static_cast<const Callee*>(callee_infos_.back().get());
}

int PlanPrepareContext::PassedInput(int subgraph, int i) const {
  if (!kHasCalls || planner_ == nullptr) return -1;
  const auto& subgraphs = planner_->model().subgraphs();
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= subgraphs.size()) return -1;
  const Graph& graph = subgraphs[static_cast<size_t>(subgraph)];
  if (i < 0 || static_cast<size_t>(i) >= graph.outputs.size()) return -1;
  const auto at =
      std::find(graph.inputs.begin(), graph.inputs.end(), graph.outputs[static_cast<size_t>(i)]);
  return at == graph.inputs.end() ? -1 : static_cast<int>(at - graph.inputs.begin());
}

Result<std::vector<OpCode>> PlanPrepareContext::OperatorsOf(int subgraph) const {
  if (!kHasCalls || planner_ == nullptr) return PrepareContext::OperatorsOf(subgraph);
  const auto& subgraphs = planner_->model().subgraphs();
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= subgraphs.size()) {
    return InvalidModel("{} names subgraph {}, but the model has {}", Where(), subgraph,
                        subgraphs.size());
  }
  std::vector<OpCode> codes;
  for (const Op& op : subgraphs[static_cast<size_t>(subgraph)].ops) codes.push_back(op.code);
  return codes;
}

Status PlanPrepareContext::TakeAxis() {
  int64_t axis = 0;
  TW_RETURN_IF_ERROR(ReadInt(*this, n_inputs() - 1, &axis));
  own_params_.reset(new OpParams(*params_));
  own_params_->axis = static_cast<int32_t>(std::clamp<int64_t>(
      axis, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  own_params_->axis_is_input = false;
  params_ = own_params_.get();
  inputs_.pop_back();
  return Status::Ok();
}

Status PlanPrepareContext::Prepare(const OpDef& def) {
  if (params_->axis_is_input) TW_RETURN_IF_ERROR(TakeAxis());
  TW_RETURN_IF_ERROR(def.prepare(*this));
  if (scratch_bytes_ > SIZE_MAX / 4) {
    return OutOfMemory("{} needs {} bytes of working memory, more than the address space has",
                       Where(), scratch_bytes_);
  }
  for (size_t i = 0; i < output_set_.size(); ++i) {
    if (!output_set_[i]) {
      return InvalidModel("{} has {} outputs, {} expected", Where(), output_set_.size(), i);
    }
  }
  return Status::Ok();
}

const uint16_t* PlanPrepareContext::HalfConstant(int input) const {
  const size_t at = static_cast<size_t>(input);
  return at < halves_.size() ? halves_[at] : nullptr;
}

void PlanPrepareContext::WidenConstant(int input) {
  const uint16_t* half = HalfConstant(input);
  if (half == nullptr) return;
  const TensorView& view = *this->input(input);
  cpu_->elementwise->half_to_float(half, view.as<float>(), view.shape.NumElements());
  halves_[static_cast<size_t>(input)] = nullptr;
}

// Takes WidenConstant back: nobody else reads what it filled in.
void PlanPrepareContext::EmptyConstant(int input, const uint16_t* half) {
  const TensorView& view = *this->input(input);
  if (halves_in_space_) port::ForgetMapped(view.data, view.bytes());
  halves_[static_cast<size_t>(input)] = half;
}

// What was packed is not needed twice in memory.
void PlanPrepareContext::ForgetSource(int input, const void* key) const {
  const TensorView& view = *this->input(input);
  if (HalfConstant(input) == key) {
    model_->Forget(key, static_cast<size_t>(view.shape.NumElements()) * sizeof(uint16_t));
  } else if (view.data == key) {
    model_->Forget(key, view.bytes());
  }
}

// What is packed differs by the instruction set, and by what tensors that share a buffer may have of
// their own.
std::string PlanPrepareContext::TagOf(int input, const char* tag) const {
  const TensorView& view = *this->input(input);
  uint64_t hash = 0;
  if (view.quantization != nullptr) {
    const Quantization& q = *view.quantization;
    hash = Hash64(q.scales.data(), q.scales.size() * sizeof(float),
                  static_cast<uint64_t>(q.axis) << 32 | static_cast<uint32_t>(q.block));
    hash = Hash64(q.zero_points.data(), q.zero_points.size() * sizeof(int64_t), hash);
  }
  return StrFormat("{}:{} {} {} {}", cpu_->isa, tag, DTypeName(view.dtype), view.shape.ToString(),
                   hash);
}

Result<const void*> PlanPrepareContext::PackConstant(int input, const char* tag, size_t bytes,
                                                     bool release_input,
                                                     FunctionRef<void(void*)> pack) {
  alignas(kAlignment) static const uint8_t kNothing[kAlignment] = {};
  if (mode_ != PackMode::kPack) {
    packing_bytes_ += AlignUp(bytes);
    return static_cast<const void*>(kNothing);
  }
  if (release_input) released_inputs_.push_back(input);
  const void* key =
      static_cast<size_t>(input) < keys_.size() ? keys_[static_cast<size_t>(input)] : nullptr;
  std::shared_ptr<const Buffer> block;
  const bool is_models = key != nullptr && model_ != nullptr;
  if (is_models || band_cache_ != nullptr) {
    const std::string full_tag = TagOf(input, tag);
    const uint16_t* const half = HalfConstant(input);
    const auto pack_and_forget = [&](void* to) {
      if (release_input && is_models) model_->MakeRoomFor(bytes);
      pack(to);
      if (!release_input || !is_models) return;
      if (half != HalfConstant(input)) EmptyConstant(input, half);
      ForgetSource(input, key);
    };
    PackCache& cache = is_models ? model_->pack_cache() : *band_cache_;
    if (!is_models) key = this->input(input)->data;
    TW_ASSIGN_OR_RETURN(block,
                        cache.Get(key, full_tag.c_str(), bytes, allocator_, pack_and_forget));
  } else {
    TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(bytes, "packed weights", allocator_));
    if (bytes > 0) pack(buffer.data());
    block = std::make_shared<const Buffer>(std::move(buffer));
  }
  packed_.push_back(block);
  return static_cast<const void*>(block->data());
}

Result<PackingPlace> PlanPrepareContext::PlaceForConstant(int input, const char* tag,
                                                          size_t bytes) {
  PackingPlace place;
  const size_t at = static_cast<size_t>(input);
  const void* key = at < keys_.size() ? keys_[at] : nullptr;
  const TensorView& view = *this->input(input);
  if (!kPacksLate || key == nullptr || model_ == nullptr || view.data != key) return place;
  const std::string full_tag = TagOf(input, tag) + " late";
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const Buffer> block,
                      model_->pack_cache().Place(key, full_tag.c_str(), bytes, allocator_, &place));
  place.owner = model_;  // the plan, which owns what runs, keeps it
  place.forget = [](const void* owner, const void* constant, size_t size) {
    static_cast<const Model*>(owner)->Forget(constant, size);
  };
  packed_.push_back(block);
  return place;
}

}  // namespace topwork
