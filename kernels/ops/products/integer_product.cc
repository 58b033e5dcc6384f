// Plans and runs quantized products (see integer_product.h).
//
// "bytes" GEMM: with a and w in the processor's own signs, z their zero points there,
//   sum (a - za)(w - zw) = sum a w - za * sum w - zw * sum a + k za zw.
// The second and fourth terms go into the bias of every column, the third is one number a row.
// "int16" GEMM: both factors come without their zero points.
#include "kernels/ops/products/integer_product.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/elementwise_quant.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

constexpr int64_t kTaskWork = int64_t{1} << 22;
constexpr int64_t kRowWork = int64_t{1} << 20;  // of a single row, which waits for its weights
constexpr int64_t kOutputWork = 64;             // of its requantization
constexpr int64_t kMadeBlocks = 8, kTilesOfMadeRows = 3;  // of rows that tasks make
constexpr int64_t kTilesOfCopiedRows = 2, kFewCopied = 256, kMostCopiedWeights = int64_t{1} << 16;
constexpr int64_t kLeastPixels = 32, kFewPixels = 64, kFewTasks = 4;
constexpr int64_t kMostWeights = int64_t{1} << 20;  // that all threads may read
constexpr int64_t kManyBlocks = 16;
constexpr int64_t kRowBlockBytes = int64_t{1} << 16;

// Weights in blocks that keep their 4 bits.
bool TakesNibbles(const IntegerProduct& p, DType weights) {
  return p.gemm->nibbles && p.has_blocks && weights == DType::kInt4 && p.run_k % 8 == 0 &&
         p.run_k <= kMaxNibbles;
}

// The scales of all runs, then the sums of the columns.
void PackBlocks(const IntegerProduct& p, const TensorView& weights, float* to) {
  const Span<const float> scales = weights.quantization->scales;
  float* sums = to + p.runs * p.padded_n;
  std::fill(to, sums + p.padded_n, 0.0f);
  std::vector<int8_t> values(static_cast<size_t>(p.run_k));
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t run = 0; run < p.runs; ++run) {
      const int64_t i = n * p.runs + run;
      Unpack(weights.dtype, weights.data, i * p.run_k, p.run_k, values.data());
      const float scale = scales[static_cast<size_t>(i)];
      to[run * p.padded_n + n] = p.weights.nibbles ? scale / 16.0f : scale;
      sums[n] += scale * static_cast<float>(std::accumulate(values.begin(), values.end(), 0));
    }
  }
}

// Panel `index` of those of all groups.
void PackPanel(const IntegerProduct& p, const uint8_t* data, int64_t index, uint8_t* packed) {
  const int64_t panels = p.gemm->n_panels(p.n), g = index / panels, panel = index % panels;
  IntegerWeights weights = p.weights;
  weights.data = data;
  weights.first = g * p.n * p.k();
  p.gemm->pack(weights, panel, panel + 1, packed + static_cast<size_t>(g) * p.packed_bytes);
}

Status PackWeights(PrepareContext* context, ScratchLayout* scratch, IntegerProduct* p) {
  const TensorView& view = *context->input(1);
  p->weights.n = p->n;
  p->weights.runs = p->runs;
  p->weights.run_k = p->run_k;
  p->weights.bits = DTypeBits(view.dtype);
  p->weights.nibbles = TakesNibbles(*p, view.dtype);
  int64_t words = 0;
  if (MulOverflow(p->run_k + 4, p->runs, &words) ||
      MulOverflow(words, p->n + p->gemm->max_columns, &words) ||
      MulOverflow(words, p->groups * 4, &words) || words > static_cast<int64_t>(kMostBytes)) {
    return OutOfMemory("{}: {} is too large to pack", context->Where(), context->InputName(1));
  }
  p->packed_bytes =
      p->gemm->packed_bytes(p->n, p->runs, p->weights.nibbles ? p->run_k / 2 : p->run_k);
  size_t total = p->packed_bytes * static_cast<size_t>(p->groups);
  if (p->has_blocks) {
    p->blocks_offset = AlignUp(total);
    total = p->blocks_offset + static_cast<size_t>((p->runs + 1) * p->padded_n) * sizeof(float);
  }
  if (view.data == nullptr) {
    p->packed_offset = scratch->AddSized(static_cast<int64_t>(total), 1);
    return Status::Ok();
  }
  const char* layout = p->weights.transposed ? " transposed" : p->weights.nibbles ? " nibbles" : "";
  const std::string tag = StrFormat("{} groups {} runs {} zero {}{}", p->gemm->tag, p->groups,
                                    p->runs, p->weight_zero, layout);
  TW_ASSIGN_OR_RETURN(p->packed, context->PackConstant(1, tag.c_str(), total, true, [&](void* to) {
    const int64_t panels = p->gemm->n_panels(p->n);
    context->ShareOut(p->groups * panels, view.bytes(), [&](int64_t i) {
      PackPanel(*p, view.as<const uint8_t>(), i, static_cast<uint8_t*>(to));
    });
    if (!p->has_blocks) return;
    PackBlocks(*p, view, reinterpret_cast<float*>(static_cast<uint8_t*>(to) + p->blocks_offset));
  }));
  return Status::Ok();
}

