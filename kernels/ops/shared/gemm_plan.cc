// The cut aims at tasks of at most kTaskWork multiply-adds (some 20 microseconds on one core) whose
// rows of A stay in the second-level cache while the panels of W pass by.
#include "kernels/ops/shared/gemm_plan.h"

#include <algorithm>

namespace topwork {
namespace {

constexpr int64_t kTaskWork = int64_t{1} << 21;
constexpr int64_t kRowBlockFloats = int64_t{1} << 15;  // 128 KiB of A
constexpr int64_t kOutputWork = 8;
constexpr int64_t kEnoughTasks = 16;
constexpr int64_t kLeftShare = 4;  // rows left over join a block of so many times as many
constexpr double kShares = 8.0, kMostShares = 16.0;
constexpr int64_t kMinColumnsWhenMade = 128;
// From which on sums of fours (kernels/cpu/gemm_fours.h) are faster.
constexpr int64_t kLeastDepth = 36;
constexpr int64_t kEnoughPanels = 8, kMostOnce = 128;
constexpr double kBlocksOnce = 4.0;

// Whole tiles of about `rows` rows.
void SetRows(int64_t tile_rows, int64_t m, int64_t rows, GemmCut* cut) {
  cut->row_blocks = CeilDiv(m, std::min(m, rows));
  const int64_t even = CeilDiv(m, cut->row_blocks);
  cut->rows = std::max<int64_t>(1, (even + tile_rows / 2) / tile_rows) * tile_rows;
  cut->row_blocks = CeilDiv(m, cut->rows);
  cut->most_rows = cut->rows;
  // The last block takes a few rows more rather than read all panels for these alone.
  const int64_t left = m - (cut->row_blocks - 1) * cut->rows;
  if (cut->row_blocks > 1 && kLeftShare * left <= cut->rows) {
    --cut->row_blocks;
    cut->most_rows += left;
  }
}

// Panel `index` of those of all groups; `data`, or the same as `half`, is that of group 0.
void PackPanel(const PackedWeights& w, const float* data, const uint16_t* half, int64_t index,
               float* packed) {
  const int64_t panels = w.kernels->n_panels(w.layout.n);
  const int64_t g = index / panels, p = index % panels;
  GemmWeights group = w.layout;
  if (half != nullptr) {
    group.half = half + g * w.group_stride;
  } else {
    group.data = data + g * w.group_stride;
  }
  w.kernels->pack(group, p, p + 1, packed + g * w.packed_size);
}

// Packs them, or finds them a place for the second run.
Status PackConstantWeights(PrepareContext* context, int input, PackedWeights* w) {
  const GemmKernels& kernels = *w->kernels;
  const TensorView& view = *context->input(input);
  const int64_t panels = kernels.n_panels(w->layout.n);
  const size_t bytes = static_cast<size_t>(w->packed_size * w->groups) * sizeof(float);
  const std::string tag = StrFormat("{} groups {} strides {} {}", kernels.tag, w->groups,
                                    w->layout.stride_n, w->layout.stride_k[2]);
  if (kPacksLate && w->one_row) {
    TW_ASSIGN_OR_RETURN(w->place, context->PlaceForConstant(input, tag.c_str(), bytes));
    w->constant = static_cast<const float*>(w->place.memory);
    if (w->constant != nullptr) return Status::Ok();
  }
  TW_ASSIGN_OR_RETURN(const void* packed,
                      context->PackConstant(input, tag.c_str(), bytes, true, [&](void* to) {
                        if (!kernels.packs_halves) context->WidenConstant(input);
                        const uint16_t* half = context->HalfConstant(input);
                        context->ShareOut(w->groups * panels, view.bytes(), [&](int64_t i) {
                          PackPanel(*w, view.as<const float>(), half, i, static_cast<float*>(to));
                        });
                      }));
  w->constant = static_cast<const float*>(packed);
  return Status::Ok();
}

// Whether weights are packed by now. The second run does it; meanwhile others read them as they lie.
bool IsPacked(const PackedWeights& w, const RunContext& context, int input) {
  LatePacking* const late = w.place.state;
  if (late == nullptr) return true;
  Packing state = late->load(std::memory_order_acquire);
  if (state == Packing::kNotRead && late->compare_exchange_strong(state, Packing::kReadOnce)) {
    return false;
  }
  if (state != Packing::kReadOnce || !late->compare_exchange_strong(state, Packing::kUnderWay)) {
    return state == Packing::kDone;
  }
  const float* data = context.input_data<float>(input);
  context.pool->ParallelFor(w.kernels->n_panels(w.layout.n), [&](int64_t panel, int) {
    PackPanel(w, data, nullptr, panel, static_cast<float*>(w.place.memory));
  });
  late->store(Packing::kDone, std::memory_order_release);
  w.place.forget(w.place.owner, data, context.in(input).bytes());
  return true;
}

}  // namespace

size_t ScratchLayout::AddSized(int64_t count, size_t size, int64_t n) {
  const size_t offset = bytes_;
  size_t bytes = 0, total = 0;
  if (MulOverflow(count, size, &bytes) || __builtin_add_overflow(bytes, kAlignment, &total) ||
      MulOverflow(n, AlignUp(bytes), &bytes) || __builtin_add_overflow(bytes_, bytes, &total)) {
    overflow_ = true;
    return 0;
  }
  bytes_ = total;
  return offset;
}

Status ScratchLayout::Request(PrepareContext* context) const {
  if (overflow_) {
    return OutOfMemory("{}: its working memory exceeds the address space", context->Where());
  }
  context->RequestScratch(bytes_);
  return Status::Ok();
}

const GemmKernels& ProductsOf(const PrepareContext& context) {
  return context.half_products() != nullptr ? *context.half_products() : *context.cpu().gemm;
}

const GemmKernels& FloatsOf(const CpuKernels& cpu, int64_t depth, int64_t run) {
  const GemmKernels& gemm = *cpu.gemm;
  const bool fits = depth >= kLeastDepth && run % gemm.depths == 0;
  return fits || gemm.ragged == nullptr ? gemm : *gemm.ragged;
}

Status PlanPackedWeights(PrepareContext* context, const GemmKernels& floats, int input,
                         const GemmWeights& layout, int64_t groups, int64_t group_stride,
                         ScratchLayout* scratch, PackedWeights* out, int64_t m) {
  const bool stays_half = context->HalfConstant(input) != nullptr && floats.of_halves != nullptr;
  const GemmKernels& kernels = stays_half ? *floats.of_halves : floats;
  out->kernels = &kernels;
  if (kernels.half != nullptr) context->SetProducts(kernels.half);
  out->layout = layout;
  out->groups = groups;
  out->group_stride = group_stride;
  int64_t elements = 0;
  // Padding a narrow column count to whole vectors is at most max_columns times the weights.
  if (MulOverflow(layout.k, layout.n + kernels.max_columns, &elements) ||
      MulOverflow(elements, groups, &elements) ||
      elements > static_cast<int64_t>(kMostBytes / sizeof(float))) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), context->InputName(input));
  }
  out->packed_size = kernels.packed_size(layout.n, layout.k);
  out->one_row = kPacksLate && m == 1 && groups == 1 && kernels.of_rows != nullptr;
  const int64_t total = out->packed_size * groups;
  const TensorView& view = *context->input(input);
  if (view.data == nullptr) {
    out->scratch_offset = scratch->Add(total);
    return Status::Ok();
  }
  return PackConstantWeights(context, input, out);
}

