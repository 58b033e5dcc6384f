// Traces, limits, CSV, JSON Lines and Markdown of made-up results.
#include <catch2/catch.hpp>

#include "ports/cli/benchmark/operator_limit.h"
#include "ports/cli/benchmark/print.h"
#include "ports/cli/benchmark/trace.h"

namespace topwork {
namespace cli {
namespace benchmark_formats_test {
namespace {

tw_profile_entry EntryOf(int32_t step, int32_t part, const char* backend, int64_t nanos) {
  tw_profile_entry entry{};
  entry.step = step;
  entry.part = part;
  entry.op = "CONV_2D";
  entry.variant = "gemm";
  entry.backend = backend;
  entry.output_name = "y";
  entry.nanos = nanos;
  return entry;
}

TEST_CASE("a trace lays operators where they ran and parts one behind the other", "[cli]") {
  TraceRecorder recorder;
  recorder.Add(EntryOf(0, -1, "cpu", 1000), 1500);
  recorder.Add(EntryOf(1, 0, "opencl", 300), 5000);
  recorder.Add(EntryOf(1, 1, "opencl", 400), 5001);
  recorder.Add(EntryOf(1, -1, "opencl", 100), 5002);
  recorder.Add(EntryOf(2, -1, "cpu", 900), 5500);  // began before the last one ended: moved
  const std::vector<TraceEvent> events = recorder.Take();
  REQUIRE(events.size() == 5);
  CHECK(events[0].start == 500);
  CHECK(events[1].start == 5002 - 800);
  CHECK(events[2].start == events[1].start + 300);
  CHECK(events[3].start == events[2].start + 400);
  CHECK(events[4].start == 5002);

  const Json trace = Json::parse(TraceText({"setting <a>"}, {events}));
  CHECK(trace["displayTimeUnit"] == "ms");
  int n_operators = 0, n_threads = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") ++n_operators;
    if (event["name"] == "thread_name") ++n_threads;
    if (event["name"] == "process_name") CHECK(event["args"]["name"] == "setting <a>");
  }
  CHECK(n_operators == 5);
  CHECK(n_threads == 2);
  const Json& first = trace["traceEvents"][2];
  CHECK(first["ts"] == 0.5);
  CHECK(first["dur"] == 1.0);
}

Json LimitsOf() {
  Json limits = {{"flops_per_s", 1e9}, {"byte_ops_per_s", 4e9}, {"launch_ns", 2000.0}};
  limits["bytes_per_s"] = {{{"bytes", 1000}, {"bytes_per_s", 1e10}},
                           {{"bytes", 1000000}, {"bytes_per_s", 1e9}}};
  return limits;
}

Json OpOf(double flops, double bytes, bool is_bytes, double millis) {
  return {{"flops", flops}, {"bytes", bytes}, {"is_bytes", is_bytes}, {"p50_ms", millis}};
}

TEST_CASE("an operator's limit is the slowest of what its device can do", "[cli]") {
  Json compute = OpOf(1e6, 100, false, 4.0);
  AddLimit(LimitsOf(), &compute);
  CHECK(compute["limit"] == "compute");
  CHECK(compute["limit_ms"].get<double>() == Approx(1.0));
  CHECK(compute["limit_share"].get<double>() == Approx(0.25));
  Json bytes = OpOf(1e6, 100, true, 4.0);
  AddLimit(LimitsOf(), &bytes);
  CHECK(bytes["limit_ms"].get<double>() == Approx(0.25));
  Json streamed = OpOf(10, 5e5, false, 1.0);
  AddLimit(LimitsOf(), &streamed);
  CHECK(streamed["limit"] == "bandwidth");
  CHECK(streamed["limit_ms"].get<double>() == Approx(0.5));
  Json cached = OpOf(10, 900, false, 1.0);
  AddLimit(LimitsOf(), &cached);
  CHECK(cached["limit"] == "launch");
  CHECK(cached["limit_ms"].get<double>() == Approx(0.002));
  Json huge = OpOf(10, 5e9, false, 1e4);
  AddLimit(LimitsOf(), &huge);
  CHECK(huge["limit_ms"].get<double>() == Approx(5000.0));
  Json limits = LimitsOf();
  limits["byte_ops_per_s"] = Json();
  Json plain = OpOf(1e6, 100, true, 0.0);
  AddLimit(limits, &plain);
  CHECK(plain["limit_ms"].get<double>() == Approx(1.0));
  CHECK(plain["limit_share"].is_null());
}

Json DocumentOf() {
  Json document = {{"schema", "s"}, {"version", "1"}, {"date", "d"}, {"machine", Json::object()}};
  Json result = {{"model", "a,\"b\"|c.tflite"},
                 {"device", "cpu"},
                 {"precision", "float32"},
                 {"threads", 2},
                 {"batch", 0},
                 {"first_run_ms", 2.5},
                 {"rss_peak_bytes", 1048576}};
  result["latency_ms"] = {{"min", 1.0}, {"p50", 1.5}, {"p90", 2.0}, {"p99", 3.0}};
  result["throttled"] = Json();
  document["results"] = {result, result};
  return document;
}

TEST_CASE("CSV quotes what needs it and leaves empty what is not there", "[cli]") {
  const std::string text = CsvText(DocumentOf());
  CHECK(text.find("model,signature,device,precision,threads,batch") == 0);
  CHECK(text.find("\r\n\"a,\"\"b\"\"|c.tflite\",,cpu,float32,2,0,") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("CSV has the same digits for every time and rate", "[cli]") {
  Json document = DocumentOf();
  Json& result = document["results"][0];
  result["open_ms"] = 0.07161699999999999;
  result["plan_ms"] = 3.0;
  result["first_run_ms"] = 1.2e-5;
  result["latency_ms"]["min"] = 123456789.125;
  result["train"] = {{"features_per_s", 1e10}, {"memory_bytes", 12345678901}};
  const std::string text = CsvText(document);
  CHECK(text.find(",0.071617,3.000000,0.000012,123456789.125000,") != std::string::npos);
  CHECK(text.find(",10000000000.000000,,12345678901\r\n") != std::string::npos);
}

TEST_CASE("JSON Lines hold a result with its machine in each line", "[cli]") {
  const std::string text = JsonLinesText(DocumentOf());
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  const Json line = Json::parse(text.substr(0, text.find('\n')));
  CHECK(line["version"] == "1");
  CHECK(line["latency_ms"]["p50"] == 1.5);
}

TEST_CASE("Markdown keeps bars out of its cells", "[cli]") {
  const std::string text = MarkdownText(DocumentOf());
  CHECK(text.find("| a,\"b\"\\|c.tflite | cpu | float32 | 2 | 0 | 1.500 ms |") !=
        std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
}

}  // namespace
}  // namespace benchmark_formats_test
}  // namespace cli
}  // namespace topwork
