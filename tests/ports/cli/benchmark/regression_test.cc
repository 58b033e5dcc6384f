// Verdicts of a comparison on made-up documents.
#include "ports/cli/benchmark/regression.h"

#include <catch2/catch.hpp>

#include "ports/cli/benchmark/print.h"

namespace topwork {
namespace cli {
namespace benchmark_regression_test {
namespace {

// A result whose samples lie within a hundredth of `median`.
Json ResultOf(const std::string& model, double median, int n = 60) {
  Json result = {{"model", "folder/" + model}, {"signature", ""},    {"device", "cpu"},
                 {"precision", "float32"},     {"threads_asked", 1}, {"sha256", "a"}};
  result["inputs"] = Json::array({{{"name", "x"}, {"shape", {1, 8}}}});
  result["samples_ms"] = Json::array();
  for (int i = 0; i < n; ++i) {
    result["samples_ms"].push_back(median * (1.0 + 0.01 * ((i * 37) % 21 - 10) / 10.0));
  }
  return result;
}

Json DocumentOf(const std::vector<Json>& results) {
  return {{"machine", {{"processor", "A"}}}, {"results", results}};
}

std::string VerdictOf(double before, double after, int n = 60) {
  const Json compared = CompareBenchmarks(DocumentOf({ResultOf("m", before, n)}),
                                          DocumentOf({ResultOf("m", after, n)}), "base", {});
  return compared["rows"][0]["verdict"].get<std::string>();
}

TEST_CASE("a comparison tells slower, faster and the same apart", "[cli]") {
  CHECK(VerdictOf(1.0, 1.2) == "slower");
  CHECK(VerdictOf(1.0, 0.8) == "faster");
  CHECK(VerdictOf(1.0, 1.0) == "same");
  CHECK(VerdictOf(1.0, 1.03) == "same");
  CHECK(VerdictOf(1.0, 1.05) == "unclear");
  CHECK(VerdictOf(1.0, 2.0, 19) == "too few runs");
}

TEST_CASE("a comparison shares its confidence out among the rows", "[cli]") {
  const auto width = [](size_t n) {
    std::vector<Json> before, after;
    for (size_t i = 0; i < n; ++i) {
      before.push_back(ResultOf("m" + std::to_string(i), 1.0));
      after.push_back(ResultOf("m" + std::to_string(i), 1.0));
    }
    const Json compared = CompareBenchmarks(DocumentOf(before), DocumentOf(after), "base", {});
    CHECK(compared["rows"].size() == n);
    const Json& row = compared["rows"][0];
    return row["high"].get<double>() - row["low"].get<double>();
  };
  CHECK(width(8) > width(1));
}

TEST_CASE("a comparison counts what is slower and names what is missing or has changed", "[cli]") {
  Json changed = ResultOf("b", 1.0);
  changed["sha256"] = "other";
  Json after = DocumentOf({ResultOf("a", 2.0), changed, ResultOf("new", 1.0)});
  after["machine"]["processor"] = "B";
  const Json compared =
      CompareBenchmarks(DocumentOf({ResultOf("a", 1.0), ResultOf("b", 1.0)}), after, "base", {});
  CHECK(compared["n_slower"] == 1);
  CHECK(compared["rows"].size() == 2);
  const std::string notes = compared["notes"].dump();
  CHECK(notes.find("the base lacks 'new cpu") != std::string::npos);
  CHECK(notes.find("the model of 'b cpu") != std::string::npos);
  CHECK(notes.find("another processor: A") != std::string::npos);
}

TEST_CASE("a comparison without a common setting is refused", "[cli]") {
  CHECK_THROWS_WITH(CompareBenchmarks(DocumentOf({ResultOf("a", 1.0)}),
                                      DocumentOf({ResultOf("b", 1.0)}), "base.json", {}),
                    Catch::Contains("base.json: has none of the settings") &&
                        Catch::Contains("'b cpu float32, threads 1 [1,8]'"));
}

TEST_CASE("one common setting is enough to compare", "[cli]") {
  const Json base = DocumentOf({ResultOf("a", 1.0), ResultOf("b", 1.0)});
  Json planned = Json::array({ResultOf("c", 1.0)});
  CHECK_THROWS_WITH(CheckComparable(base, planned, "base.json"),
                    Catch::Contains("'c cpu float32, threads 1 [1,8]'; it has 'a cpu"));
  planned.push_back(ResultOf("b", 1.0));
  CHECK_NOTHROW(CheckComparable(base, planned, "base.json"));
}

TEST_CASE("settings differ by device, precision, threads, shape and signature", "[cli]") {
  const Json one = ResultOf("m", 1.0);
  CHECK(SettingKey(one) == "m cpu float32, threads 1 [1,8]");
  for (const char* key : {"device", "precision", "signature"}) {
    Json other = one;
    other[key] = "other";
    CHECK(SettingKey(other) != SettingKey(one));
  }
  Json other = one;
  other["inputs"][0]["shape"] = {2, 8};
  CHECK(SettingKey(other) != SettingKey(one));
}

}  // namespace
}  // namespace benchmark_regression_test
}  // namespace cli
}  // namespace topwork
