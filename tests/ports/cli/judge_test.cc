// The judge on cases that can be counted by hand; evaluate_test.py compares whole runs with
// scikit-learn. And the numbers of every dtype that they read.
#include "ports/cli/judge.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "ports/cli/data/match.h"
#include "ports/cli/data/numbers.h"
#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_judge_test {

using Catch::Matchers::Contains;
using cli::Dataset;
using cli::Evaluation;
using cli::JudgeOptions;
using cli_test::Failure;
using cli_test::Folder;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One float an example, and `y` of the dtype.
template <typename T>
Dataset Open(tw_dtype dtype, const std::vector<int64_t>& shape, const std::vector<T>& y,
             const std::string& names = "") {
  const Folder folder;
  const std::vector<float> x(static_cast<size_t>(shape[0]), 0.0f);
  folder.Write("x.npy", cli::EncodeNpy(TW_DTYPE_FLOAT32, {shape[0], 1}, x.data(), 4 * x.size()));
  folder.Write("y.npy", cli::EncodeNpy(dtype, shape, y.data(), y.size() * sizeof(T)));
  if (!names.empty()) folder.Write("classes.txt", names);
  tw_tensor_info input{};
  input.name = "input";
  input.rank = 2;
  input.dims[0] = input.dims[1] = 1;
  return Dataset::Open(folder.path(), input, cli::Reading());
}

using Rows = std::vector<std::vector<double>>;

Evaluation Judged(const Dataset& data, const JudgeOptions& options, const Rows& rows,
                  std::vector<cli::WorstExample>* worst = nullptr) {
  cli::Judge judge(data, options);
  for (size_t i = 0; i < rows.size(); ++i) judge.Add(static_cast<int64_t>(i), rows[i]);
  std::vector<cli::WorstExample> ignored;
  return judge.Finish(worst != nullptr ? worst : &ignored);
}

TEST_CASE("judge: logits among which one row looks like probabilities", "[cli]") {
  const Dataset data = Open<int64_t>(TW_DTYPE_INT64, {2}, {0, 1});
  JudgeOptions options;
  options.match = {0, 1};
  const Rows rows = {{0.25, 0.75}, {-1.0, 2.0}};
  const Evaluation logits = Judged(data, options, rows);
  CHECK(logits.loss ==
        Approx((std::log(1 + std::exp(0.5)) + std::log(1 + std::exp(-3.0))) / 2).epsilon(1e-12));
  const Evaluation probabilities = Judged(data, options, {{0.25, 0.75}, {0.0, 1.0}});
  CHECK(probabilities.loss == Approx(std::log(4.0) / 2).epsilon(1e-12));
  CHECK(probabilities.calibration_error == Approx(0.75 / 2).epsilon(1e-12));
  CHECK(probabilities.top1 == 0.5);
  CHECK(probabilities.top5 == 1.0);
}

TEST_CASE("judge: rounded probabilities need not sum to one", "[cli]") {
  const Dataset data = Open<int64_t>(TW_DTYPE_INT64, {1}, {2});
  const float scale = 1.0f / 256.0f;
  const int64_t zero = -128;
  tw_tensor_info output{};
  output.dtype = TW_DTYPE_INT8;
  output.n_scales = 1;
  output.scales = &scale;
  output.zero_points = &zero;
  JudgeOptions options;
  options.match = {0, 1, 2};
  cli::DescribeOutput(output, &options);
  CHECK(options.is_softmax_quantized);
  const Rows rows = {{0.5, 0.25, 0.0}};  // the rest went to classes that were rounded to 0
  CHECK(Judged(data, options, rows).loss == Approx(std::log(512.0)).epsilon(1e-12));
  const float other_scale = 0.1f;
  output.scales = &other_scale;
  cli::DescribeOutput(output, &options);
  CHECK_FALSE(options.is_softmax_quantized);
  CHECK(Judged(data, options, rows).loss ==
        Approx(std::log(std::exp(0.5) + std::exp(0.25) + 1.0)).epsilon(1e-12));
}

TEST_CASE("judge: a probability of 0 counts as half of the smallest one seen", "[cli]") {
  const Dataset data = Open<int64_t>(TW_DTYPE_INT64, {2}, {1, 0});
  JudgeOptions options;
  options.match = {0, 1};
  CHECK(Judged(data, options, {{1.0, 0.0}, {0.75, 0.25}}).loss ==
        Approx((std::log(8.0) - std::log(0.75)) / 2).epsilon(1e-12));
  CHECK(Judged(data, options, {{0.0}, {0.75}}).loss ==
        Approx((std::log(8.0) - std::log(0.25)) / 2).epsilon(1e-12));
  const Dataset several = Open<uint8_t>(TW_DTYPE_BOOL, {2, 1}, {1, 0});
  options.loss = TW_LOSS_SIGMOID;
  options.match = {0};
  CHECK(Judged(several, options, {{0.0}, {0.75}}).loss ==
        Approx((std::log(8.0) - std::log(0.25)) / 2).epsilon(1e-12));
}

