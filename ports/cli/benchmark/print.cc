// The text of a benchmark: a block for each model, its settings, operators, training, limits.
#include "ports/cli/benchmark/print.h"

#include <algorithm>
#include <cstdio>

#include "ports/cli/power/energy.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kBenchmarkNameWidth = 40;

std::string Digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), value < 1.0 ? "%.4f" : "%.3f", value);
  return text;
}

std::string Number(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

double MedianOf(const Json& result) { return result["latency_ms"]["p50"].get<double>(); }

std::string BytesText(const Json& result, const char* key) {
  return HumanBytes(result[key].get<double>());
}

// "12 on cpu, 40 on opencl": where the operators run.
std::string PlacesText(const Json& result) {
  std::string text;
  for (const auto& place : result["placed"].items()) {
    text += (text.empty() ? "" : ", ") + place.value().dump() + " on " + place.key();
  }
  return text;
}

void AddTraining(const Json& train, Table* table) {
  const auto row = [&](const char* title, const std::string& text) {
    table->Row({Paint(1, "2", title), text});
  };
  row("training", TimeText(train["personalise_ms"]["p50"].get<double>()) +
                      " to personalise: a head of " + train["n_classes"].dump() + " classes from " +
                      CountText(train["n_examples"].get<int64_t>(), "example") +
                      ", model to model");
  const Json& steps = train["steps_per_s"];
  row("", Number("%.1f", train["features_per_s"].get<double>()) + " features/s, " +
              (steps.is_null()
                   ? "automatic head in " + TimeText(train["fit_ms"]["p50"].get<double>()) + ", "
                   : Number("%.0f", steps.get<double>()) + " steps/s, ") +
              BytesText(train, "memory_bytes") + " (backbone " +
              BytesText(train, "backbone_bytes") + ", features " + BytesText(train, "cache_bytes") +
              ", training " + BytesText(train, "training_bytes") + ")");
  if (!train["power"].is_null()) row("energy", EnergyText(train["power"]));
}

void PrintResult(const Json& result) {
  std::printf("%s\n", Paint(1, "1", result["model"].get<std::string>()).c_str());
  Table table({"", ""});
  const auto row = [&](const char* title, const std::string& text) {
    table.Row({Paint(1, "2", title), text});
  };
  const auto time = [&](const char* key) { return TimeText(result[key].get<double>()); };
  row("open", time("open_ms"));
  row("plan", time("plan_ms"));
  row("first run", time("first_run_ms"));
  row("steady", Paint(1, "1;32", TimeText(MedianOf(result))) + " median of " +
                    result["runs"].dump() + " runs");
  std::string spread;
  for (const char* key : {"min", "p5", "p90", "p99", "mean"}) {
    spread += (spread.empty() ? "" : ", ") + std::string(key) + " " +
              TimeText(result["latency_ms"][key].get<double>());
  }
  row("", spread);
  row("threads", result["threads"].dump());
  row("operators", PlacesText(result));
  row("memory", "peak " + BytesText(result, "rss_peak_bytes") + ", arena " +
                    BytesText(result, "arena_bytes") + ", packed weights " +
                    BytesText(result, "packed_bytes"));
  if (result.contains("train")) AddTraining(result["train"], &table);
  if (!result["power"].is_null()) row("energy", EnergyText(result["power"]));
  if (!result["throttled"].is_null()) {
    row("slowed", Paint(1, "33", result["throttled"].get<std::string>()));
  }
  table.Print(2);
}

// Every setting of the model whose first result is results[first].
void PrintSettings(const Json& results, size_t first) {
  Table table({"", ">median", ">min", ">p99", ">times as fast", ">memory"});
  const double median = MedianOf(results[first]);
  size_t n = 0;
  for (const Json& result : results) {
    if (result["model"] != results[first]["model"]) continue;
    const std::string difference = DifferenceText(results[first], result);
    table.Row({difference.empty() ? "this" : difference, TimeText(MedianOf(result)),
               TimeText(result["latency_ms"]["min"].get<double>()),
               TimeText(result["latency_ms"]["p99"].get<double>()),
               Number("%.2f", median / MedianOf(result)), BytesText(result, "arena_bytes")});
    ++n;
  }
  if (n < 2) return;
  std::printf("\n");
  table.Print(2);
}

// The results of the same model with the same operators, but the first one.
std::vector<const Json*> OtherResults(const Json& results, size_t first) {
  std::vector<const Json*> others;
  for (size_t k = 0; k < results.size(); ++k) {
    const Json& other = results[k];
    if (k == first || other["model"] != results[first]["model"]) continue;
    if (other["ops"].size() == results[first]["ops"].size()) others.push_back(&other);
  }
  return others;
}

void PrintLimits(const Json& limits) {
  std::printf("\n%s\n", Paint(1, "1", "what the devices can do").c_str());
  Table table({"", ">GFLOP/s", ">byte products, G/s", ">memory", ">cache", ">launch"});
  for (const Json& limit : limits) {
    const Json& bandwidth = limit["bytes_per_s"];
    const auto rate = [&](const Json& value) {
      return value.is_null() ? std::string("-") : Number("%.1f", value.get<double>() * 1e-9);
    };
    const std::string threads = limit.contains("threads")
                                    ? ", " + CountText(limit["threads"].get<int64_t>(), "thread")
                                    : "";
    table.Row({limit["name"].get<std::string>() + threads, rate(limit["flops_per_s"]),
               rate(limit["byte_ops_per_s"]), rate(bandwidth.back()["bytes_per_s"]) + " GB/s",
               rate(bandwidth.front()["bytes_per_s"]) + " GB/s",
               TimeText(limit["launch_ns"].get<double>() * 1e-6)});
  }
  table.Print(2);
}

// "62 % of compute": the limit that an operator is nearest to.
std::string RooflineText(const Json& op) {
  if (!op.contains("limit") || op["limit_share"].is_null()) return "";
  return PercentText(op["limit_share"].get<double>()) + " of " + op["limit"].get<std::string>();
}

}  // namespace