const float* GetPackedWeights(const PackedWeights& weights, const RunContext& context, int input) {
  if (weights.constant != nullptr) return weights.constant;
  float* packed = reinterpret_cast<float*>(context.scratch + weights.scratch_offset);
  const float* data = context.input_data<float>(input);
  const int64_t panels = weights.kernels->n_panels(weights.layout.n);
  context.pool->ParallelFor(weights.groups * panels, [&](int64_t task, int) {
    PackPanel(weights, data, nullptr, task, packed);
  });
  return packed;
}

WeightsNow GetWeights(const PackedWeights& weights, const RunContext& context, int input) {
  if (weights.one_row && (weights.constant == nullptr || !IsPacked(weights, context, input))) {
    return {context.input_data<float>(input), weights.kernels->of_rows};
  }
  return {GetPackedWeights(weights, context, input), weights.kernels};
}

double TaskWork(int64_t most, double whole) {
  const double limit = static_cast<double>(most);
  return std::min(limit, std::max(limit / kMostShares, whole / kShares));
}

GemmCut CutGemm(const GemmKernels& kernels, int64_t m, int64_t n, int64_t k, bool a_is_made) {
  // Tasks of 16-bit products round their rows of A themselves.
  const bool made = a_is_made || kernels.half != nullptr;
  return CutFloats(kernels.rows, kernels.n_panels(n), m, n, k, made);
}

GemmCut CutFloats(int tile_rows, int64_t total_panels, int64_t m, int64_t n, int64_t k,
                  bool a_is_made) {
  return CutProduct({tile_rows, total_panels, kRowBlockFloats, kTaskWork, kOutputWork}, m, n, k,
                    a_is_made);
}

