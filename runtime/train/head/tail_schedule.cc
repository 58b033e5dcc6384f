// A value may be computed twice. Each time a new life begins, which lasts until its last reader. A
// gradient lives from its first contribution to its operator's backward step.
#include "runtime/train/head/tail_schedule.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/memory.h"

namespace topwork {
namespace {

size_t Index(int i) { return static_cast<size_t>(i); }

// The value whose memory v is; −1 when v is absent, a parameter or a constant.
int StorageOf(const TailGraph& graph, int v) {
  return v >= 0 && graph.value(v).kind == TailValue::kActivation ? graph.value(v).storage : -1;
}

// The storages that a backward step of the node reads.
std::vector<int> BackwardReads(const TailGraph& graph, const TailNode& node) {
  std::vector<int> reads;
  for (size_t i = 0; i < node.op.inputs.size(); ++i) {
    const int storage = StorageOf(graph, node.op.inputs[i]);
    if (storage >= 0 && (node.needs & InputBit(static_cast<int>(i))) != 0) reads.push_back(storage);
  }
  if ((node.needs & kOutputBit) != 0) reads.push_back(StorageOf(graph, node.op.outputs[0]));
  return reads;
}

// The segment of every node, by the activations in front of it.
std::vector<int> Segments(const TailGraph& graph, int n_segments) {
  std::vector<int64_t> before;
  int64_t total = 0;
  for (const TailNode& node : graph.nodes) {
    before.push_back(total);
    total += graph.value(node.op.outputs[0]).shape.NumElements();
  }
  std::vector<int> segments;
  for (int64_t b : before) segments.push_back(static_cast<int>(b * n_segments / total));
  return segments;
}

class Lister {
 public:
  Lister(const TailGraph& graph, int n_segments)
      : graph_(graph),
        segments_(Segments(graph, n_segments)),
        made_in_(graph.values.size(), -1),
        kept_(graph.values.size(), false) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) made_in_[Output(i)] = segments_[i];
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (int v : graph.nodes[i].op.inputs) {
        const int storage = StorageOf(graph, v);
        if (storage >= 0 && made_in_[Index(storage)] != segments_[i]) kept_[Index(storage)] = true;
      }
    }
  }

  void Forward() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) Add(TailStep::kForward, static_cast<int>(i));
  }

  void Backward() {
    Add(TailStep::kLoss, -1);
    size_t end = graph_.nodes.size();
    while (end > 0) {
      const int segment = segments_[end - 1];
      size_t begin = end;
      while (begin > 0 && segments_[begin - 1] == segment) --begin;
      if (end < graph_.nodes.size()) Recompute(begin, end);
      for (size_t i = end; i-- > begin;) {
        if (graph_.nodes[i].wanted != 0) Add(TailStep::kBackward, static_cast<int>(i));
      }
      end = begin;
    }
  }

  std::vector<TailStep> steps;

 private:
  size_t Output(size_t node) const {
    return Index(StorageOf(graph_, graph_.nodes[node].op.outputs[0]));
  }

  void Add(TailStep::Kind kind, int node) {
    TailStep step;
    step.kind = kind;
    step.node = node;
    steps.push_back(std::move(step));
  }

  // Forward steps of those nodes in [begin, end) whose results were not kept and which the backward
  // steps there read, directly or through other nodes.
  void Recompute(size_t begin, size_t end) {
    std::vector<bool> read(graph_.values.size(), false);
    for (size_t i = begin; i < end; ++i) {
      if (graph_.nodes[i].wanted == 0) continue;
      for (int storage : BackwardReads(graph_, graph_.nodes[i])) read[Index(storage)] = true;
    }
    std::vector<int> again;
    for (size_t i = end; i-- > begin;) {
      if (!read[Output(i)] || kept_[Output(i)]) continue;
      again.push_back(static_cast<int>(i));
      for (int v : graph_.nodes[i].op.inputs) {
        const int storage = StorageOf(graph_, v);
        if (storage >= 0) read[Index(storage)] = true;
      }
    }
    for (size_t i = again.size(); i-- > 0;) Add(TailStep::kForward, again[i]);
  }

  const TailGraph& graph_;
  const std::vector<int> segments_;
  std::vector<int> made_in_;  // by storage: the segment of its node; −1 for the cut
  std::vector<bool> kept_;    // by storage: read in another segment than its own
};

// Lives of values and gradients as blocks of memory, while the steps are gone through in order.
class Placer {
 public:
  Placer(const TailGraph& graph, int64_t n_rows, TailPlan* plan)
      : graph_(graph),
        n_rows_(n_rows),
        plan_(*plan),
        value_(graph.values.size(), -1),
        gradient_(graph.values.size(), -1) {}

