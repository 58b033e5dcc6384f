// The planner on real graphs: fusion and views change nothing but speed, lifetimes never clash.
#include "runtime/plan/plan.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/plan/memory.h"
#include "runtime/session/session.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/digits_model.h"
#include "tests/support/op_cases.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace test {
namespace {

// Plans of all golden models that can be planned.
template <typename F>
void ForEveryPlan(const PlanOptions& options, F&& visit) {
  size_t n_plans = 0;
  ForEachCase(OpensModel, [&](const OpCase& op_case) {
    const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
    REQUIRE(model.ok());
    const auto plan = BuildPlan(model.value(), options);
    if (!plan.ok()) return;
    visit(*plan.value());
    ++n_plans;
  });
  CHECK(n_plans > 500);
}

struct Range {
  size_t begin, end;
  bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

Range MemoryOf(const Plan& plan, int v) {
  const PlanValue& value = plan.values[static_cast<size_t>(v)];
  const PlanValue& root = plan.values[static_cast<size_t>(value.root)];
  const size_t begin = static_cast<size_t>(root.arena_offset) + value.root_offset;
  return {begin, begin + value.view.bytes()};
}

bool InArena(const Plan& plan, int v) {
  if (v < 0) return false;
  const PlanValue& value = plan.values[static_cast<size_t>(v)];
  return !value.constant && !value.deferred;
}

// The steps between a value's making and its last reading, whatever the planner thought.
std::vector<std::pair<int, int>> TrueLifetimes(const Plan& plan) {
  const int end = static_cast<int>(plan.steps.size());
  std::vector<std::pair<int, int>> lives(plan.values.size(), {end + 1, -1});
  const auto touch = [&](int v, int s) {
    if (v < 0) return;
    auto& life = lives[static_cast<size_t>(v)];
    life.first = std::min(life.first, s);
    life.second = std::max(life.second, s);
  };
  for (int s = 0; s < end; ++s) {
    for (int v : plan.steps[static_cast<size_t>(s)].inputs) touch(v, s);
    for (int v : plan.steps[static_cast<size_t>(s)].outputs) touch(v, s);
  }
  for (int v : plan.inputs) {
    touch(v, 0);
    touch(v, end);
  }
  for (int v : plan.outputs) touch(v, end);
  for (const Op& op : plan.deferred) {
    for (int v : op.inputs) touch(v, end);
  }
  return lives;
}

// Values that share memory while both live must be a view of each other's bytes that prepare
// offered; writing one by a step may touch another live value only where that step reads it last.
void CheckLifetimes(const Plan& plan) {
  const auto lives = TrueLifetimes(plan);
  for (int s = 0; s < static_cast<int>(plan.steps.size()); ++s) {
    for (int made : plan.steps[static_cast<size_t>(s)].outputs) {
      if (!InArena(plan, made)) continue;
      const Range written = MemoryOf(plan, made);
      REQUIRE(written.end <= std::max<size_t>(plan.arena_bytes, written.begin));
      for (size_t v = 0; v < plan.values.size(); ++v) {
        const bool live = lives[v].first < s && lives[v].second > s;
        if (!live || !InArena(plan, static_cast<int>(v)) || written.begin == written.end) continue;
        const Range other = MemoryOf(plan, static_cast<int>(v));
        if (other.begin == other.end || !written.Overlaps(other)) continue;
        const bool same_group = plan.values[v].root == plan.values[static_cast<size_t>(made)].root;
        INFO("step " << s << " writes '" << plan.values[static_cast<size_t>(made)].name
                     << "' over live '" << plan.values[v].name << "'");
        REQUIRE(same_group);
        const auto& inputs = plan.steps[static_cast<size_t>(s)].inputs;
        const bool view_of_input = std::any_of(inputs.begin(), inputs.end(), [&](int in) {
          return InArena(plan, in) &&
                 plan.values[static_cast<size_t>(in)].root == plan.values[v].root;
        });
        REQUIRE(view_of_input);
      }
    }
  }
}

const Step* FindStep(const Plan& plan, const char* op) {
  for (const Step& step : plan.steps) {
    if (std::strcmp(step.def->name(), op) == 0) return &step;
  }
  return nullptr;
}

std::shared_ptr<const Plan> PlanOf(const OpCase& op_case) {
  auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  REQUIRE(model.status().ToString() == "OK");
  auto plan = BuildPlan(model.value(), PlanOptions());
  REQUIRE(plan.status().ToString() == "OK");
  return plan.value();
}

}  // namespace

TEST_CASE("plan: no step writes over a value that is still needed", "[plan]") {
  ForEveryPlan(PlanOptions(), CheckLifetimes);
  PlanOptions plain;
  plain.optimize = false;
  ForEveryPlan(plain, CheckLifetimes);
}

TEST_CASE("plan: the arena stays within 5 % of the largest live set", "[plan]") {
  ForEveryPlan(PlanOptions(), [](const Plan& plan) {
    CHECK(static_cast<double>(plan.arena_bytes) <=
          1.05 * static_cast<double>(plan.live_bytes) + 64);
  });
}

TEST_CASE("plan: batch-norm style MUL, ADD and RELU go into the convolution", "[plan]") {
  int n_fused = 0;
  for (const OpCase& op_case : CasesOf("model_conv_bn")) {
    const auto plan = PlanOf(op_case);
    INFO(op_case.name << "\n" << PrintPlan(*plan));
    n_fused += plan->steps.size() == 1;
  }
  CHECK(n_fused >= 1);
}

TEST_CASE("plan: PAD goes into the convolution behind it", "[plan]") {
  int n_fused = 0;
  for (const OpCase& op_case : CasesOf("model_pad_conv")) {
    const auto plan = PlanOf(op_case);
    INFO(op_case.name << "\n" << PrintPlan(*plan));
    for (const Step& step : plan->steps) n_fused += step.fused.find("PAD") != std::string::npos;
  }
  CHECK(n_fused >= 1);
}

TEST_CASE("plan: a residual ADD goes into the later convolution", "[plan]") {
  int n_fused = 0;
  for (const OpCase& op_case : CasesOf("model_residual")) {
    const auto plan = PlanOf(op_case);
    for (const Step& step : plan->steps) n_fused += step.params.fused_residual;
  }
  CHECK(n_fused >= 1);
}

TEST_CASE("plan: contiguous views share memory", "[plan]") {
  int n_views = 0;
  for (const OpCase& op_case : CasesOf("model_views")) {
    const auto plan = PlanOf(op_case);
    for (size_t v = 0; v < plan->values.size(); ++v) {
      n_views += plan->values[v].root != static_cast<int>(v);
    }
  }
  CHECK(n_views >= 4);
}

TEST_CASE("plan: shapes computed in the graph are folded away", "[plan]") {
  for (const OpCase& op_case : CasesOf("model_dynamic_batch")) {
    if (op_case.same_session) continue;
    const auto plan = PlanOf(op_case);
    INFO(PrintPlan(*plan));
    CHECK(FindStep(*plan, "SHAPE") == nullptr);
    CHECK(plan->deferred.empty());
  }
}

TEST_CASE("plan: fp16 weights are folded and only their packed form is kept", "[plan]") {
  int n_packed = 0;
  for (const OpCase& op_case : CasesOf("model_fp16_weights")) {
    const auto plan = PlanOf(op_case);
    INFO(PrintPlan(*plan));
    CHECK(FindStep(*plan, "DEQUANTIZE") == nullptr);
    n_packed += plan->packed_bytes > 0;
  }
  CHECK(n_packed >= 1);
}

// x + element 5 of a constant of 256 KiB that each of n operators makes 4 times as large.
ModelSpec GrowingSpec(int n) {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1});
  const auto ints = [&](int32_t value) {
    return spec.AddConstant("", DType::kInt32, {1}, ToBytes<int32_t>({value}));
  };
  int32_t size = 65536;
  int large = spec.AddConstant("c", DType::kFloat32, {size}, Bytes(size_t{4} * 65536));
  for (int i = 0; i < n; ++i) {
    size *= 4;
    const int larger = spec.AddTensor("larger", DType::kFloat32, {size});
    spec.AddOp(OpCode::kTile, {large, ints(4)}, {larger});
    large = larger;
  }
  const int one = spec.AddTensor("one", DType::kFloat32, {1});
  spec.AddOp(OpCode::kSlice, {large, ints(5), ints(1)}, {one});
  const int y = spec.AddTensor("y", DType::kFloat32, {1});
  spec.AddOp(OpCode::kAdd, {x, one}, {y}, OptionsSpec(kAddOptions));
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("plan: constants grow by 4 through folding, not by 4 in each of its steps", "[plan]") {
  const auto n_tiles = [](const Plan& plan) {
    return std::count_if(plan.steps.begin(), plan.steps.end(),
                         [](const Step& step) { return step.def->code == OpCode::kTile; });
  };
  for (const auto& [n, left] : {std::pair<int, int>{1, 0}, {3, 2}}) {
    const auto plan = BuildPlan(OpenSpec(GrowingSpec(n)), {});
    REQUIRE(plan.status().ToString() == "OK");
    INFO(PrintPlan(*plan.value()));
    CHECK(n_tiles(*plan.value()) == left);
  }
}

