// Lists that pass into and out of WHILE, IF and each other's loops, in models made by hand.
#include <catch2/catch.hpp>

#include "tests/support/open_session.h"

namespace topwork {
namespace test {
namespace list_loop_test {

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kV = DType::kVariant;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

size_t At(int i) { return static_cast<size_t>(i); }

// A subgraph of a model, with what these tests put into it.
class Part {
 public:
  explicit Part(ModelSpec* spec, const char* name = nullptr) : spec_(*spec) {
    if (name == nullptr) return;
    spec_.subgraphs.emplace_back();
    spec_.subgraphs.back().name = name;
    number_ = static_cast<int>(spec_.subgraphs.size()) - 1;
  }
  int number() const { return number_; }
  int Input(DType dtype, const Ints& shape = {}) {
    return spec_.AddInput(Name(), dtype, shape, number_);
  }
  int Const(const Ints& shape, const Ints& values) {
    return spec_.AddConstant(Name(), kI, shape, ToBytes(values), number_);
  }
  int Const(int32_t value) { return Const({}, {value}); }
  void Outputs(const Ints& outputs) { spec_.subgraphs[At(number_)].outputs = outputs; }

  int Add(int a, int b, DType dtype, const Ints& shape = {}) {
    const int sum = spec_.AddTensor(Name(), dtype, shape, number_);
    spec_.AddOp(OpCode::kAdd, {a, b}, {sum}, OptionsSpec(kAddOptions), number_);
    return sum;
  }
  int Less(int a, int b) {
    const int less = spec_.AddTensor(Name(), DType::kBool, {}, number_);
    spec_.AddOp(OpCode::kLess, {a, b}, {less}, OptionsSpec(), number_);
    return less;
  }
  // The operator on lists of that name, and its output.
  int List(const std::string& name, const Ints& inputs, DType dtype = kV, const Ints& shape = {}) {
    OpSpec op;
    op.opcode = spec_.AddCode(OpCode::kCustom, name);
    op.inputs = inputs;
    op.outputs = {spec_.AddTensor(Name(), dtype, shape, number_)};
    spec_.subgraphs[At(number_)].ops.push_back(op);
    return op.outputs[0];
  }
  // WHILE or IF; the outputs have these types.
  Ints Call(OpCode code, OptionsSpec options, const Ints& inputs,
            const std::vector<DType>& dtypes) {
    Ints outputs;
    for (const DType dtype : dtypes) {
      outputs.push_back(spec_.AddTensor(Name(), dtype, {}, number_));
    }
    spec_.AddOp(code, inputs, outputs, options, number_);
    return outputs;
  }

