// GpuContext: blocks are numbered as they are asked for, and live from their first launch to their
// last.
#include "kernels/gpu_context.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace topwork {
namespace {

// Kernels count elements in int32, four ahead of the last one.
constexpr int64_t kMostElements = (int64_t{1} << 31) - 1024;

// Work-groups of 64 in four forms. Left to themselves drivers take whatever divides the sizes:
// groups of one item where they are prime; and PoCL compiles a kernel anew for every other form.
void ChooseGroups(Launch* launch) {
  const size_t x = launch->global[0], y = launch->global[1];
  size_t wide = x > 8 ? 16 : 4;
  if (y == 1) wide = 64;
  if (x == 1 && y > 1) wide = 1;
  launch->local[0] = wide;
  launch->local[1] = 64 / wide;
  launch->local[2] = 1;
  launch->local_is_wish = true;
  for (int i = 0; i < 2; ++i) {
    launch->global[i] = RoundUp(launch->global[i], launch->local[i]);
  }
}

}  // namespace

GpuContext::GpuContext(const OpParams& params, const OpState* state,
                       std::vector<const TensorView*> inputs, std::vector<TensorView> outputs,
                       std::vector<int> blocks_of_inputs, GpuProgram* program)
    : params_(params),
      state_(state),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      input_blocks_(std::move(blocks_of_inputs)),
      output_blocks_(outputs_.size(), -1),
      program_(program) {}

std::string GpuContext::WhyNotFloat() const {
  const auto check = [](const TensorView& view, bool input, size_t i) -> std::string {
    const std::string which = (input ? "input " : "output ") + std::to_string(i);
    if (view.dtype != DType::kFloat32) return which + " is " + DTypeName(view.dtype);
    if (view.shape.NumElements() == 0) return which + " has no elements";
    if (view.shape.NumElements() > kMostElements) return which + " is too large";
    return "";
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr || inputs_[i]->data != nullptr) continue;
    const std::string why = check(*inputs_[i], true, i);
    if (!why.empty()) return why;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string why = check(outputs_[i], false, i);
    if (!why.empty()) return why;
  }
  return "";
}

int GpuContext::NewBlock(size_t bytes) {
  GpuBlock block;
  block.bytes = bytes;
  block.first = static_cast<int>(program_->launches.size());
  block.last = block.first;
  program_->blocks.push_back(std::move(block));
  return static_cast<int>(program_->blocks.size()) - 1;
}

void GpuContext::CountConstant(size_t bytes) {
  program_->constant_bytes += bytes;
  program_->largest_constant_bytes = std::max(program_->largest_constant_bytes, bytes);
}

void GpuContext::Touch(int block) {
  GpuBlock& it = program_->blocks[static_cast<size_t>(block)];
  it.last = std::max(it.last, static_cast<int>(program_->launches.size()));
}

int GpuContext::In(int i) {
  int& block = input_blocks_[static_cast<size_t>(i)];
  if (block < 0) {
    const TensorView& view = *inputs_[static_cast<size_t>(i)];
    const size_t n = static_cast<size_t>(view.shape.NumElements());
    block = Constant(n, [&](float* to) { std::memcpy(to, view.data, n * sizeof(float)); });
  }
  Touch(block);
  return block;
}

int GpuContext::Out(int i) {
  int& block = output_blocks_[static_cast<size_t>(i)];
  const size_t n = static_cast<size_t>(outputs_[static_cast<size_t>(i)].shape.NumElements());
  if (block < 0) block = Scratch(n);
  Touch(block);
  return block;
}

void GpuContext::Alias(int k, int i) { output_blocks_[static_cast<size_t>(i)] = In(k); }

int GpuContext::NewConstant(std::vector<uint8_t> bytes) {
  const int block = NewBlock(bytes.size());
  program_->blocks[static_cast<size_t>(block)].constant = std::move(bytes);
  return block;
}