TEST_CASE("plan: folding stops at the memory limit", "[plan]") {
  ModelSpec spec = GrowingSpec(1);
  for (size_t limit : {size_t{2} << 20, size_t{1} << 19}) {
    PlanOptions options;
    options.memory_limit_bytes = limit;
    const Status status = BuildPlan(OpenSpec(spec), options).status();
    INFO(status.ToString());
    CHECK(status.ok() == (limit > size_t{1} << 20));
    if (!status.ok()) CHECK(status.code() == StatusCode::kOutOfMemory);
  }
}

TEST_CASE("plan: the first device that can run an operator gets it, the others' reasons are kept",
          "[plan]") {
  class Named final : public test::FakeGpu {
   public:
    Named(const char* name, Storage storage) : name_(name), storage_(storage) {}
    const char* name() const override { return name_; }
    Storage storage() const override { return storage_; }

   private:
    const char* const name_;
    const Storage storage_;
  };
  const Named first("first", Storage::kFloat16), second("second", Storage::kFloat32),
      also_second("second", Storage::kFloat16);
  PlanOptions options;
  options.devices = {test::Borrow(first), test::Borrow(second), test::Borrow(also_second)};
  options.float32_ops = {"SOFTMAX"};
  const auto plan = BuildPlan(test::DigitsModel(), options);
  REQUIRE(plan.status().ToString() == "OK");
  REQUIRE((*plan)->steps.size() == 2);
  CHECK((*plan)->steps[0].device == &first);
  CHECK((*plan)->steps[1].device == &second);
  CHECK(std::string((*plan)->steps[1].parts.back().def->name()) == "SOFTMAX");
  for (const Step& step : (*plan)->steps) {
    CHECK(step.program != nullptr);
    CHECK(PrintPlan(**plan).find(PlaceName(step.device)) != std::string::npos);
  }
  // A reason that two devices of one name share is given once.
  options.devices = {test::Borrow(first), test::Borrow(also_second), test::Borrow(also_second)};
  const auto on_cpu = BuildPlan(test::DigitsModel(), options);
  REQUIRE(on_cpu.ok());
  const Step& softmax = (*on_cpu)->steps.back();
  CHECK((softmax.device == nullptr && softmax.program == nullptr));
  CHECK(softmax.reason == "not on first: pinned to float32; not on second: pinned to float32");
  CHECK(PrintPlan(**on_cpu).find(softmax.reason) != std::string::npos);
}

