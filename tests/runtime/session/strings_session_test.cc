// Strings at a session's borders, and hash tables that it keeps from run to run.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/session/verify.h"
#include "runtime/tensor/strings.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace strings_session_test {

using test::Bytes;
using test::ModelSpec;
using test::OpenSession;
using test::OpenSpec;
using test::OptionsSpec;
using test::ToBytes;
using Texts = std::vector<std::string>;

std::vector<StringRef> Refs(const Texts& texts) {
  std::vector<StringRef> strings;
  for (const std::string& text : texts) strings.push_back({text.data(), text.size()});
  return strings;
}

Bytes Table(const Texts& texts) {
  Bytes table(StringTableBytes(Refs(texts)));
  WriteStringTable(Refs(texts), table.data());
  return table;
}

Texts TextsOf(const TensorView& view) {
  Texts texts;
  for (const StringRef& string : StringsOf(view)) {
    texts.emplace_back(string.data, string.size);
    CHECK(string.data[string.size] == '\0');
  }
  return texts;
}

// Outputs: x in reverse order, whether each is "yes", x itself, a constant.
std::shared_ptr<const Model> ReverseModel() {
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kString, {3});
  spec.main().tensors.back().signature = {-1};
  spec.AddInput("number", DType::kFloat32, {1});
  const auto at = [&](int32_t value) {
    return spec.AddConstant("at", DType::kInt32, {1}, ToBytes<int32_t>({value}));
  };
  const int reversed = spec.AddTensor("reversed", DType::kString, {3});
  spec.AddOp(OpCode::kStridedSlice, {x, at(0), at(0), at(-1)}, {reversed},
             OptionsSpec(test::kStridedSliceOptions).Int(0, 1).Int(1, 1));
  const int yes = spec.AddConstant("yes", DType::kString, {1}, Table({"yes"}));
  const int equal = spec.AddTensor("equal", DType::kBool, {3});
  spec.AddOp(OpCode::kEqual, {x, yes}, {equal});
  spec.main().outputs = {reversed, equal, x, yes};
  return OpenSpec(spec);
}

TEST_CASE("strings go through a session, and its outputs depend on nothing else", "[session]") {
  const auto session = OpenSession(ReverseModel());
  for (int i : {0, 2, 3}) CHECK(session->output(i).data == nullptr);
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(TextsOf(session->output(0)) == Texts(3));
  const Texts texts = {"yes", "", std::string("a\0b", 3)};
  REQUIRE(session->WriteStrings(0, Refs(texts)).ToString() == "OK");
  REQUIRE(session->Run().ToString() == "OK");
  REQUIRE(session->WriteStrings(0, Refs({"other", "words", "now"})).ToString() == "OK");
  const Texts reversed = {texts[2], "", "yes"};
  CHECK(TextsOf(session->output(0)) == reversed);
  CHECK(TextsOf(session->output(2)) == texts);
  CHECK(TextsOf(session->output(3)) == Texts{"yes"});
  CHECK(session->output(1).as<uint8_t>()[0] == 1);
  CHECK(session->output(1).as<uint8_t>()[1] == 0);
  // An output, and the input itself, as the next input.
  REQUIRE(session->WriteStrings(0, StringsOf(session->output(0))).ToString() == "OK");
  const std::vector<StringRef> own = {session->input(0).as<StringRef>()[1],
                                      session->input(0).as<StringRef>()[0],
                                      session->input(0).as<StringRef>()[0]};
  REQUIRE(session->WriteStrings(0, own).ToString() == "OK");
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(TextsOf(session->output(2)) == Texts{"", texts[2], texts[2]});
  const auto clone = session->Clone();
  REQUIRE(clone.ok());
  REQUIRE((*clone)->Run().ToString() == "OK");
  CHECK(TextsOf((*clone)->output(0)) == Texts(3));
}

TEST_CASE("strings: a resize empties an input, what does not fit is refused", "[session]") {
  const auto session = OpenSession(ReverseModel());
  const auto says = [](const Status& status, const char* text) {
    INFO(status.ToString());
    return !status.ok() && status.message().find(text) != std::string::npos;
  };
  REQUIRE(session->WriteStrings(0, Refs({"a", "b", "c"})).ok());
  CHECK(says(session->WriteStrings(0, Refs({"a"})), "it cannot take 1 strings"));
  CHECK(says(session->WriteStrings(1, Refs({"a"})), "is float32 [1]"));
  CHECK(says(session->WriteStrings(2, Refs({"a"})), "does not exist"));
  StringRef other[3];
  CHECK(session->BindInput(0, other, sizeof(other)).code() == StatusCode::kUnsupported);
  CHECK(session->BindOutput(0, other, sizeof(other)).code() == StatusCode::kUnsupported);
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(TextsOf(session->output(2)) == Texts{"a", "b", "c"});
  REQUIRE(session->ResizeInput(0, Shape({2})).ok());
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(TextsOf(session->output(0)) == Texts(2));
  REQUIRE(session->ResizeInput(0, Shape({0})).ok());
  REQUIRE(session->Prepare().ok());
  REQUIRE(session->WriteStrings(0, {}).ok());
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(session->output(0).shape == Shape({0}));
}