TEST_CASE("judge: classes that the model does not have count as wrong", "[cli]") {
  const Dataset data = Open<int64_t>(TW_DTYPE_INT64, {3}, {0, 1, 1}, "apple\npear\n");
  JudgeOptions options;
  options.labels = {"plum", "apple", "fig"};
  std::string note;
  options.match = cli::MatchClasses(data, options.labels, 3, &note);
  CHECK(options.match == std::vector<int64_t>{1, -1});
  CHECK_THAT(note, Contains("1 of 2 classes"));
  options.n_worst = 5;
  std::vector<cli::WorstExample> worst;
  const Evaluation result = Judged(data, options, {{1, 3, 0}, {4, 0, 0}, {0, 2, 9}}, &worst);
  CHECK(result.top1 == Approx(1.0 / 3));
  CHECK(result.loss == Approx(std::log(1 + std::exp(-2.0) + std::exp(-3.0))));
  CHECK(result.matrix == std::vector<int64_t>{1, 0, 0, 0});
  CHECK(result.Count(1, 2) == 2);
  REQUIRE(result.said_instead.size() == 2);
  CHECK(result.said_instead[0].first == "plum");
  REQUIRE(worst.size() == 1);
  CHECK(worst[0].label == "apple");
  options.match = {-1, -1};
  CHECK(std::isnan(Judged(data, options, {{1}, {1}, {1}}).loss));
}

TEST_CASE("judge: equal scores go to the first class, equal losses keep their order", "[cli]") {
  const Dataset data = Open<int64_t>(TW_DTYPE_INT64, {3}, {1, 0, 1});
  JudgeOptions options;
  options.match = {0, 1};
  options.k = 2;
  options.n_worst = 2;
  std::vector<cli::WorstExample> worst;
  const Evaluation result = Judged(data, options, {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}}, &worst);
  CHECK(result.top1 == Approx(1.0 / 3));
  CHECK(result.top_k == 1.0);
  REQUIRE(worst.size() == 2);
  CHECK(worst[0].name == "x.npy[0]");
  CHECK(worst[0].predicted == "0");
  CHECK(worst[1].name == "x.npy[1]");
}

TEST_CASE("judge: decisions with infinite logits and a class without examples", "[cli]") {
  const Dataset data = Open<uint8_t>(TW_DTYPE_BOOL, {2, 2}, {0, 0, 1, 0});
  JudgeOptions options;
  options.loss = TW_LOSS_SIGMOID;
  options.match = {0, 1};
  const Evaluation result = Judged(data, options, {{-kInfinity, -2}, {3, 5}});
  CHECK(result.loss == Approx((std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-3.0)) +
                               std::log1p(std::exp(5.0))) /
                              4));
  CHECK(result.accuracy == 0.75);
  CHECK(result.exact_match == 0.5);
  CHECK(result.mean_average_precision == 1.0);  // over the class that has examples
  CHECK(result.per_class[1].precision == 0.0);
  CHECK(result.per_class[1].n_predicted == 1);
}

TEST_CASE("judge: constant targets have an R² of 1 when all are met", "[cli]") {
  const Dataset data = Open<float>(TW_DTYPE_FLOAT32, {3, 2}, {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f});
  JudgeOptions options;
  options.loss = TW_LOSS_HUBER;
  options.match = {1, 0};
  const double t = static_cast<double>(0.1f);
  const Evaluation result = Judged(data, options, {{t + 3, t}, {t, t}, {t - 0.5, t}});
  CHECK(result.per_class[0].r2 == 1.0);
  CHECK(result.per_class[0].mean_absolute_error == 0.0);
  CHECK(result.per_class[1].r2 == 0.0);
  CHECK(result.per_class[1].mean_absolute_error == Approx(3.5 / 3));
  CHECK(result.r2 == 0.5);
  CHECK(result.root_mean_squared_error == Approx(std::sqrt(9.25 / 6)));
  CHECK(result.loss == Approx((2.5 + 0.125) / 6));
  options.huber_delta = 2.0f;
  CHECK(Judged(data, options, {{t + 3, t}, {t, t}, {t - 0.5, t}}).loss ==
        Approx((4.0 + 0.125) / 6));
}

