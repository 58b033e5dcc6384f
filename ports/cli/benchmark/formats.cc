// Benchmarks as tables: CSV, JSON Lines, Markdown.
#include <cstdio>

#include "ports/cli/benchmark/print.h"

namespace topwork {
namespace cli {
namespace {

struct BenchmarkColumn {
  const char* name;
  // Where the value is: a member, or a member of a member.
  const char* outer;
  const char* inner;
};

constexpr BenchmarkColumn kBenchmarkColumns[] = {
    {"model", "model", ""},
    {"signature", "signature", ""},
    {"device", "device", ""},
    {"precision", "precision", ""},
    {"threads", "threads", ""},
    {"batch", "batch", ""},
    {"runs", "runs", ""},
    {"open_ms", "open_ms", ""},
    {"plan_ms", "plan_ms", ""},
    {"first_run_ms", "first_run_ms", ""},
    {"min_ms", "latency_ms", "min"},
    {"p5_ms", "latency_ms", "p5"},
    {"p50_ms", "latency_ms", "p50"},
    {"p90_ms", "latency_ms", "p90"},
    {"p99_ms", "latency_ms", "p99"},
    {"max_ms", "latency_ms", "max"},
    {"mean_ms", "latency_ms", "mean"},
    {"std_ms", "latency_ms", "std"},
    {"rss_peak_bytes", "rss_peak_bytes", ""},
    {"arena_bytes", "arena_bytes", ""},
    {"packed_bytes", "packed_bytes", ""},
    {"device_bytes", "device_bytes", ""},
    {"throttled", "throttled", ""},
    {"features_per_s", "train", "features_per_s"},
    {"steps_per_s", "train", "steps_per_s"},
    {"train_memory_bytes", "train", "memory_bytes"},
};

// "" for null and for what is not there. Fractions have 6 digits: times in
// milliseconds those of the clock, nanoseconds.
std::string CellText(const Json& result, const BenchmarkColumn& column) {
  Json value = result.value(column.outer, Json());
  if (*column.inner != '\0') value = value.is_object() ? value.value(column.inner, Json()) : Json();
  if (value.is_null()) return "";
  if (value.is_number_float()) {
    char number[48];
    std::snprintf(number, sizeof(number), "%.6f", value.get<double>());
    return number;
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string QuotedCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// In a cell of a Markdown table a bar would begin the next one.
std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (char c : text) cell += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return cell;
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + MarkdownCell(cell) + " |";
  return row + "\n";
}

std::string MarkdownComparison(const Json& comparison) {
  std::string text = "\n" +
                     MarkdownRow({"setting", "before", "now", "ratio", "interval", "verdict"}) +
                     "|---|---:|---:|---:|---|---|\n";
  char number[64], interval[64];
  for (const Json& row : comparison["rows"]) {
    const std::string key = row["key"].get<std::string>(), verdict = row["verdict"];
    if (!row.contains("ratio")) {
      text += MarkdownRow({key, "", "", "", "", verdict});
      continue;
    }
    std::snprintf(number, sizeof(number), "%.3f", row["ratio"].get<double>());
    std::snprintf(interval, sizeof(interval), "%.3f to %.3f", row["low"].get<double>(),
                  row["high"].get<double>());
    text += MarkdownRow({key, TimeText(row["before_ms"].get<double>()),
                         TimeText(row["after_ms"].get<double>()), number, interval, verdict});
  }
  return text;
}

}  // namespace

std::string CsvText(const Json& document) {
  std::string text;
  for (const BenchmarkColumn& column : kBenchmarkColumns) {
    text += (text.empty() ? "" : ",") + std::string(column.name);
  }
  text += "\r\n";
  for (const Json& result : document["results"]) {
    std::string line;
    for (const BenchmarkColumn& column : kBenchmarkColumns) {
      line += (&column == kBenchmarkColumns ? "" : ",") + QuotedCell(CellText(result, column));
    }
    text += line + "\r\n";
  }
  return text;
}

std::string JsonLinesText(const Json& document) {
  std::string text;
  for (const Json& result : document["results"]) {
    Json line = {{"schema", document["schema"]},
                 {"version", document["version"]},
                 {"date", document["date"]},
                 {"machine", document["machine"]}};
    line.update(result);
    text += JsonText(line, -1) + "\n";
  }
  return text;
}

std::string MarkdownText(const Json& document) {
  std::string text = MarkdownRow({"model", "device", "precision", "threads", "batch", "median",
                                  "min", "p90", "p99", "first run", "peak memory"}) +
                     "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const Json& result : document["results"]) {
    const auto time = [&](const char* key) {
      return TimeText(result["latency_ms"][key].get<double>());
    };
    char memory[48];
    std::snprintf(memory, sizeof(memory), "%.1f MiB",
                  result["rss_peak_bytes"].get<double>() / 1048576.0);
    text += MarkdownRow({result["model"], result["device"], result["precision"],
                         result["threads"].dump(), result["batch"].dump(), time("p50"), time("min"),
                         time("p90"), time("p99"), TimeText(result["first_run_ms"].get<double>()),
                         memory});
  }
  if (document.contains("comparison")) text += MarkdownComparison(document["comparison"]);
  return text;
}

}  // namespace cli
}  // namespace topwork
