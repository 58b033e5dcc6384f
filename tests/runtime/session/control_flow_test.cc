// IF, WHILE, CALL and STABLEHLO_COMPOSITE on small models made by hand.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace control_flow_test {

using test::ModelSpec;
using test::OptionsSpec;
using test::ToBytes;

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kB = DType::kBool;

int AddSubgraph(ModelSpec* spec, const std::string& name) {
  spec->subgraphs.emplace_back();
  spec->subgraphs.back().name = name;
  return static_cast<int>(spec->subgraphs.size()) - 1;
}

std::vector<int32_t>& Outputs(ModelSpec* spec, int subgraph) {
  return spec->subgraphs[static_cast<size_t>(subgraph)].outputs;
}

OptionsSpec WhileOf(int condition, int body) {
  return OptionsSpec(test::kWhileOptions).Int(0, condition).Int(1, body);
}

// i < limit, of variables (i, x...).
int AddCountCondition(ModelSpec* spec, int limit, const std::vector<int32_t>& x_shape) {
  const int s = AddSubgraph(spec, "condition");
  const int i = spec->AddInput("i", kI, {1}, s);
  spec->AddInput("x", kF, x_shape, s);
  const int end = spec->AddConstant("end", kI, {1}, ToBytes<int32_t>({limit}), s);
  const int less = spec->AddTensor("less", kB, {1}, s);
  spec->AddOp(OpCode::kLess, {i, end}, {less}, OptionsSpec(), s);
  Outputs(spec, s) = {less};
  return s;
}

// i + 1, in that subgraph.
int AddIncrement(ModelSpec* spec, int i, int s) {
  const int one = spec->AddConstant("one", kI, {1}, ToBytes<int32_t>({1}), s);
  const int next = spec->AddTensor("next", kI, {1}, s);
  spec->AddOp(OpCode::kAdd, {i, one}, {next}, OptionsSpec(test::kAddOptions), s);
  return next;
}

// (i, x) -> (i + 1, x + x): with i from 0, x is doubled `times` times. The loop's condition and
// body may be given.
ModelSpec DoublingSpec(int times) {
  ModelSpec spec;
  spec.main().name = "main";
  const int i = spec.AddInput("i", kI, {1});
  const int x = spec.AddInput("x", kF, {3});
  const int last = spec.AddTensor("last", kI, {1});
  const int y = spec.AddTensor("y", kF, {3});
  const int condition = AddCountCondition(&spec, times, {3});
  const int body = AddSubgraph(&spec, "body");
  const int bi = spec.AddInput("i", kI, {1}, body);
  const int bx = spec.AddInput("x", kF, {3}, body);
  const int next = AddIncrement(&spec, bi, body);
  const int twice = spec.AddTensor("twice", kF, {3}, body);
  spec.AddOp(OpCode::kAdd, {bx, bx}, {twice}, OptionsSpec(test::kAddOptions), body);
  Outputs(&spec, body) = {next, twice};
  spec.AddOp(OpCode::kWhile, {i, x}, {last, y}, WhileOf(condition, body));
  spec.main().outputs = {last, y};
  return spec;
}

TEST_CASE("WHILE runs its body as often as its condition says", "[session]") {
  for (const int times : {0, 1, 2, 3, 10}) {
    INFO(times);
    const auto session = test::OpenSession(DoublingSpec(times));
    CHECK(session->plan().deferred.empty());
    CHECK(!session->plan().keeps_state);
    for (int run = 0; run < 2; ++run) {  // the second finds the memory of the first
      test::SetInput<int32_t>(session.get(), 0, {0});
      test::SetInput<float>(session.get(), 1, {1, -2, 3});
      REQUIRE(session->Run().ToString() == "OK");
      const float f = static_cast<float>(1 << times);
      CHECK(test::GetOutput<int32_t>(*session, 0) == std::vector<int32_t>{times});
      CHECK(test::GetOutput<float>(*session, 1) == std::vector<float>{f, -2 * f, 3 * f});
      CHECK(session->input(1).as<float>()[2] == 3.0f);  // the caller's input stays as it was
    }
  }
}

