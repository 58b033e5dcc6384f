// Feature extraction with a file: reuse, spilling, damage, full disks, other keys.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/contract/cpu_kernels.h"
#include "runtime/base/log.h"
#include "runtime/train/features/extractor.h"
#include "runtime/train/random.h"
#include "tests/runtime/train/features/extractor_data.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace extractor_reuse_test {

using test::NewExtractor;
using test::Tail;
using Images = test::ExtractorImages;

// Extracts into a fresh cache with a fresh extractor; the cache's digest, and what was done.
struct Outcome {
  std::string digest;
  size_t bytes = 0;
  ExtractionCounts counts;
};

Outcome ExtractOnce(const TrainerOptions& options, const Examples& examples) {
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  REQUIRE(extractor->Extract(examples, 3, nullptr, cache.get()).ToString() == "OK");
  REQUIRE(cache->size() == examples.count);
  return {cache->digest(), cache->bytes(), extractor->counts()};
}

void NoLog(void*, int, const char*) {}

// Warnings about damaged files are expected here.
struct Quiet {
  Quiet() { SetLog(LogLevel::kSilent, NoLog, nullptr); }
  ~Quiet() { SetLog(LogLevel::kWarning, nullptr, nullptr); }
};

constexpr size_t kRecordBytes = 40 + 8 * sizeof(float);  // of kDense's 8 features

TEST_CASE("extractor: the next run finds everything in the file", "[train]") {
  const test::TempFolder folder;
  const Images images(50);
  for (FeatureType type : {FeatureType::kFloat32, FeatureType::kFloat16}) {
    TrainerOptions options = test::ExtractorOptions(2, 0);
    options.feature_type = type;
    const Outcome fresh = ExtractOnce(options, images.examples());
    options.cache_path = folder / (type == FeatureType::kFloat32 ? "fp32" : "fp16");
    const Outcome first = ExtractOnce(options, images.examples());
    CHECK(first.digest == fresh.digest);
    CHECK(first.counts.n_computed == 50);
    const Outcome second = ExtractOnce(options, images.examples());
    CHECK(second.digest == fresh.digest);
    CHECK(second.counts.n_computed == 0);
    CHECK(second.counts.n_from_cache == 50);
    // More examples, in another order: only the new ones run.
    Images more(60);
    const Outcome third = ExtractOnce(options, more.examples());
    CHECK(third.counts.n_from_cache + third.counts.n_computed == 60);
    CHECK(third.counts.n_recomputed == 0);
    CHECK(ExtractOnce(options, more.examples()).counts.n_computed == 0);
  }
}

TEST_CASE("extractor: rows in fp16 are those in fp32 to eleven bits", "[train]") {
  const Images images(20);
  TrainerOptions options = test::ExtractorOptions(1, 0);
  const auto full = NewExtractor(options);
  options.feature_type = FeatureType::kFloat16;
  const auto half = NewExtractor(options);
  const auto a = full->NewCache(0);
  const auto b = half->NewCache(0);
  REQUIRE(full->Extract(images.examples(), 3, nullptr, a.get()).ok());
  REQUIRE(half->Extract(images.examples(), 3, nullptr, b.get()).ok());
  std::vector<float> scratch(8);
  for (int64_t i = 0; i < 20; ++i) {
    const float* row = b->row(i, 0, scratch.data());
    for (int64_t d = 0; d < 8; ++d) {
      const float exact = a->row(i)[d];
      CHECK(std::fabs(row[d] - exact) <= std::max(std::fabs(exact) * 0x1p-11f, 0x1p-25f));
    }
  }
}