TEST_CASE("judge: columns without an output are refused", "[cli]") {
  const Dataset data = Open<float>(TW_DTYPE_FLOAT32, {1, 2}, {1, 2}, "a\nb\n");
  CHECK(cli::MatchColumns(data, {}, 2) == std::vector<int64_t>{0, 1});
  CHECK(cli::MatchColumns(data, {"x", "b", "a"}, 3) == std::vector<int64_t>{2, 1});
  CHECK_THAT(Failure([&] {
               cli::MatchColumns(data, {"x", "a"}, 2);
             }),
             Contains("no output for 'b'"));
  CHECK_THAT(Failure([&] {
               cli::MatchColumns(data, {"x", "y", "z"}, 3);
             }),
             Contains("2 numbers, the model gives 3"));
}

template <typename T>
double First(tw_dtype dtype, T value) {
  return cli::NumberAt(dtype, &value, 0);
}

TEST_CASE("numbers: packed elements are numbers of bytes outside", "[cli]") {
  const uint8_t bytes[] = {0xE4, 0x1F};
  CHECK(cli::NumberAt(TW_DTYPE_INT2, bytes, 3) == -1.0);
  CHECK(cli::NumberAt(TW_DTYPE_INT4, bytes, 1) == -2.0);
  CHECK(cli::NumberAt(TW_DTYPE_UINT4, bytes, 1) == 14.0);
  CHECK(cli::IsInteger(TW_DTYPE_INT2));
  CHECK(cli::PackedBits(TW_DTYPE_INT8) == 0);
  CHECK(cli::ToArray(TW_DTYPE_UINT4, bytes, 3) == std::vector<uint8_t>{4, 14, 15});
  CHECK(cli::ToArray(TW_DTYPE_INT2, bytes, 4) == std::vector<uint8_t>{0, 1, 254, 255});
  tw_tensor_info to{};
  to.name = "few";
  for (const tw_dtype dtype : {TW_DTYPE_INT2, TW_DTYPE_INT4, TW_DTYPE_UINT4}) {
    to.dtype = dtype;
    const tw_dtype from = cli::ArrayType(dtype);
    CHECK(cli::CanConvert(from, to));
    CHECK_FALSE(cli::CanConvert(TW_DTYPE_FLOAT32, to));
    const std::vector<uint8_t> numbers = cli::ToArray(dtype, bytes, 3);
    const std::vector<uint8_t> packed = cli::Convert(from, numbers.data(), 3, to, "x.npy");
    CHECK(cli::ToArray(dtype, packed.data(), 3) == numbers);
    const uint8_t large = 16;
    CHECK_THAT(Failure([&] { cli::Convert(from, &large, 1, to, "x.npy"); }),
               Contains("'few' takes numbers from"));
  }
}

TEST_CASE("numbers: bfloat16 is float32 outside", "[cli]") {
  tw_tensor_info to{};
  to.dtype = TW_DTYPE_BFLOAT16;
  CHECK(cli::ArrayType(to.dtype) == TW_DTYPE_FLOAT32);
  CHECK(cli::CanConvert(TW_DTYPE_FLOAT32, to));
  CHECK_FALSE(cli::CanConvert(TW_DTYPE_FLOAT64, to));
  const float reals[] = {-3.140625f, 1.00390625f, 1.01171875f, static_cast<float>(kInfinity),
                         3.4e38f,    NAN};
  const std::vector<uint8_t> halves = cli::Convert(TW_DTYPE_FLOAT32, reals, 6, to, "x.npy");
  const std::vector<uint8_t> back = cli::ToArray(to.dtype, halves.data(), 6);
  float got[6];
  REQUIRE(back.size() == sizeof(got));
  std::memcpy(got, back.data(), sizeof(got));
  CHECK(got[0] == -3.140625f);
  CHECK(got[1] == 1.0f);
  CHECK(got[2] == 1.015625f);
  CHECK(std::isinf(got[3]));
  CHECK(std::isinf(got[4]));
  CHECK(std::isnan(got[5]));
}

