// Segments: each operator adds its launches; values that nobody outside reads stay in the device's
// arena and never reach the host.
#include "runtime/plan/gpu_segment.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "runtime/plan/gpu_pairs.h"
#include "runtime/plan/join_launches.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/prepare.h"
#include "runtime/plan/tune_segment.h"

namespace topwork {
namespace {

// Sub-buffers begin at multiples of CL_DEVICE_MEM_BASE_ADDR_ALIGN; no device asks for more.
constexpr size_t kBlockAlignment = 1024;

// What the plan shows for a segment as a whole.
constexpr OpDef kSegment = OpDef(static_cast<OpCode>(-1)).Name("GPU");

std::vector<TensorView> OutputViews(const WorkGraph& graph, const Op& op) {
  std::vector<TensorView> views;
  for (int v : op.outputs) {
    if (v >= 0) views.push_back(graph.views[static_cast<size_t>(v)]);
  }
  return views;
}

// Operators of a segment that are shown as one.
struct Part {
  std::vector<size_t> ops;    // in order; the last one makes the outputs
  size_t lead = 0;            // the one that is shown
  std::vector<size_t> place;  // those whose output its last launch writes a piece of
  bool is_placed = false;     // others write its output
};

Step MakePart(const WorkGraph& graph, const Part& part) {
  Step step = StepOf(graph.ops[part.lead]);
  if (part.ops.size() == 1) return step;
  std::set<int> inside;
  step.inputs.clear();
  step.fused.clear();
  for (const size_t i : part.ops) {
    const Op& op = graph.ops[i].op;
    for (const int v : op.inputs) {
      if (inside.count(v) == 0) step.inputs.push_back(v);
    }
    inside.insert(op.outputs.begin(), op.outputs.end());
    const std::string name = i == part.lead ? "" : op.name();
    for (const std::string& more : {name, graph.ops[i].fused}) {
      if (!more.empty()) step.fused += (step.fused.empty() ? "" : ", ") + more;
    }
  }
  step.outputs = graph.ops[part.ops.back()].op.outputs;
  return step;
}

// The launches of the program's part k.
void AddLaunches(const GpuProgram& program, size_t k, Step* part) {
  const size_t begin = k == 0 ? 0 : static_cast<size_t>(program.part_ends[k - 1]);
  for (size_t i = begin; i < static_cast<size_t>(program.part_ends[k]); ++i) {
    const Launch& launch = program.launches[i];
    const size_t started = launch.global[0] * launch.global[1] * launch.global[2];
    part->launches.push_back({launch.Entry(), static_cast<int64_t>(started), launch.work});
  }
}

class SegmentPlanner {
 public:
  SegmentPlanner(const WorkGraph& graph, size_t begin, size_t end, const Device& device,
                 GpuTuner* tuner, const std::string& forced_variant)
      : graph_(graph), begin_(begin), end_(end) {
    program_.storage = device.storage();
    program_.half_products = device.has_half_products();
    program_.family = &device.family();
    if (program_.family->weight_images) program_.image_pixels = device.limits().image_pixels;
    program_.tuner = tuner;
    program_.forced_variant = forced_variant;
  }

  Status Plan() {
    std::vector<uint8_t> apart;
    for (size_t i = begin_; i < end_; ++i) {
      TW_ASSIGN_OR_RETURN(const bool paired, AddPair(i));
      Part part;
      if (paired) part.ops.push_back(i++);
      if (!paired) TW_RETURN_IF_ERROR(AddOp(graph_.ops[i]));
      part.ops.push_back(i);
      part.lead = i;
      parts_.push_back(std::move(part));
      apart.push_back(graph_.ops[i].stays_apart);
      program_.part_ends.push_back(static_cast<int>(program_.launches.size()));
    }
    for (size_t i = begin_; i < end_; ++i) {
      for (int v : graph_.ops[i].op.outputs) {
        if (v < 0 || !ReadOutside(v)) continue;
        outputs_.push_back(v);
        program_.outputs.push_back(blocks_[v]);
        program_.output_formats.push_back(FormatOf(v));
      }
    }
    JoinParts(JoinLaunches(&program_, apart));
    PlaceBlocks();
    return Status::Ok();
  }