TEST_CASE("too few inputs of a subgraph are refused by the operator's name", "[session]") {
  ModelSpec spec = DoublingSpec(3);
  test::OpSpec& loop = spec.main().ops[0];
  for (auto* list : {&loop.inputs, &loop.outputs, &spec.main().outputs}) list->pop_back();
  CHECK_THAT(test::TryOpenSession(spec).status().message(),
             Catch::Contains("operator #0 WHILE (output 'last') gives 1 inputs to subgraph 1"));
}

TEST_CASE("the plan shows subgraphs; the limit counts their memory", "[session]") {
  const auto session = test::OpenSession(DoublingSpec(3));
  const Plan& plan = session->plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(plan.steps[0].callees.size() == 2);
  CHECK(plan.scratch_bytes > 0);
  const std::string text = PrintPlan(plan);
  CHECK(text.find("subgraph 1 'condition'") != std::string::npos);
  CHECK(text.find("subgraph 2 'body'") != std::string::npos);
  CHECK(PlanToJson(plan).find("\"subgraphs\"") != std::string::npos);
  SessionOptions options;
  options.memory_limit_bytes = plan.arena_bytes + plan.scratch_bytes - 1;
  CHECK(test::TryOpenSession(DoublingSpec(3), options).status().code() == StatusCode::kOutOfMemory);
}

// Counts what the session takes; the memory is the default allocator's.
void* CountingAllocate(void* user_data, size_t bytes, size_t alignment) {
  ++*static_cast<int*>(user_data);
  return DefaultAllocator().allocate(DefaultAllocator().user_data, bytes, alignment);
}
void CountingDeallocate(void*, void* pointer, size_t bytes) {
  DefaultAllocator().deallocate(DefaultAllocator().user_data, pointer, bytes);
}

TEST_CASE("a loop of fixed shapes takes no memory while it runs", "[session]") {
  int n_taken = 0;
  Allocator counting;
  counting.allocate = CountingAllocate;
  counting.deallocate = CountingDeallocate;
  counting.user_data = &n_taken;
  SessionOptions options;
  options.allocator = &counting;
  const auto session = test::OpenSession(DoublingSpec(1000), options);
  const int before = n_taken;
  CHECK(before > 0);
  test::SetInput<int32_t>(session.get(), 0, {0});
  test::SetInput<float>(session.get(), 1, {0, 0, 0});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(test::GetOutput<int32_t>(*session, 0)[0] == 1000);
  CHECK(n_taken == before);
}

TEST_CASE("a bound output is written by the loop itself", "[session]") {
  const auto session = test::OpenSession(DoublingSpec(4));
  float y[3] = {};
  REQUIRE(session->BindOutput(1, y, sizeof(y)).ok());
  test::SetInput<int32_t>(session.get(), 0, {0});
  test::SetInput<float>(session.get(), 1, {1, 2, 3});
  REQUIRE(session->Run().ok());
  CHECK(y[2] == 48.0f);
}

// The outer loop's body holds the doubling loop: x doubles 2 * 3 times. The inner counter begins
// at 0 in every round.
TEST_CASE("loops nest", "[session]") {
  ModelSpec spec = DoublingSpec(2);
  const int condition = AddCountCondition(&spec, 3, {3});
  const int body = AddSubgraph(&spec, "outer body");
  const int i = spec.AddInput("i", kI, {1}, body);
  const int x = spec.AddInput("x", kF, {3}, body);
  const int zero = spec.AddConstant("zero", kI, {1}, ToBytes<int32_t>({0}), body);
  const int count = spec.AddTensor("count", kI, {1}, body);
  const int y = spec.AddTensor("y", kF, {3}, body);
  spec.AddOp(OpCode::kWhile, {zero, x}, {count, y}, WhileOf(1, 2), body);
  Outputs(&spec, body) = {AddIncrement(&spec, i, body), y};
  spec.main().ops[0].options = WhileOf(condition, body);
  const auto session = test::OpenSession(spec);
  CHECK(session->plan().deferred.empty());
  test::SetInput<int32_t>(session.get(), 0, {0});
  test::SetInput<float>(session.get(), 1, {1, 2, 3});
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(test::GetOutput<float>(*session, 1) == std::vector<float>{64, 128, 192});
}

