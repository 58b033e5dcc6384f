// Prepare and run of quantized binary arithmetic (see binary_quant.h).
#include "kernels/ops/elementwise/binary_quant.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>

#include "kernels/cpu/integer.h"
#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/visit_dtype.h"

namespace topwork {
namespace {

Status CheckTypes(const PrepareContext& context, BinaryFn fn) {
  switch (fn) {
    case BinaryFn::kAdd:
    case BinaryFn::kSub:
    case BinaryFn::kMul:
    case BinaryFn::kDiv:
    case BinaryFn::kMaximum:
    case BinaryFn::kMinimum:
      TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64,
                                                DType::kInt8, DType::kUInt8, DType::kInt16}));
      return CheckSameDType(context, 0, 1);
    case BinaryFn::kSquaredDifference:
      TW_RETURN_IF_ERROR(
          context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt8}));
      return CheckSameDType(context, 0, 1);
    case BinaryFn::kPrelu:
      TW_RETURN_IF_ERROR(
          context.CheckDType(0, {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt16}));
      if (context.input(0)->dtype == DType::kInt16) return context.CheckDType(1, {DType::kInt8});
      return CheckSameDType(context, 0, 1);
    default:
      return context.CheckDType(0, {DType::kFloat32, DType::kInt32, DType::kInt64});
  }
}

// Brings both operands to twice the larger scale, `left` bits finer, then to the output's scale.
// SQUARED_DIFFERENCE squares the difference in between.
void ScaleSum(const QuantOne& a, const QuantOne& b, const QuantOne& y, int left, bool squared,
              QuantBinaryParams* params) {
  params->left_shift = left;
  const double twice = 2.0 * static_cast<double>(std::max(a.scale, b.scale));
  params->scale_a = MakeFixedFactor(static_cast<double>(a.scale) / twice);
  params->scale_b = MakeFixedFactor(static_cast<double>(b.scale) / twice);
  const double finer = std::ldexp(static_cast<double>(y.scale), squared ? 2 * left : left);
  params->scale_y = MakeFixedFactor((squared ? twice * twice : twice) / finer);
}

bool UseShifts(const OpParams& params, const QuantOne& a, const QuantOne& b, const QuantOne& y,
               BinaryQuantState* state) {
  int log_a = 0, log_b = 0, log_y = 0;
  if (!params.pot_scale_int16 || !IsPowerOfTwo(a.scale, &log_a) || !IsPowerOfTwo(b.scale, &log_b) ||
      !IsPowerOfTwo(y.scale, &log_y)) {
    return false;
  }
  state->shift_a = log_y - log_a;
  state->shift_b = log_y - log_b;
  return std::min(state->shift_a, state->shift_b) == 0 &&
         std::max(state->shift_a, state->shift_b) < 31;
}

void FillParams(const PrepareContext& context, BinaryFn fn, const QuantOne& a, const QuantOne& b,
                const QuantOne& y, BinaryQuantState* state) {
  QuantBinaryParams& p = state->params;
  p.a_offset = -a.zero_point;
  p.b_offset = -b.zero_point;
  p.y_offset = y.zero_point;
  const bool int16 = context.input(0)->dtype == DType::kInt16;
  switch (fn) {
    case BinaryFn::kAdd:
    case BinaryFn::kSub:
      state->shifts = int16 && UseShifts(context.params(), a, b, y, state);
      return ScaleSum(a, b, y, int16 ? 15 : 20, false, &p);
    case BinaryFn::kSquaredDifference:
      return ScaleSum(a, b, y, 7, true, &p);
    case BinaryFn::kMul:  // float products and quotients, as in TFLite
      p.scale_y = MakeFixedFactor(static_cast<double>(a.scale * b.scale / y.scale));
      return;
    case BinaryFn::kPrelu:
      p.scale_a = MakeFixedFactor(static_cast<double>(a.scale / y.scale));
      p.scale_y = MakeFixedFactor(static_cast<double>(a.scale * b.scale / y.scale));
      return;
    default:
      state->quotient_factor = static_cast<double>(a.scale / (b.scale * y.scale));
  }
}