 private:
  std::string Name() { return "t" + std::to_string(n_++); }
  ModelSpec& spec_;
  int number_ = 0;
  int n_ = 0;
};

OptionsSpec WhileOf(const Part& condition, const Part& body) {
  return OptionsSpec(kWhileOptions).Int(0, condition.number()).Int(1, body.number());
}

const Ints kElement = {1, 2};

// (i, list, x, n) -> i < n, with the inputs of such a loop in that order.
Part CountCondition(ModelSpec* spec) {
  Part part(spec, "condition");
  const int i = part.Input(kI);
  part.Input(kV);
  part.Input(kF, kElement);
  part.Outputs({part.Less(i, part.Input(kI))});
  return part;
}

// (i, list, x, n) -> (i + 1, list with element i = x, x + x, n).
Part DoublingBody(ModelSpec* spec, const std::string& flex) {
  Part part(spec, "body");
  const int i = part.Input(kI), list = part.Input(kV), x = part.Input(kF, kElement);
  const int n = part.Input(kI);
  part.Outputs({part.Add(i, part.Const(1), kI), part.List(flex + "TensorListSetItem", {list, i, x}),
                part.Add(x, x, kF, kElement), n});
  return part;
}

struct Loop {
  Ints shape = {-1, 2};  // of an element, as TensorListReserve is told
  int32_t size = 4, rounds = 4;
  std::string flex = "Flex";
  bool set_again = false;  // the model sets an element of the list as it was before the loop, too
};

// A model of x: the elements after the loop.
ModelSpec LoopSpec(const Loop& loop) {
  ModelSpec spec;
  Part main(&spec);
  const int x = main.Input(kF, kElement);
  const int shape = main.Const({static_cast<int32_t>(loop.shape.size())}, loop.shape);
  const int list = main.List(loop.flex + "TensorListReserve", {shape, main.Const(loop.size)});
  const Part condition = CountCondition(&spec), body = DoublingBody(&spec, loop.flex);
  const Ints after = main.Call(OpCode::kWhile, WhileOf(condition, body),
                               {main.Const(0), list, x, main.Const(loop.rounds)}, {kI, kV, kF, kI});
  const std::string stack = loop.flex + "TensorListStack";
  Ints outputs = {main.List(stack, {after[1], shape}, kF)};
  if (loop.set_again) {
    const int again = main.List(loop.flex + "TensorListSetItem", {list, main.Const(1), x});
    outputs.push_back(main.List(stack, {again, shape}, kF));
  }
  main.Outputs(outputs);
  return spec;
}

// Another body for the loop of LoopSpec, whose condition is subgraph 1.
void SetBody(ModelSpec* spec, const Part& body) {
  spec->main().ops[1].options = OptionsSpec(kWhileOptions).Int(0, 1).Int(1, body.number());
}

// Rows x, 2x, 4x, ... of `rounds` rounds, then zeros.
Floats Doubled(const Floats& x, int size, int rounds) {
  Floats rows;
  for (int k = 0; k < size; ++k) {
    for (const float value : x) {
      rows.push_back(k < rounds ? value * static_cast<float>(1 << k) : 0.0f);
    }
  }
  return rows;
}

TEST_CASE("a loop fills a list", "[ops]") {
  for (const Ints& shape : {Ints{-1, 2}, Ints{1, 2}, Ints{-1}}) {
    for (const int rounds : {1, 3, 4}) {
      Loop loop{shape, 4, rounds};
      loop.flex = rounds == 3 ? "" : "Flex";
      const auto session = OpenSession(LoopSpec(loop));
      CHECK(session->plan().deferred.empty());
      CHECK_FALSE(session->plan().keeps_state);
      for (int run = 0; run < 2; ++run) {
        SetInput<float>(session.get(), 0, {1, -3});
        REQUIRE(session->Run().ToString() == "OK");
        CHECK(GetOutput<float>(*session, 0) == Doubled({1, -3}, 4, rounds));
      }
    }
  }
}

TEST_CASE("a loop over a list takes another batch", "[ops]") {
  const auto session = OpenSession(LoopSpec(Loop()));
  REQUIRE(session->ResizeInput(0, Shape({2, 2})).ok());
  REQUIRE(session->Prepare().ToString() == "OK");
  SetInput<float>(session.get(), 0, {1, 2, 3, 4});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(0).shape == Shape({4, 2, 2}));
  CHECK(GetOutput<float>(*session, 0) == Doubled({1, 2, 3, 4}, 4, 4));
  const auto fixed = OpenSession(LoopSpec({{1, 2}}));  // the file says one example
  REQUIRE(fixed->ResizeInput(0, Shape({2, 2})).ok());
  CHECK(fixed->Prepare().message().find("in a list of [1, 2]: lists hold elements of one shape") !=
        std::string::npos);
}

TEST_CASE("lists of lists are refused", "[ops]") {
  ModelSpec spec;
  Part main(&spec);
  const int x = main.Input(kF, {3, 2});
  const int inner = main.List("FlexTensorListFromTensor", {x, main.Const({1}, {2})});
  const int outer = main.List("FlexTensorListReserve", {main.Const({0}, {}), main.Const(2)});
  const int set = main.List("FlexTensorListSetItem", {outer, main.Const(0), inner});
  main.Outputs({main.List("FlexTensorListStack", {set, main.Const({1}, {2})}, kF, {2, 3, 2})});
  const auto session = TryOpenSession(spec);
  REQUIRE_FALSE(session.ok());
  CHECK_THAT(session.status().message(), Catch::Contains("lists of lists are not supported"));
}

TEST_CASE("a list without rounds has the shape that its elements would have", "[ops]") {
  const auto session = OpenSession(LoopSpec({{-1, 2}, 3, 0}));
  SetInput<float>(session.get(), 0, {1, 2});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(0).shape == Shape({3, 1, 2}));
  CHECK(GetOutput<float>(*session, 0) == Floats(6));
}

const Plan& BodyOf(const Plan& plan, size_t step) {
  REQUIRE(plan.steps.size() > step);
  REQUIRE(plan.steps[step].callees.size() == 2);
  return *plan.steps[step].callees[1].plan;
}

size_t StepOf(const Plan& plan, OpCode code) {
  size_t step = 0;
  while (step < plan.steps.size() && plan.steps[step].def->code != code) ++step;
  return step;
}

TEST_CASE("a loop sets elements where the list lies", "[ops]") {
  const auto session = OpenSession(LoopSpec(Loop()));
  const Plan& plan = session->plan();
  const Plan& body = BodyOf(plan, StepOf(plan, OpCode::kWhile));
  REQUIRE(body.in_place.size() == 4);
  CHECK(body.in_place[1] == 1);
  CHECK(body.in_place[3] == 3);  // passed on
}

TEST_CASE("a list keeps its elements for whoever reads it later", "[ops]") {
  Loop loop{{1, 2}};
  loop.set_again = true;
  const auto session = OpenSession(LoopSpec(loop));
  SetInput<float>(session.get(), 0, {1, 2});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(GetOutput<float>(*session, 0) == Doubled({1, 2}, 4, 4));
  CHECK(GetOutput<float>(*session, 1) == Floats{0, 0, 1, 2, 0, 0, 0, 0});
}

// (i, list, x, n) -> (i + 1, list with element i = x, x + the list's element i before, n)
TEST_CASE("a body may read the list that it has set an element of", "[ops]") {
  ModelSpec spec = LoopSpec({{1, 2}, 2, 2});
  Part body(&spec, "reading body");
  const int i = body.Input(kI), list = body.Input(kV), x = body.Input(kF, kElement);
  const int n = body.Input(kI), shape = body.Const({2}, {1, 2});
  const int set = body.List("TensorListSetItem", {list, i, x});
  const int before = body.List("TensorListGetItem", {list, i, shape}, kF, kElement);
  body.Outputs({body.Add(i, body.Const(1), kI), set, body.Add(x, before, kF, kElement), n});
  SetBody(&spec, body);
  const auto session = OpenSession(spec);
  const Plan& plan = session->plan();
  CHECK(BodyOf(plan, StepOf(plan, OpCode::kWhile)).in_place[1] == -1);
  for (int run = 0; run < 2; ++run) {
    SetInput<float>(session.get(), 0, {1, 2});
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(GetOutput<float>(*session, 0) == Floats{1, 2, 1, 2});
  }
}

// The loop has the list twice: as the one it fills, and as another that it passes on.
TEST_CASE("a list that a loop gets twice is two lists", "[ops]") {
  ModelSpec spec;
  Part main(&spec);
  const int x = main.Input(kF, {3, 2}), shape = main.Const({1}, {2});
  const int list = main.List("TensorListFromTensor", {x, shape});
  Part condition(&spec, "condition"), body(&spec, "body");
  const int ci = condition.Input(kI);
  condition.Input(kV);
  condition.Input(kV);
  condition.Outputs({condition.Less(ci, condition.Const(2))});
  const int bi = body.Input(kI), filled = body.Input(kV), kept = body.Input(kV);
  const int next = body.Add(bi, body.Const(1), kI);
  const int item = body.List("TensorListGetItem", {kept, next, body.Const({1}, {2})}, kF, {2});
  body.Outputs({next, body.List("TensorListSetItem", {filled, bi, item}), kept});
  const Ints after = main.Call(OpCode::kWhile, WhileOf(condition, body),
                               {main.Const(0), list, list}, {kI, kV, kV});
  main.Outputs({main.List("TensorListStack", {after[1], shape}, kF),
                main.List("TensorListStack", {after[2], shape}, kF)});
  const auto session = OpenSession(spec);
  SetInput<float>(session.get(), 0, {1, 2, 3, 4, 5, 6});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(GetOutput<float>(*session, 0) == Floats{3, 4, 5, 6, 5, 6});
  CHECK(GetOutput<float>(*session, 1) == Floats{1, 2, 3, 4, 5, 6});
}

// The outer loop's rounds fill the list again from its own x, up to its own i.
TEST_CASE("loops over a list nest", "[ops]") {
  ModelSpec spec = LoopSpec(Loop());
  Part body(&spec, "outer body");
  const int i = body.Input(kI), list = body.Input(kV), x = body.Input(kF, kElement);
  const int n = body.Input(kI), next = body.Add(i, body.Const(1), kI);
  OptionsSpec inner = spec.main().ops[1].options;
  const Ints after =
      body.Call(OpCode::kWhile, inner, {body.Const(0), list, x, next}, {kI, kV, kF, kI});
  body.Outputs({next, after[1], body.Add(x, x, kF, kElement), n});
  SetBody(&spec, body);
  const auto session = OpenSession(spec);
  CHECK(session->plan().deferred.empty());
  const Plan& plan = session->plan();
  CHECK(BodyOf(plan, StepOf(plan, OpCode::kWhile)).in_place[1] == 1);
  SetInput<float>(session.get(), 0, {1, 2});
  REQUIRE(session->Run().ToString() == "OK");
  // The last outer round has 8 x and fills all four elements.
  CHECK(GetOutput<float>(*session, 0) == Doubled({8, 16}, 4, 4));
}

// Each loop of a nest keeps a list of its own, whose elements' shape its body tells.
TEST_CASE("loops that give lists their shapes nest only so deep", "[ops]") {
  ModelSpec spec = LoopSpec(Loop());
  for (int depth = 1; depth < 30; ++depth) {
    const OptionsSpec inner = spec.main().ops[1].options;
    Part body(&spec, "outer body");
    const int i = body.Input(kI), list = body.Input(kV), x = body.Input(kF, kElement);
    const int n = body.Input(kI), shape = body.Const({2}, {-1, 2});
    const int own = body.List("TensorListReserve", {shape, body.Const(4)});
    const Ints after =
        body.Call(OpCode::kWhile, inner, {body.Const(0), own, x, n}, {kI, kV, kF, kI});
    body.Outputs({body.Add(i, body.Const(1), kI),
                  body.List("TensorListSetItem", {list, i, after[2]}), after[2], n});
    SetBody(&spec, body);
    if (depth == 1) CHECK(TryOpenSession(spec).status().ToString() == "OK");
  }
  const Status status = TryOpenSession(spec).status();
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(status.message().find("in loops more than 6 deep") != std::string::npos);
}

// An IF in the body sets element i, or passes the list on.
TEST_CASE("a branch may set an element, or pass the list on", "[ops]") {
  for (const Ints& shape : {Ints{1, 2}, Ints{-1, 2}}) {
    ModelSpec spec = LoopSpec({shape});
    Part yes(&spec, "yes"), no(&spec, "no"), body(&spec, "choosing body");
    const int yes_list = yes.Input(kV), yes_i = yes.Input(kI), yes_x = yes.Input(kF, kElement);
    yes.Outputs({yes.List("TensorListSetItem", {yes_list, yes_i, yes_x})});
    const int no_list = no.Input(kV);
    no.Input(kI);
    no.Input(kF, kElement);
    no.Outputs({no_list});
    const int i = body.Input(kI), list = body.Input(kV), x = body.Input(kF, kElement);
    const int n = body.Input(kI), early = body.Less(i, body.Const(2));
    const Ints chosen =
        body.Call(OpCode::kIf, OptionsSpec(kIfOptions).Int(0, yes.number()).Int(1, no.number()),
                  {early, list, i, x}, {kV});
    body.Outputs({body.Add(i, body.Const(1), kI), chosen[0], body.Add(x, x, kF, kElement), n});
    SetBody(&spec, body);
    const auto session = OpenSession(spec);
    if (shape[0] > 0) {
      const Plan& plan = session->plan();
      CHECK(BodyOf(plan, StepOf(plan, OpCode::kWhile)).in_place[1] == 1);
    }
    SetInput<float>(session.get(), 0, {1, 2});
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(GetOutput<float>(*session, 0) == Doubled({1, 2}, 4, 2));
  }
}

TEST_CASE("a loop's wrong index stops the run", "[ops]") {
  const auto session = OpenSession(LoopSpec({{-1, 2}, 3, 4}));
  SetInput<float>(session.get(), 0, {1, 2});
  const Status status = session->Run();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("index 3 at position 0 of the indices is outside [0, 3)") !=
        std::string::npos);
}