// The body swaps a and b, and passes c on.
TEST_CASE("variables may be passed on, swapped and constant", "[session]") {
  for (const int times : {1, 2, 5}) {
    ModelSpec spec;
    const int i = spec.AddInput("i", kI, {1});
    const int a = spec.AddInput("a", kF, {2});
    const int b = spec.AddInput("b", kF, {2});
    const int c = spec.AddConstant("c", kF, {2}, ToBytes<float>({10, 20}));
    std::vector<int32_t> made;
    for (const char* name : {"i_", "a_", "b_", "c_"}) {
      made.push_back(spec.AddTensor(name, made.empty() ? kI : kF, {made.empty() ? 1 : 2}));
    }
    const int condition = AddCountCondition(&spec, times, {2});
    spec.AddInput("b", kF, {2}, condition);
    spec.AddInput("c", kF, {2}, condition);
    const int body = AddSubgraph(&spec, "body");
    const int bi = spec.AddInput("i", kI, {1}, body);
    const int ba = spec.AddInput("a", kF, {2}, body);
    const int bb = spec.AddInput("b", kF, {2}, body);
    const int bc = spec.AddInput("c", kF, {2}, body);
    const int sum = spec.AddTensor("sum", kF, {2}, body);
    spec.AddOp(OpCode::kAdd, {ba, bc}, {sum}, OptionsSpec(test::kAddOptions), body);
    Outputs(&spec, body) = {AddIncrement(&spec, bi, body), bb, sum, bc};
    spec.AddOp(OpCode::kWhile, {i, a, b, c}, made, WhileOf(condition, body));
    spec.main().outputs = made;
    const auto session = test::OpenSession(spec);
    test::SetInput<int32_t>(session.get(), 0, {0});
    test::SetInput<float>(session.get(), 1, {1, 2});
    test::SetInput<float>(session.get(), 2, {3, 4});
    REQUIRE(session->Run().ToString() == "OK");
    float x = 1, y = 3;
    for (int k = 0; k < times; ++k) {
      const float old = x;
      x = y;
      y = old + 10;
    }
    CHECK(test::GetOutput<float>(*session, 1)[0] == x);
    CHECK(test::GetOutput<float>(*session, 2)[0] == y);
    CHECK(test::GetOutput<float>(*session, 3) == std::vector<float>{10, 20});
  }
}

// (i, x) -> (i + 1, concatenation of x and x), along the only axis; x has 3 elements at first.
ModelSpec GrowingSpec(int times) {
  ModelSpec spec = DoublingSpec(times);
  test::OpSpec& op = spec.subgraphs[2].ops[1];
  op.opcode = spec.AddCode(OpCode::kConcatenation);
  op.options = OptionsSpec(test::kConcatenationOptions).Int(0, 0);
  return spec;
}

TEST_CASE("a loop's variable may grow", "[session]") {
  for (const int times : {0, 1, 4}) {
    const auto session = test::OpenSession(GrowingSpec(times));
    CHECK(session->plan().deferred.size() == 1);
    for (int run = 0; run < 2; ++run) {
      test::SetInput<int32_t>(session.get(), 0, {0});
      test::SetInput<float>(session.get(), 1, {1, 2, 3});
      REQUIRE(session->Run().ToString() == "OK");
      const std::vector<float> y = test::GetOutput<float>(*session, 1);
      REQUIRE(y.size() == static_cast<size_t>(3 << times));
      CHECK(y[y.size() - 1] == 3.0f);
      CHECK(y[y.size() - 3] == 1.0f);
    }
  }
}

TEST_CASE("a loop that grows stops at the memory limit", "[session]") {
  SessionOptions options;
  options.memory_limit_bytes = 100000;
  const auto session = test::OpenSession(GrowingSpec(30), options);
  test::SetInput<int32_t>(session.get(), 0, {0});
  const Status status = session->Run();
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(session->memory_bytes() <= 100000);
}