// body(a, b) over all pairs, in the tiles of the state's nest.
template <typename T, typename U, typename F>
void ForEachPair(const RunContext& context, F body) {
  const T* a = context.input_data<T>(0);
  const U* b = context.input_data<U>(1);
  T* y = context.output_data<T>(0);
  ForEachTile(context.get_state<BinaryQuantState>().nest, context.pool,
              [&](const NestTile& t) { MapTile(t, a, b, y, body); });
}

// Rows shorter than kShortRow that are combined with one repeated row (a [H*W, 3] image and 3
// means) run as longer rows: the repeated row is written out several times, once.
constexpr int64_t kShortRow = 64, kLengthened = 768;

void RunTile(QuantBinaryFunction run, const QuantBinaryTile& tile, size_t bytes,
             const QuantBinaryParams& params) {
  const bool a_dense = tile.a_step == 1 && tile.a_row == tile.n;
  const bool b_dense = tile.b_step == 1 && tile.b_row == tile.n;
  const bool a_repeats = tile.a_step == 1 && tile.a_row == 0;
  const bool b_repeats = tile.b_step == 1 && tile.b_row == 0;
  if (tile.n >= kShortRow || tile.rows < 8 || !((a_dense && b_repeats) || (a_repeats && b_dense))) {
    return run(tile, params);
  }
  uint8_t pattern[kLengthened * 2];
  const size_t row_bytes = static_cast<size_t>(tile.n) * bytes;
  const int64_t copies = std::min(kLengthened / tile.n, tile.rows);
  for (int64_t k = 0; k < copies; ++k) {
    std::memcpy(pattern + static_cast<size_t>(k) * row_bytes, a_repeats ? tile.a : tile.b,
                row_bytes);
  }
  // As many long rows as fit, then what is left of the rows as one.
  const int64_t n_long = tile.rows / copies;
  QuantBinaryTile t = tile;
  t.rows = n_long;
  t.n = copies * tile.n;
  for (int part = 0; part < 2 && t.rows > 0 && t.n > 0; ++part) {
    const size_t done = part == 0 ? 0 : static_cast<size_t>(n_long * copies) * row_bytes;
    t.y = static_cast<uint8_t*>(tile.y) + done;
    t.a = a_repeats ? pattern : static_cast<const uint8_t*>(tile.a) + done;
    t.b = b_repeats ? pattern : static_cast<const uint8_t*>(tile.b) + done;
    t.a_row = a_repeats ? 0 : t.n;
    t.b_row = b_repeats ? 0 : t.n;
    run(t, params);
    t.rows = 1;
    t.n = tile.rows % copies * tile.n;
  }
}

void RunLoops(const RunContext& context, QuantBinaryFn fn) {
  const BinaryQuantState& state = context.get_state<BinaryQuantState>();
  const DType dtype = context.in(0).dtype;
  const QuantBinaryFunction run =
      context.cpu->elementwise->quantized
          ->binary[static_cast<int>(fn)][static_cast<int>(QuantTypeOf(dtype))];
  const int64_t bytes = dtype == DType::kInt16 ? 2 : 1;
  const uint8_t* a = context.input_data<uint8_t>(0);
  const uint8_t* b = context.input_data<uint8_t>(1);
  uint8_t* y = context.output_data<uint8_t>(0);
  ForEachTile(state.nest, context.pool, [&](const NestTile& tile) {
    QuantBinaryTile t;
    t.a = a + tile.offset[0] * bytes;
    t.b = b + tile.offset[1] * bytes;
    t.y = y + tile.out * bytes;
    t.rows = tile.rows;
    t.n = tile.n;
    t.a_row = tile.row[0];
    t.b_row = tile.row[1];
    t.a_step = tile.step[0];
    t.b_step = tile.step[1];
    RunTile(run, t, static_cast<size_t>(bytes), state.params);
  });
}

void RunShifts(const RunContext& context, int32_t sign) {
  const BinaryQuantState& s = context.get_state<BinaryQuantState>();
  ForEachPair<int16_t, int16_t>(context, [&s, sign](int32_t a, int32_t b) {
    const int32_t sum = RoundingShiftRight(a, s.shift_a) + sign * RoundingShiftRight(b, s.shift_b);
    return PlaceInt(sum, 0, s.params.lo, s.params.hi);
  });
}

