// The disk cache of compiled programs: what is wrong with it is a miss.
#include "runtime/backend/opencl/program_cache.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "ports/port.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace program_cache_test {

using opencl::ProgramCache;

std::vector<uint8_t> Bytes(size_t size, uint8_t first) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

bool StoreBytes(const ProgramCache& cache, const std::string& key,
                const std::vector<uint8_t>& bytes) {
  return cache.Store(key, {bytes.data(), bytes.size()});
}

bool Has(const ProgramCache& cache, const std::string& key) {
  std::vector<uint8_t> out;
  return cache.Load(key, &out);
}

TEST_CASE("opencl program cache: what was stored comes back", "[backend]") {
  const test::TempFolder folder;
  const ProgramCache cache(folder / "a/b");
  const std::string key = ProgramCache::Key("source", "-DX", "driver");
  CHECK(key.size() == 64);
  CHECK(!Has(cache, key));
  const std::vector<uint8_t> bytes = Bytes(1000, 3);
  REQUIRE(StoreBytes(cache, key, bytes));
  std::vector<uint8_t> out;
  REQUIRE(ProgramCache(folder / "a/b").Load(key, &out));
  CHECK(out == bytes);
  REQUIRE(StoreBytes(cache, key, Bytes(10, 9)));
  REQUIRE(cache.Load(key, &out));
  CHECK(out == Bytes(10, 9));
  cache.Remove(key);
  CHECK(!Has(cache, key));
}

TEST_CASE("opencl program cache: every part of the key counts", "[backend]") {
  const std::string key = ProgramCache::Key("source", "options", "driver");
  CHECK(ProgramCache::Key("source2", "options", "driver") != key);
  CHECK(ProgramCache::Key("source", "options2", "driver") != key);
  CHECK(ProgramCache::Key("source", "options", "driver2") != key);
  CHECK(ProgramCache::Key("sourceo", "ptions", "driver") != key);
  CHECK(ProgramCache::Key("source", "options", "driver") == key);
}

TEST_CASE("opencl program cache: damaged, cut, foreign and old files are misses", "[backend]") {
  const test::TempFolder folder;
  const ProgramCache cache(folder / "c");
  const std::string key = ProgramCache::Key("source", "", "driver");
  REQUIRE(StoreBytes(cache, key, Bytes(100, 1)));
  const std::string good = test::ReadWhole(cache.PathOf(key));
  REQUIRE(good.size() == 228);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    test::WriteWhole(cache.PathOf(key), bad);
    INFO("byte " << i);
    CHECK(!Has(cache, key));
  }
  for (size_t size = 0; size < good.size(); ++size) {
    test::WriteWhole(cache.PathOf(key), good.substr(0, size));
    INFO("size " << size);
    CHECK(!Has(cache, key));
  }
  test::WriteWhole(cache.PathOf(key), good + "x");
  CHECK(!Has(cache, key));
  const std::string other = ProgramCache::Key("source", "", "another driver");
  test::WriteWhole(cache.PathOf(other), good);  // renamed by hand
  CHECK(!Has(cache, other));
  test::WriteWhole(cache.PathOf(key), good);
  CHECK(Has(cache, key));
}

TEST_CASE("opencl program cache: bounded, the oldest go first", "[backend]") {
  const test::TempFolder folder;
  const ProgramCache cache(folder / "c", 1000);
  std::vector<std::string> keys;
  for (int i = 0; i < 6; ++i) {
    keys.push_back(ProgramCache::Key("source " + std::to_string(i), "", ""));
    REQUIRE(StoreBytes(cache, keys.back(), Bytes(172, 0)));  // 300 with its header: three fit
    const int64_t start = port::NowNanos();
    while (port::NowNanos() - start < 10 * 1000 * 1000) {  // clocks of file systems are coarse
    }
  }
  test::WriteWhole(folder / "c/notes.txt", std::string(5000, 'n'));  // not the cache's
  CHECK(!Has(cache, keys[2]));
  CHECK(Has(cache, keys[3]));
  CHECK(Has(cache, keys[5]));
  CHECK(!StoreBytes(cache, keys[0], Bytes(2000, 0)));  // alone too large
  CHECK(Has(cache, keys[5]));
  CHECK(test::ReadWhole(folder / "c/notes.txt").size() == 5000);
}

TEST_CASE("opencl program cache: no folder, or one that cannot be made", "[backend]") {
  const test::TempFolder folder;
  const std::string key = ProgramCache::Key("source", "", "");
  const ProgramCache off("");
  CHECK(!StoreBytes(off, key, Bytes(10, 0)));
  CHECK(!Has(off, key));
  off.Remove(key);
  test::WriteWhole(folder / "file", "a file");
  const ProgramCache blocked(folder / "file/cache");
  CHECK(!StoreBytes(blocked, key, Bytes(10, 0)));
  CHECK(!Has(blocked, key));
}

}  // namespace program_cache_test
}  // namespace topwork
