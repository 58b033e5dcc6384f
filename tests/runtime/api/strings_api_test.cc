// C API and C++ wrapper: inputs and outputs of strings.
#include <cstring>

#include "runtime/tensor/strings.h"
#include "tests/runtime/api/support.h"
#include "tests/support/model_builder.h"
#include "topwork/topwork.hpp"

namespace topwork {
namespace strings_api_test {

using namespace api_test;

// y: x as a column; n: whether x is "b".
test::Bytes ColumnModel() {
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kString, {2});
  const int y = spec.AddTensor("y", DType::kString, {2, 1});
  const int shape = spec.AddConstant("shape", DType::kInt32, {2}, test::ToBytes<int32_t>({-1, 1}));
  spec.AddOp(OpCode::kReshape, {x, shape}, {y});
  const StringRef b = {"b", 1};
  test::Bytes table(StringTableBytes({&b, 1}));
  WriteStringTable({&b, 1}, table.data());
  const int letter = spec.AddConstant("letter", DType::kString, {}, table);
  const int n = spec.AddTensor("n", DType::kBool, {2});
  spec.AddOp(OpCode::kEqual, {x, letter}, {n});
  spec.main().outputs = {y, n};
  return test::BuildModel(spec);
}

TEST_CASE("strings are written and read through the C API", "[api]") {
  const test::Bytes bytes = ColumnModel();
  tw_model* opened = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &opened) == TW_STATUS_OK);
  const ModelPtr model(opened);
  const SessionPtr owner = MakeSession(model.get());
  tw_session* const session = owner.get();
  CHECK(InputInfo(session, 0).dtype == TW_DTYPE_STRING);
  CHECK(InputInfo(session, 0).bytes == 2 * sizeof(tw_string));
  CHECK(OutputInfo(session, 0).data == nullptr);
  const tw_string texts[] = {{"b", 1}, {"two\0words", 9}};
  REQUIRE(tw_session_write_strings(session, 0, texts, 2) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session) == TW_STATUS_OK);
  const tw_tensor_info y = OutputInfo(session, 0);
  REQUIRE(y.rank == 2);
  CHECK(y.dims[0] == 2);
  const tw_string* const got = static_cast<const tw_string*>(y.data);
  CHECK(std::strcmp(got[0].data, "b") == 0);
  REQUIRE(got[1].bytes == 9);
  CHECK(std::memcmp(got[1].data, "two\0words", 10) == 0);
  uint8_t equal[2] = {};
  REQUIRE(tw_session_read_output(session, 1, equal, 2) == TW_STATUS_OK);
  CHECK(equal[0] == 1);
  CHECK(equal[1] == 0);
}

TEST_CASE("strings: what the C API refuses", "[api]") {
  const test::Bytes bytes = ColumnModel();
  tw_model* opened = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &opened) == TW_STATUS_OK);
  const ModelPtr model(opened);
  const SessionPtr owner = MakeSession(model.get());
  tw_session* const s = owner.get();
  tw_string texts[] = {{"b", 1}, {nullptr, 0}, {nullptr, 3}};
  REQUIRE(tw_session_write_strings(s, 0, texts, 2) == TW_STATUS_OK);
  const tw_status bad = TW_STATUS_INVALID_ARGUMENT;
  RequireError(tw_session_write_strings(s, 0, texts, 3), bad, "strings[2].data is NULL");
  RequireError(tw_session_write_strings(s, 0, texts, 1), bad, "cannot take 1 strings");
  RequireError(tw_session_write_strings(s, 1, texts, 1), bad, "input 1 does not exist");
  const tw_status cannot = TW_STATUS_UNSUPPORTED;
  RequireError(tw_session_write_input(s, 0, texts, 2 * sizeof(tw_string)), cannot,
               "tw_session_write_strings");
  REQUIRE(tw_session_run(s) == TW_STATUS_OK);
  RequireError(tw_session_read_output(s, 0, texts, 2 * sizeof(tw_string)), cannot,
               "tw_session_get_output");
  RequireError(tw_session_bind_input(s, 0, texts, sizeof(texts)), cannot, "cannot be bound");
  char* const odd = reinterpret_cast<char*>(texts) + 1;  // the same wherever the buffer lies
  RequireError(tw_session_bind_input(s, 0, odd, sizeof(texts) - 1), cannot, "cannot be bound");
  RequireError(tw_session_bind_output(s, 0, texts, sizeof(texts)), cannot, "cannot be bound");
}

