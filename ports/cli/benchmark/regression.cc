// Verdicts on pairs of results, from the samples of their runs.
#include "ports/cli/benchmark/regression.h"

#include <map>

#include "ports/cli/benchmark/statistics.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kMinRuns = 20;

std::string Verdict(const RatioInterval& interval, double tolerance) {
  const double above = 1.0 + tolerance, below = 1.0 / above;
  if (interval.low > above) return "slower";
  if (interval.high < below) return "faster";
  return interval.low >= below && interval.high <= above ? "same" : "unclear";
}

Json CompareResults(const Json& before, const Json& after, double confidence, double tolerance) {
  const std::vector<double> a = before["samples_ms"].get<std::vector<double>>();
  const std::vector<double> b = after["samples_ms"].get<std::vector<double>>();
  Json row;
  row["key"] = SettingKey(after);
  if (a.size() < kMinRuns || b.size() < kMinRuns) {
    row["verdict"] = "too few runs";
    return row;
  }
  const RatioInterval interval = MedianRatio(a, b, confidence);
  row["verdict"] = Verdict(interval, tolerance);
  row["before_ms"] = Median(a);
  row["after_ms"] = Median(b);
  row["ratio"] = interval.ratio;
  row["low"] = interval.low;
  row["high"] = interval.high;
  return row;
}

// Whether a result of a document can be compared.
bool IsResult(const Json& result) {
  if (!result.is_object() || !result.contains("samples_ms") || !result["samples_ms"].is_array()) {
    return false;
  }
  for (const Json& sample : result["samples_ms"]) {
    if (!sample.is_number() || !(sample.get<double>() > 0.0)) return false;
  }
  for (const char* key : {"model", "device", "precision", "signature"}) {
    if (!result.contains(key) || !result[key].is_string()) return false;
  }
  return result.contains("inputs") && result["inputs"].is_array() &&
         result.contains("threads_asked");
}

}  // namespace

Json ReadBenchmark(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadWholeFile(path);
  const std::string text(bytes.begin(), bytes.end());  // libc++ parses no bytes
  const Json document = Json::parse(text, nullptr, false);
  bool good = document.is_object() && document.contains("results") &&
              document["results"].is_array() && !document["results"].empty();
  for (size_t i = 0; good && i < document["results"].size(); ++i) {
    good = IsResult(document["results"][i]);
  }
  const Json schema = document.is_object() ? document.value("schema", Json("")) : Json("");
  if (schema.is_string() && schema.get<std::string>().rfind("topwork benchmark ", 0) == 0 &&
      schema != kBenchmarkSchema) {
    throw CliError(kExitData, path + ": has the form " + schema.dump() + ", this topwork reads '" +
                                  kBenchmarkSchema + "'; measure the base again");
  }
  good = good && schema == kBenchmarkSchema;
  if (!good) {
    throw CliError(kExitData, path + ": is not a document of 'topwork benchmark --json'");
  }
  return document;
}

std::string SettingKey(const Json& result) {
  const std::string model = result["model"].get<std::string>();
  const std::string signature = result["signature"].get<std::string>();
  std::string key = model.substr(model.rfind('/') == std::string::npos ? 0 : model.rfind('/') + 1);
  if (!signature.empty()) key += " " + signature;
  key += " " + result["device"].get<std::string>() + " " + result["precision"].get<std::string>();
  key += ", threads " + result["threads_asked"].dump();
  for (const Json& input : result["inputs"]) {
    if (input.contains("shape")) key += " " + input["shape"].dump();
  }
  return key;
}

void CheckComparable(const Json& before, const Json& results, const std::string& base) {
  for (const Json& result : results) {
    for (const Json& known : before["results"]) {
      if (SettingKey(known) == SettingKey(result)) return;
    }
  }
  throw CliError(kExitData, base + ": has none of the settings to measure, such as '" +
                                SettingKey(results[0]) + "'; it has '" +
                                SettingKey(before["results"][0]) + "'");
}

Json CompareBenchmarks(const Json& before, const Json& after, const std::string& base,
                       const RegressionLimits& limits) {
  std::map<std::string, const Json*> known;
  for (const Json& result : before["results"]) known[SettingKey(result)] = &result;
  CheckComparable(before, after["results"], base);
  size_t n = 0;
  for (const Json& result : after["results"]) n += known.count(SettingKey(result));
  Json json = {{"base", base}, {"confidence", limits.confidence}, {"tolerance", limits.tolerance}};
  const double confidence = 1.0 - (1.0 - limits.confidence) / static_cast<double>(n);
  Json rows = Json::array(), notes = Json::array();
  int n_slower = 0;
  for (const Json& result : after["results"]) {
    const auto found = known.find(SettingKey(result));
    if (found == known.end()) {
      notes.push_back("the base lacks '" + SettingKey(result) + "'");
      continue;
    }
    rows.push_back(CompareResults(*found->second, result, confidence, limits.tolerance));
    if (rows.back()["verdict"] == "slower") ++n_slower;
    if (found->second->value("sha256", "") != result.value("sha256", "")) {
      notes.push_back("the model of '" + SettingKey(result) + "' has changed since");
    }
  }
  const Json machine = before.value("machine", Json()), here = after.value("machine", Json());
  if (machine.is_object() && here.is_object() &&
      machine.value("processor", "") != here.value("processor", "")) {
    notes.push_back("the base was measured on another processor: " +
                    machine.value("processor", ""));
  }
  json["n_slower"] = n_slower;
  json["rows"] = rows;
  json["notes"] = notes;
  return json;
}

}  // namespace cli
}  // namespace topwork