TEST_CASE("extractor: an example whose key is known is not even read", "[train]") {
  const test::TempFolder folder;
  const Images images(30);
  TrainerOptions options = test::ExtractorOptions(2, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  options.cache_path = folder / "cache";
  int n_reads = 0;
  Examples examples = images.examples();
  const auto read = examples.read;
  examples.read = [&](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    ++n_reads;
    return read(index, inputs, out);
  };
  examples.key = [](int64_t index, std::string* out) {
    *out = "image " + std::to_string(index);
    return Status::Ok();
  };
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  CHECK(extractor->Extract(examples, 3, nullptr, cache.get()).code() ==
        StatusCode::kInvalidArgument);
  examples.target = [&](int64_t index, ExampleTarget* out) {
    out->label = images.y[static_cast<size_t>(index)];
    return Status::Ok();
  };
  REQUIRE(extractor->Extract(examples, 3, nullptr, cache.get()).ok());
  CHECK(n_reads == 30);
  cache->Truncate(0);
  REQUIRE(extractor->Extract(examples, 3, nullptr, cache.get()).ok());
  CHECK(n_reads == 30);
  CHECK(cache->digest() == fresh.digest);
  CHECK(extractor->counts().n_from_cache == 30);
}

TEST_CASE("extractor: what memory may not hold lies in the file, and the limit holds", "[train]") {
  const test::TempFolder folder;
  const Images images(100);
  TrainerOptions options = test::ExtractorOptions(2, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  for (size_t limit : {size_t{1}, size_t{32}, size_t{31 * 32 + 5}, size_t{100 * 32}}) {
    options.cache_limit_bytes = limit;
    options.cache_path = folder / ("cache" + std::to_string(limit));
    for (int run = 0; run < 2; ++run) {
      INFO("limit " << limit << ", run " << run);
      const Outcome spilled = ExtractOnce(options, images.examples());
      CHECK(spilled.digest == fresh.digest);
      CHECK(spilled.bytes <= limit);
      CHECK(spilled.bytes == limit / 32 * 32);
      CHECK(spilled.counts.n_computed == (run == 0 ? 100 : 0));
    }
  }
  options.cache_path.clear();
  options.cache_limit_bytes = 99 * 32;
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  const Status status = extractor->Extract(images.examples(), 3, nullptr, cache.get());
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(status.message().find("or give a file for the cache") != std::string::npos);
}

TEST_CASE("extractor: examples in the file are kept, replaced and removed like others", "[train]") {
  const test::TempFolder folder;
  const Images images(10);
  TrainerOptions options = test::ExtractorOptions(1, 0);
  options.cache_limit_bytes = 4 * 32;
  options.cache_path = folder / "cache";
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ok());
  std::vector<std::vector<float>> rows;
  for (int64_t i = 0; i < 10; ++i) rows.emplace_back(cache->row(i), cache->row(i) + 8);
  const int64_t kept[] = {9, 0, 5};  // one of them in memory
  cache->Keep(Span<const int64_t>(kept, 3));
  const std::vector<float> other = {1, 2, 3, 4, 5, 6, 7, 8};
  ExampleTarget target;
  target.label = 2;
  for (int i = 0; i < 5; ++i) REQUIRE(cache->Append(other.data(), target).ok());
  REQUIRE(cache->Replace(0, other.data(), target).ok());
  REQUIRE(cache->Replace(1, rows[3].data(), target).ok());
  CHECK(cache->bytes() == 4 * 32);
  CHECK(std::equal(other.begin(), other.end(), cache->row(0)));
  CHECK(std::equal(rows[3].begin(), rows[3].end(), cache->row(1)));
  CHECK(std::equal(rows[5].begin(), rows[5].end(), cache->row(2)));
  for (int64_t i = 3; i < 8; ++i) CHECK(std::equal(other.begin(), other.end(), cache->row(i)));
  // The file still has all ten for the next run.
  cache->Truncate(0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ok());
  CHECK(extractor->counts().n_computed == 10);
  for (int64_t i = 0; i < 10; ++i) {
    CHECK(std::equal(rows[static_cast<size_t>(i)].begin(), rows[static_cast<size_t>(i)].end(),
                     cache->row(i)));
  }
}

TEST_CASE("extractor: a damaged file gives what a fresh extraction gives", "[train]") {
  const test::TempFolder folder;
  const Images images(12);
  TrainerOptions options = test::ExtractorOptions(1, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  options.cache_path = folder / "cache";
  ExtractOnce(options, images.examples());
  const std::string whole = test::ReadWhole(options.cache_path);
  const size_t header = whole.size() - 12 * kRecordBytes;
  REQUIRE(header % 64 == 0);
  const Quiet quiet;
  const auto check = [&](const std::string& bytes, int64_t n_computed, int64_t n_recomputed) {
    // With all rows in memory, and with most of them in the file.
    for (size_t limit : {size_t{0}, size_t{3 * 32}}) {
      test::WriteWhole(options.cache_path, bytes);
      options.cache_limit_bytes = limit;
      const Outcome outcome = ExtractOnce(options, images.examples());
      REQUIRE(outcome.digest == fresh.digest);
      if (n_computed >= 0) CHECK(outcome.counts.n_computed == n_computed);
      if (n_recomputed >= 0) CHECK(outcome.counts.n_recomputed == n_recomputed);
      REQUIRE(ExtractOnce(options, images.examples()).counts.n_computed == 0);
    }
  };
  for (int64_t n = 0; n <= 12; ++n) {
    INFO(n << " records");
    const size_t end = header + static_cast<size_t>(n) * kRecordBytes;
    check(whole.substr(0, end), 12 - n, 0);
    if (n < 12) check(whole.substr(0, end + 1), 12 - n, 0);
    if (n > 0) check(whole.substr(0, end - 1), 13 - n, 0);
  }
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    INFO("round " << round);
    check(whole.substr(0, static_cast<size_t>(random.Below(whole.size()))), -1, 0);
    std::string bytes = whole;
    const size_t bit = static_cast<size_t>(random.Below(8 * whole.size()));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ static_cast<char>(1u << bit % 8));
    check(bytes, bit / 8 < header ? 12 : 1, -1);
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(random.Below(bytes.size())), bytes.end(),
              static_cast<char>(random.Next()));
    if (bytes.compare(0, 8, whole, 0, 8) == 0) check(bytes, -1, -1);
  }
  // One record's rows: recomputed, and counted so.
  std::string bytes = whole;
  bytes[header + 4 * kRecordBytes + 45] ^= 0x10;
  check(bytes, 1, 1);
}