// Zero points, and signs of the bytes, on both sides.
void PlanZeroPoints(const PrepareContext& context, const IntegerKernels& kernels,
                    IntegerProduct* p) {
  const TensorView& weights = *context.input(1);
  const int32_t zero = ZeroPointOf(weights);
  // Dynamic-range weights of old converters are signed and only called uint8: zero point 0.
  const bool really_unsigned =
      weights.dtype == DType::kUInt8 && !(p->arithmetic == Arithmetic::kDynamicRange && zero == 0);
  p->weights.flip = really_unsigned ? 0x80 : 0;
  p->weight_zero = p->weights.zero_point = really_unsigned ? zero - 128 : zero;
  if (p->arithmetic == Arithmetic::kBytes) {
    p->in_zero = ZeroPointOf(*context.input(0));
    p->in_unsigned = context.input(0)->dtype == DType::kUInt8;
  }
  if (!p->gemm->bytes) return;
  p->flip = p->in_unsigned ? kernels.flip_uint8 : kernels.flip_int8;
  if (p->flip != 0) p->native_shift = p->in_unsigned ? -128 : 128;
}

// The bias of every column, corrected for the zero points where the GEMM multiplies raw bytes.
void CorrectBias(const IntegerProduct& p, const int32_t* bias, const uint8_t* packed,
                 int32_t* out) {
  const uint32_t zero = static_cast<uint32_t>(p.in_zero + p.native_shift);
  const uint32_t constant =
      static_cast<uint32_t>(p.k()) * zero * static_cast<uint32_t>(p.weight_zero);
  for (int64_t g = 0; g < p.groups; ++g, out += p.padded_n) {
    const int32_t* sums =
        p.gemm->sums(packed + static_cast<size_t>(g) * p.packed_bytes, p.n, p.runs, p.run_k);
    for (int64_t n = 0; n < p.padded_n; ++n) out[n] = 0;
    for (int64_t n = 0; n < p.n; ++n) {
      uint32_t value = bias != nullptr ? static_cast<uint32_t>(bias[g * p.n + n]) : 0;
      if (p.gemm->bytes) value += constant - zero * static_cast<uint32_t>(sums[n]);
      out[n] = static_cast<int32_t>(value);
    }
  }
}

// Products and the terms of rows lie within ±this.
int64_t Reach(const IntegerProduct& p) {
  const int64_t share = p.weight_zero != 0 ? 3 : 1;  // of 2^15 for every value of the depth
  return p.k() * share << 15;
}

// Whether sums with their bias are as ColumnFactors::small wants them: products and the terms of
// rows are at most 2^28 together.
bool SumsAreSmall(const IntegerProduct& p, const int32_t* bias) {
  int32_t least = 0, most = 0;
  for (int64_t i = 0; i < p.padded_n * p.groups; ++i) {
    least = std::min(least, bias[i]);
    most = std::max(most, bias[i]);
  }
  return Reach(p) <= 1 << 28 && least >= -kSmallBias && most <= kSmallBias;
}