TEST_CASE("strings count towards the memory limit", "[session]") {
  SessionOptions options;
  options.memory_limit_bytes = 100000;
  const auto session = OpenSession(ReverseModel(), options);
  const size_t before = session->memory_bytes();
  const std::string text(20000, 't');
  REQUIRE(session->WriteStrings(0, Refs({text, "b", "c"})).ToString() == "OK");
  CHECK(session->memory_bytes() >= before + text.size());
  // Outputs 0 and 2 are copies.
  REQUIRE(session->Run().ToString() == "OK");
  REQUIRE(session->WriteStrings(0, Refs({text, text, "c"})).ToString() == "OK");
  CHECK(session->Run().code() == StatusCode::kOutOfMemory);
  CHECK(session->output(0).data == nullptr);
  CHECK(session->WriteStrings(0, Refs({text, text, text + text + text})).code() ==
        StatusCode::kOutOfMemory);
  REQUIRE(session->WriteStrings(0, Refs({"few", "", ""})).ToString() == "OK");
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(TextsOf(session->output(0)) == Texts{"", "", "few"});
}

// Refuses blocks of `refused` bytes, or as many more as align them.
size_t refused = 0;
void* Allocate(void*, size_t bytes, size_t alignment) {
  if (refused > 0 && bytes >= refused && bytes < refused + 64) return nullptr;
  return DefaultAllocator().allocate(DefaultAllocator().user_data, bytes, alignment);
}

TEST_CASE("strings: a resize that finds no memory for them leaves the threads as they were",
          "[session]") {
  ModelSpec spec;
  const int s = spec.AddInput("s", DType::kString, {2});
  spec.main().tensors.back().signature = {-1};
  const int x = spec.AddInput("x", DType::kFloat32, {1, 64});
  spec.main().tensors.back().signature = {-1, 64};
  const int w = spec.AddConstant("w", DType::kFloat32, {64, 64}, Bytes(64 * 64 * 4));
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 64});
  spec.AddOp(OpCode::kFullyConnected, {x, w, -1}, {y}, OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {y, s};
  Allocator allocator = DefaultAllocator();
  allocator.allocate = Allocate;
  SessionOptions options;
  options.allocator = &allocator;
  options.processors = std::make_shared<port::Processors>(port::Processors{2, 2, 2, 0.0});
  const auto session = Session::Create(OpenSpec(spec), options);
  REQUIRE(session.status().ToString() == "OK");
  REQUIRE((*session)->threads().n_threads == 1);  // one row is too little to share
  REQUIRE((*session)->ResizeInput(0, Shape({701})).ok());
  REQUIRE((*session)->ResizeInput(1, Shape({20000, 64})).ok());
  refused = 701 * sizeof(StringRef);
  CHECK((*session)->Prepare().code() == StatusCode::kOutOfMemory);
  refused = 0;
  CHECK((*session)->threads().n_threads == 1);
  CHECK((*session)->Run().ToString() == "OK");
  REQUIRE((*session)->ResizeInput(0, Shape({701})).ok());
  REQUIRE((*session)->ResizeInput(1, Shape({20000, 64})).ok());
  REQUIRE((*session)->Run().ToString() == "OK");
  CHECK((*session)->threads().n_threads == 2);
}

TEST_CASE("strings: a session is compared with the CPU's text by text", "[session]") {
  const auto session = OpenSession(ReverseModel());
  REQUIRE(session->WriteStrings(0, Refs({"yes", "no", "long enough to lie elsewhere"})).ok());
  const auto verified = Verify(session.get(), 0.0);
  REQUIRE(verified.status().ToString() == "OK");
  CHECK(verified->agrees);
  CHECK(verified->layers.size() == 2);
}

int AddTable(ModelSpec* spec, int subgraph) {
  const int handle = spec->AddTensor("handle", DType::kResource, {1}, subgraph);
  spec->AddOp(OpCode::kHashtable, {}, {handle},
              OptionsSpec(test::kHashtableOptions).Int(0, 9).Byte(1, 4).Byte(2, 5), subgraph);
  return handle;
}