TEST_CASE("plan: the memory limit is kept at planning time", "[plan]") {
  const OpCase op_case = CasesOf("model_residual")[0];
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  const auto plan = PlanOf(op_case);
  PlanOptions options;
  options.memory_limit_bytes =
      plan->arena_bytes + plan->scratch_bytes + plan->packed_bytes + plan->owned_bytes;
  CHECK(BuildPlan(model.value(), options).ok());
  options.memory_limit_bytes -= 1;
  const Status status = BuildPlan(model.value(), options).status();
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(status.message().find("memory limit") != std::string::npos);
}

TEST_CASE("plan: activations beyond the address space are refused", "[plan]") {
  ModelSpec spec;
  const std::vector<int32_t> shape = {60000000};
  std::vector<int32_t> terms;
  for (int i = 0; i < 20; ++i) {
    terms.push_back(spec.AddInput("x" + std::to_string(i), DType::kFloat32, shape));
  }
  const int sum = spec.AddTensor("sum", DType::kFloat32, shape);
  spec.AddOp(OpCode::kAddN, terms, {sum}, OptionsSpec());
  spec.main().outputs = {sum};
  const auto plan = BuildPlan(OpenSpec(spec), PlanOptions());
  if (sizeof(size_t) > 4) {
    REQUIRE(plan.ok());
    CHECK((*plan)->arena_bytes >= uint64_t{20} * 60000000 * 4);
  } else {
    CHECK(plan.status().code() == StatusCode::kOutOfMemory);
    CHECK(plan.status().message().find("address space") != std::string::npos);
  }
}