template <typename T>
Status Divide(const RunContext& context, const char* name) {
  const BinaryQuantState& s = context.get_state<BinaryQuantState>();
  const QuantBinaryParams& p = s.params;
  std::atomic<bool> by_zero{false};
  ForEachPair<T, T>(context, [&](int32_t a, int32_t b) {
    const int32_t divisor = b + p.b_offset;
    if (divisor == 0) {
      by_zero.store(true, std::memory_order_relaxed);
      return p.y_offset;
    }
    const double quotient = s.quotient_factor * (a + p.a_offset) / divisor;
    const double bounded = std::min(1e6, std::max(-1e6, quotient));
    return PlaceInt(static_cast<int32_t>(std::lround(bounded)), p.y_offset, p.lo, p.hi);
  });
  if (!by_zero.load(std::memory_order_relaxed)) return Status::Ok();
  return InvalidArgument("{}: input 1 holds its zero point, and nothing can be divided by 0", name);
}

template <typename T>
void Extreme(const RunContext& context, bool largest) {
  ForEachPair<T, T>(context, [largest](int32_t a, int32_t b) {
    return largest ? std::max(a, b) : std::min(a, b);
  });
}

void SquaredDifference(const RunContext& context) {
  const QuantBinaryParams& p = context.get_state<BinaryQuantState>().params;
  ForEachPair<int8_t, int8_t>(context, [&p](int32_t a, int32_t b) {
    const int32_t wide_a = (a + p.a_offset) * (1 << p.left_shift);
    const int32_t wide_b = (b + p.b_offset) * (1 << p.left_shift);
    const int32_t difference =
        MultiplyByFactor(wide_a, p.scale_a) - MultiplyByFactor(wide_b, p.scale_b);
    return PlaceInt(MultiplyByFactor(difference * difference, p.scale_y), p.y_offset, p.lo, p.hi);
  });
}

template <typename T, typename U>
void Prelu(const RunContext& context) {
  const QuantBinaryParams& p = context.get_state<BinaryQuantState>().params;
  ForEachPair<T, U>(context, [&p](int32_t a, int32_t b) {
    const int32_t x = a + p.a_offset;
    const int32_t y =
        x >= 0 ? MultiplyByFactor(x, p.scale_a) : MultiplyByFactor(x * (b + p.b_offset), p.scale_y);
    return PlaceInt(y, p.y_offset, p.lo, p.hi);
  });
}

template <typename T, typename U>
Status RunPlain(const RunContext& context, BinaryFn fn, const char* name) {
  if (fn == BinaryFn::kDiv) return Divide<T>(context, name);
  if (fn == BinaryFn::kPrelu) {
    Prelu<T, U>(context);
  } else {
    Extreme<T>(context, fn == BinaryFn::kMaximum);
  }
  return Status::Ok();
}

}  // namespace

#if defined(__OPTIMIZE_SIZE__)  // has no search
void FindSingleFactor(const IntegerKernels&, QuantBinaryParams*) {}
void FindSingleSum(const CpuKernels&, QuantBinaryFn, QuantType, QuantBinaryParams*) {}
#else
namespace {

// Sums to be tried, for FindSingleSum.
class SumSearch {
 public:
  SumSearch(const CpuKernels& cpu, QuantBinaryFn fn, QuantType type, QuantBinaryParams* p)
      : run_(cpu.elementwise->quantized->binary[static_cast<int>(fn)][static_cast<int>(type)]),
        p_(p),
        exact_(new uint8_t[kPairs]) {
    const auto real = [](const FixedFactor& f) { return std::ldexp(f.mantissa, f.shift - 31); };
    const double y = std::ldexp(real(p->scale_y), p->left_shift);
    a_ = real(p->scale_a) * y;
    b_ = real(p->scale_b) * (fn == QuantBinaryFn::kSub ? -y : y);
    c_ = a_ * p->a_offset + b_ * p->b_offset;
    for (size_t i = 0; i < kValues; ++i) values_[i] = static_cast<uint8_t>(i);
    Run(0, kValues, exact_.get());
  }

