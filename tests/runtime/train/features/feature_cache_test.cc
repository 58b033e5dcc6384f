// The feature cache: rows, variants, targets, halves, limits, removal.
#include "runtime/train/features/feature_cache.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/train/random.h"

namespace topwork {
namespace feature_cache_test {

FeatureCacheOptions Options(int64_t dim, int n_variants = 0) {
  FeatureCacheOptions options;
  options.dim = dim;
  options.n_variants = n_variants;
  return options;
}

ExampleTarget Label(int32_t label) {
  ExampleTarget target;
  target.label = label;
  return target;
}

std::vector<float> Rows(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n));
  for (float& x : rows) x = static_cast<float>(random.Below(200001)) * 1e-3f - 100.0f;
  return rows;
}

TEST_CASE("feature cache: rows and variants come back as they were given", "[train]") {
  FeatureCache cache(Options(5, 2));
  const int64_t n = 30000;  // more than one block
  const std::vector<float> rows = Rows(15 * n, 1);
  for (int64_t i = 0; i < n; ++i) {
    ExampleId id = {};
    id[3] = static_cast<uint8_t>(i);
    REQUIRE(cache.Append(rows.data() + 15 * i, Label(static_cast<int32_t>(i % 7)), &id).ok());
  }
  REQUIRE(cache.size() == n);
  bool same = true;
  for (int64_t i = 0; i < n; ++i) {
    for (int v = 0; v < 3; ++v) {
      same = same && std::memcmp(cache.row(i, v), rows.data() + 15 * i + 5 * v, 20) == 0;
    }
    same = same && cache.label(i) == i % 7 && cache.id(i)[3] == static_cast<uint8_t>(i);
  }
  CHECK(same);
  CHECK(cache.bytes() >= static_cast<size_t>(n) * 60);
}

TEST_CASE("feature cache: halves keep eleven bits and refuse what they cannot hold", "[train]") {
  FeatureCacheOptions options = Options(1000);
  options.type = FeatureType::kFloat16;
  FeatureCache cache(options);
  std::vector<float> rows(1000);
  Random random(3);
  for (size_t i = 0; i < rows.size(); ++i) {
    const float mantissa = 1.0f + static_cast<float>(random.Below(1u << 23)) * 0x1p-23f;
    rows[i] =
        std::ldexp(i % 2 == 0 ? mantissa : -mantissa, static_cast<int>(random.Below(29)) - 14);
  }
  rows[0] = 0.0f;
  rows[1] = 65519.0f;
  rows[2] = 0x1p-24f;  // the least half; what lies below 2^-14 is subnormal
  rows[3] = -0x1.8p-20f;
  REQUIRE(cache.Append(rows.data(), Label(0)).ToString() == "OK");
  std::vector<float> scratch(1000);
  const float* got = cache.row(0, 0, scratch.data());
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO(i << ": " << rows[i]);
    CHECK(std::fabs(got[i] - rows[i]) <= std::fabs(rows[i]) * 0x1p-11f);
  }
  CHECK(got[2] == rows[2]);
  CHECK(got[3] == rows[3]);
  rows[7] = 65520.0f;
  const Status status = cache.Append(rows.data(), Label(0));
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("feature 7 of example 1 is 65520") != std::string::npos);
  CHECK(cache.size() == 1);
}

TEST_CASE("feature cache: features that are not finite are refused", "[train]") {
  FeatureCache cache(Options(3, 1));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float rows[] = {1, 2, 3, 4, nan, 6};
  const Status status = cache.Append(rows, Label(0));
  CHECK(status.code() == StatusCode::kNumeric);
  CHECK(status.message().find("feature 1 of example 0") != std::string::npos);
  CHECK(cache.size() == 0);
}