// A product of an image's pixels: other operators share out the rows of images, so a thread finds in its
// cache what it wrote. (Of few rows all threads read all of W. Shares of the columns cost more: processors
// fetch what lies behind them, which another one writes.)
void ShareRows(const GemmTiles& tiles, IntegerProduct* p) {
  const int64_t least_rows = kTilesOfMadeRows * tiles.rows;
  if (p->makes_rows && p->m >= 4 * least_rows) {
    p->cut = CutByRows(tiles, p->m, std::max(least_rows, p->m / kMadeBlocks));
  } else if (p->copies_rows && p->m >= 4 * kTilesOfCopiedRows * tiles.rows && p->m < kFewCopied &&
             p->n * p->k() <= kMostCopiedWeights) {
    p->cut = CutByRows(tiles, p->m, std::max(kTilesOfCopiedRows * tiles.rows, p->m / kMadeBlocks));
  } else if (p->of_pixels && p->m >= kLeastPixels && (p->makes_rows || p->m < kFewPixels) &&
             p->n * p->k() < kMostWeights) {
    GemmCut* const cut = &p->cut;
    cut->panel_blocks = p->makes_rows ? 1 : 2;
    cut->panels = CeilDiv(cut->total_panels, cut->panel_blocks);
    cut->row_blocks = kFewTasks / cut->panel_blocks;
    cut->rows = cut->most_rows = CeilDiv(p->m, cut->row_blocks);
  }
}

// An odd number of a few blocks gives one of two threads more to do.
void MakeEven(const GemmTiles& tiles, int64_t m, GemmCut* cut) {
  const int64_t blocks = cut->row_blocks;
  if (cut->panel_blocks != 1 || blocks % 2 == 0 || blocks < 3 || blocks >= kManyBlocks) return;
  for (const int64_t even : {blocks + 1, blocks - 1}) {
    const GemmCut other = CutByRows(tiles, m, CeilDiv(m, even));
    if (other.row_blocks % 2 != 0) continue;
    *cut = other;
    return;
  }
}

const uint8_t* PackedOf(const RunContext& context, const IntegerProduct& p) {
  return p.packed != nullptr ? static_cast<const uint8_t*>(p.packed)
                             : context.scratch + p.packed_offset;
}

// The part of a run that does not depend on the task.
struct Whole {
  const RunContext* context;
  const IntegerProduct* p;
  const ProductRun* run;
  const uint8_t* packed;
  Requantizer::Int16Run int16;
  const int32_t* bias;   // kBytes: corrected
  const uint8_t* table;  // kBytes, or null
  bool small;            // see ColumnFactors
};

// Where the results of the task go, and how they are made of its sums.
void SetOutput(const Whole& whole, int64_t group, int64_t first_row, IntegerTask* task) {
  const IntegerProduct& p = *whole.p;
  const RunContext& context = *whole.context;
  const int64_t column = group * p.n, padded = group * p.padded_n;
  task->ldc = p.n * p.groups;
  const int64_t at = first_row * task->ldc + column;
  if (IsInt16(p.arithmetic)) {
    task->c = static_cast<int16_t*>(whole.run->c) + at;
    return;  // RunTask ends it
  }
  p.requantizer.EndTask(padded, whole.small, task);
  if (p.arithmetic == Arithmetic::kDynamicRange) {
    if (p.has_blocks) {
      task->run_scale = reinterpret_cast<const float*>(whole.packed + p.blocks_offset);
      task->run_scale_step = p.padded_n;
      task->scaled_sums = task->run_scale + p.runs * p.padded_n;
    }
    task->epilogue = IntegerEpilogue::kFloat;
    task->c = static_cast<float*>(whole.run->c) + at;
    if (whole.run->addend != nullptr) task->addend = whole.run->addend + at;
    const float* bias = context.input_data<float>(2);
    task->float_bias = bias != nullptr ? bias + column : nullptr;
    task->row_step = whole.run->row_step;
    task->row_scale = whole.run->row_scale + first_row * task->row_step;
    task->row_zero = p.gemm->bytes ? whole.run->row_zero + first_row * task->row_step : nullptr;
    return;
  }
  task->epilogue = IntegerEpilogue::kBytes;
  task->c = static_cast<uint8_t*>(whole.run->c) + at;
  task->bias = whole.bias + padded;
}