  // Forgets what was planned.
  void Restart(const GpuProgram& empty) {
    program_ = empty;
    inputs_.clear();
    outputs_.clear();
    parts_.clear();
    blocks_.clear();
  }

  GpuProgram program_;
  std::vector<int> inputs_, outputs_;
  std::vector<Part> parts_;

 private:
  // Layout of a value that the device can hold.
  GpuFormat FormatOf(int v) const {
    GpuFormat format;
    (void)FindGpuFormat(graph_.views[static_cast<size_t>(v)], program_.storage, &format);
    return format;
  }

  // Parts that others compute now are shown with these.
  void JoinParts(const std::vector<JoinedPart>& joined) {
    std::vector<Part> parts;
    std::vector<int> ends;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (joined[p].into != static_cast<int>(p)) continue;
      Part part;
      for (size_t k = 0; k < parts_.size(); ++k) {
        if (joined[k].into != static_cast<int>(p)) continue;
        part.ops.insert(part.ops.end(), parts_[k].ops.begin(), parts_[k].ops.end());
        if (joined[k].leads) part.lead = parts_[k].lead;
      }
      part.is_placed = joined[p].is_placed;
      if (joined[p].place >= 0) part.place = parts_[static_cast<size_t>(joined[p].place)].ops;
      parts.push_back(std::move(part));
      ends.push_back(program_.part_ends[p]);
    }
    parts_ = std::move(parts);
    program_.part_ends = std::move(ends);
  }

  // An input comes from the host before the first launch.
  int BlockOf(int v) {
    const auto found = blocks_.find(v);
    if (found != blocks_.end()) return found->second;
    GpuBlock block;
    const TensorView& view = graph_.views[static_cast<size_t>(v)];
    const GpuFormat format = FormatOf(v);
    block.bytes =
        static_cast<size_t>(view.shape.NumElements()) * GpuElementBytes(format, program_.storage);
    block.last = static_cast<int>(program_.launches.size());
    program_.blocks.push_back(block);
    blocks_[v] = static_cast<int>(program_.blocks.size()) - 1;
    inputs_.push_back(v);
    program_.inputs.push_back(blocks_[v]);
    program_.input_formats.push_back(format);
    return blocks_[v];
  }

  // The blocks of an operator's inputs; `inside` is a value that has none.
  std::vector<int> InputBlocks(const Op& op, int inside = -1) {
    std::vector<int> blocks;
    for (int v : op.inputs) {
      blocks.push_back(v < 0 || v == inside || graph_.IsConstant(v) ? -1 : BlockOf(v));
    }
    return blocks;
  }

  void KeepOutputBlocks(const Op& op, const GpuContext& context) {
    size_t k = 0;
    for (int v : op.outputs) {
      if (v < 0) continue;
      if (context.output_blocks()[k] >= 0) blocks_[v] = context.output_blocks()[k];
      ++k;
    }
  }

  Status AddOp(const WorkOp& work) {
    PlanPrepareContext prepared = MakeContext(graph_, work.op, PackMode::kUnpacked);
    TW_RETURN_IF_ERROR(prepared.Prepare(*work.op.def));
    GpuContext context(work.op.params, prepared.state().get(), InputViews(graph_, work.op),
                       OutputViews(graph_, work.op), InputBlocks(work.op), &program_);
    const Status status = PlanOnGpu(*work.op.def, context);
    if (!status.ok()) return status.WithPrefix(graph_.Where(work.op) + ": ");
    KeepOutputBlocks(work.op, context);
    return Status::Ok();
  }