// main: the labels of x, and how many there are; CALL_ONCE fills the table where `once`.
// Subgraph 1 fills it.
ModelSpec LabelSpec(bool once) {
  ModelSpec spec;
  spec.subgraphs.resize(2);
  const int keys = spec.AddConstant("keys", DType::kInt64, {2}, ToBytes<int64_t>({7, -1}), 1);
  const int labels = spec.AddConstant("labels", DType::kString, {2}, Table({"cat", "a dog"}), 1);
  const int filled = AddTable(&spec, 1);
  spec.AddOp(OpCode::kHashtableImport, {filled, keys, labels}, {}, OptionsSpec(), 1);
  if (once) spec.AddOp(OpCode::kCallOnce, {}, {}, OptionsSpec(test::kCallOnceOptions).Int(0, 1));
  const int x = spec.AddInput("x", DType::kInt64, {3});
  const int unknown = spec.AddInput("unknown", DType::kString, {1});
  const int handle = AddTable(&spec, 0);
  const int found = spec.AddTensor("found", DType::kString, {3});
  const int size = spec.AddTensor("size", DType::kInt64, {1});
  spec.AddOp(OpCode::kHashtableFind, {handle, x, unknown}, {found});
  spec.AddOp(OpCode::kHashtableSize, {handle}, {size});
  spec.main().outputs = {found, size};
  return spec;
}

void WriteKeys(Session* session, const std::string& unknown) {
  const int64_t keys[] = {-1, 7, 8};
  std::copy(keys, keys + 3, session->input(0).as<int64_t>());
  REQUIRE(session->WriteStrings(1, Refs({unknown})).ok());
}

TEST_CASE("a hash table is filled once and lives in the session's state", "[session]") {
  const auto model = OpenSpec(LabelSpec(true));
  const auto session = OpenSession(model);
  CHECK(session->plan().keeps_state);
  WriteKeys(session.get(), "?");
  const size_t before = session->memory_bytes();
  for (int run = 0; run < 3; ++run) {
    REQUIRE(session->Run().ToString() == "OK");
    CHECK(TextsOf(session->output(0)) == Texts{"a dog", "cat", "?"});
    CHECK(session->output(1).as<int64_t>()[0] == 2);
    if (run == 1) session->ResetState();
  }
  CHECK(session->memory_bytes() > before);
  session->ResetState();
  CHECK(TextsOf(session->output(0)) == Texts{"a dog", "cat", "?"});  // outputs are the session's
}

TEST_CASE("a hash table is shared with the state, and reset with it", "[session]") {
  const auto model = OpenSpec(LabelSpec(false));
  const auto reader = OpenSession(model);
  WriteKeys(reader.get(), "none");
  const Status unfilled = reader->Run();
  CHECK(unfilled.code() == StatusCode::kFailedPrecondition);
  CHECK(unfilled.message().find("the hash table '9' is read before") != std::string::npos);
  SessionOptions options;
  options.subgraph = 1;
  options.state = reader->state();
  const auto writer = OpenSession(model, options);
  REQUIRE(writer->Run().ToString() == "OK");
  REQUIRE(writer->Run().ToString() == "OK");
  REQUIRE(reader->Run().ToString() == "OK");
  CHECK(TextsOf(reader->output(0)) == Texts{"a dog", "cat", "none"});
  writer->ResetState();
  CHECK(TextsOf(reader->output(0)) == Texts{"a dog", "cat", "none"});
  CHECK(reader->Run().code() == StatusCode::kFailedPrecondition);
}

TEST_CASE("a hash table counts towards the memory limit", "[session]") {
  SessionOptions options;
  options.memory_limit_bytes = 700;
  const auto session = OpenSession(OpenSpec(LabelSpec(true)), options);
  WriteKeys(session.get(), "");
  REQUIRE(session->Run().ToString() == "OK");
  ModelSpec spec = LabelSpec(true);
  spec.buffers[spec.subgraphs[1].tensors[1].buffer].data = Table({std::string(900, 'c'), "d"});
  const auto larger = OpenSession(OpenSpec(spec), options);
  WriteKeys(larger.get(), "");
  CHECK(larger->Run().code() == StatusCode::kOutOfMemory);
}

TEST_CASE("tables of other types under one number do not meet", "[session]") {
  ModelSpec spec = LabelSpec(true);
  spec.subgraphs[1].ops[0].options =
      OptionsSpec(test::kHashtableOptions).Int(0, 9).Byte(1, 5).Byte(2, 4);
  const auto session = OpenSession(OpenSpec(spec));
  WriteKeys(session.get(), "");
  const Status status = session->Run();
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK(status.message().find("maps string to int64, not int64 to string") != std::string::npos);
}

}  // namespace strings_session_test
}  // namespace topwork