// The columns of the task have their results: bytes are looked up, floats go through the function.
void EndColumns(const Whole& whole, const IntegerTask& task, int thread) {
  const IntegerGemm& gemm = *whole.p->gemm;
  const int64_t begin = gemm.first_column(task.n, task.panel_begin);
  const int64_t end = std::min(task.n, gemm.first_column(task.n, task.panel_end));
  if (whole.table != nullptr) {
    LookUpRows(*whole.context, whole.table, task.m, end - begin, task.ldc,
               static_cast<uint8_t*>(task.c) + begin);
  } else if (whole.run->function != nullptr) {
    whole.run->function->Apply(
        thread, {static_cast<float*>(task.c) + begin, task.m, end - begin, task.ldc});
  }
}

void RunTask(const Whole& whole, int64_t index, int thread, RowOffsets row_offsets) {
  const IntegerProduct& p = *whole.p;
  const ProductRun& run = *whole.run;
  uint8_t* scratch = whole.context->scratch;
  const size_t t = static_cast<size_t>(thread);
  const int64_t group = index % p.groups, block = index / p.groups;
  int64_t first_row = 0;
  const int64_t first_panel = block % p.cut.panel_blocks * p.cut.panels;
  IntegerTask task;
  task.m = p.cut.RowsOf(block, run.m, &first_row);
  if (task.m <= 0) return;
  task.n = p.n;
  task.runs = p.runs;
  task.run_k = p.run_k;
  task.run_offsets = run.run_offsets;
  task.over_read = p.over_read;
  task.panel_begin = first_panel;
  task.panel_end = std::min(first_panel + p.cut.panels, p.gemm->n_panels(p.n));
  task.flip = p.flip;
  task.nibbles = p.weights.nibbles;
  task.packed = whole.packed + static_cast<size_t>(group) * p.packed_bytes;
  SetOutput(whole, group, first_row, &task);
  if (run.range != nullptr) task.range = run.range->Of(thread);
  Requantizer::Int16Run int16 = whole.int16;
  int16.first_channel = group * p.n;
  if (IsInt16(p.arithmetic)) Requantizer::EndTask(&int16, &task);
  task.a = run.make_rows != nullptr ? (*run.make_rows)(first_row, task.m, thread) : run.a;
  task.a += group * run.group_bytes;
  task.lda = run.lda;
  if (run.offset_rows) {
    int64_t* offsets = reinterpret_cast<int64_t*>(scratch + p.rows_offset + t * p.rows_block);
    row_offsets(first_row, task.m, offsets);
    task.row_offsets = offsets;
  } else {
    task.a += first_row * run.lda;
  }
  if (p.gemm->bytes && p.weight_zero != 0) {
    int32_t* terms = reinterpret_cast<int32_t*>(scratch + p.terms_offset + t * p.terms_block);
    p.gemm->row_sums(task, terms);
    for (int64_t r = 0; r < task.m; ++r) terms[r] *= -p.weight_zero;
    task.row_term = terms;
  }
  p.gemm->run(task);
  if (kFusesTables) EndColumns(whole, task, thread);
}

Status PlanBias(const PrepareContext& context, ScratchLayout* scratch, IntegerProduct* p) {
  const int64_t n = p->padded_n * p->groups;
  const TensorView* bias = context.input(2);
  p->constant_bias = p->packed != nullptr && (bias == nullptr || bias->data != nullptr);
  if (!p->constant_bias) {
    p->bias_offset = scratch->AddSized(n, 4);
  } else if (context.packs()) {
    p->corrected_bias.resize(static_cast<size_t>(n));
    CorrectBias(*p, bias == nullptr ? nullptr : bias->as<const int32_t>(),
                static_cast<const uint8_t*>(p->packed), p->corrected_bias.data());
    p->small = p->small && SumsAreSmall(*p, p->corrected_bias.data());
    if (p->small) {
      p->requantizer.FindSingleFactors(context, p->corrected_bias.data(), Reach(*p), p->m);
    }
  }
  return Status::Ok();
}

}  // namespace

void ChooseIntegerGemm(const PrepareContext& context, IntegerProduct* p) {
  const IntegerKernels& kernels = *context.cpu().integer;
  const bool bytes = kernels.bytes != nullptr && !IsInt16(p->arithmetic);
  p->gemm = bytes ? kernels.bytes : kernels.int16;
}

