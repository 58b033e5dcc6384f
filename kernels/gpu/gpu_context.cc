// GpuContext: blocks are numbered as they are asked for, and live from their first launch to their
// last.
#include "kernels/gpu/gpu_context.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/contract/selection.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/gpu/gpu_rounding.h"
#include "kernels/gpu/stages.h"

namespace topwork {
namespace {

// Smaller constants are made anew at every start.
constexpr size_t kLeastArranged = 4096;

}  // namespace

GpuProgram::GpuProgram() = default;
GpuProgram::~GpuProgram() = default;
GpuProgram::GpuProgram(GpuProgram&&) noexcept = default;
GpuProgram& GpuProgram::operator=(GpuProgram&&) noexcept = default;
GpuProgram::GpuProgram(const GpuProgram&) = default;
GpuProgram& GpuProgram::operator=(const GpuProgram&) = default;

// Work-groups of 64. Left to themselves drivers take whatever divides the sizes: groups of one item
// where they are prime. PoCL compiles a kernel anew for every form, so a form other than the usual
// two has to save a sixth of the work-items.
void ChooseGroups(Launch* launch) {
  const size_t x = launch->global[0], y = launch->global[1];
  const auto items = [&](size_t wide) { return RoundUp(x, wide) * RoundUp(y, 64 / wide); };
  size_t wide = x > 8 ? 16 : 4;
  for (const size_t other : {32, 64, 8, 4}) {
    if (6 * items(other) < 5 * items(wide)) wide = other;
  }
  if (y == 1) wide = 64;
  if (x == 1 && y > 1) wide = 1;
  launch->local[0] = wide;
  launch->local[1] = 64 / wide;
  launch->local[2] = 1;
  launch->local_is_hint = true;
  for (int i = 0; i < 2; ++i) {
    launch->global[i] = RoundUp(launch->global[i], launch->local[i]);
  }
}

GpuContext::GpuContext(const OpParams& params, const OpState* state,
                       std::vector<const TensorView*> inputs, std::vector<TensorView> outputs,
                       std::vector<int> blocks_of_inputs, GpuProgram* program)
    : params_(params),
      state_(state),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      input_blocks_(std::move(blocks_of_inputs)),
      output_blocks_(outputs_.size(), -1),
      real_inputs_(inputs_.size(), -1),
      real_outputs_(outputs_.size(), -1),
      floats_(inputs_.size()),
      program_(program) {
  FindFormats();
}

void GpuContext::FindFormats() {
  input_formats_.resize(inputs_.size());
  output_formats_.resize(outputs_.size());
  const auto find = [&](const TensorView& view, const char* kind, size_t i, GpuFormat* format) {
    const std::string why = FindGpuFormat(view, program_->storage, format);
    if (why.empty() || view.data != nullptr || !why_not_.empty()) return;
    why_not_ = kind + std::to_string(i) + " " + why;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr) find(*inputs_[i], "input ", i, &input_formats_[i]);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    find(outputs_[i], "output ", i, &output_formats_[i]);
  }
}

int GpuContext::NewBlock(size_t bytes) {
  GpuBlock block;
  block.bytes = bytes;
  block.first = static_cast<int>(program_->launches.size());
  block.last = block.first;
  program_->blocks.push_back(std::move(block));
  return static_cast<int>(program_->blocks.size()) - 1;
}

void GpuContext::Touch(int block) {
  GpuBlock& it = program_->blocks[static_cast<size_t>(block)];
  it.last = std::max(it.last, static_cast<int>(program_->launches.size()));
}

int GpuContext::In(int i) {
  const size_t k = static_cast<size_t>(i);
  if (input_formats_[k].is_bytes && moves_bytes_) return InBytes(i);
  NoteReals(*inputs_[k]);
  if (input_formats_[k].is_bytes && !is_constant(i)) return MakeReal(i);
  int& block = input_blocks_[k];
  const TensorView& view = *inputs_[k];
  const size_t n = static_cast<size_t>(view.shape.NumElements());
  if (block < 0 && input_formats_[k].is_real) {
    const bool same = view.dtype == DType::kFloat32 && program_->storage == Storage::kFloat32;
    block = RealConstant(n, !same, [&](float* to) { ReadReals(view, {}, to); });
  } else if (block < 0) {
    std::vector<int32_t> values(n);
    (void)ReadInts32(view, values.data());  // PlanOnGpu has seen that they fit
    block = Table({values.data(), n});
  }
  Touch(block);
  return block;
}