TEST_CASE("an endless loop can be cancelled", "[session]") {
  for (const bool grows : {false, true}) {
    ModelSpec spec = DoublingSpec(1);
    if (grows) {  // deferred, but x stays as it is: its shape is known to a run only
      spec = GrowingSpec(1);
      spec.subgraphs[2].outputs[1] = spec.subgraphs[2].inputs[1];
    }
    spec.subgraphs[2].outputs[0] = spec.subgraphs[2].inputs[0];  // i never changes
    const auto session = test::OpenSession(spec);
    test::SetInput<int32_t>(session.get(), 0, {0});
    std::atomic<bool> done{false};
    std::thread canceller([&] {
      while (!done) {  // again and again: the run may not have begun
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        session->Cancel();
      }
    });
    const Status status = session->Run();
    done = true;
    canceller.join();
    CHECK(status.code() == StatusCode::kCancelled);
    test::SetInput<int32_t>(session.get(), 0, {5});  // no round at all
    CHECK(session->Run().ToString() == "OK");
  }
}

// The body gathers x[i]: at i = 3 there is none.
TEST_CASE("a body that fails says where", "[session]") {
  ModelSpec spec = DoublingSpec(10);
  test::SubgraphSpec& body = spec.subgraphs[2];
  const int picked = spec.AddTensor("picked", kF, {1}, 2);
  const int sum = spec.AddTensor("sum", kF, {3}, 2);
  spec.AddOp(OpCode::kGather, {body.inputs[1], body.inputs[0]}, {picked},
             OptionsSpec(test::kGatherOptions), 2);
  spec.AddOp(OpCode::kAdd, {body.inputs[1], picked}, {sum}, OptionsSpec(test::kAddOptions), 2);
  body.outputs[1] = sum;
  const auto session = test::OpenSession(spec);
  test::SetInput<int32_t>(session.get(), 0, {0});
  const Status status = session->Run();
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("WHILE") != std::string::npos);
  CHECK(status.message().find("GATHER of subgraph 'body'") != std::string::npos);
}

// y = condition ? then(x) : else(x); then: x + x, else: x, or both of them with `grows`.
ModelSpec ChoiceSpec(bool grows, bool constant) {
  ModelSpec spec;
  const int x = spec.AddInput("x", kF, {2});
  const int choice =
      constant ? spec.AddConstant("choice", kB, {1}, {1}) : spec.AddInput("choice", kB, {1});
  const int y = spec.AddTensor("y", kF, {2});
  const int z = spec.AddTensor("z", kF, {2});
  for (const char* name : {"then", "else"}) {
    const int s = AddSubgraph(&spec, name);
    const int in = spec.AddInput("x", kF, {2}, s);
    const int out = spec.AddTensor("y", kF, {2}, s);
    if (s == 1) {
      spec.AddOp(OpCode::kAdd, {in, in}, {out}, OptionsSpec(test::kAddOptions), s);
    } else if (grows) {
      spec.AddOp(OpCode::kConcatenation, {in, in}, {out},
                 OptionsSpec(test::kConcatenationOptions).Int(0, 0), s);
    } else {
      spec.AddOp(OpCode::kNeg, {in}, {out}, OptionsSpec(), s);
    }
    Outputs(&spec, s) = {out};
  }
  spec.AddOp(OpCode::kIf, {choice, x}, {y}, OptionsSpec(test::kIfOptions).Int(0, 1).Int(1, 2));
  spec.AddOp(OpCode::kAbs, {y}, {z});
  spec.main().outputs = {y, z};
  return spec;
}

TEST_CASE("IF runs one branch", "[session]") {
  for (const bool grows : {false, true}) {
    const auto session = test::OpenSession(ChoiceSpec(grows, false));
    CHECK(session->plan().deferred.size() == (grows ? 2 : 0));
    for (const uint8_t choice : {0, 1, 0}) {
      test::SetInput<float>(session.get(), 0, {1, -2});
      test::SetInput<uint8_t>(session.get(), 1, {choice});
      REQUIRE(session->Run().ToString() == "OK");
      const std::vector<float> no =
          grows ? std::vector<float>{1, -2, 1, -2} : std::vector<float>{-1, 2};
      CHECK(test::GetOutput<float>(*session, 0) == (choice != 0 ? std::vector<float>{2, -4} : no));
      CHECK(test::GetOutput<float>(*session, 1).size() ==
            test::GetOutput<float>(*session, 0).size());
    }
  }
  const auto decided = test::OpenSession(ChoiceSpec(true, true));
  CHECK(decided->plan().deferred.empty());
  CHECK(decided->plan().steps[0].callees.size() == 1);
  test::SetInput<float>(decided.get(), 0, {1, -2});
  REQUIRE(decided->Run().ok());
  CHECK(test::GetOutput<float>(*decided, 1) == std::vector<float>{2, 4});
}

