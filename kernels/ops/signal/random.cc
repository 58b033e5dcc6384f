// RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/signal/philox.h"

namespace topwork {
namespace {

// RANDOM_UNIFORM: float32 numbers evenly distributed over [0, 1) in a shape given as input 0, from
// TFLite's generator (see philox.h): the same seeds give the same numbers, run by run.

void ConvertRandomUniform(const PhiloxBlock& block, float* out) {
  for (int i = 0; i < 4; ++i) out[i] = UniformFloat(block.word[i]);
}

Status RunRandomUniform(const RunContext& context) {
  return RunRandom(context, ConvertRandomUniform);
}

// RANDOM_STANDARD_NORMAL: float32 numbers of the normal distribution (mean 0, deviation 1) in a
// shape given as input 0, by Box and Muller's method from TFLite's generator (see philox.h).

// Two normal numbers of two words.
void BoxMuller(uint32_t a, uint32_t b, float* out) {
  const float u = std::max(UniformFloat(a), 1.0e-7f);  // no logarithm of 0
  const float angle = static_cast<float>(2.0 * 3.14159265358979323846) * UniformFloat(b);
  const float radius = std::sqrt(-2.0f * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

void ConvertRandomStandardNormal(const PhiloxBlock& block, float* out) {
  BoxMuller(block.word[0], block.word[1], out);
  BoxMuller(block.word[2], block.word[3], out + 2);
}

Status RunRandomStandardNormal(const RunContext& context) {
  return RunRandom(context, ConvertRandomStandardNormal);
}

// MULTINOMIAL: for every row of logits (input 0, [batch, classes], float32) as many classes as
// input 1 says, drawn with the probabilities softmax(row); int32 or int64. Infinite logits and NaN
// have probability 0. Draws follow TFLite's generator (see philox.h): two per block of the stream.

Status PrepareMultinomial(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(context.CheckDType(0, {DType::kFloat32}));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  TW_RETURN_IF_ERROR(context.CheckRank(0, 2, 2));
  const Shape& logits = context.input(0)->shape;
  if (logits.dim(1) < 1) {
    return context.Invalid("{} has no classes", context.InputName(0));
  }
  int64_t n_samples = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &n_samples));
  TW_RETURN_IF_ERROR(CheckDim(context, n_samples, "the number of samples"));
  const DType dtype = context.output(0).dtype;
  if (dtype != DType::kInt32 && dtype != DType::kInt64) {
    return context.Unsupported("its output is {}; int32 and int64 are supported", DTypeName(dtype));
  }
  context.NewState<RandomState>()->Seed(context.params());
  context.RequestScratch(static_cast<uint64_t>(logits.dim(1)) * sizeof(double));
  return context.SetOutput(0, dtype, Shape({logits.dim(0), static_cast<int32_t>(n_samples)}));
}

// Sums of exp(logit - largest) up to each class.
double Accumulate(const float* logits, int64_t n, double* sums) {
  float largest = std::numeric_limits<float>::lowest();
  for (int64_t i = 0; i < n; ++i) {
    if (std::isfinite(logits[i])) largest = std::max(largest, logits[i]);
  }
  double total = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isfinite(logits[i])) total += std::exp(double{logits[i]} - double{largest});
    sums[i] = total;
  }
  return total;
}

Status RunMultinomial(const RunContext& context) {
  const RandomState& s = context.get_state<RandomState>();
  const int64_t batch = context.out(0).shape.dim(0), n_samples = context.out(0).shape.dim(1);
  const int64_t n_classes = context.in(0).shape.dim(1);
  // Every run leaves room for the most numbers that TensorFlow's version of this operator may draw.
  const uint64_t first =
      s.next.fetch_add(static_cast<uint64_t>(batch * ((n_samples + 3) / 4 * 4) * 2 * 256));
  double* sums = reinterpret_cast<double*>(context.scratch);
  PhiloxBlock block = {};
  for (int64_t row = 0, draw = 0; row < batch; ++row) {
    const double total =
        Accumulate(context.input_data<float>(0) + row * n_classes, n_classes, sums);
    for (int64_t i = 0; i < n_samples; ++i, ++draw) {
      if (draw % 2 == 0) block = s.Block(first + static_cast<uint64_t>(draw / 2));
      const uint32_t* words = block.word + draw % 2 * 2;
      const double* found =
          std::upper_bound(sums, sums + n_classes, UniformDouble(words[0], words[1]) * total);
      const int64_t at = row * n_samples + i;
      if (context.out(0).dtype == DType::kInt64) {
        context.output_data<int64_t>(0)[at] = found - sums;
      } else {
        context.output_data<int32_t>(0)[at] = static_cast<int32_t>(found - sums);
      }
    }
  }
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kRandomUniform)
        .Types({DType::kInt32})
        .Options(OptionsType::kRandom, ParseRandom)
        .Cpu(PrepareRandom, RunRandomUniform)
        .Effects(),
    OpDef(OpCode::kRandomStandardNormal)
        .Types({DType::kInt32})
        .Options(OptionsType::kRandom, ParseRandom)
        .Cpu(PrepareRandom, RunRandomStandardNormal)
        .Effects(),
    OpDef(OpCode::kMultinomial)
        .Types({DType::kFloat32})
        .Options(OptionsType::kRandom, ParseRandom)
        .Cpu(PrepareMultinomial, RunMultinomial)
        .Effects(),
};

Span<const OpDef> RandomOps() { return Selected<kOps>(); }

}  // namespace topwork