int GpuContext::Out(int i) {
  const size_t k = static_cast<size_t>(i);
  if (!moves_bytes_) NoteReals(outputs_[k]);
  if (output_formats_[k].is_bytes && !moves_bytes_) {
    int& reals = real_outputs_[k];
    if (reals < 0) {
      NeedReals("output ", i, output_formats_[k]);
      reals = Scratch(static_cast<size_t>(outputs_[k].shape.NumElements()));
    }
    Touch(reals);
    return reals;
  }
  return OutBytes(i);
}

int GpuContext::InBytes(int i) {
  const size_t k = static_cast<size_t>(i);
  int& block = input_blocks_[k];
  const TensorView& view = *inputs_[k];
  const size_t n = static_cast<size_t>(view.shape.NumElements());
  if (block < 0) {
    block = NewConstant(n, false, [&](uint8_t* to) { std::memcpy(to, view.data, n); });
  }
  Touch(block);
  return block;
}

void GpuContext::NeedReals(const char* kind, int i, const GpuFormat& format) {
  const std::string why = WhyNotReal(format, program_->storage);
  if (!why.empty() && why_not_.empty()) why_not_ = kind + std::to_string(i) + " " + why;
}

void GpuContext::NoteReals(const TensorView& view) {
  const bool is_scaled = view.quantization != nullptr && !view.quantization->scales.empty();
  if (is_scaled && view.dtype != DType::kFloat32) program_->has_reals_of_integers = true;
}

int GpuContext::MakeReal(int i) {
  const size_t k = static_cast<size_t>(i);
  int& reals = real_inputs_[k];
  if (reals < 0) {
    const int64_t n = inputs_[k]->shape.NumElements();
    NeedReals("input ", i, input_formats_[k]);
    reals = Scratch(static_cast<size_t>(n));
    const int from = InBytes(i);
    AddBytesToReal(*this, n, input_formats_[k], from, reals);
  }
  Touch(reals);
  return reals;
}

void GpuContext::MakeBytes(int i) {
  const size_t k = static_cast<size_t>(i);
  if (real_outputs_[k] < 0) return;
  AddRealToBytes(*this, outputs_[k].shape.NumElements(), output_formats_[k], real_outputs_[k],
                 OutBytes(i));
}

int GpuContext::OutBytes(int i) {
  const size_t k = static_cast<size_t>(i);
  int& block = output_blocks_[k];
  if (block < 0) {
    block = NewBlock(static_cast<size_t>(outputs_[k].shape.NumElements()) *
                     GpuElementBytes(output_formats_[k], program_->storage));
  }
  Touch(block);
  return block;
}

void GpuContext::Alias(int k, int i) {
  const size_t to = static_cast<size_t>(i);
  const bool as_reals = output_formats_[to].is_bytes && !moves_bytes_;
  (as_reals ? real_outputs_ : output_blocks_)[to] = In(k);
}

const float* GpuContext::Floats(int i) {
  const size_t k = static_cast<size_t>(i);
  const TensorView& view = *inputs_[k];
  NoteReals(view);
  if (program_->is_trial) return nullptr;
  if (view.dtype == DType::kFloat32) return view.as<const float>();
  if (!floats_[k].empty()) return floats_[k].data();
  std::vector<float> scales;
  if (view.dtype == DType::kInt32 || view.dtype == DType::kInt64) {
    const size_t data = k == 3 ? 2 : 0;  // TRANSPOSE_CONV has its data and its bias elsewhere
    const Quantization* weights = inputs_[1]->quantization;
    for (size_t c = 0; weights != nullptr && c < weights->scales.size(); ++c) {
      scales.push_back(input_formats_[data].scale * weights->scales[c]);
    }
  }
  floats_[k].resize(static_cast<size_t>(view.shape.NumElements()));
  ReadReals(view, scales, floats_[k].data());
  return floats_[k].data();
}

GpuFloats GpuContext::LaterFloats(int i) {
  NoteReals(*inputs_[static_cast<size_t>(i)]);
  return {this, i};
}

const float* GpuFloats::Read() const { return context_->Floats(input_); }