int GpuContext::Constant(size_t n, FunctionRef<void(float*)> fill) {
  if (program_->storage == Storage::kFloat32) return FloatConstant(n, fill);
  CountConstant(n * sizeof(uint16_t));
  if (program_->is_trial) return NewBlock(0);
  std::vector<float> values(n);
  fill(values.data());
  std::vector<uint8_t> bytes(n * sizeof(uint16_t));
  for (size_t k = 0; k < n; ++k) {
    const uint16_t value = FloatToHalf(values[k]);
    std::memcpy(bytes.data() + k * sizeof(value), &value, sizeof(value));
  }
  return NewConstant(std::move(bytes));
}

int GpuContext::FloatConstant(size_t n, FunctionRef<void(float*)> fill) {
  CountConstant(n * sizeof(float));
  if (program_->is_trial) return NewBlock(0);
  std::vector<float> values(n);
  fill(values.data());
  std::vector<uint8_t> bytes(n * sizeof(float));
  if (n > 0) std::memcpy(bytes.data(), values.data(), bytes.size());
  return NewConstant(std::move(bytes));
}

int GpuContext::Table(Span<const int32_t> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  CountConstant(bytes.size());
  return NewConstant(std::move(bytes));
}

int GpuContext::Scratch(size_t n) { return NewBlock(n * StorageBytes(program_->storage)); }

int GpuContext::FloatScratch(size_t n) { return NewBlock(n * sizeof(float)); }

const char* GpuContext::Choose(const std::string& work, std::vector<const char*> variants,
                               const char* usual) {
  GpuChoice choice;
  choice.work = work + (program_->storage == Storage::kFloat16 ? " float16" : " float32");
  choice.variants = std::move(variants);
  choice.usual = choice.chosen = usual;
  std::string wanted = program_->forced_variant;
  if (wanted.empty() && program_->tuner != nullptr) wanted = program_->tuner->Best(choice.work);
  for (const char* variant : choice.variants) {
    if (wanted == variant) choice.chosen = variant;
  }
  program_->choices.push_back(std::move(choice));
  return program_->choices.back().chosen;
}

void GpuContext::Add(const char* program, const char* entry, std::vector<LaunchArgument> args,
                     int64_t x, int64_t y, int64_t z) {
  for (const LaunchArgument& arg : args) {
    if (arg.kind == LaunchArgument::Kind::kBuffer) Touch(arg.buffer);
  }
  Launch launch;
  launch.program = program;
  launch.entry = entry;
  launch.defines = StorageDefines(program_->storage);
  launch.arguments = std::move(args);
  launch.global[0] = static_cast<size_t>(x);
  launch.global[1] = static_cast<size_t>(y);
  launch.global[2] = static_cast<size_t>(z);
  ChooseGroups(&launch);
  program_->launches.push_back(std::move(launch));
}

void GpuContext::AddGroups(const char* program, const char* entry, std::vector<LaunchArgument> args,
                           size_t local, int64_t x, int64_t y) {
  Add(program, entry, std::move(args), x, y);
  Launch& launch = program_->launches.back();
  launch.global[0] = static_cast<size_t>(x) * local;
  launch.global[1] = static_cast<size_t>(y);
  launch.local[0] = local;
  launch.local[1] = launch.local[2] = 1;
  launch.local_is_wish = false;
}

void GpuContext::AddBlasGemm(int a, int b, int c, int64_t m, int64_t n, int64_t k) {
  Add("blas", "sgemm",
      {LaunchArgument::Buffer(a), LaunchArgument::Buffer(b), LaunchArgument::Buffer(c),
       LaunchArgument::Int(static_cast<int32_t>(m)), LaunchArgument::Int(static_cast<int32_t>(n)),
       LaunchArgument::Int(static_cast<int32_t>(k))},
      n, m);
  program_->launches.back().kind = Launch::Kind::kGemm;
}

}  // namespace topwork