// y = f(f(x)), f(x) = x + constant, by CALL or STABLEHLO_COMPOSITE; the second call's result is
// also passed through another subgraph that gives back its input.
ModelSpec CallSpec(bool composite) {
  ModelSpec spec;
  const int f = AddSubgraph(&spec, "f");
  const int in = spec.AddInput("x", kF, {2}, f);
  const int one = spec.AddConstant("one", kF, {1}, ToBytes<float>({1}), f);
  const int sum = spec.AddTensor("sum", kF, {2}, f);
  spec.AddOp(OpCode::kAdd, {in, one}, {sum}, OptionsSpec(test::kAddOptions), f);
  Outputs(&spec, f) = {sum};
  const int same = AddSubgraph(&spec, "same");
  spec.AddInput("x", kF, {2}, same);
  Outputs(&spec, same) = {0};
  const int x = spec.AddInput("x", kF, {2});
  const auto call = [&](int input, int subgraph) {
    const int out = spec.AddTensor("y", kF, {2});
    const OptionsSpec options =
        composite ? OptionsSpec(21, true).Text(0, "odml.plus_one").Int(1, subgraph)
                  : OptionsSpec(test::kCallOptions).Int(0, subgraph);
    spec.AddOp(composite ? OpCode::kStablehloComposite : OpCode::kCall, {input}, {out}, options);
    return out;
  };
  const int twice = call(call(x, f), f);
  spec.main().outputs = {twice, call(twice, same)};
  return spec;
}

// x's shape, folded, is doubled or multiplied by itself in a branch that a run chooses after a FILL whose
// shape a run finds out.
ModelSpec LateBranchSpec() {
  ModelSpec spec;
  const int x = spec.AddInput("x", kF, {2}), k = spec.AddInput("k", kI, {1});
  const int p = spec.AddInput("p", kB, {});
  const int shape = spec.AddTensor("shape", kI, {1}), filled = spec.AddTensor("filled", kF, {1});
  const int one = spec.AddConstant("one", kF, {}, ToBytes<float>({1}));
  const int out = spec.AddTensor("out", kI, {1});
  spec.main().tensors[static_cast<size_t>(x)].signature = {-1};
  spec.main().tensors[static_cast<size_t>(filled)].signature = {-1};
  int branches[2];
  for (const OpCode code : {OpCode::kAdd, OpCode::kMul}) {
    const int s = branches[code == OpCode::kMul] = AddSubgraph(&spec, "branch");
    const int a = spec.AddInput("a", kI, {1}, s), c = spec.AddTensor("c", kI, {1}, s);
    spec.AddOp(code, {a, a}, {c},
               OptionsSpec(code == OpCode::kAdd ? test::kAddOptions : test::kMulOptions), s);
    Outputs(&spec, s) = {c};
  }
  spec.AddOp(OpCode::kShape, {x}, {shape});
  spec.AddOp(OpCode::kFill, {k, one}, {filled});
  spec.AddOp(OpCode::kIf, {p, shape}, {out},
             OptionsSpec(test::kIfOptions).Int(0, branches[0]).Int(1, branches[1]));
  spec.main().outputs = {filled, out};
  return spec;
}

TEST_CASE("a branch that is called late sees the constants of the shapes in force", "[session]") {
  const auto session = test::OpenSession(LateBranchSpec());
  for (int32_t n = 2; n < 40; ++n) {
    REQUIRE((session->ResizeInput(0, Shape({n})).ok() && session->Prepare().ok()));
    test::SetInput<int32_t>(session.get(), 1, {3});
    test::SetInput<uint8_t>(session.get(), 2, {1});
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(test::GetOutput<int32_t>(*session, 1) == std::vector<int32_t>{2 * n});
  }
  test::SetInput<int32_t>(session.get(), 1, {-5});
  CHECK(!session->Run().ok());
  CHECK(session->output(0).data == nullptr);  // what the FILL gave before is gone
}