Status PlanIntegerProduct(PrepareContext* context, ScratchLayout* scratch, IntegerProduct* p) {
  PlanZeroPoints(*context, *context->cpu().integer, p);
  if (p->arithmetic == Arithmetic::kDynamicRange && p->weight_zero != 0) {
    return context->Unsupported("{} has zero point {}; none is defined with float data",
                                context->InputName(1), ZeroPointOf(*context->input(1)));
  }
  const IntegerGemm* narrow = context->cpu().integer->narrow;
  const bool is_narrow = !IsInt16(p->arithmetic) && p->weight_zero == 0 && !p->has_blocks;
  if (narrow != nullptr && !p->gemm->bytes && is_narrow) p->gemm = narrow;
  p->padded_n = (p->n + kColumnPad - 1) / kColumnPad * kColumnPad;
  TW_RETURN_IF_ERROR(PackWeights(context, scratch, p));
  ChannelLayout layout;
  layout.groups = p->groups;
  layout.channels = p->n;
  layout.padded = p->padded_n;
  TW_RETURN_IF_ERROR(p->requantizer.Plan(*context, p->arithmetic, layout, p->real));
  p->small = p->requantizer.has_small_factors();
  const GemmTiles tiles = {p->gemm->rows, p->gemm->n_panels(p->n), kRowBlockBytes,
                           p->m == 1 ? kRowWork : kTaskWork, kOutputWork};
  p->cut = CutProduct(tiles, p->m, p->n, p->k(), false);
  if (kSharesFinely && p->cut.panel_blocks > 1) ShareRows(tiles, p);
  if (kSharesFinely) MakeEven(tiles, p->m, &p->cut);
  context->SetTasks(p->groups * p->cut.n_tasks());
  const int threads = context->max_threads();
  p->rows_offset = scratch->AddSized(p->cut.most_rows, 8, threads);
  p->rows_block = ScratchLayout::SizedBlock(p->cut.most_rows, 8);
  if (p->weight_zero != 0) {
    p->terms_offset = scratch->AddSized(p->cut.most_rows, 4, threads);
    p->terms_block = ScratchLayout::SizedBlock(p->cut.most_rows, 4);
  }
  return p->arithmetic == Arithmetic::kBytes ? PlanBias(*context, scratch, p) : Status::Ok();
}

void LookUpRows(const RunContext& context, const uint8_t* table, int64_t rows, int64_t n,
                int64_t step, uint8_t* bytes) {
  const ByteRows all = n == step ? ByteRows{rows * n} : ByteRows{n, rows, step, step};
  context.cpu->elementwise->quantized->lookup(bytes, bytes, all, table);
}

void BeginIntegerProduct(const RunContext& context, const IntegerProduct& p) {
  if (p.packed == nullptr) {
    const int64_t panels = p.gemm->n_panels(p.n);
    context.pool->ParallelFor(p.groups * panels, [&](int64_t task, int) {
      PackPanel(p, context.input_data<uint8_t>(1), task, context.scratch + p.packed_offset);
    });
  }
  if (p.arithmetic != Arithmetic::kBytes || p.constant_bias) return;
  CorrectBias(p, context.input_data<int32_t>(2), PackedOf(context, p),
              reinterpret_cast<int32_t*>(context.scratch + p.bias_offset));
}

void RunIntegerProduct(const RunContext& context, const IntegerProduct& p, const ProductRun& run,
                       RowOffsets row_offsets) {
  const int32_t* bias = p.constant_bias
                            ? p.corrected_bias.data()
                            : reinterpret_cast<const int32_t*>(context.scratch + p.bias_offset);
  const Whole whole = {&context,
                       &p,
                       &run,
                       PackedOf(context, p),
                       {&p.requantizer, context.input_data<void>(2), 0},
                       bias,
                       FusedTable(context),
                       p.small && (p.constant_bias || SumsAreSmall(p, bias))};
  context.pool->ParallelFor(p.groups * p.cut.n_tasks(), [&](int64_t index, int thread) {
    RunTask(whole, index, thread, row_offsets);
  });
}

}  // namespace topwork