  // Ops i and i + 1 as one launch; false where they stay two.
  Result<bool> AddPair(size_t i) {
    if (i + 1 >= end_ || !IsGpuPair(graph_, i, i + 1)) return false;
    if (graph_.ops[i].stays_apart || graph_.ops[i + 1].stays_apart) return false;
    const Op& first = graph_.ops[i].op;
    const Op& second = graph_.ops[i + 1].op;
    PlanPrepareContext prepared = MakeContext(graph_, first, PackMode::kUnpacked);
    TW_RETURN_IF_ERROR(prepared.Prepare(*first.def));
    PlanPrepareContext prepared_second = MakeContext(graph_, second, PackMode::kUnpacked);
    TW_RETURN_IF_ERROR(prepared_second.Prepare(*second.def));
    GpuContext context(first.params, prepared.state().get(), InputViews(graph_, first),
                       OutputViews(graph_, first), InputBlocks(first), &program_);
    GpuContext context_second(second.params, prepared_second.state().get(),
                              InputViews(graph_, second), OutputViews(graph_, second),
                              InputBlocks(second, first.outputs[0]), &program_);
    if (!PlanPairOnGpu(context, context_second)) return false;
    KeepOutputBlocks(second, context_second);
    return true;
  }

  bool ReadOutside(int v) const {
    if (blocks_.count(v) == 0) return false;
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end()) {
      return true;
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      if (i >= begin_ && i < end_) continue;
      const std::vector<int>& read = graph_.ops[i].op.inputs;
      if (std::find(read.begin(), read.end(), v) != read.end()) return true;
    }
    return false;
  }

  void PlaceBlocks() {
    std::vector<MemoryBlock> places;
    std::vector<GpuBlock*> owners;
    for (GpuBlock& block : program_.blocks) {
      if (!block.constant.empty() || block.bytes == 0) continue;
      places.push_back({AlignUp(block.bytes, kBlockAlignment), block.first, block.last, 0});
      owners.push_back(&block);
    }
    // No device of a 32-bit processor has more than half of the address space.
    program_.arena_bytes =
        static_cast<size_t>(std::min<uint64_t>(PlanMemory(&places), SIZE_MAX / 2));
    for (size_t i = 0; i < owners.size(); ++i) {
      owners[i]->offset = static_cast<size_t>(places[i].offset);
    }
  }

  const WorkGraph& graph_;
  const size_t begin_, end_;
  std::map<int, int> blocks_;  // value → block
};

bool SameChoices(const std::vector<GpuChoice>& a, const std::vector<GpuChoice>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return std::strcmp(x.chosen, y.chosen) == 0;
  });
}

// Whether the program has all constants that were kept, or none because none were.
bool UsesWeights(const GpuProgram& program) {
  if (program.weights == nullptr) return true;
  const size_t n_kept = program.weights->constants.size();
  const auto is_arranged = [](const GpuBlock& block) { return block.is_arranged; };
  return n_kept == 0 || (n_kept == program.n_arranged &&
                         std::none_of(program.blocks.begin(), program.blocks.end(), is_arranged));
}

// Plans with the constants that the device has kept of such a segment, which a trial names. If the
// plan turns out another one (a session may have measured kernels since), it has its own constants.
Status PlanWithWeights(const WorkGraph& graph, size_t begin, size_t end, SegmentPlanner* planner) {
  const Device& device = *graph.ops[begin].device;
  TW_ASSIGN_OR_RETURN(const GpuProgram trial, PlanGpuTrial(graph, begin, end, device));
  std::vector<const TensorView*> tensors;
  for (size_t i = begin; i < end; ++i) {
    const std::vector<const TensorView*> inputs = InputViews(graph, graph.ops[i].op);
    tensors.insert(tensors.end(), inputs.begin(), inputs.end());
  }
  GpuProgram& program = planner->program_;
  const GpuProgram empty = program;
  program.weights = device.FindWeights(trial, tensors);
  TW_RETURN_IF_ERROR(planner->Plan());
  if (SameChoices(trial.choices, program.choices) && UsesWeights(program)) return Status::Ok();
  planner->Restart(empty);
  return planner->Plan();
}

}  // namespace

Status TryPlan(const WorkGraph& graph, const WorkOp& work, GpuProgram* program) {
  program->is_trial = true;
  std::vector<int> blocks;
  for (int v : work.op.inputs) {
    blocks.push_back(v < 0 || graph.IsConstant(v) ? -1 : 0);
  }
  program->blocks.emplace_back();  // stands for every input
  PlanPrepareContext prepared = MakeContext(graph, work.op, PackMode::kUnpacked);
  TW_RETURN_IF_ERROR(prepared.Prepare(*work.op.def));
  GpuContext context(work.op.params, prepared.state().get(), InputViews(graph, work.op),
                     OutputViews(graph, work.op), std::move(blocks), program);
  return PlanOnGpu(*work.op.def, context);
}