TEST_CASE("calls are taken apart where that is possible", "[session]") {
  for (const bool composite : {false, true}) {
    const auto session = test::OpenSession(CallSpec(composite));
    const Plan& plan = session->plan();
    REQUIRE(plan.steps.size() == 3);
    CHECK(std::string(plan.steps[1].def->name()) == "ADD");
    CHECK(plan.steps[1].file_index == 1);
    CHECK(plan.steps[1].inside == (composite ? "STABLEHLO_COMPOSITE 'odml.plus_one'" : "CALL 'f'"));
    CHECK(plan.steps[2].callees.size() == 1);  // it has no operator to take
    test::SetInput<float>(session.get(), 0, {1, 5});
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(test::GetOutput<float>(*session, 0) == std::vector<float>{3, 7});
    CHECK(test::GetOutput<float>(*session, 1) == std::vector<float>{3, 7});
  }
}

TEST_CASE("models that call themselves, or wrongly, are refused", "[session]") {
  ModelSpec endless = CallSpec(false);
  const int again = endless.AddTensor("again", kF, {2}, 1);
  endless.AddOp(OpCode::kCall, {0}, {again}, OptionsSpec(test::kCallOptions).Int(0, 1), 1);
  CHECK(test::TryOpenSession(endless).status().message().find("must not recurse") !=
        std::string::npos);

  ModelSpec no_options = DoublingSpec(1);
  no_options.main().ops[0].options = OptionsSpec();
  CHECK(test::TryOpenSession(no_options).status().message().find("missing") != std::string::npos);

  ModelSpec few = DoublingSpec(1);
  Outputs(&few, 2).pop_back();
  CHECK(test::TryOpenSession(few).status().message().find("has 2 outputs") != std::string::npos);

  ModelSpec no_bool = DoublingSpec(1);
  Outputs(&no_bool, 1) = {0};
  CHECK(test::TryOpenSession(no_bool).status().message().find("one bool") != std::string::npos);

  ModelSpec other_type = DoublingSpec(1);
  std::swap(Outputs(&other_type, 2)[0], Outputs(&other_type, 2)[1]);
  CHECK(test::TryOpenSession(other_type).status().code() == StatusCode::kInvalidModel);

  ModelSpec second = CallSpec(true);
  second.main().ops[0].options.type = 23;  // of another operator
  CHECK(test::TryOpenSession(second).status().message().find("(numbers of BuiltinOptions2") !=
        std::string::npos);
}

TEST_CASE("a loop stays on the CPU, what follows it does not", "[session]") {
  ModelSpec spec = DoublingSpec(3);
  const int z = spec.AddTensor("z", kF, {3});
  spec.AddOp(OpCode::kNeg, {spec.main().outputs[1]}, {z});
  spec.main().outputs = {z};
  SessionOptions options;
  options.devices.push_back(std::make_shared<test::FakeGpu>());
  const auto session = test::OpenSession(spec, options);
  const Plan& plan = session->plan();
  REQUIRE(plan.steps.size() == 2);
  CHECK(std::string(plan.steps[0].def->name()) == "WHILE");
  CHECK(plan.steps[0].reason.find("not on fake") != std::string::npos);
  CHECK(plan.steps[1].parts.size() == 1);
  test::SetInput<int32_t>(session.get(), 0, {0});
  test::SetInput<float>(session.get(), 1, {1, 2, 3});
  REQUIRE(session->Run().ToString() == "OK");  // the device fails, the CPU goes on
  CHECK(test::GetOutput<float>(*session, 0) == std::vector<float>{-8, -16, -24});
}

TEST_CASE("two clones loop at the same time", "[session]") {
  const auto first = test::OpenSession(DoublingSpec(20));
  auto second = first->Clone();
  REQUIRE(second.ok());
  bool failed[2] = {false, false};
  const auto work = [&](Session* session, float x, bool* out_failed) {
    for (int run = 0; run < 50; ++run) {
      session->input(0).as<int32_t>()[0] = 0;
      for (int k = 0; k < 3; ++k) session->input(1).as<float>()[k] = x;
      *out_failed |= !session->Run().ok();
      *out_failed |= session->output(1).as<float>()[1] != x * 1048576.0f;
    }
  };
  std::thread other([&] { work(second.value().get(), 3.0f, &failed[1]); });
  work(first.get(), 2.0f, &failed[0]);
  other.join();
  CHECK(!failed[0]);
  CHECK(!failed[1]);
}

}  // namespace control_flow_test
}  // namespace topwork