TEST_CASE("plan: wrong requests are refused with their reason", "[plan]") {
  const OpCase op_case = CasesOf("model_residual")[0];
  const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
  PlanOptions options;
  options.subgraph = 7;
  CHECK(BuildPlan(model.value(), options).status().message().find("subgraph 7") !=
        std::string::npos);
  options = PlanOptions();
  options.outputs = {100000};
  CHECK(BuildPlan(model.value(), options).status().message().find("100000") != std::string::npos);
  options = PlanOptions();
  options.input_shapes = {Shape({1}), Shape({1}), Shape({1}), Shape({1}), Shape({1})};
  CHECK(BuildPlan(model.value(), options).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("plan: optimizing changes the answer by rounding only", "[plan]") {
  for (const char* name : {"model_conv_bn", "model_pad_conv", "model_residual", "model_views",
                           "model_graphs", "model_fp16_weights"}) {
    for (const OpCase& op_case : CasesOf(name)) {
      if (op_case.refused) continue;
      const auto model = Model::OpenMemory(op_case.model, op_case.model_bytes, false);
      REQUIRE(model.ok());
      std::vector<std::vector<float>> results;
      for (const bool optimize : {true, false}) {
        SessionOptions options;
        options.optimize = optimize;
        options.n_threads = 1;
        auto session = Session::Create(model.value(), options);
        REQUIRE(session.status().ToString() == "OK");
        for (int i = 0; i < (*session)->n_inputs(); ++i) {
          const TensorView& view = (*session)->input(i);
          for (int64_t k = 0; view.dtype == DType::kFloat32 && k < view.shape.NumElements(); ++k) {
            view.as<float>()[k] = std::sin(0.37f * static_cast<float>(k + i));
          }
        }
        REQUIRE((*session)->Run().ToString() == "OK");
        std::vector<float> all;
        for (int o = 0; o < (*session)->n_outputs(); ++o) {
          const TensorView& view = (*session)->output(o);
          if (view.dtype != DType::kFloat32) continue;
          all.insert(all.end(), view.as<float>(), view.as<float>() + view.shape.NumElements());
        }
        results.push_back(all);
      }
      INFO(name << " " << op_case.name);
      REQUIRE(results[0].size() == results[1].size());
      for (size_t k = 0; k < results[0].size(); ++k) {
        REQUIRE(results[0][k] == Approx(results[1][k]).epsilon(1e-4).margin(1e-4));
      }
    }
  }
}

}  // namespace test
}  // namespace topwork