std::string WhyNotLaunched(const WorkGraph& graph, const WorkOp& work, Storage storage,
                           bool same_integers, int* n_launches) {
  GpuProgram program;
  program.storage = storage;
  const Status status = TryPlan(graph, work, &program);
  *n_launches = static_cast<int>(program.launches.size());
  if (!status.ok()) return status.message();
  const bool differs = same_integers && program.has_reals_of_integers;
  return differs ? "it would compute its integers as real numbers there" : "";
}

Result<GpuProgram> PlanGpuSegment(const WorkGraph& graph, size_t begin, size_t end,
                                  const Device& device, std::vector<int>* inputs,
                                  std::vector<int>* outputs, GpuTuner* tuner,
                                  const std::string& forced_variant) {
  SegmentPlanner planner(graph, begin, end, device, tuner, forced_variant);
  TW_RETURN_IF_ERROR(planner.Plan());
  *inputs = std::move(planner.inputs_);
  *outputs = std::move(planner.outputs_);
  return std::move(planner.program_);
}

Result<GpuProgram> PlanGpuTrial(const WorkGraph& graph, size_t begin, size_t end,
                                const Device& device) {
  SegmentPlanner planner(graph, begin, end, device, device.tuner(), "");
  planner.program_.is_trial = true;
  TW_RETURN_IF_ERROR(planner.Plan());
  return std::move(planner.program_);
}

std::vector<Uncompiled> FindUncompiled(const WorkGraph& graph, size_t begin, size_t end) {
  const Device& device = *graph.ops[begin].device;
  SegmentPlanner planner(graph, begin, end, device, device.tuner(), "");
  planner.program_.is_trial = true;
  std::vector<Uncompiled> found;
  if (!planner.Plan().ok()) return found;
  auto next = planner.program_.launches.begin();
  for (size_t k = 0; k < planner.parts_.size(); ++k) {
    const auto last = planner.program_.launches.begin() + planner.program_.part_ends[k];
    const Status status = device.Check(std::vector<Launch>(next, last));
    next = last;
    if (status.ok()) continue;
    found.push_back({planner.parts_[k].ops, status});
    for (const size_t i : planner.parts_[k].place) found.back().ops.push_back(i);
  }
  return found;
}

Result<Step> MakeGpuStep(const WorkGraph& graph, size_t begin, size_t end) {
  const Device& device = *graph.ops[begin].device;
  TuneSegment(graph, begin, end, device);
  SegmentPlanner planner(graph, begin, end, device, device.tuner(), "");
  if (kKeepsWeights && device.KeepsWeights()) {
    TW_RETURN_IF_ERROR(PlanWithWeights(graph, begin, end, &planner));
  } else {
    TW_RETURN_IF_ERROR(planner.Plan());
  }
  GpuProgram& program = planner.program_;
  Step step;
  step.inputs = std::move(planner.inputs_);
  step.outputs = std::move(planner.outputs_);
  step.def = &kSegment;
  step.device = &device;
  step.variant = device.storage() == Storage::kFloat16 ? "float16 storage" : "float32";
  step.gpu_bytes = program.arena_bytes + program.constant_bytes;
  step.file_index = graph.ops[begin].op.file_index;
  size_t first = 0;
  for (size_t k = 0; k < planner.parts_.size(); ++k) {
    Step part = MakePart(graph, planner.parts_[k]);
    part.device = &device;
    const size_t last = static_cast<size_t>(program.part_ends[k]);
    // A launch that makes real numbers of bytes names no operator.
    while (first + 1 < last &&
           std::string(program.launches[first].kernel.name) == "bytes_to_real") {
      ++first;
    }
    if (first < last) part.variant = program.launches[first].kernel.name;
    if (planner.parts_[k].is_placed) part.variant = "in place";
    first = last;
    AddLaunches(program, k, &part);
    step.parts.push_back(std::move(part));
  }
  TW_ASSIGN_OR_RETURN(step.program, device.Load(std::move(program)));
  return step;
}

}  // namespace topwork
