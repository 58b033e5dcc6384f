// The golden-case reader refuses damaged files, and the comparison sees every kind of difference.
#include "tests/support/op_cases.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/embedded.h"

namespace topwork {
namespace test {
namespace {

constexpr int kFloat32 = 0, kFloat16 = 1, kInt32 = 2;
const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
std::string Compare(int dtype, const std::vector<T>& want, const std::vector<T>& got, float rtol) {
  CaseTensor reference;
  reference.dtype = dtype;
  reference.dims = {static_cast<int32_t>(want.size())};
  reference.data = reinterpret_cast<const uint8_t*>(want.data());
  reference.n_bytes = want.size() * sizeof(T);
  const std::vector<int32_t> dims = {static_cast<int32_t>(got.size())};
  return CompareWithReference(reference, dtype, dims, got.data(), got.size() * sizeof(T), rtol);
}

std::string CompareFloats(const std::vector<float>& want, const std::vector<float>& got,
                          float rtol) {
  return Compare(kFloat32, want, got, rtol);
}

}  // namespace

TEST_CASE("every golden file can be read", "[meta]") {
  const auto all = [](const OpCase&) { return true; };
  const size_t n_cases = ForEachCase(all, [](const OpCase& op_case) {
    REQUIRE(reinterpret_cast<uintptr_t>(op_case.model) % 16 == 0);
    REQUIRE(std::memcmp(op_case.model + 4, "TFL3", 4) == 0);
    REQUIRE(op_case.refused == op_case.outputs.empty());
  });
  CHECK(n_cases > 2000);
}

TEST_CASE("golden cases are found by file and by what they ask for", "[meta]") {
  CHECK(CaseFiles("conv_2d") == std::vector<std::string>{"conv_2d"});
  CHECK(CaseFiles("no_such_file").empty());
  CHECK(CaseFiles("control_").size() >= 4);
  const auto in_file = [](const char* file, bool (*passes)(const OpCase&)) {
    size_t n = 0;
    for (const OpCase& op_case : CasesOf(file)) {
      CHECK(op_case.file == file);
      n += passes(op_case) ? 1 : 0;
    }
    const size_t n_visited =
        ForEachCase([&](const OpCase& op_case) { return op_case.file == file && passes(op_case); },
                    [&](const OpCase& op_case) { CHECK(op_case.file == file); });
    CHECK(n_visited == n);
    return n;
  };
  CHECK(in_file("model_signatures", OpensModel) == 3);
  CHECK(in_file("model_signatures", OpensFirstSubgraph) == 1);
  CHECK(in_file("model_dynamic_batch", OpensModel) < in_file("model_dynamic_batch", IsAccepted));
}

TEST_CASE("signatures and shared sessions are marked", "[meta]") {
  std::vector<OpCase> cases = CasesOf("model_signatures");
  REQUIRE(cases.size() == 3);
  CHECK(cases[0].name == "scale");
  CHECK(cases[0].signature == "scale");
  CHECK(cases[1].signature == "add");
  CHECK(cases[2].signature.empty());
  cases = CasesOf("model_dynamic_batch");
  CHECK(!cases[0].same_session);
  CHECK(cases[1].same_session);
  CHECK(cases[1].model == cases[0].model);
  CHECK(cases[1].inputs[0].dims[0] == 3);
}

TEST_CASE("a golden file cut anywhere is refused", "[meta]") {
  const EmbeddedFile* file = FindEmbedded("tests/data/ops/model_signatures.twcases");
  REQUIRE(file != nullptr);
  std::vector<OpCase> cases;
  for (size_t size = 0; size < file->size; ++size) {
    const std::vector<uint8_t> cut(file->data, file->data + size);
    if (ReadOpCases(cut.data(), size, &cases).empty()) FAIL("accepted " << size << " bytes");
  }
  std::vector<uint8_t> longer(file->data, file->data + file->size);
  longer.push_back(0);
  CHECK(ReadOpCases(longer.data(), longer.size(), &cases) == "bytes left over after the last case");
}

TEST_CASE("the comparison accepts what is close enough", "[meta]") {
  CHECK(CompareFloats({1, -100, kNan, kInfinity}, {1.0009f, -100, kNan, kInfinity}, 1e-5f) == "");
  CHECK(CompareFloats({0.0f}, {-0.0f}, 0) == "");
  CHECK(CompareFloats({}, {}, 0) == "");
  CHECK(Compare<int32_t>(kInt32, {1, -2}, {1, -2}, 0) == "");
  CHECK(Compare<int32_t>(kInt32, {1, -2}, {2, -2}, 1) == "");
  CHECK(Compare<uint16_t>(kFloat16, {0x3C00, 0x7C00}, {0x3C01, 0x7C00}, 1e-3f) == "");
}

TEST_CASE("the comparison finds every kind of difference", "[meta]") {
  CHECK(CompareFloats({1, -100}, {1.0011f, -100}, 1e-5f) != "");
  CHECK(CompareFloats({1, 2}, {1, kNan}, 1) != "");
  CHECK(CompareFloats({1, kNan}, {1, 2}, 1) != "");
  CHECK(CompareFloats({1, kInfinity}, {1, -kInfinity}, 1) != "");
  CHECK(CompareFloats({1, 2}, {1, kInfinity}, 1) != "");
  CHECK(CompareFloats({0, 0}, {0, 1e-30f}, 1) != "");
  CHECK(CompareFloats({1, 2}, {1, 2, 3}, 1) == "shape [3], reference [2]");
  CHECK(Compare<int32_t>(kInt32, {1, 2}, {1, 3}, 0.9f) != "");
  CHECK(Compare<int32_t>(kInt32, {1, 2}, {1, 3}, 1) == "");
  CHECK(Compare<int32_t>(kInt32, {1, 2}, {1, 4}, 1) != "");
  CHECK(Compare<uint16_t>(kFloat16, {0x3C00}, {0x3C10}, 1e-3f) != "");
  CaseTensor reference;
  CHECK(CompareWithReference(reference, kInt32, {}, nullptr, 0, 1) == "dtype 2, reference 0");
}

}  // namespace test
}  // namespace topwork