TEST_CASE("numbers: elements of every dtype", "[cli]") {
  CHECK(First<int8_t>(TW_DTYPE_INT8, -128) == -128.0);
  CHECK(First<uint8_t>(TW_DTYPE_UINT8, 255) == 255.0);
  CHECK(First<int16_t>(TW_DTYPE_INT16, -32768) == -32768.0);
  CHECK(First<uint16_t>(TW_DTYPE_UINT16, 65535) == 65535.0);
  CHECK(First<int32_t>(TW_DTYPE_INT32, -2147483647) == -2147483647.0);
  CHECK(First<uint32_t>(TW_DTYPE_UINT32, 4294967295u) == 4294967295.0);
  CHECK(First<int64_t>(TW_DTYPE_INT64, -(int64_t{1} << 40)) == -1099511627776.0);
  CHECK(First<uint64_t>(TW_DTYPE_UINT64, uint64_t{1} << 63) == 9223372036854775808.0);
  CHECK(First<double>(TW_DTYPE_FLOAT64, 1e300) == 1e300);
  CHECK(First<uint8_t>(TW_DTYPE_BOOL, 7) == 1.0);
  CHECK(First<float>(TW_DTYPE_COMPLEX64, 7.0f) == 0.0);
  CHECK(First<uint16_t>(TW_DTYPE_BFLOAT16, 0xc049) == -3.140625);
  CHECK(First<uint16_t>(TW_DTYPE_FLOAT16, 0x3555) == Approx(0.333251953125).epsilon(1e-15));
  CHECK(First<uint16_t>(TW_DTYPE_FLOAT16, 0xfbff) == -65504.0);
  CHECK(First<uint16_t>(TW_DTYPE_FLOAT16, 0x0001) == std::ldexp(1.0, -24));
  CHECK(First<uint16_t>(TW_DTYPE_FLOAT16, 0xfc00) == -kInfinity);
  CHECK(std::isnan(First<uint16_t>(TW_DTYPE_FLOAT16, 0x7e00)));
  const std::vector<int16_t> stored = {5, -7};
  const float scale = 0.5f;
  const int64_t zero = 3;
  tw_tensor_info tensor{};
  tensor.dtype = TW_DTYPE_INT16;
  tensor.data = const_cast<int16_t*>(stored.data());
  CHECK(cli::RealAt(tensor, 1) == -7.0);
  tensor.n_scales = 1;
  tensor.scales = &scale;
  tensor.zero_points = &zero;
  CHECK(cli::RealAt(tensor, 1) == -5.0);
}

template <typename T>
std::vector<T> Converted(const std::vector<float>& values, tw_dtype to) {
  const float scale = 0.5f;
  const int64_t zero = 10;
  tw_tensor_info tensor{};
  tensor.name = "x";
  tensor.dtype = to;
  tensor.n_scales = to == TW_DTYPE_FLOAT64 ? 0 : 1;
  tensor.scales = &scale;
  tensor.zero_points = &zero;
  REQUIRE(cli::CanConvert(TW_DTYPE_FLOAT32, tensor));
  const std::vector<uint8_t> bytes = cli::Convert(
      TW_DTYPE_FLOAT32, values.data(), static_cast<int64_t>(values.size()), tensor, "x.npy");
  std::vector<T> converted(bytes.size() / sizeof(T));
  std::memcpy(converted.data(), bytes.data(), bytes.size());
  return converted;
}

TEST_CASE("numbers: floats are quantized for the input, and saturate", "[cli]") {
  const std::vector<float> values = {0.0f, 0.25f, -0.25f, 0.24f, 1e9f, -1e9f};
  CHECK(Converted<int8_t>(values, TW_DTYPE_INT8) == std::vector<int8_t>{10, 11, 9, 10, 127, -128});
  CHECK(Converted<uint8_t>(values, TW_DTYPE_UINT8) == std::vector<uint8_t>{10, 11, 9, 10, 255, 0});
  CHECK(Converted<int16_t>(values, TW_DTYPE_INT16) ==
        std::vector<int16_t>{10, 11, 9, 10, 32767, -32768});
  CHECK(Converted<uint16_t>(values, TW_DTYPE_UINT16) ==
        std::vector<uint16_t>{10, 11, 9, 10, 65535, 0});
  CHECK(Converted<double>({0.25f}, TW_DTYPE_FLOAT64) == std::vector<double>{0.25});
  CHECK_THAT(Failure([] { Converted<int8_t>({NAN}, TW_DTYPE_INT8); }),
             Contains("5 x.npy: holds NaN"));
  tw_tensor_info plain{};
  plain.dtype = TW_DTYPE_INT32;
  CHECK_FALSE(cli::CanConvert(TW_DTYPE_FLOAT32, plain));
  plain.dtype = TW_DTYPE_INT8;  // not quantized
  CHECK_FALSE(cli::CanConvert(TW_DTYPE_FLOAT32, plain));
  plain.dtype = TW_DTYPE_FLOAT32;
  CHECK_FALSE(cli::CanConvert(TW_DTYPE_UINT8, plain));
  CHECK(cli::CanConvert(TW_DTYPE_FLOAT16, plain));
}

}  // namespace cli_judge_test
}  // namespace topwork