TEST_CASE("feature cache: the limit holds to the byte", "[train]") {
  FeatureCacheOptions options = Options(8);
  options.limit_bytes = 10 * 32 + 31;
  FeatureCache cache(options);
  const std::vector<float> rows = Rows(8, 1);
  for (int i = 0; i < 10; ++i) REQUIRE(cache.Append(rows.data(), Label(0)).ok());
  CHECK(cache.bytes() == 320);
  const Status status = cache.Append(rows.data(), Label(0));
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(status.message().find("features of 11 examples (8 floats each) need 352 bytes, the cache "
                              "limit is 351") != std::string::npos);
  CHECK(cache.Reserve(1).code() == StatusCode::kOutOfMemory);
  CHECK(cache.size() == 10);
  cache.Truncate(9);
  CHECK(cache.Append(rows.data(), Label(4)).ok());
  CHECK(cache.bytes() == 320);
  // Many blocks, of which the last is cut short.
  options.limit_bytes = 1000000;
  FeatureCache large(options);
  int n = 0;
  while (large.Append(rows.data(), Label(0)).ok()) ++n;
  CHECK(n == 31250);
  CHECK(large.bytes() == 1000000);
}

TEST_CASE("feature cache: examples are kept, replaced and removed", "[train]") {
  FeatureCacheOptions options = Options(2, 1);
  options.n_outputs = 3;
  options.limit_bytes = 6 * 16;
  FeatureCache cache(options);
  const auto append = [&](float x) {
    const float rows[] = {x, x + 0.25f, x + 0.5f, x + 0.75f};
    float values[] = {x, -x, 2 * x};
    ExampleTarget target;
    target.values = values;
    return cache.Append(rows, target);
  };
  for (int i = 0; i < 6; ++i) REQUIRE(append(static_cast<float>(i)).ok());
  REQUIRE_FALSE(append(6).ok());
  const std::string all = cache.digest();
  const int64_t kept[] = {4, 1, 5};
  cache.Keep(Span<const int64_t>(kept, 3));
  REQUIRE(cache.size() == 3);
  for (int64_t i = 0; i < 3; ++i) {
    const float x = static_cast<float>(kept[i]);
    CHECK(cache.row(i)[0] == x);
    CHECK(cache.row(i, 1)[1] == x + 0.75f);
    CHECK(cache.values(i)[2] == 2 * x);
  }
  CHECK(cache.digest() != all);
  // The room of those removed is used again, and nobody else's.
  for (int i = 10; i < 13; ++i) REQUIRE(append(static_cast<float>(i)).ok());
  CHECK_FALSE(append(13).ok());
  const float expected[] = {4, 1, 5, 10, 11, 12};
  for (int64_t i = 0; i < 6; ++i) CHECK(cache.row(i)[0] == expected[i]);

  const float rows[] = {7, 8, 9, 10};
  float values[] = {0.5f, 0.25f, 0.125f};
  ExampleTarget target;
  target.values = values;
  REQUIRE(cache.Replace(1, rows, target).ok());
  CHECK(cache.row(1, 1)[0] == 9);
  CHECK(cache.values(1)[1] == 0.25f);
  CHECK(cache.row(2)[0] == 5);
  // An output removed, one added.
  cache.MapOutputs({{2}, {}, {0}, {1, 2}});
  CHECK(cache.n_outputs() == 4);
  CHECK(cache.values(1)[3] == 0.25f);
  CHECK(cache.values(1)[0] == 0.125f);
  CHECK(cache.values(1)[1] == 0.0f);
  CHECK(cache.values(1)[2] == 0.5f);
  CHECK(cache.values(5)[0] == 24.0f);
}

TEST_CASE("feature cache: the digest sees rows, order and targets", "[train]") {
  const auto digest = [](std::vector<float> xs, std::vector<int32_t> labels) {
    FeatureCache cache(Options(1));
    for (size_t i = 0; i < xs.size(); ++i) REQUIRE(cache.Append(&xs[i], Label(labels[i])).ok());
    return cache.digest();
  };
  const std::string base = digest({1, 2}, {0, 1});
  CHECK(base.size() == 64);
  CHECK(digest({1, 2}, {0, 1}) == base);
  CHECK(digest({2, 1}, {0, 1}) != base);
  CHECK(digest({1, 2}, {1, 1}) != base);
  CHECK(digest({1, 2.5f}, {0, 1}) != base);
  FeatureCache renumbered(Options(1));
  const float xs[] = {1, 2};
  REQUIRE(renumbered.Append(xs, Label(5)).ok());
  REQUIRE(renumbered.Append(xs + 1, Label(6)).ok());
  for (int32_t& label : renumbered.mutable_labels()) label -= 5;
  CHECK(renumbered.digest() == base);
}

}  // namespace feature_cache_test
}  // namespace topwork
