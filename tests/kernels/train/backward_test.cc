// Gradients of every operator: against PyTorch in float64 (tests/data/train/backward.npz), against
// differences of the operator's own forward pass, for any number of threads and instruction set.
#include "kernels/train/backward.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/support/cpu_tables.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/one_op.h"

namespace topwork {
namespace backward_test {

struct Tensor {
  bool present = false;
  Shape shape;
  std::vector<float> floats;
  std::vector<int32_t> integers;
};

struct Case {
  std::string name;
  OpCode code = OpCode::kCustom;
  OpParams params;
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> expected;  // per input, empty where there is no gradient
  Tensor y;
  std::vector<float> dy;
};

Tensor ReadTensor(const test::NpyArray& array) {
  Tensor tensor;
  tensor.present = true;
  for (int64_t dim : array.shape) tensor.shape.Append(static_cast<int32_t>(dim));
  if (array.descr == "<i4") {
    tensor.integers = array.as<int32_t>();
  } else {
    tensor.floats = array.as<float>();
  }
  return tensor;
}

Case ReadCase(const test::Npz& npz, const std::string& name) {
  Case c;
  c.name = name;
  const std::vector<int32_t> p = npz.at(name + ".op").as<int32_t>();
  const std::vector<float> alpha = npz.at(name + ".alpha").as<float>();
  c.code = static_cast<OpCode>(p[0]);
  c.params.padding = static_cast<Padding>(p[1]);
  c.params.stride_h = p[2];
  c.params.stride_w = p[3];
  c.params.dilation_h = p[4];
  c.params.dilation_w = p[5];
  c.params.filter_h = p[6];
  c.params.filter_w = p[7];
  c.params.activation = static_cast<Activation>(p[8]);
  c.params.axis = p[9];
  c.params.keep_dims = c.code == OpCode::kFullyConnected && name == "dense_no_bias";
  c.params.alpha = alpha[0];
  c.params.approximate = alpha[0] != 0.0f;
  c.params.beta = alpha[1];
  for (int i = 0; npz.count(name + ".in" + std::to_string(i)) > 0; ++i) {
    c.inputs.push_back(ReadTensor(npz.at(name + ".in" + std::to_string(i))));
    const std::string gradient = name + ".d" + std::to_string(i);
    c.expected.push_back(npz.count(gradient) > 0 ? npz.at(gradient).as<float>()
                                                 : std::vector<float>());
  }
  c.y = ReadTensor(npz.at(name + ".y"));
  c.dy = npz.at(name + ".dy").as<float>();
  return c;
}

std::vector<Case> AllCases() {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/train/backward.npz");
  REQUIRE(file != nullptr);
  const test::Npz npz = test::ReadNpz(file->data, file->size);
  std::vector<Case> cases;
  for (const auto& entry : npz) {
    const size_t end = entry.first.size() - 3;
    if (entry.first.size() > 3 && entry.first.compare(end, 3, ".op") == 0) {
      cases.push_back(ReadCase(npz, entry.first.substr(0, end)));
    }
  }
  return cases;
}

std::vector<float> Forward(const Case& c, const std::vector<Tensor>& inputs) {
  test::OneOp op(c.code);
  op.params = c.params;
  for (const Tensor& t : inputs) {
    t.integers.empty() ? op.In<float>(t.shape, t.floats) : op.In<int32_t>(t.shape, t.integers);
  }
  op.Out(DType::kFloat32);
  const Status status = op.Run();
  INFO(c.name);
  REQUIRE(status.ToString() == "OK");
  return op.Values<float>(0);
}

struct RunOptions {
  int n_threads = 1;
  uint32_t wanted = ~0u;
  bool accumulate = false;  // gradients start at 1
  const CpuKernels* cpu = &BestCpuKernels();
};

// The gradients, empty where not wanted. Forward tensors that `needs` does not name are withheld.
std::vector<std::vector<float>> Backward(const Case& c, const RunOptions& options) {
  const BackwardDef* def = FindOp(c.code)->gradient;
  REQUIRE(def != nullptr);
  uint32_t wanted = 0;
  for (size_t i = 0; i < c.expected.size(); ++i) {
    if (!c.expected[i].empty()) wanted |= InputBit(static_cast<int>(i)) & options.wanted;
  }
  const uint32_t needs = def->needs(c.params, wanted);
  std::vector<Tensor> inputs = c.inputs;
  std::vector<TensorView> views(inputs.size());
  std::vector<const TensorView*> pointers;
  std::vector<std::vector<float>> gradients(inputs.size());
  std::vector<float*> gradient_pointers(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool integers = !inputs[i].integers.empty();
    const uint32_t bit = InputBit(static_cast<int>(i));
    views[i].dtype = integers ? DType::kInt32 : DType::kFloat32;
    views[i].shape = inputs[i].shape;
    if (integers) views[i].data = inputs[i].integers.data();
    if ((needs & bit) != 0) views[i].data = inputs[i].floats.data();
    pointers.push_back(&views[i]);
    if ((wanted & bit) == 0) continue;
    gradients[i].assign(inputs[i].floats.size(), options.accumulate ? 1.0f : NAN);
    gradient_pointers[i] = gradients[i].data();
  }
  std::vector<float> y = c.y.floats, dy = c.dy;
  TensorView output;
  output.shape = c.y.shape;
  if ((needs & kOutputBit) != 0) output.data = y.data();
  ThreadPool pool(options.n_threads);
  BackwardContext context;
  context.params = &c.params;
  context.inputs = {pointers.data(), pointers.size()};
  context.output = &output;
  context.output_gradient = dy.data();
  context.input_gradients = {gradient_pointers.data(), gradient_pointers.size()};
  context.accumulate = options.accumulate ? wanted : 0;
  context.pool = &pool;
  context.cpu = options.cpu;
  const size_t bytes = def->scratch_bytes == nullptr ? 0 : def->scratch_bytes(context, wanted);
  auto scratch = Buffer::Allocate(bytes + 64, "scratch");
  REQUIRE(scratch.ok());
  std::fill(scratch->as<uint8_t>(), scratch->as<uint8_t>() + bytes + 64, uint8_t{0xFF});
  context.scratch = scratch->as<uint8_t>();
  def->run(context);
  for (size_t i = 0; i < 64; ++i) REQUIRE(scratch->as<uint8_t>()[bytes + i] == 0xFF);
  return gradients;
}

double LargestAbs(const std::vector<float>& values) {
  double largest = 0.0;
  for (float v : values) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  return largest;
}

// Largest difference in units of the largest expected value; infinite where one is not a number.
double RelativeError(const std::vector<float>& got, const std::vector<float>& expected,
                     double offset = 0.0) {
  double worst = 0.0;
  if (got.size() != expected.size()) return INFINITY;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error =
        std::fabs(static_cast<double>(got[i]) - offset - static_cast<double>(expected[i]));
    if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error;
  }
  return worst / std::max(LargestAbs(expected), 1e-30);
}

TEST_CASE("backward: every operator's gradients agree with PyTorch", "[train][sets]") {
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  std::set<OpCode> seen;
  for (const Case& c : AllCases()) {
    seen.insert(c.code);
    INFO(c.name);
    CHECK(RelativeError(Forward(c, c.inputs), c.y.floats) <= 1e-5);
    for (int t = 0; t < n_tables; ++t) {
      if (test::HasBytesOnly(*tables[t])) continue;
      INFO(tables[t]->isa);
      RunOptions options;
      options.cpu = tables[t];
      const auto plain = Backward(c, options);
      options.accumulate = true;
      const auto added = Backward(c, options);
      for (size_t i = 0; i < c.expected.size(); ++i) {
        INFO("input " << i);
        CHECK(RelativeError(plain[i], c.expected[i]) <= 1e-5);
        CHECK(RelativeError(added[i], c.expected[i], c.expected[i].empty() ? 0.0 : 1.0) <= 1e-5);
      }
    }
  }
  // RESHAPE and SQUEEZE are no more than other shapes for the same memory.
  ForEachOp([&](const OpDef& op) {
    const bool view = op.code == OpCode::kReshape || op.code == OpCode::kSqueeze;
    INFO(op.name());
    CHECK((op.gradient != nullptr) == (view || seen.count(op.code) > 0));
  });
}

TEST_CASE("backward: an input alone gets the same gradient as all together", "[train]") {
  for (const Case& c : AllCases()) {
    INFO(c.name);
    const auto all = Backward(c, RunOptions());
    for (size_t i = 0; i < c.expected.size(); ++i) {
      if (c.expected[i].empty()) continue;
      RunOptions options;
      options.wanted = InputBit(static_cast<int>(i));
      CHECK(Backward(c, options)[i] == all[i]);
    }
  }
}

TEST_CASE("backward: the same bits for any number of threads", "[train]") {
  for (const Case& c : AllCases()) {
    INFO(c.name);
    const auto one = Backward(c, RunOptions());
    for (int n_threads = 2; n_threads <= 4; ++n_threads) {
      RunOptions options;
      options.n_threads = n_threads;
      CHECK(Backward(c, options) == one);
    }
  }
}

// Central differences of Σ dy · y with the sum in double precision. An element next to a corner
// (where the one-sided differences disagree) is left out.
TEST_CASE("backward: gradients agree with finite differences", "[train]") {
  constexpr float kStep = 1.0f / 1024;
  constexpr size_t kElements = 12;
  for (const Case& c : AllCases()) {
    const auto gradients = Backward(c, RunOptions());
    const auto loss = [&](const std::vector<Tensor>& inputs) {
      const std::vector<float> y = Forward(c, inputs);
      double sum = 0.0;
      for (size_t i = 0; i < y.size(); ++i) {
        sum += static_cast<double>(y[i]) * static_cast<double>(c.dy[i]);
      }
      return sum;
    };
    const double at = loss(c.inputs);
    for (size_t i = 0; i < gradients.size(); ++i) {
      const size_t n = gradients[i].size();
      if (n == 0) continue;
      const double largest = LargestAbs(gradients[i]);
      size_t n_checked = 0, n_tried = 0;
      double worst = 0.0;
      for (size_t k = 0; k < n; k += std::max<size_t>(1, n / kElements), ++n_tried) {
        std::vector<Tensor> moved = c.inputs;
        float& value = moved[i].floats[k];
        const float before = value;
        value = before + kStep;
        const double up = value, above = loss(moved);
        value = before - kStep;
        const double down = value, below = loss(moved);
        const double forward = (above - at) / (up - static_cast<double>(before));
        const double backward = (at - below) / (static_cast<double>(before) - down);
        if (std::fabs(forward - backward) > 2e-3 * largest) continue;
        ++n_checked;
        const double slope = (above - below) / (up - down);
        worst = std::max(worst, std::fabs(slope - static_cast<double>(gradients[i][k])));
      }
      INFO(c.name << " input " << i << ": " << n_checked << " of " << n_tried);
      CHECK(2 * n_checked >= n_tried);
      CHECK(worst <= 1e-3 * largest);
    }
  }
}

}  // namespace backward_test
}  // namespace topwork