TEST_CASE("strings are written and read through the C++ wrapper", "[api]") {
  const test::Bytes bytes = ColumnModel();
  tw::Result<tw::Model> model = tw::Model::OpenMemory(bytes.data(), bytes.size());
  REQUIRE(model.ok());
  tw::Result<tw::Session> session = tw::Session::Create(*model);
  REQUIRE(session.ok());
  CHECK(session->ReadStrings(0)->empty());
  REQUIRE(session->WriteStrings(0, {"", "b"}).ok());
  CHECK_FALSE(session->WriteStrings(0, {"b"}).ok());
  REQUIRE(session->Run().ok());
  CHECK(*session->ReadStrings(0) == std::vector<std::string>{"", "b"});
  CHECK(session->ReadStrings(1)->empty());
  const tw::Result<tw::Tensor> equal = session->Output(1);
  CHECK_FALSE(equal->as<bool>()[0]);
  CHECK(equal->as<bool>()[1]);
}

// y[0] = x[1], y[1] = "made here", y[2] is not set.
tw_status PreparePick(void*, void*, tw_op_call* call) {
  call->outputs[0]->rank = 1;
  call->outputs[0]->dims[0] = 3;
  return TW_STATUS_OK;
}

tw_status RunPick(void*, void*, const tw_op_call* call) {
  const tw_string* const x = static_cast<const tw_string*>(call->inputs[0]->data);
  tw_string* const y = static_cast<tw_string*>(call->outputs[0]->data);
  if (call->outputs[0]->bytes != 3 * sizeof(tw_string)) return TW_STATUS_INTERNAL;
  y[0] = x[1];
  y[1] = {"made here", 9};
  return TW_STATUS_OK;
}

TEST_CASE("strings: custom operators read and make them", "[api]") {
  tw_custom_op pick = {};
  pick.struct_size = sizeof(pick);
  pick.name = "TopworkPick";
  pick.prepare = PreparePick;
  pick.run = RunPick;
  REQUIRE(tw_op_register(&pick) == TW_STATUS_OK);
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kString, {2});
  const int y = spec.AddTensor("y", DType::kString, {3});
  test::OpSpec op;
  op.opcode = spec.AddCode(OpCode::kCustom, "TopworkPick");
  op.inputs = {x};
  op.outputs = {y};
  spec.main().ops.push_back(op);
  spec.main().outputs = {y};
  const test::Bytes bytes = test::BuildModel(spec);
  tw::Result<tw::Model> model = tw::Model::OpenMemory(bytes.data(), bytes.size());
  REQUIRE(model.ok());
  tw::Result<tw::Session> session = tw::Session::Create(*model);
  REQUIRE(session.ok());
  for (const char* text : {"one", "another"}) {
    REQUIRE(session->WriteStrings(0, {"", text}).ok());
    REQUIRE(session->Run().ok());
    CHECK(*session->ReadStrings(0) == std::vector<std::string>{text, "made here", ""});
  }
}

#ifdef TW_HAVE_TRAIN
// FULLY_CONNECTED of f, and where x is "b".
test::Bytes ClassifierWithStrings() {
  test::ModelSpec spec;
  const int f = spec.AddInput("f", DType::kFloat32, {1, 4});
  const int x = spec.AddInput("x", DType::kString, {1});
  const int w = spec.AddConstant("w", DType::kFloat32, {3, 4}, test::Bytes(3 * 4 * sizeof(float)));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 3});
  spec.AddOp(OpCode::kFullyConnected, {f, w, -1}, {y},
             test::OptionsSpec(test::kFullyConnectedOptions));
  const int n = spec.AddTensor("n", DType::kBool, {1});
  spec.AddOp(OpCode::kEqual, {x, x}, {n});
  spec.main().outputs = {y, n};
  return test::BuildModel(spec);
}

TEST_CASE("strings: examples for training and calibration cannot be made of them", "[api]") {
  const test::Bytes bytes = ClassifierWithStrings();
  tw_model* opened = nullptr;
  REQUIRE(tw_model_open_memory(bytes.data(), bytes.size(), 1, &opened) == TW_STATUS_OK);
  const ModelPtr model(opened);
  tw_trainer* trainer = nullptr;
  RequireError(tw_trainer_create(model.get(), nullptr, &trainer), TW_STATUS_UNSUPPORTED,
               "input 1 'x' holds strings");
  tw_quantizer_options options = {};
  options.struct_size = sizeof(options);
  options.target = TW_QUANTIZE_INT8;
  tw_quantizer* quantizer = nullptr;
  REQUIRE(tw_quantizer_create(model.get(), &options, &quantizer) == TW_STATUS_OK);
  tw_examples examples = {};
  examples.struct_size = sizeof(examples);
  examples.n_examples = 1;
  examples.read = [](void*, int64_t, void* const*, size_t, int64_t*) { return TW_STATUS_OK; };
  RequireError(tw_quantizer_add_examples(quantizer, &examples), TW_STATUS_UNSUPPORTED,
               "input 1 'x' holds strings");
  tw_quantizer_free(quantizer);
}
#endif

}  // namespace strings_api_test
}  // namespace topwork