  // Finds the pairs of bytes near a tie, which alone are doubtful: from now on they are tried first.
  void FindHard(QuantType type) {
    for (size_t i = 0; i < kPairs; ++i) {
      const double sum = a_ * Value(type, i / kValues) + b_ * Value(type, i % kValues) + c_;
      if (std::abs(sum - std::floor(sum) - 0.5) > kNear || hard_.size() == kMostHard) continue;
      hard_a_.push_back(values_[i / kValues]);
      hard_b_.push_back(values_[i % kValues]);
      hard_.push_back(exact_[i]);
    }
  }

  // Factors so many units in the last place, and an addend so many steps, beside the real ones.
  bool Try(int a, int b, int c) {
    p_->sum_a = Beside(a_, a);
    p_->sum_b = Beside(b_, b);
    p_->sum_c = static_cast<float>(c_ + c * kStep);
    if (p_->sum_a == 0.0f || !SolvesHard()) return false;
    for (size_t first = 0; first < kValues; first += kRows) {
      Run(first, kRows, tried_);
      if (std::memcmp(tried_, exact_.get() + first * kValues, sizeof(tried_)) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kValues = 256, kPairs = kValues * kValues, kRows = 16;
  static constexpr size_t kMostHard = kRows * kValues;
  static constexpr double kStep = 1.0 / (1 << 19), kNear = 1.0 / (1 << 12);

  static int Value(QuantType type, size_t byte) {
    return type == QuantType::kUInt8 ? static_cast<int>(byte) : static_cast<int8_t>(byte);
  }
  static float Beside(double real, int units) {
    const float nearest = static_cast<float>(real);
    return nearest +
           static_cast<float>(units) * (std::nextafter(nearest, 2.0f * nearest) - nearest);
  }
  // Pairs of the bytes from `first` on, so many, with all bytes.
  void Run(size_t first, size_t rows, uint8_t* y) const {
    QuantBinaryTile pairs;
    pairs.a = values_ + first;
    pairs.b = values_;
    pairs.rows = static_cast<int64_t>(rows);
    pairs.n = kValues;
    pairs.a_row = 1;
    pairs.a_step = 0;
    pairs.y = y;
    run_(pairs, *p_);
  }
  bool SolvesHard() {
    QuantBinaryTile pairs;
    pairs.a = hard_a_.data();
    pairs.b = hard_b_.data();
    pairs.rows = 1;
    pairs.n = static_cast<int64_t>(hard_.size());
    pairs.y = tried_;
    run_(pairs, *p_);
    return std::equal(hard_.begin(), hard_.end(), tried_);
  }

  const QuantBinaryFunction run_;
  QuantBinaryParams* const p_;
  double a_ = 0.0, b_ = 0.0, c_ = 0.0;
  uint8_t values_[kValues], tried_[kRows * kValues];
  const std::unique_ptr<uint8_t[]> exact_;
  std::vector<uint8_t> hard_a_, hard_b_, hard_;
};

}  // namespace

// Tries sums beside the real one, whose ties fixed point decides in its own way, on all pairs of bytes.
void FindSingleSum(const CpuKernels& cpu, QuantBinaryFn fn, QuantType type, QuantBinaryParams* p) {
  if (cpu.integer->find_single == nullptr) return;  // nor such sums
  constexpr int kFactors = 5, kAddends = 9;
  // 0, -1, 1, -2, ...
  const auto around = [](int i) { return (i + 1) / 2 * (i % 2 == 0 ? 1 : -1); };
  SumSearch search(cpu, fn, type, p);
  for (int i = 0; i < kFactors * kFactors; ++i) {
    if (i == 1) search.FindHard(type);  // takes longer than all tries of the real factors
    for (int c = 0; c < kAddends; ++c) {
      if (search.Try(around(i / kFactors), around(i % kFactors), around(c))) return;
    }
  }
  p->sum_a = 0.0f;
}

void FindSingleFactor(const IntegerKernels& integer, QuantBinaryParams* p) {
  constexpr int64_t kMostProduct = 255 * 255;
  const FixedFactor& y = p->scale_y;
  if (integer.find_single == nullptr || !IsSmall(y)) return;
  const int32_t right = -y.shift, bias = 0;
  int32_t shifted_bias = 0;
  SingleSearch search;
  search.factors.mantissa = &y.mantissa;
  search.factors.right = &right;
  search.bias = &bias;
  search.reach = kMostProduct;
  search.least = p->lo - p->y_offset;
  search.most = p->hi - p->y_offset;
  search.scale = &p->single_scale;
  search.addend = &p->single_addend;
  search.shifted_bias = &shifted_bias;
  search.shift = &p->single_shift;
  integer.find_single(search, 0, 1);
}
#endif

Status PrepareBinaryQuant(PrepareContext& context, BinaryFn fn) {
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckTypes(context, fn));
  const TensorView& a = *context.input(0);
  Shape out;
  TW_RETURN_IF_ERROR(BroadcastShape(context, 0, 2, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, a.dtype, out));
  BinaryQuantState* state = context.NewState<BinaryQuantState>();
  PlanNest(&context, out, {a.shape, context.input(1)->shape}, &state->nest);
  AllowInPlaceWhereSafe(&context, 0, 2);
  if (fn == BinaryFn::kMaximum || fn == BinaryFn::kMinimum) {
    TW_RETURN_IF_ERROR(CheckSameQuantization(context, 0, 0));
    return CheckSameQuantization(context, 1, 0);
  }
  QuantOne quant_a, quant_b, quant_y;
  TW_RETURN_IF_ERROR(ReadInputQuant(context, 0, &quant_a));
  TW_RETURN_IF_ERROR(ReadInputQuant(context, 1, &quant_b));
  TW_RETURN_IF_ERROR(ReadOutputQuant(context, 0, &quant_y));
  FillParams(context, fn, quant_a, quant_b, quant_y, state);
  QuantizedRange range;
  TW_RETURN_IF_ERROR(
      QuantizedActivationRange(context, context.output(0), context.params().activation, &range));
  state->params.lo = range.lo;
  state->params.hi = range.hi;
  constexpr int64_t kLeastProducts = 4096, kLeastSums = 16384;  // that pay for the search
  const bool is_bytes = DTypeBits(a.dtype) == 8 && context.packs();
  if (fn == BinaryFn::kMul && is_bytes && out.NumElements() >= kLeastProducts) {
    FindSingleFactor(*context.cpu().integer, &state->params);
  }
  const bool adds = fn == BinaryFn::kAdd || fn == BinaryFn::kSub;
  if (adds && is_bytes && out.NumElements() >= kLeastSums) {
    FindSingleSum(context.cpu(), fn == BinaryFn::kAdd ? QuantBinaryFn::kAdd : QuantBinaryFn::kSub,
                  QuantTypeOf(a.dtype), &state->params);
  }
  context.SetVariant(state->shifts ? "shifts" : "rescale");
  return Status::Ok();
}

Status RunBinaryQuant(const RunContext& context, BinaryFn fn, const char* name) {
  const bool shifts = IsSelected(DType::kInt16) && context.get_state<BinaryQuantState>().shifts;
  switch (fn) {
    case BinaryFn::kAdd:
      shifts ? RunShifts(context, 1) : RunLoops(context, QuantBinaryFn::kAdd);
      return Status::Ok();
    case BinaryFn::kSub:
      shifts ? RunShifts(context, -1) : RunLoops(context, QuantBinaryFn::kSub);
      return Status::Ok();
    case BinaryFn::kMul:
      RunLoops(context, QuantBinaryFn::kMul);
      return Status::Ok();
    case BinaryFn::kSquaredDifference:
      SquaredDifference(context);
      return Status::Ok();
    default:
      break;
  }
  return VisitDType<int8_t, uint8_t, int16_t>(context.in(0).dtype, [&](auto type) {
    using T = decltype(type);
    // PRELU of int16 has slopes of int8.
    return RunPlain<T, std::conditional_t<sizeof(T) == 2, int8_t, T>>(context, fn, name);
  });
}

}  // namespace topwork
