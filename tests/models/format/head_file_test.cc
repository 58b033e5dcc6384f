// Head files: what goes in comes out, and every kind of damage is refused with its reason.
#include "models/format/head_file.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "models/format/checkpoint_file.h"
#include "runtime/base/record_file.h"

namespace topwork {
namespace head_file_test {

HeadData Sample() {
  HeadData data;
  data.model_sha256 = std::string(64, 'a');
  data.output = 1;
  data.appended = true;
  data.dim = 3;
  data.n_classes = 2;
  data.class_names = {"cat", "\xC3\xA9l\xC3\xA9phant"};
  data.loss = 1;
  data.temperature = 1.75f;
  data.parameters = {{"head/weights", {2, 3}, {0.5f, -1.0f, 2.0f, 3.5f, -0.0f, 1e-30f}},
                     {"head/bias", {2}, {0.25f, -4.0f}}};
  return data;
}

std::string Refusal(const HeadData& data) {
  const auto decoded = DecodeHead(EncodeHead(data));
  REQUIRE_FALSE(decoded.ok());
  return decoded.status().ToString();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("head file: what goes in comes out", "[format]") {
  const HeadData data = Sample();
  const auto decoded = DecodeHead(EncodeHead(data));
  REQUIRE(decoded.status().ToString() == "OK");
  CHECK(decoded->model_sha256 == data.model_sha256);
  CHECK(decoded->output == 1);
  CHECK(decoded->appended);
  CHECK(decoded->dim == 3);
  CHECK(decoded->n_classes == 2);
  CHECK(decoded->class_names == data.class_names);
  CHECK(decoded->loss == 1);
  CHECK(decoded->temperature == 1.75f);
  REQUIRE(decoded->parameters.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(decoded->parameters[i].name == data.parameters[i].name);
    CHECK(decoded->parameters[i].dims == data.parameters[i].dims);
    CHECK(decoded->parameters[i].values == data.parameters[i].values);
  }
  CHECK(EncodeHead(decoded.value()) == EncodeHead(data));
}

TEST_CASE("head file: every flipped bit and every prefix is refused", "[format]") {
  std::vector<uint8_t> bytes = EncodeHead(Sample());
  REQUIRE(DecodeHead(bytes).ok());
  size_t n_refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    n_refused += DecodeHead(bytes).status().code() == StatusCode::kCorrupt ? 1 : 0;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  CHECK(n_refused == bytes.size() * 8);
  n_refused = 0;
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Span<const uint8_t> prefix(bytes.data(), n);
    n_refused += DecodeHead(prefix).status().code() == StatusCode::kCorrupt ? 1 : 0;
  }
  CHECK(n_refused == bytes.size());
  bytes.push_back(0);
  CHECK(Contains(DecodeHead(bytes).status().message(), "the head file is too long"));
  bytes.resize(bytes.size() - 2);
  CHECK(Contains(DecodeHead(bytes).status().message(), "the head file is truncated"));
}

TEST_CASE("head file: other files are refused as such", "[format]") {
  const std::vector<uint8_t> checkpoint = EncodeCheckpoint(CheckpointData()).value();
  CHECK(DecodeHead(checkpoint).status().message() == "this is not a Topwork head file");
  CHECK(DecodeCheckpoint(EncodeHead(Sample())).status().message() ==
        "this is not a Topwork checkpoint");
  // A sound record around something else: a checksum is no signature.
  const RecordId id = {RecordKind::kHead, 1, ""};
  std::vector<uint8_t> noise(200);
  for (size_t seed = 0; seed < 500; ++seed) {
    for (size_t i = 0; i < noise.size(); ++i) {
      noise[i] = static_cast<uint8_t>((i + 1) * (seed + 3) * 2654435761u >> 13);
    }
    CHECK(DecodeHead(PackRecord(id, noise)).status().code() == StatusCode::kCorrupt);
  }
  CHECK(DecodeHead(PackRecord(id, {})).status().code() == StatusCode::kCorrupt);
}

TEST_CASE("head file: payloads changed under a new checksum never crash", "[format]") {
  const RecordId id = {RecordKind::kHead, 1, ""};
  const std::vector<uint8_t> sound = EncodeHead(Sample());
  const std::vector<uint8_t> payload(sound.begin() + 64, sound.end());
  int n_refused = 0;
  for (size_t i = 0; i < payload.size(); ++i) {
    for (int value : {0, 1, 127, 255}) {
      std::vector<uint8_t> changed = payload;
      changed[i] = static_cast<uint8_t>(value);
      const auto decoded = DecodeHead(PackRecord(id, changed));
      if (!decoded.ok()) {
        ++n_refused;
        continue;
      }
      for (const NamedArray& array : decoded->parameters) {
        for (float x : array.values) CHECK(std::isfinite(x));
      }
    }
  }
  CHECK(n_refused > 100);
}

TEST_CASE("head file: contents that contradict themselves are refused", "[format]") {
  HeadData data = Sample();
  data.parameters[0].dims = {2, 4};
  CHECK(Contains(Refusal(data), "'head/weights' has 6 values, not those of its shape"));
  data.parameters[0].dims = {INT64_MAX, INT64_MAX};
  CHECK(Contains(Refusal(data), "not those of its shape"));
  data.parameters[0].dims = {};
  CHECK(Contains(Refusal(data), "not those of its shape"));
  data = Sample();
  data.parameters[1].values[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(Contains(Refusal(data), "a value of 'head/bias' that is not finite"));
  data = Sample();
  data.parameters[1].name = "head/weights";
  CHECK(Contains(Refusal(data), "two parameters named 'head/weights'"));
  data = Sample();
  data.class_names.pop_back();
  CHECK(Contains(Refusal(data), "2 classes, 1 class names"));
  data = Sample();
  data.temperature = 0.0f;
  CHECK(Contains(Refusal(data), "the temperature 0"));
  data = Sample();
  data.parameters.clear();
  CHECK(Contains(Refusal(data), "0 parameters"));
  data = Sample();
  data.dim = 0;
  CHECK(Contains(Refusal(data), "0 features"));
}

}  // namespace head_file_test
}  // namespace topwork