TEST_CASE("extractor: a cancelled or failed extraction goes on where it was", "[train]") {
  const test::TempFolder folder;
  const Images images(100);
  TrainerOptions options = test::ExtractorOptions(2, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  options.cache_path = folder / "cache";
  int64_t n_done = 0;
  {
    const auto extractor = NewExtractor(options);
    const auto cache = extractor->NewCache(0);
    const Status status = extractor->Extract(
        images.examples(), 3,
        [&](int64_t done, int64_t) {
          n_done = done;
          return done < 40;
        },
        cache.get());
    CHECK(status.code() == StatusCode::kCancelled);
    CHECK(cache->size() == 0);
  }
  const Outcome rest = ExtractOnce(options, images.examples());
  CHECK(rest.digest == fresh.digest);
  CHECK(rest.counts.n_from_cache == n_done);
  CHECK(rest.counts.n_computed == 100 - n_done);
}

TEST_CASE("extractor: a full disk stops with its reason and loses nothing", "[train]") {
  const test::TempFolder folder;
  const Images images(100);
  TrainerOptions options = test::ExtractorOptions(2, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  options.cache_path = folder / "cache";
  const auto extractor = NewExtractor(options);
  const auto cache = extractor->NewCache(0);
  Status status;
  bool limited = false;
  {
    const test::FileSizeLimit limit(test::ReadWhole(options.cache_path).size() + 30 * kRecordBytes);
    limited = limit.set();
    status = extractor->Extract(images.examples(), 3, nullptr, cache.get());
  }
  REQUIRE(limited);
  INFO(status.ToString());
  CHECK(status.code() == StatusCode::kIo);
  CHECK(status.message().find("the 30 examples in it are kept") != std::string::npos);
  CHECK(cache->size() == 0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ToString() == "OK");
  CHECK(extractor->counts().n_from_cache == 30);
  CHECK(cache->digest() == fresh.digest);
}

TEST_CASE("extractor: equal examples run once and share a record", "[train]") {
  const test::TempFolder folder;
  Images images(8);
  const Images source(8);
  for (int repeat = 0; repeat < 19; ++repeat) {
    images.x.insert(images.x.end(), source.x.begin(), source.x.end());
    images.y.insert(images.y.end(), source.y.begin(), source.y.end());
  }
  TrainerOptions options = test::ExtractorOptions(2, 0);
  const Outcome fresh = ExtractOnce(options, images.examples());
  options.cache_path = folder / "cache";
  options.cache_limit_bytes = 10 * 32;
  const Outcome shared = ExtractOnce(options, images.examples());
  CHECK(shared.digest == fresh.digest);
  CHECK(shared.counts.n_computed == 8);
  const std::string bytes = test::ReadWhole(options.cache_path);
  CHECK((bytes.size() - 8 * kRecordBytes) % 64 == 0);
  CHECK(bytes.size() < 1024 + 8 * kRecordBytes);
}

TEST_CASE("extractor: a file of another model, preprocessing, type or processor is not used",
          "[train]") {
  const test::TempFolder folder;
  const Images images(10);
  TrainerOptions base = test::ExtractorOptions(1, 0);
  base.cache_path = folder / "cache";
  base.preprocessing = "mean 0 std 255";
  const Quiet quiet;
  std::vector<TrainerOptions> others(3, base);
  others[0].preprocessing = "mean 127 std 128";
  others[1].feature_type = FeatureType::kFloat16;
  others[2].feature_batch_size = 2;
  const CpuKernels* const* tables = nullptr;
  const int n_tables = RunnableCpuKernels(&tables);
  for (int i = 0; i < n_tables; ++i) {
    if (tables[i] == &BestCpuKernels()) continue;
    others.push_back(base);
    others.back().cpu = tables[i];
  }
  for (const TrainerOptions& other : others) {
    ExtractOnce(base, images.examples());
    CHECK(ExtractOnce(base, images.examples()).counts.n_from_cache == 10);
    CHECK(ExtractOnce(other, images.examples()).counts.n_computed == 10);
    CHECK(ExtractOnce(other, images.examples()).counts.n_from_cache == 10);
  }
  ExtractOnce(base, images.examples());
  const auto extractor = [&] { return NewExtractor(base, Tail::kConvReshape); }();
  const auto cache = extractor->NewCache(0);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, cache.get()).ok());
  CHECK(extractor->counts().n_computed == 10);
}

}  // namespace extractor_reuse_test
}  // namespace topwork