GemmCut CutProduct(const GemmTiles& tiles, int64_t m, int64_t n, int64_t k, bool a_is_made) {
  GemmCut cut;
  if (m <= 0 || n <= 0) return cut;
  const int64_t depth = std::max<int64_t>(1, k);
  const double output_work = static_cast<double>(depth + tiles.output_work);
  const int64_t total_panels = tiles.total_panels;
  cut.total_panels = total_panels;
  const double columns = static_cast<double>(n) / static_cast<double>(total_panels);
  const double task_work =
      TaskWork(tiles.task_work, static_cast<double>(m) * static_cast<double>(n) * output_work);
  // Rows: as many as the cache holds, fewer where that alone would make a task too large.
  int64_t rows = std::max<int64_t>(tiles.rows, tiles.block_values / depth);
  const double row_work = output_work * static_cast<double>(n);
  const double rows_by_work = task_work / row_work;
  if (rows_by_work < static_cast<double>(rows)) {
    rows = std::max<int64_t>(4 * tiles.rows, static_cast<int64_t>(rows_by_work));
    rows = std::min(rows, std::max<int64_t>(tiles.rows, tiles.block_values / depth));
  }
  // Or all of them, where W is larger than A and would be read for each block.
  const bool reads_w_once = n > m && total_panels >= kEnoughPanels && m <= kMostOnce &&
                            static_cast<double>(m) * static_cast<double>(depth) <=
                                kBlocksOnce * static_cast<double>(tiles.block_values);
  if (reads_w_once) rows = m;
  SetRows(tiles.rows, m, rows, &cut);
  // Columns: panels until the task has its work.
  const double panel_work = static_cast<double>(std::min(m, cut.rows)) * output_work * columns;
  double panels = task_work / panel_work;
  if (a_is_made) {
    const double least = static_cast<double>(kMinColumnsWhenMade) / columns;
    panels = cut.row_blocks >= kEnoughTasks ? static_cast<double>(total_panels)
                                            : std::max(panels, least);
  }
  cut.panels = panels >= static_cast<double>(total_panels)
                   ? total_panels
                   : std::max<int64_t>(1, static_cast<int64_t>(panels));
  cut.panel_blocks = CeilDiv(total_panels, cut.panels);
  return cut;
}

GemmCut CutByRows(const GemmTiles& tiles, int64_t m, int64_t rows) {
  GemmCut cut;
  cut.total_panels = cut.panels = tiles.total_panels;
  cut.panel_blocks = 1;
  SetRows(tiles.rows, m, rows, &cut);
  return cut;
}

GemmTask TaskOf(const GemmTask& whole, const GemmCut& cut, int64_t index, int64_t* out_first_row) {
  int64_t first_row = 0;
  const int64_t first_panel = index % cut.panel_blocks * cut.panels;
  GemmTask task = whole;
  task.m = cut.RowsOf(index, whole.m, &first_row);
  if (task.a != nullptr) task.a += first_row * whole.lda;
  task.c += first_row * whole.ldc;
  if (task.residual != nullptr) task.residual += first_row * whole.ldr;
  task.panel_begin = first_panel;
  task.panel_end = std::min(first_panel + cut.panels, cut.total_panels);
  *out_first_row = first_row;
  return task;
}

GemmWork PlanGemmWork(const PrepareContext& context, const GemmKernels& kernels, int64_t runs,
                      int64_t length, ScratchLayout* scratch) {
  GemmWork work;
  if (kernels.half == nullptr) return work;
  int64_t words = 0;
  if (MulOverflow(runs, length / 2 + 1, &words)) words = -1;  // Request refuses it
  work.offset = scratch->Add(words, context.max_threads());
  work.block = ScratchLayout::BlockBytes(words);
  return work;
}

void RunGemm(ThreadPool* pool, const GemmKernels& kernels, const GemmTask& whole,
             const GemmCut& cut) {
  pool->ParallelFor(cut.n_tasks(), [&](int64_t index, int) {
    int64_t first_row = 0;
    kernels.run(TaskOf(whole, cut, index, &first_row));
  });
}

void RunGemm(const RunContext& context, const GemmKernels& kernels, const GemmTask& whole,
             const GemmCut& cut, const GemmWork& work) {
  context.pool->ParallelFor(cut.n_tasks(), [&](int64_t index, int thread) {
    int64_t first_row = 0;
    GemmTask task = TaskOf(whole, cut, index, &first_row);
    task.work = work.Of(context, thread);
    kernels.run(task);
  });
}

}  // namespace topwork