std::string TimeText(double millis) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f µs", millis * 1e3);
  return millis < 0.1 ? text : Digits(millis) + " ms";
}

std::string DifferenceText(const Json& first, const Json& result) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (first["model"] != result["model"]) add(result["model"].get<std::string>());
  for (const char* key : {"device", "precision"}) {
    if (first[key] != result[key]) add(result[key].get<std::string>());
  }
  if (first["batch"] != result["batch"]) add("batch " + result["batch"].dump());
  if (first["threads_asked"] != result["threads_asked"]) {
    add(CountText(result["threads"].get<int64_t>(), "thread"));
  }
  return text;
}

void PrintOps(const Json& results, size_t first) {
  const Json& ops = results[first]["ops"];
  const std::vector<const Json*> others = OtherResults(results, first);
  double total = 0.0;
  for (const Json& op : ops) total += op["p50_ms"].get<double>();
  std::vector<std::pair<Json, size_t>> sorted;
  for (size_t i = 0; i < ops.size(); ++i) sorted.push_back({ops[i], i});
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first["p50_ms"].template get<double>() > b.first["p50_ms"].template get<double>();
  });
  std::vector<std::string> titles = {">p50 ms"};
  for (const Json* other : others) {
    titles.insert(titles.end(), {">" + DifferenceText(results[first], *other), ">times"});
  }
  const bool roofline =
      std::any_of(ops.begin(), ops.end(), [](const Json& op) { return op.contains("limit"); });
  titles.insert(titles.end(), {">share", "", ">step", "operator", "kernel", "output"});
  if (roofline) titles.insert(titles.end() - 3, ">of its limit");
  Table table(titles);
  for (const auto& [op, index] : sorted) {
    const double millis = op["p50_ms"].get<double>();
    const double largest = sorted[0].first["p50_ms"].get<double>();
    std::vector<std::string> cells = {Digits(millis)};
    for (const Json* other : others) {
      const double that = (*other)["ops"][index]["p50_ms"].get<double>();
      cells.insert(cells.end(), {Digits(that), that > 0 ? Number("%.2f", millis / that) : ""});
    }
    const bool bar = UseColour(1) && largest > 0;
    cells.insert(cells.end(),
                 {PercentText(total > 0 ? millis / total : 0.0),
                  bar ? Paint(1, "32", Bar(millis / largest, 12)) : "", op["step"].dump()});
    if (roofline) cells.push_back(RooflineText(op));
    cells.insert(cells.end(),
                 {op["op"].get<std::string>(), op["variant"].get<std::string>(),
                  Shorten(ShortName(op["output"].get<std::string>()), kBenchmarkNameWidth)});
    table.Row(cells);
  }
  std::printf("\n");
  table.Print(2);
}

void PrintComparison(const Json& comparison) {
  std::printf("\n%s (confidence %s, tolerance %s)\n",
              Paint(1, "1", "against " + comparison["base"].get<std::string>()).c_str(),
              PercentText(comparison["confidence"].get<double>()).c_str(),
              PercentText(comparison["tolerance"].get<double>()).c_str());
  Table table({"setting", ">before", ">now", ">ratio", "interval", "verdict"});
  for (const Json& row : comparison["rows"]) {
    const std::string verdict = row["verdict"].get<std::string>();
    const char* const colour = verdict == "slower" ? "1;31" : verdict == "faster" ? "32" : "0";
    if (!row.contains("ratio")) {
      table.Row({row["key"].get<std::string>(), "", "", "", "", verdict});
      continue;
    }
    table.Row({row["key"].get<std::string>(), TimeText(row["before_ms"].get<double>()),
               TimeText(row["after_ms"].get<double>()), Number("%.3f", row["ratio"].get<double>()),
               Number("%.3f", row["low"].get<double>()) + " to " +
                   Number("%.3f", row["high"].get<double>()),
               Paint(1, colour, verdict)});
  }
  table.Print(2);
  for (const Json& note : comparison["notes"]) {
    std::printf("  note: %s\n", note.get<std::string>().c_str());
  }
}

void PrintBenchmark(const Json& document) {
  const Json& results = document["results"];
  for (size_t k = 0; k < results.size(); ++k) {
    bool seen = false;
    for (size_t j = 0; j < k; ++j) seen = seen || results[j]["model"] == results[k]["model"];
    if (seen) continue;
    if (k > 0) std::printf("\n");
    PrintResult(results[k]);
    PrintSettings(results, k);
    if (!results[k]["ops"].empty()) PrintOps(results, k);
  }
  if (document.contains("limits")) PrintLimits(document["limits"]);
  if (document.contains("comparison")) PrintComparison(document["comparison"]);
}

}  // namespace cli
}  // namespace topwork
