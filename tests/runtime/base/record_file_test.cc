// Record files: what goes in comes out; damage, other kinds, versions and keys are told apart.
#include "runtime/base/record_file.h"

#include <catch2/catch.hpp>

#include "ports/port.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace record_file_test {

constexpr RecordKind kKinds[] = {RecordKind::kCheckpoint, RecordKind::kHead,
                                 RecordKind::kProgram,    RecordKind::kTuning,
                                 RecordKind::kNumbers,    RecordKind::kFeatures};

const std::vector<uint8_t> kPayload = {1, 2, 3, 0, 255, 7, 8, 9, 10};

RecordId Id(const std::string& key = "made from this") { return {RecordKind::kNumbers, 3, key}; }

Status Refusal(const std::vector<uint8_t>& bytes) { return UnpackRecord(Id(), bytes).status(); }

TEST_CASE("record file: every payload comes back, behind every key", "[base]") {
  for (size_t key : {0, 1, 15, 16, 17, 1000}) {
    for (size_t n : {0, 1, 63, 64, 1000}) {
      INFO("key " << key << ", payload " << n);
      const RecordId id = Id(std::string(key, '\n'));
      const std::vector<uint8_t> payload(n, 0x5a);
      const std::vector<uint8_t> bytes = PackRecord(id, payload);
      CHECK((bytes.size() - n) % 64 == 0);
      const auto found = UnpackRecord(id, bytes);
      REQUIRE(found.status().ToString() == "OK");
      CHECK(std::vector<uint8_t>(found->begin(), found->end()) == payload);
      const auto copy = CopyRecord(id, bytes);
      REQUIRE(copy.ok());
      CHECK(copy->size() == n);
    }
  }
}

TEST_CASE("record file: every flipped bit, every prefix and every added byte is noticed",
          "[base]") {
  std::vector<uint8_t> bytes = PackRecord(Id(), kPayload);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    INFO("bit " << bit % 8 << " of byte " << bit / 8);
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    REQUIRE(Refusal(bytes).code() == StatusCode::kCorrupt);
    // Whatever bit it is, the file is still known for what it was.
    REQUIRE(IsRecord(RecordKind::kNumbers, bytes));
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  for (size_t n = 0; n < bytes.size(); ++n) {
    INFO(n << " bytes");
    const Span<const uint8_t> prefix(bytes.data(), n);
    REQUIRE(UnpackRecord(Id(), prefix).status().code() == StatusCode::kCorrupt);
    REQUIRE(IsRecord(RecordKind::kNumbers, prefix) == (n > 0));
  }
  bytes.push_back(0);
  CHECK(Refusal(bytes).message() ==
        "the measurement is too long: 10 bytes behind its header, expected 9");
  bytes.resize(bytes.size() - 2);
  CHECK(Refusal(bytes).message() ==
        "the measurement is truncated: 8 bytes behind its header, expected 9");
}

TEST_CASE("record file: another version, key or kind is said", "[base]") {
  const std::vector<uint8_t> newer = PackRecord({RecordKind::kNumbers, 4, "made from this"}, {});
  CHECK(Refusal(newer).ToString() ==
        "UNSUPPORTED: the measurement has format 4, this version reads 3");
  const std::vector<uint8_t> other = PackRecord(Id("made from that"), kPayload);
  CHECK(Refusal(other).code() == StatusCode::kNotFound);
  for (RecordKind is : kKinds) {
    const std::vector<uint8_t> bytes = PackRecord({is, 1, ""}, kPayload);
    for (RecordKind wanted : kKinds) {
      CHECK(IsRecord(wanted, bytes) == (wanted == is));
      const Status status = UnpackRecord({wanted, 1, ""}, bytes).status();
      CHECK(status.ok() == (wanted == is));
      if (wanted == is) continue;
      CHECK(status.message() == std::string("this is not a Topwork ") + RecordNoun(wanted));
    }
  }
  for (const char* text : {"", "x", "TOPWOOD", "Dear Sir or Madam, enclosed you find"}) {
    const std::string letter = text;
    const std::vector<uint8_t> bytes(letter.begin(), letter.end());
    CHECK_FALSE(IsRecord(RecordKind::kNumbers, bytes));
    CHECK(Refusal(bytes).message() == "this is not a Topwork measurement");
  }
}

TEST_CASE("record file: a length that no file has is refused", "[base]") {
  const std::vector<uint8_t> growing = MakeGrowingHeader(Id());
  CHECK(ReadRecordHeader(RecordKind::kNumbers, growing)->payload_bytes == kGrows);
  CHECK(Refusal(growing).code() == StatusCode::kCorrupt);
}

TEST_CASE("record file: a cache finds what is sound and within bounds, and nothing else",
          "[base]") {
  const test::TempFolder temp;
  const std::string folder = temp / "a/b";
  const std::string path = folder + "/file";
  std::vector<uint8_t> out = {42};
  CHECK_FALSE(LoadRecord(path, Id(), 100, &out));
  REQUIRE(KeepRecord(folder, path, Id(), kPayload));
  CHECK_FALSE(LoadRecord(path, Id("else"), 100, &out));
  CHECK_FALSE(LoadRecord(path, Id(), kPayload.size() - 1, &out));
  CHECK_FALSE(LoadRecord(folder, Id(), 100, &out));
  CHECK(out == std::vector<uint8_t>{42});
  REQUIRE(LoadRecord(path, Id(), kPayload.size(), &out));
  CHECK(out == kPayload);
  std::vector<port::FolderEntry> files;
  REQUIRE(port::ListFiles(folder.c_str(), &files) == 0);
  CHECK(files.size() == 1);
  CHECK_FALSE(KeepRecord("", "file", Id(), kPayload));
  CHECK_FALSE(KeepRecord(path + "/below", path + "/below/file", Id(), kPayload));
  CHECK(WriteRecord(temp / "no/such", Id(), kPayload)
            .message()
            .find("cannot write the measurement '" + (temp / "no/such")) == 0);
}

}  // namespace record_file_test
}  // namespace topwork
