// benchmark_model's flags become options, notes or refusals; its lines are printed in its words.
#include "ports/cli/benchmark/tflite_flags.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "ports/cli/benchmark/statistics.h"
#include "ports/cli/benchmark/tflite_print.h"

namespace topwork {
namespace cli {
namespace benchmark_tflite_flags_test {
namespace {

std::vector<std::string> Arguments(const std::vector<std::string>& flags) {
  return TranslateTfliteFlags(flags).arguments;
}

bool Has(const std::vector<std::string>& arguments, const std::string& argument) {
  return std::find(arguments.begin(), arguments.end(), argument) != arguments.end();
}

TEST_CASE("benchmark_model's defaults are kept", "[cli]") {
  CHECK(Arguments({"--graph=m.tflite"}) ==
        std::vector<std::string>{"m.tflite", "--threads=1", "--runs=50", "--min-seconds=1",
                                 "--max-seconds=150", "--warmup-seconds=0.5", "--warmup=0",
                                 "--device=cpu", "--precision=float32",
                                 "--format=benchmark_model"});
  CHECK(HasTfliteFlags({"--graph=m.tflite"}));
  CHECK(HasTfliteFlags({"--graph", "m.tflite"}));
  CHECK_FALSE(HasTfliteFlags({"m.tflite", "--runs", "3"}));
}

TEST_CASE("flags with a meaning become options", "[cli]") {
  const std::vector<std::string> arguments =
      Arguments({"--graph", "m.tflite", "--num_threads=4", "--num_runs=7", "--warmup_runs=3",
                 "--min_secs=0.1", "--max_secs=2", "--warmup_min_secs=0", "--run_delay=0.25",
                 "--enable_op_profiling=true", "--use_gpu=true"});
  for (const char* expected :
       {"m.tflite", "--threads=4", "--runs=7", "--warmup=2", "--min-seconds=0.1", "--max-seconds=2",
        "--warmup-seconds=0", "--delay=0.25", "--profile", "--device=opencl",
        "--precision=float16"}) {
    INFO(expected);
    CHECK(Has(arguments, expected));
  }
  CHECK(std::count_if(arguments.begin(), arguments.end(), [](const std::string& argument) {
          return argument.rfind("--runs", 0) == 0;
        }) == 1);
}

TEST_CASE("a GPU may lose precision unless it is told not to", "[cli]") {
  CHECK(Has(Arguments({"--graph=m", "--use_gpu", "--gpu_precision_loss_allowed=false"}),
            "--precision=float32"));
  CHECK(Has(Arguments({"--graph=m", "--use_gpu=false"}), "--device=cpu"));
  CHECK(Has(Arguments({"--graph=m", "--xnnpack_force_fp16=true"}), "--precision=float16"));
}

TEST_CASE("inputs are counted by their order", "[cli]") {
  const std::vector<std::string> arguments =
      Arguments({"--graph=m", "--input_layer=a,b", "--input_layer_shape=1,224,224,3:1,20",
                 "--input_layer_value_range=b,0,254"});
  CHECK(Has(arguments, "--input-shape=#0=1,224,224,3"));
  CHECK(Has(arguments, "--input-shape=#1=1,20"));
  CHECK(Has(arguments, "--input-range=#1=0,254"));
  CHECK_THROWS_WITH(Arguments({"--graph=m", "--input_layer=a", "--input_layer_shape=1:2"}),
                    Catch::Contains("--input_layer_shape has 2 shapes, --input_layer 1 names"));
  CHECK_THROWS_WITH(Arguments({"--graph=m", "--input_layer=a", "--input_layer_value_range=c,0,1"}),
                    Catch::Contains("'c,0,1' does not begin with a name"));
}

TEST_CASE("flags without a meaning get a note, others are refused by name", "[cli]") {
  const TfliteArguments translated =
      TranslateTfliteFlags({"--graph=m", "--use_xnnpack=true", "--verbose=true"});
  CHECK(translated.notes.size() == 2);
  CHECK(translated.notes[0].find("--use_xnnpack means nothing here") == 0);
  CHECK_THROWS_WITH(Arguments({"--graph=m", "--use_nnapi=true"}), Catch::Contains("--use_nnapi"));
  CHECK_NOTHROW(Arguments({"--graph=m", "--use_nnapi=false"}));
  CHECK_THROWS_WITH(Arguments({"--graph=m", "--warmup_runs=many"}), Catch::Contains("'many'"));
  CHECK(Has(Arguments({"--graph=m", "--trace", "t.json"}), "--trace"));
  CHECK(Has(Arguments({"--graph=m", "--json"}), "--json"));
  CHECK_FALSE(Has(Arguments({"--graph=m", "--json"}), "--format=benchmark_model"));
}

TEST_CASE("messages name the flags that were typed", "[cli]") {
  const TfliteArguments flags =
      TranslateTfliteFlags({"--graph=m", "--num_threads=x", "--warmup_runs=3", "--input_layer=a,b",
                            "--input_layer_shape=1,8:1,9", "--input_layer_value_range=b,0,254"});
  const auto said = [&](const char* message) { return InTypedWords(flags, message); };
  CHECK(said("--threads: Value x not in range") == "--num_threads: Value x not in range");
  CHECK(said("m: --input-shape #0=1,8 has") == "m: --input_layer_shape 1,8 has");
  CHECK(said("m: --input-range: no '#1=0,254'") == "m: --input_layer_value_range: no 'b,0,254'");
  // What was not typed, and what only begins the same, stays.
  CHECK(said("--runs, --warmup-seconds, x--warmup, --warmup") ==
        "--runs, --warmup-seconds, x--warmup, --warmup_runs");
  CHECK(InTypedWords({}, "--threads") == "--threads");
}

TEST_CASE("values of benchmark_model's flags are checked in its words", "[cli]") {
  CHECK_THROWS_WITH(Arguments({"--graph=m", "--input_layer=a", "--input_layer_shape=1,x"}),
                    Catch::Contains("--input_layer_shape: '1,x' is not a shape"));
  for (const char* range : {"a,2,1", "a,x,1", "a,1"}) {
    CHECK_THROWS_WITH(Arguments({"--graph=m", "--input_layer=a",
                                 std::string("--input_layer_value_range=") + range}),
                      Catch::Contains(std::string("'") + range + "' is not NAME,LOW,HIGH"));
  }
  for (const char* flag :
       {"use_gpu", "enable_op_profiling", "gpu_precision_loss_allowed", "allow_fp16"}) {
    CHECK_THROWS_WITH(Arguments({"--graph=m", std::string("--") + flag + "=maybe"}),
                      Catch::Contains(std::string(flag) + ": 'maybe' is neither true nor false"));
  }
}

TEST_CASE("the lines of benchmark_model are printed as it prints them", "[cli]") {
  BenchmarkOptions options;
  options.runs = 3;
  options.warmup = 1;
  options.min_seconds = 1.0;
  options.max_seconds = 150.0;
  options.warmup_seconds = 0.5;
  Json result = {{"model", "m.tflite"},
                 {"threads", 4},
                 {"file_bytes", 3572000},
                 {"open_ms", 0.5},
                 {"plan_ms", 11.75},
                 {"first_run_ms", 9.0},
                 {"runs", 3},
                 {"rss_peak_bytes", 20 * 1048576}};
  result["warmup_ms"] = {8.0, 7.0};
  result["samples_ms"] = {7.0, 8.0, 6.5};
  result["latency_ms"] = SummaryJson({7.0, 8.0, 6.5});
  result["ops"] = Json::array();
  const std::string text = TfliteText(options, result);
  CHECK(
      text.find("INFO: Inference timings in us: Init: 12250, First inference: 9000, Warmup (avg): "
                "8000, Inference (avg): 7166.67\n") != std::string::npos);
  CHECK(text.find("INFO: count=3 first=7000 curr=6500 min=6500 max=8000 avg=7166.67 std=623\n") !=
        std::string::npos);
  CHECK(text.find("INFO: Running benchmark for at least 3 iterations and at least 1 seconds but "
                  "terminate if exceeding 150 seconds.\n") != std::string::npos);
  CHECK(text.find("INFO: The input model file size (MB): 3.572\n") != std::string::npos);
  CHECK(text.find("INFO: Initialized session in 12.25ms.\n") != std::string::npos);
}

}  // namespace
}  // namespace benchmark_tflite_flags_test
}  // namespace cli
}  // namespace topwork