int GpuContext::NewConstant(size_t bytes, bool is_arranged, FunctionRef<void(uint8_t*)> fill) {
  program_->constant_bytes += bytes;
  program_->largest_constant_bytes = std::max(program_->largest_constant_bytes, bytes);
  if (program_->is_trial) return NewBlock(0);
  const int number = NewBlock(bytes);
  GpuBlock& block = program_->blocks[static_cast<size_t>(number)];
  if (kKeepsWeights && is_arranged && bytes >= kLeastArranged && program_->weights != nullptr) {
    const std::vector<GpuWeights::Constant>& kept = program_->weights->constants;
    const size_t k = program_->n_arranged++;
    if (k < kept.size() && kept[k].bytes.size() == bytes) {
      block.kept = kept[k].bytes;
      block.hash = kept[k].hash;
      return number;
    }
    block.is_arranged = true;
  }
  block.constant.resize(bytes);
  fill(block.constant.data());  // which makes no blocks
  return number;
}

int GpuContext::RealConstant(size_t n, bool is_arranged, FunctionRef<void(float*)> fill) {
  if (program_->storage == Storage::kFloat32) {
    return NewConstant(n * sizeof(float), is_arranged,
                       [&](uint8_t* to) { fill(reinterpret_cast<float*>(to)); });
  }
  return NewConstant(n * sizeof(uint16_t), is_arranged, [&](uint8_t* to) {
    std::vector<float> values(n);
    fill(values.data());
    BestCpuKernels().elementwise->float_to_half(values.data(), reinterpret_cast<uint16_t*>(to),
                                                static_cast<int64_t>(n));
  });
}

int GpuContext::Constant(size_t n, FunctionRef<void(float*)> fill) {
  return RealConstant(n, true, fill);
}

int GpuContext::FloatConstant(size_t n, FunctionRef<void(float*)> fill) {
  return NewConstant(n * sizeof(float), true,
                     [&](uint8_t* to) { fill(reinterpret_cast<float*>(to)); });
}

int GpuContext::ByteConstant(size_t n, FunctionRef<void(uint8_t*)> fill) {
  return NewConstant(n, true, fill);
}

int GpuContext::Table(Span<const int32_t> values) {
  const size_t bytes = values.size() * sizeof(int32_t);
  return NewConstant(bytes, false, [&](uint8_t* to) { std::memcpy(to, values.data(), bytes); });
}

int GpuContext::Scratch(size_t n) { return NewBlock(n * StorageBytes(program_->storage)); }

int GpuContext::FloatScratch(size_t n) { return NewBlock(n * sizeof(float)); }

const char* GpuContext::Choose(const std::string& work, std::vector<const char*> variants,
                               const char* usual) {
  GpuChoice choice;
  choice.work = work + (program_->storage == Storage::kFloat16 ? " float16" : " float32");
  if (program_->storage == Storage::kFloat16 && program_->half_products) choice.work += " products";
  choice.variants = std::move(variants);
  choice.usual = choice.chosen = usual;
  const auto choose = [&](const std::string& wanted) {
    for (const char* variant : choice.variants) {
      if (wanted == variant) choice.chosen = variant;
    }
  };
  if (kHasTrials && program_->tuner != nullptr) choose(program_->tuner->Best(choice.work));
  choose(program_->forced_variant);
  program_->choices.push_back(std::move(choice));
  return program_->choices.back().chosen;
}

int GpuContext::Error() {
  int& block = program_->error_block;
  if (block < 0) {
    block = NewBlock(sizeof(int32_t));
    Add("cast", "clear", {LaunchArgument::Buffer(block)}, 1);
    TakesType(KernelType::kI32);
  }
  Touch(block);
  return block;
}

void GpuContext::Add(const char* program, KernelName kernel, std::vector<LaunchArgument> args,
                     int64_t x, int64_t y, int64_t z) {
  for (const LaunchArgument& arg : args) {
    if (arg.kind == LaunchArgument::Kind::kBuffer) Touch(arg.buffer);
  }
  Launch launch;
  launch.program = program;
  launch.kernel = kernel;
  launch.type = TypeOf(program_->storage);
  launch.arguments = std::move(args);
  launch.global[0] = static_cast<size_t>(x);
  launch.global[1] = static_cast<size_t>(y);
  launch.global[2] = static_cast<size_t>(z);
  launch.work.items = x * y * z;
  launch.work.loads = static_cast<double>(launch.work.items);
  ChooseGroups(&launch);
  program_->launches.push_back(std::move(launch));
}