  void Place() {
    const int n = static_cast<int>(plan_.steps.size());
    cut_ = Begin(graph_.cut, 0);
    value_[Index(graph_.cut)] = cut_;
    for (int i = 0; i < n; ++i) Walk(i, &plan_.steps[Index(i)]);
    plan_.arena_bytes = PlanMemory(&blocks_);
    for (TailStep& step : plan_.steps) {
      for (int64_t& place : step.inputs) Resolve(&place);
      for (int64_t& place : step.input_gradients) Resolve(&place);
      Resolve(&step.output);
      Resolve(&step.output_gradient);
    }
    plan_.cut = cut_;
    plan_.logits = logits_;
    Resolve(&plan_.cut);
    Resolve(&plan_.logits);
  }

 private:
  int Begin(int storage, int step) {
    MemoryBlock block;
    block.bytes =
        static_cast<uint64_t>(graph_.ShapeFor(storage, n_rows_).NumElements()) * sizeof(float);
    block.first = block.last = step;
    blocks_.push_back(block);
    return static_cast<int>(blocks_.size()) - 1;
  }
  // The block, which is in use at this step.
  int Use(int block, int step) {
    blocks_[Index(block)].last = step;
    return block;
  }
  void Resolve(int64_t* place) const {
    if (*place >= 0) *place = static_cast<int64_t>(blocks_[static_cast<size_t>(*place)].offset);
  }

  // Places are block numbers until Resolve.
  void Walk(int i, TailStep* step) {
    step->inputs.clear();
    step->input_gradients.clear();
    step->output = step->output_gradient = -1;
    step->accumulate = 0;
    if (step->kind == TailStep::kLoss) {
      const int logits = graph_.logits;
      step->output = Use(value_[Index(logits)], i);
      step->output_gradient = gradient_[Index(logits)] = Begin(logits, i);
    } else if (step->kind == TailStep::kForward) {
      WalkForward(i, graph_.nodes[Index(step->node)], step);
    } else {
      WalkBackward(i, graph_.nodes[Index(step->node)], step);
    }
  }

  void WalkForward(int i, const TailNode& node, TailStep* step) {
    for (int v : node.op.inputs) {
      const int storage = StorageOf(graph_, v);
      step->inputs.push_back(storage < 0 ? -1 : Use(value_[Index(storage)], i));
    }
    const int output = StorageOf(graph_, node.op.outputs[0]);
    step->output = value_[Index(output)] = Begin(output, i);
    if (output == graph_.logits) {
      logits_ = value_[Index(output)];
      Use(logits_, i + 1);  // read after the last step of a plan without a backward pass
    }
  }

  void WalkBackward(int i, const TailNode& node, TailStep* step) {
    const int output = StorageOf(graph_, node.op.outputs[0]);
    if ((node.needs & kOutputBit) != 0) step->output = Use(value_[Index(output)], i);
    step->output_gradient = Use(gradient_[Index(output)], i);
    for (size_t k = 0; k < node.op.inputs.size(); ++k) {
      const int v = node.op.inputs[k];
      const uint32_t bit = InputBit(static_cast<int>(k));
      const int storage = StorageOf(graph_, v);
      const bool read = storage >= 0 && (node.needs & bit) != 0;
      step->inputs.push_back(read ? Use(value_[Index(storage)], i) : -1);
      step->input_gradients.push_back(-1);
      if ((node.wanted & bit) == 0) continue;
      if (storage < 0) {  // a parameter: gradients add up over operators and parts of a batch
        step->accumulate |= bit;
        continue;
      }
      int& gradient = gradient_[Index(storage)];
      if (gradient >= 0) {
        step->accumulate |= bit;
        Use(gradient, i);
      } else {
        gradient = Begin(storage, i);
      }
      step->input_gradients[k] = gradient;
    }
  }

  const TailGraph& graph_;
  const int64_t n_rows_;
  TailPlan& plan_;
  std::vector<int> value_;     // by storage: its block now
  std::vector<int> gradient_;  // likewise
  std::vector<MemoryBlock> blocks_;
  int cut_ = -1;
  int logits_ = -1;
};

}  // namespace

std::vector<TailStep> ListSteps(const TailGraph& graph, bool backward, int n_segments) {
  Lister lister(graph, n_segments);
  lister.Forward();
  if (backward) lister.Backward();
  return std::move(lister.steps);
}

void PlaceSteps(const TailGraph& graph, int64_t n_rows, TailPlan* plan) {
  Placer(graph, n_rows, plan).Place();
}

}  // namespace topwork
