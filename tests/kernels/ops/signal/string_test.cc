// Operators on strings and hash tables: golden cases, refusals, and the table itself.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/state/hash_table.h"
#include "runtime/tensor/strings.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace string_test {

TEST_CASE("strings: golden cases of what moves and compares them", "[ops][sets]") {
  RunOpCases("string_moves");
}
TEST_CASE("skip_gram: golden cases", "[ops][sets]") { RunOpCases("string_skip_gram"); }
TEST_CASE("hashtable: golden cases", "[ops][sets]") { RunOpCases("string_tables"); }
TEST_CASE("strings: golden cases of subgraphs", "[ops][sets]") { RunOpCases("string_graphs"); }

TEST_CASE("strings: operators that TFLite does not move them by refuse them", "[ops]") {
  CheckRefusals({
      {OneOp(OpCode::kTranspose)
           .Unknown(DType::kString, {2, 2})
           .In<int32_t>({2}, {1, 0})
           .Out(DType::kString),
       kUnsupported, "is string"},
      {OneOp(OpCode::kLess)
           .Unknown(DType::kString, {2})
           .Unknown(DType::kString, {2})
           .Out(DType::kBool),
       kUnsupported, "is string"},
      {OneOp(OpCode::kAssignVariable).Unknown(DType::kResource, {1}).Unknown(DType::kString, {2}),
       kUnsupported, "variables of type string"},
      {OneOp(OpCode::kReadVariable).Unknown(DType::kResource, {1}).Out(DType::kString),
       kUnsupported, "variables of type string"},
      // Bytes never become references.
      {OneOp(OpCode::kReshape)
           .Unknown(DType::kInt8, {16})
           .In<int32_t>({1}, {16})
           .Out(DType::kString),
       kInvalidModel, "string"},
  });
}

TEST_CASE("hashtable, skip_gram: refusals", "[ops]") {
  const auto refuses = [](DType key, DType value, const char* text) {
    OneOp op(OpCode::kHashtable);
    op.params.in_dtype = key;
    op.params.out_dtype = value;
    return Refusal(op.Out(DType::kResource), StatusCode::kUnsupported, text);
  };
  CHECK(refuses(DType::kString, DType::kString, "not string to string") == "");
  CHECK(refuses(DType::kInt32, DType::kFloat32, "not int32 to float32") == "");
  const OneOp hashtable_import = Accepted(OneOp(OpCode::kHashtableImport)
                                              .Unknown(DType::kResource, {1})
                                              .Unknown(DType::kString, {2})
                                              .Unknown(DType::kInt64, {2}));
  const OneOp hashtable_find = Accepted(OneOp(OpCode::kHashtableFind)
                                            .Unknown(DType::kResource, {1})
                                            .Unknown(DType::kString, {2})
                                            .Unknown(DType::kInt64, {1})
                                            .Out(DType::kInt64));
  CheckRefusals({
      {hashtable_import.With(1).Unknown(DType::kString, {2, 1}), kInvalidModel, "come in pairs"},
      {hashtable_import.With(0).Unknown(DType::kInt32, {1}), kUnsupported, "is int32"},
      {hashtable_find.With(2).Unknown(DType::kInt64, {0}), kInvalidModel, "is empty"},
      {hashtable_find.With(2).Unknown(DType::kFloat32, {1}).Out(0, DType::kFloat32), kUnsupported,
       "not string to float32"},
      {OneOp(OpCode::kHashtableSize).Unknown(DType::kResource, {2}).Out(DType::kInt64),
       kInvalidModel, "one handle"},
      {OneOp(OpCode::kSkipGram).Unknown(DType::kString, {0}).Out(DType::kString), kInvalidModel,
       "is empty"},
      {OneOp(OpCode::kSkipGram).Unknown(DType::kInt8, {1}).Out(DType::kString), kUnsupported,
       "is int8"},
  });
}

std::vector<StringRef> Refs(const std::vector<std::string>& texts) {
  std::vector<StringRef> strings;
  for (const std::string& text : texts) strings.push_back({text.data(), text.size()});
  return strings;
}

TEST_CASE("hash table: many keys by number and by string, and copies", "[ops]") {
  constexpr int64_t kN = 5000;
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < kN; ++i) {
    texts.push_back(i == 77 ? "" : "word " + std::to_string(i * 7919 % kN));
    numbers.push_back((i - kN / 2) * (int64_t{1} << 40));
  }
  // The first of equal keys counts.
  texts.push_back(texts[3]);
  numbers.push_back(numbers[3]);
  HashTable by_string(DType::kString), by_number(DType::kInt64);
  CHECK_FALSE(by_string.filled());
  CHECK(by_string.n_keys() == 0);
  CHECK(by_string.Find(StringRef()) == -1);
  for (HashTable* table : {&by_string, &by_number}) {
    REQUIRE(table->Fill(Refs(texts), numbers.data(), DefaultAllocator()).ok());
    CHECK(table->filled());
    CHECK(table->n_keys() == kN);
    CHECK(table->bytes() == HashTable::BytesFor(Refs(texts)));
  }
  auto copied = by_string.Copy(DefaultAllocator());
  REQUIRE(copied.ok());
  const HashTable& copy = static_cast<const HashTable&>(**copied);
  bool all = true;
  for (int64_t i = 0; i < kN; ++i) {
    const std::string own = texts[static_cast<size_t>(i)];  // not the table's own bytes
    const StringRef key = {own.data(), own.size()};
    const int64_t number = numbers[static_cast<size_t>(i)];
    all = all && by_string.Find(key) == i && copy.Find(key) == i && by_number.Find(number) == i &&
          by_string.number(i) == number && by_number.string(i) == key;
  }
  CHECK(all);
  CHECK(by_string.Find(StringRef{"word", 4}) == -1);
  CHECK(by_number.Find(1) == -1);
}

}  // namespace string_test
}  // namespace test
}  // namespace topwork