void GpuContext::AddGroups(const char* program, KernelName kernel, std::vector<LaunchArgument> args,
                           size_t local, int64_t x, int64_t y, int64_t z) {
  Add(program, kernel, std::move(args), x, y, z);
  Launch& launch = program_->launches.back();
  launch.global[0] = static_cast<size_t>(x) * local;
  launch.global[1] = static_cast<size_t>(y);
  launch.local[0] = local;
  launch.local[1] = launch.local[2] = 1;
  launch.local_is_hint = false;
  launch.work.items = static_cast<int64_t>(local) * x * y * z;
  launch.work.loads = static_cast<double>(launch.work.items);
}

void GpuContext::TakesSteps(int64_t steps, double loads, double multiply_adds) {
  LaunchWork& work = program_->launches.back().work;
  const double rounds = static_cast<double>(work.items) * static_cast<double>(steps);
  work.steps = steps;
  work.loads = rounds * loads;
  work.multiply_adds = rounds * multiply_adds;
}

void GpuContext::AddBlasGemm(int a, int b, int c, int64_t m, int64_t n, int64_t k) {
  Add("blas", "sgemm",
      {LaunchArgument::Buffer(a), LaunchArgument::Buffer(b), LaunchArgument::Buffer(c),
       LaunchArgument::Int(static_cast<int32_t>(m)), LaunchArgument::Int(static_cast<int32_t>(n)),
       LaunchArgument::Int(static_cast<int32_t>(k))},
      n, m);
  program_->launches.back().kind = Launch::Kind::kGemm;
}

void GpuContext::TakesStages(int64_t columns) {
  Launch& launch = program_->launches.back();
  const int block = output_formats_[0].is_bytes ? real_outputs_[0] : output_blocks_[0];
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const LaunchArgument& argument = launch.arguments[i];
    if (argument.kind != LaunchArgument::Kind::kBuffer || argument.buffer != block) continue;
    launch.output = static_cast<int>(i);
    launch.columns = columns;
  }
}

void GpuContext::TakesScale(size_t argument, int64_t columns) {
  program_->launches.back().scaled = static_cast<int>(argument);
  program_->launches.back().scaled_columns = columns;
}

void GpuContext::JoinsRows(const LaunchPlace& place) { program_->launches.back().into = place; }

void GpuContext::AddMap(int from, int to, int64_t n, int64_t columns, const LaunchStage& stage,
                        int other, float lo, float hi) {
  if (other >= 0) Touch(other);
  Add("elementwise", "elementwise",
      {LaunchArgument::Buffer(from), LaunchArgument::Buffer(to), LaunchArgument::Int(0),
       LaunchArgument::Int(0)},
      n);
  Launch& launch = program_->launches.back();
  launch.output = 1;
  launch.columns = columns;
  launch.n_elements = n;
  AddStage(stage, other, lo, hi, &launch);
  FitMap(&launch);
  launch.work.steps = 1;
  launch.work.loads = static_cast<double>(n * (other >= 0 ? 2 : 1));
}

void GpuContext::TakesOptions(const std::string& options) {
  program_->launches.back().options += options;
}

void GpuContext::TakesRows(int64_t size, int64_t other) {
  if (size % 4 == 0 && other % 4 == 0) TakesOptions(" -DTW_ALIGNED");
}

void GpuContext::TakesHalfProducts(int64_t size, int64_t other) {
  if (!program_->half_products || program_->storage != Storage::kFloat16) return;
  if (size % 4 == 0 && other % 4 == 0) TakesOptions(" -DTW_HALF_PRODUCTS");
}

void GpuContext::TakesWeights(size_t argument, int64_t n) {
  if (n / 4 > static_cast<int64_t>(program_->image_pixels)) return;
  program_->launches.back().arguments[argument].pixels = static_cast<int32_t>(n / 4);
}

void GpuContext::TakesFormat(const GpuFormat& format) {
  if (!format.is_real) TakesType(KernelType::kI32);
  if (format.is_bytes && moves_bytes_) TakesType(KernelType::kI8);
}

}  // namespace topwork
