// MakeBandStep: the parts, then each of them prepared for the shapes of the schedule.
#include <algorithm>
#include <utility>

#include "kernels/ops/shared/dynamic_range.h"
#include "models/format/pack_cache.h"
#include "runtime/plan/band_program.h"
#include "runtime/plan/bands.h"
#include "runtime/plan/prepare.h"

#if !defined(__OPTIMIZE_SIZE__)  // kHasBands
namespace topwork {
namespace {

// What the plan shows for a chain as a whole.
constexpr OpDef kBands = OpDef(static_cast<OpCode>(-1)).Name("BANDS").Cpu(nullptr, RunBands);

class StepMaker {
 public:
  StepMaker(const WorkGraph& graph, size_t begin, size_t end, PreparedFunction prepared)
      : graph_(graph),
        begin_(begin),
        end_(end),
        prepared_(prepared),
        program_(std::make_shared<BandProgram>()) {}

  Result<Step> Make(const BandRows& rows) {
    if (!ScheduleBands(BandOpsOf(graph_, begin_, end_), rows, &program_->schedule)) {
      return Unsupported("{} cannot run in bands", graph_.Where(OpAt(begin_)));
    }
    const Shape& out = Made(end_ - 1).shape;
    program_->batch = out[0];
    program_->out_h = out[1];
    for (size_t i = begin_; i < end_; ++i) AddPart(i);
    for (const BandShape& shape : program_->schedule.shapes) TW_RETURN_IF_ERROR(Prepare(shape));
    Finish();
    return std::move(step_);
  }

 private:
  const Op& OpAt(size_t i) const { return graph_.ops[i].op; }
  const TensorView& ViewOf(int v) const { return graph_.views[static_cast<size_t>(v)]; }
  const TensorView& Made(size_t i) const { return ViewOf(OpAt(i).outputs[0]); }

  void AddPart(size_t i) {
    const WorkOp& work = graph_.ops[i];
    BandProgram::Part part;
    part.def = work.op.def;
    part.first_input = step_.inputs.size();
    part.row_bytes = RowBytes(Made(i));
    part.buffer_offset = buffers_;
    const int64_t rows = program_->schedule.buffer_rows[i - begin_];
    buffers_ += AlignUp(static_cast<size_t>(rows) * part.row_bytes);
    for (int v : work.op.inputs) {
      BandProgram::Input input;
      input.maker = MakerInChain(graph_, begin_, i, v);
      input.given = v >= 0 && input.maker < 0;
      if (v >= 0 && !graph_.IsConstant(v)) {
        input.row_bytes = RowBytes(ViewOf(v));
        input.image_bytes = input.row_bytes * static_cast<size_t>(ViewOf(v).shape[1]);
      }
      part.inputs.push_back(input);
      step_.inputs.push_back(input.given ? v : -1);
    }
    program_->parts.push_back(std::move(part));
    step_.parts.push_back(StepOf(work));
  }

  // Input k of an op as it is for the shape. (Input 3 is a residual.)
  TensorView BandView(const Op& op, size_t k, const BandShape& shape) const {
    if (op.inputs[k] < 0) return TensorView();
    TensorView view = ViewOf(op.inputs[k]);
    if (graph_.IsConstant(op.inputs[k])) return view;
    view.shape.set_dim(0, 1);
    view.shape.set_dim(1, static_cast<int32_t>(k == 0 ? shape.in_rows : shape.out_rows));
    return view;
  }

  void SetPadding(const Op& whole, const BandShape& shape, OpParams* params) const {
    const int64_t out = ViewOf(whole.outputs[0]).shape[2];
    WindowAxis w;
    w.in = ViewOf(whole.inputs[0]).shape[2];
    w.filter = ViewOf(whole.inputs[1]).shape[2];
    w.stride = params->stride_w;
    w.dilation = params->dilation_w;
    if (params->has_explicit_padding) {
      w.pad = params->pad_left;
    } else {
      PlaceWindow(params->padding, &w);
    }
    const int64_t reached = (out - 1) * w.stride + (w.filter - 1) * w.dilation + 1;
    params->has_explicit_padding = true;
    params->pad_left = static_cast<int32_t>(w.pad);
    params->pad_right = static_cast<int32_t>(std::max<int64_t>(0, reached - w.in - w.pad));
    params->pad_top = static_cast<int32_t>(shape.pad_before);
    params->pad_bottom = static_cast<int32_t>(shape.pad_after);
  }

  Status Prepare(const BandShape& shape) {
    const WorkOp& work = graph_.ops[begin_ + static_cast<size_t>(shape.op)];
    Op op = work.op;
    SetPadding(work.op, shape, &op.params);
    BandProgram::Prepared prepared;
    std::vector<const TensorView*> views;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      prepared.inputs.push_back(BandView(op, k, shape));
    }
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      views.push_back(op.inputs[k] < 0 ? nullptr : &prepared.inputs[k]);
    }
    PlanPrepareContext context = MakeContext(graph_, op, PackMode::kPack);
    context.SetBand(std::move(views), &cache_);
    if (!work.pinned_to_float32) context.SetHalfProducts(graph_.half_products);
    TW_RETURN_IF_ERROR(context.Prepare(*op.def));
    part_scratch_ = std::max(part_scratch_, context.scratch_bytes());
    if (shape.op == 0 && context.wants_range()) {
      program_->wants_range = step_.wants_range = true;
    }
    prepared.params = op.params;
    prepared.state = context.state();
    prepared.output = context.outputs()[0];
    program_->prepared.push_back(std::move(prepared));
    step_.packed.insert(step_.packed.end(), context.packed().begin(), context.packed().end());
    prepared_(op, context);
    Step& shown = step_.parts[static_cast<size_t>(shape.op)];
    shown.variant = context.variant();
    shown.products = context.products();
    return Status::Ok();
  }

  void Finish() {
    program_->part_scratch_offset = buffers_;
    program_->thread_bytes = buffers_ + AlignUp(part_scratch_);
    if (program_->wants_range) {
      const int64_t n = ViewOf(step_.inputs[0]).shape.NumElements();
      const size_t partials = static_cast<size_t>(2 * DynamicChunks(n)) * sizeof(float);
      program_->thread_bytes = std::max(program_->thread_bytes, AlignUp(partials));
    }
    const WorkOp& last = graph_.ops[end_ - 1];
    step_.def = &kBands;
    step_.variant = "rows in the cache";
    step_.outputs = last.op.outputs;
    step_.scratch_bytes = program_->thread_bytes * static_cast<size_t>(graph_.max_threads);
    step_.n_tasks = program_->batch * program_->n_strips();
    step_.reason = last.reason;
    step_.file_index = last.op.file_index;
    step_.inside = last.op.inside;
    step_.state = std::move(program_);
  }

  const WorkGraph& graph_;
  const size_t begin_, end_;
  const PreparedFunction prepared_;
  PackCache cache_;  // of constants without a key
  std::shared_ptr<BandProgram> program_;
  Step step_;
  size_t buffers_ = 0, part_scratch_ = 0;
};

}  // namespace

Result<Step> MakeBandStep(const WorkGraph& graph, size_t begin, const BandChain& chain,
                          PreparedFunction prepared) {
  return StepMaker(graph, begin, chain.end, prepared).Make(chain.rows);
}

}  // namespace topwork
#endif
