// Feature extraction: the same rows however it is run; targets; errors; stopping.
#include "runtime/train/features/extractor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "tests/runtime/train/features/extractor_data.h"

namespace topwork {
namespace extractor_test {

using test::NewExtractor;
using test::Tail;
using Images = test::ExtractorImages;

constexpr size_t kFloats = test::kImageFloats;

FeatureCache NewCache(const FeatureExtractor& extractor, int64_t n_outputs = 0) {
  return std::move(*extractor.NewCache(n_outputs));
}

TEST_CASE("extractor: the same bits for any number of threads", "[train]") {
  const Images images(61);
  for (Tail tail : {Tail::kDense, Tail::kConvMean}) {
    std::string expected;
    for (int n_threads : {1, 2, 3}) {
      const auto extractor = NewExtractor(test::ExtractorOptions(n_threads, 0), tail);
      FeatureCache cache = NewCache(*extractor);
      REQUIRE(extractor->Extract(images.examples(), 3, nullptr, &cache).ToString() == "OK");
      REQUIRE(cache.size() == 61);
      if (expected.empty()) expected = cache.digest();
      CHECK(cache.digest() == expected);
      for (int64_t i = 0; i < 61; ++i) CHECK(cache.label(i) == images.y[static_cast<size_t>(i)]);
    }
  }
}

TEST_CASE("extractor: batches give what single examples give", "[train]") {
  const Images images(19);
  const auto single = NewExtractor(test::ExtractorOptions(1, 1));
  FeatureCache expected = NewCache(*single);
  REQUIRE(single->Extract(images.examples(), 3, nullptr, &expected).ok());
  for (int n_threads : {1, 2}) {
    const auto batched = NewExtractor(test::ExtractorOptions(n_threads, 4));
    CHECK(batched->batch_size() == 4);
    FeatureCache cache = NewCache(*batched);
    REQUIRE(batched->Extract(images.examples(), 3, nullptr, &cache).ok());
    REQUIRE(cache.size() == 19);
    for (int64_t i = 0; i < 19; ++i) {
      for (int64_t d = 0; d < cache.dim(); ++d) {
        CHECK(cache.row(i)[d] == Approx(expected.row(i)[d]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("extractor: memory for one session only gives it all threads", "[train]") {
  const Images images(9);
  TrainerOptions options = test::ExtractorOptions(3, 0);
  const auto free = NewExtractor(options);
  FeatureCache expected = NewCache(*free);
  REQUIRE(free->Extract(images.examples(), 3, nullptr, &expected).ok());
  const size_t all = free->memory_bytes();
  const auto one = NewExtractor(test::ExtractorOptions(1, 0));
  const size_t single = one->memory_bytes();
  CHECK(all == 3 * single);
  const size_t shared = one->packed_bytes();
  int n_sessions_seen = 0;  // one bit for each number of them
  for (size_t limit = shared + all + 64; limit > single; limit -= 64) {
    options.memory_limit_bytes = limit;
    const auto model = test::OpenBytes(test::ClassifierBytes(Tail::kDense));
    const auto head = FindHead(model->main(), 0);
    Cut cut;
    cut.value = head->feature;
    cut.dim = head->dim;
    cut.n_positions = head->n_positions;
    auto limited = FeatureExtractor::Create(model, cut, options);
    if (!limited.ok()) {
      CHECK(limited.status().code() == StatusCode::kOutOfMemory);
      break;
    }
    FeatureCache cache = NewCache(**limited);
    REQUIRE((*limited)->Extract(images.examples(), 3, nullptr, &cache).ToString() == "OK");
    CHECK(cache.digest() == expected.digest());
    CHECK((*limited)->memory_bytes() + (*limited)->packed_bytes() <= limit);
    for (size_t n = 1; n <= 3; ++n) {
      if ((*limited)->memory_bytes() == n * single) n_sessions_seen |= 1 << n;
    }
    CHECK((*limited)->pool().n_threads() == 3);
  }
  CHECK((n_sessions_seen & 12) == 12);
}

TEST_CASE("extractor: floats are targets where there are no labels", "[train]") {
  const Images images(10);
  std::vector<float> targets;
  for (int i = 0; i < 20; ++i) targets.push_back(static_cast<float>(i) * 0.5f);
  const Examples examples =
      Examples::FromArray(images.x.data(), kFloats * sizeof(float), targets.data(), 2, 10);
  const auto extractor = NewExtractor(test::ExtractorOptions(2, 0));
  FeatureCache cache = NewCache(*extractor, 2);
  REQUIRE(extractor->Extract(examples, 2, nullptr, &cache).ToString() == "OK");
  REQUIRE(cache.size() == 10);
  for (int64_t i = 0; i < 10; ++i) {
    CHECK(cache.values(i)[0] == targets[static_cast<size_t>(2 * i)]);
    CHECK(cache.values(i)[1] == targets[static_cast<size_t>(2 * i + 1)]);
  }
  Examples forgetful = examples;
  forgetful.read = [&](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    const Status status = examples.read(index, inputs, out);
    if (index == 7) out->values[1] = std::nanf("");
    return status;
  };
  const Status status = extractor->Extract(forgetful, 2, nullptr, &cache);
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message().find("target 1 of example 7") != std::string::npos);
  CHECK(cache.size() == 10);
  FeatureCache labels = NewCache(*extractor);
  CHECK(extractor->Extract(examples, 2, nullptr, &labels).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("extractor: a failure in the middle leaves the cache as it was", "[train]") {
  const Images images(40);
  const auto extractor = NewExtractor(test::ExtractorOptions(2, 0));
  FeatureCache cache = NewCache(*extractor);
  REQUIRE(extractor->Extract(images.examples(), 3, nullptr, &cache).ok());
  const std::string before = cache.digest();
  Examples broken = images.examples();
  const auto read = broken.read;
  broken.read = [&](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    if (index == 33) return IoError("image 33 is gone");
    return read(index, inputs, out);
  };
  CHECK(extractor->Extract(broken, 3, nullptr, &cache).message() == "image 33 is gone");
  CHECK(cache.digest() == before);
  CHECK(extractor->Extract(images.examples(), 2, nullptr, &cache).code() ==
        StatusCode::kInvalidArgument);
  CHECK(cache.digest() == before);
}

TEST_CASE("extractor: cancelling stops the extraction in progress and no other", "[train]") {
  const Images images(200);
  for (int n_threads : {1, 2}) {
    const auto extractor = NewExtractor(test::ExtractorOptions(n_threads, 0));
    FeatureCache cache = NewCache(*extractor);
    extractor->Cancel();  // nothing is in progress
    int64_t seen = 0;
    const auto cancel = [&](int64_t n_done, int64_t) {
      seen = n_done;
      std::thread([&] { extractor->Cancel(); }).join();
      return true;
    };
    CHECK(extractor->Extract(images.examples(), 3, cancel, &cache).code() ==
          StatusCode::kCancelled);
    CHECK(seen < 100);
    CHECK(cache.size() == 0);
    REQUIRE(extractor->Extract(images.examples(), 3, nullptr, &cache).ToString() == "OK");
    CHECK(cache.size() == 200);
    // At any moment.
    for (int round = 0; round < 50; ++round) {
      std::thread other([&] { extractor->Cancel(); });
      const Status status = extractor->Extract(images.examples(), 3, nullptr, &cache);
      other.join();
      CHECK((status.ok() || status.code() == StatusCode::kCancelled));
      cache.Truncate(200);
      REQUIRE(extractor->Extract(images.examples(), 3, nullptr, &cache).ToString() == "OK");
      cache.Truncate(200);
    }
  }
}

}  // namespace extractor_test
}  // namespace topwork