TEST_CASE("the memory limit counts lists before they take memory", "[ops]") {
  for (const Ints& shape : {Ints{1, 2}, Ints{-1, 2}}) {
    SessionOptions options;
    options.memory_limit_bytes = size_t{1} << 26;
    const int32_t most = sizeof(void*) == 4 ? 1 << 24 : INT32_MAX;  // 128 MB, or beyond all limits
    const Status status = TryOpenSession(LoopSpec({shape, most, 4}), options).status();
    CHECK(status.code() == StatusCode::kOutOfMemory);
    options.memory_limit_bytes = 100000;
    CHECK(TryOpenSession(LoopSpec({shape, 4, 4}), options).ok());
    CHECK(TryOpenSession(LoopSpec({shape, 20000, 4}), options).status().code() ==
          StatusCode::kOutOfMemory);
  }
}

TEST_CASE("lists have one type", "[ops]") {
  ModelSpec spec = LoopSpec(Loop());
  const auto model = OpenSpec(spec);
  for (const Graph& graph : model->subgraphs()) {
    for (const Value& value : graph.values) {
      CHECK(value.dtype != kV);
      CHECK((!value.is_list || value.dtype == kF));
    }
  }
  CHECK(model->subgraphs()[0].ops[1].list_inputs == 2u);  // of WHILE
  spec.main().tensors[At(spec.main().outputs[0])].type = static_cast<int>(kI);
  const Status status = TryOpenSession(spec).status();
  CHECK_FALSE(status.ok());
  INFO(status.ToString());
  CHECK(status.message().find("int32") != std::string::npos);
}

TEST_CASE("a list that no tensor enters or leaves has no type", "[ops]") {
  ModelSpec spec;
  Part main(&spec);
  const int list = main.List("TensorListReserve", {main.Const({1}, {2}), main.Const(3)});
  main.Outputs({list});
  CHECK(OpenSpec(spec)->subgraphs()[0].values[At(list)].dtype == kV);
  const Status status = TryOpenSession(spec).status();
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(status.message().find("lists of variant are not supported") != std::string::npos);
}

}  // namespace list_loop_test
}  // namespace test
}  // namespace topwork
