// Arranged weights on disk: all that they depend on counts, and what is wrong with a file is a miss.
#include "runtime/backend/opencl/weight_cache.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "ports/port.h"
#include "runtime/base/hash64.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace weight_cache_test {

using opencl::WeightCache;

std::vector<uint8_t> Bytes(size_t size, uint8_t seed) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * (i >> 8 | 1) + seed);
  return bytes;
}

// A program of one launch, of a tensor without data and one with, and what it arranges of them.
struct Program {
  Program() {
    Launch launch;
    launch.program = "gemm";
    launch.kernel = {"gemm_4x4", "4x4"};
    launch.arguments = {LaunchArgument::Buffer(0), LaunchArgument::Int(7)};
    trial.launches.push_back(launch);
    scales = {0.5f};
    quantization.scales = scales;
    source.dtype = DType::kFloat32;
    source.shape = {100, 100};
    source.data = data.data();
    source.quantization = &quantization;
    input.shape = {1, 100};
  }
  std::vector<const TensorView*> tensors() const { return {&input, nullptr, &source}; }
  std::shared_ptr<GpuWeights> FindIn(const WeightCache& cache) const {
    return cache.Find(trial, tensors());
  }
  // What a start does; true where it was found, with the right bytes.
  bool Start(const WeightCache& cache, bool* keeps = nullptr) const {
    GpuProgram program;
    program.weights = FindIn(cache);
    const std::vector<GpuWeights::Constant>& found = program.weights->constants;
    for (size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found.size() == arranged.size());
      const std::vector<uint8_t> bytes(found[i].bytes.begin(), found[i].bytes.end());
      REQUIRE(bytes == arranged[i]);
      REQUIRE(found[i].hash == Hash64(bytes.data(), bytes.size(), 0));
    }
    if (!found.empty()) return true;
    for (const std::vector<uint8_t>& bytes : arranged) {
      program.blocks.emplace_back();
      program.blocks.back().constant = bytes;
      program.blocks.back().is_arranged = true;
      program.blocks.emplace_back();
      program.blocks.back().constant = Bytes(5000, 9);  // a table
    }
    const bool kept = cache.Keep(&program);
    if (keeps != nullptr) *keeps = kept;
    return false;
  }

  GpuProgram trial;
  std::vector<uint8_t> data = Bytes(40000, 1);
  std::vector<float> scales;
  Quantization quantization;
  TensorView source, input;
  std::vector<std::vector<uint8_t>> arranged = {Bytes(60000, 2), Bytes(4096, 3), Bytes(9001, 4)};
};

std::vector<port::FolderEntry> FilesOf(const std::string& folder) {
  std::vector<port::FolderEntry> files;
  REQUIRE(port::ListFiles(folder.c_str(), &files) == 0);
  return files;
}
std::string OnlyFile(const std::string& folder) {
  const std::vector<port::FolderEntry> files = FilesOf(folder);
  REQUIRE(files.size() == 1);
  return folder + "/" + files[0].name;
}
void Wait() {
  const int64_t start = port::NowNanos();
  while (port::NowNanos() - start < 10 * 1000 * 1000) {  // clocks of file systems are coarse
  }
}

TEST_CASE("opencl weight cache: what was kept is found", "[backend]") {
  const test::TempFolder folder;
  const WeightCache cache(folder / "a/b");
  CHECK(cache.is_on());
  CHECK(!WeightCache("").is_on());
  const Program program;
  bool kept = false;
  CHECK(!program.Start(cache, &kept));
  CHECK(kept);
  CHECK(program.Start(cache));
  CHECK(Program().Start(WeightCache(folder / "a/b")));  // other addresses, the same bytes
  const auto held = program.FindIn(cache);
  REQUIRE(port::RemoveFile(OnlyFile(folder / "a/b").c_str()) == 0);
  CHECK(held->constants[2].bytes[9000] == program.arranged[2][9000]);  // it stays mapped
  CHECK(!program.Start(cache));
}

TEST_CASE("opencl weight cache: all that weights depend on counts", "[backend]") {
  const test::TempFolder folder;
  const WeightCache cache(folder / "c");
  REQUIRE(!Program().Start(cache));
  const auto differs = [&](const char* what, const std::function<void(Program*)>& change) {
    Program program;
    change(&program);
    INFO(what);
    CHECK(program.FindIn(cache)->constants.empty());
  };
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, size_t{20000}, size_t{39999}}) {
    differs("a byte of the source", [&](Program* p) { p->data[at] ^= 1; });
  }
  // Two changes that Hash64 does not see.
  differs("two bits of the source", [](Program* p) {
    const uint64_t hash = Hash64(p->data.data(), p->data.size(), 0);
    p->data[32007] ^= 0x80;
    p->data[32035] ^= 0x10;
    CHECK(Hash64(p->data.data(), p->data.size(), 0) == hash);
  });
  differs("a shape", [](Program* p) { p->source.shape = {10, 1000}; });
  differs("the input's shape", [](Program* p) { p->input.shape = {2, 100}; });
  differs("a type", [](Program* p) { p->source.dtype = DType::kInt32; });
  differs("a scale", [](Program* p) { p->scales[0] = 0.25f; });
  differs("an axis", [](Program* p) { p->quantization.axis = 1; });
  differs("no scale", [](Program* p) { p->source.quantization = nullptr; });
  differs("the storage", [](Program* p) { p->trial.storage = Storage::kFloat16; });
  differs("the kernel", [](Program* p) { p->trial.launches[0].kernel = {"gemm_4x8", "4x8"}; });
  differs("an argument", [](Program* p) { p->trial.launches[0].arguments[1].integer = 8; });
  differs("an option", [](Program* p) { p->trial.launches[0].options = " -DTW_TILES=2"; });
  differs("another launch", [](Program* p) { p->trial.launches.push_back(p->trial.launches[0]); });
  differs("the size", [](Program* p) { p->trial.constant_bytes = 1; });
  CHECK(Program().Start(cache));
}

TEST_CASE("opencl weight cache: damaged, cut and foreign files are written anew", "[backend]") {
  const test::TempFolder folder;
  const WeightCache cache(folder / "c");
  const Program program;
  REQUIRE(!program.Start(cache));
  const std::string path = OnlyFile(folder / "c"), good = test::ReadWhole(path);
  const auto is_miss = [&](const std::string& bad) {
    test::WriteWhole(path, bad);
    return program.FindIn(cache)->constants.empty();
  };
  for (size_t i = 0; i < good.size(); i += i < 300 ? 1 : 997) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    INFO("byte " << i);
    CHECK(is_miss(bad));
  }
  for (size_t size = 0; size < good.size(); size += size < 300 ? 1 : 997) {
    INFO("size " << size);
    CHECK(is_miss(good.substr(0, size)));
  }
  CHECK(is_miss(good + "x"));
  CHECK(is_miss(std::string(1000, 'n')));
  CHECK(!program.Start(cache));  // and keeps it
  CHECK(program.Start(cache));
  // Another program's file under this one's name.
  Program other;
  other.data[30000] ^= 1;
  REQUIRE(!other.Start(cache));
  CHECK(OnlyFile(folder / "c") == path);  // what differs is no part of the name
  CHECK(!program.Start(cache));
  CHECK(program.Start(cache));
}

TEST_CASE("opencl weight cache: bounded, the oldest go first", "[backend]") {
  const test::TempFolder folder;
  const WeightCache cache(folder / "c", 200000);  // two fit
  for (int i = 0; i < 4; ++i) {
    Program program;
    program.trial.constant_bytes = static_cast<size_t>(i);
    REQUIRE(!program.Start(cache));
    Wait();
    if (i == 0) test::WriteWhole(folder / "c/old.clbin", std::string(300000, 'n'));
  }
  for (int i = 0; i < 4; ++i) {
    Program program;
    program.trial.constant_bytes = static_cast<size_t>(i);
    CHECK(program.FindIn(cache)->constants.empty() == (i < 2));
  }
  CHECK(FilesOf(folder / "c").size() == 3);  // programs have a limit of their own
  bool kept = true;
  CHECK(!Program().Start(WeightCache(folder / "d", 70000), &kept));  // alone too large
  CHECK(!kept);
  Program small;
  small.arranged.resize(1);  // 60000 bytes: not worth a file
  CHECK(!small.Start(WeightCache(folder / "e"), &kept));
  CHECK(!kept);
  std::vector<port::FolderEntry> none;
  CHECK(port::ListFiles((folder / "d").c_str(), &none) != 0);
}

TEST_CASE("opencl weight cache: a folder that cannot be written, a full disk", "[backend]") {
  const test::TempFolder folder;
  const Program program;
  bool kept = true;
  test::WriteWhole(folder / "file", "a file");
  CHECK(!program.Start(WeightCache(folder / "file/cache"), &kept));
  CHECK(!kept);
  const WeightCache cache(folder / "c");
  {
    const test::FileSizeLimit limit(30000);
    REQUIRE(limit.set());
    CHECK(!program.Start(cache, &kept));
    CHECK(!kept);
  }
  CHECK(FilesOf(folder / "c").empty());
  CHECK(!program.Start(cache, &kept));
  CHECK(kept);
  // A failed write leaves the old file as it was.
  Program other;
  other.data[30000] ^= 1;
  {
    const test::FileSizeLimit limit(30000);
    CHECK(!other.Start(cache, &kept));
    CHECK(!kept);
  }
  CHECK(program.Start(cache));
}

TEST_CASE("opencl weight cache: several may write and read one file", "[backend]") {
  const test::TempFolder folder;
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  Program programs[2];
  programs[1].data[30000] ^= 1;  // the same name, another source
  programs[1].arranged[0] = Bytes(60000, 77);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const WeightCache cache(folder / "c");
      for (int i = 0; i < 25; ++i) {
        GpuProgram program;
        const Program& from = programs[t % 2];
        program.weights = from.FindIn(cache);
        const auto& constants = program.weights->constants;
        for (size_t k = 0; k < constants.size(); ++k) {
          const bool same = std::equal(constants[k].bytes.begin(), constants[k].bytes.end(),
                                       from.arranged[k].begin(), from.arranged[k].end());
          found += same ? 1 : -1000000;
        }
        if (!constants.empty()) continue;
        for (const std::vector<uint8_t>& bytes : from.arranged) {
          program.blocks.emplace_back();
          program.blocks.back().constant = bytes;
          program.blocks.back().is_arranged = true;
        }
        (void)cache.Keep(&program);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found >= 0);
  CHECK(FilesOf(folder / "c").size() == 1);
  const WeightCache cache(folder / "c");
  CHECK(programs[0].FindIn(cache)->constants.empty() !=
        programs[1].FindIn(cache)->constants.empty());
}

}  // namespace weight_cache_test
}  // namespace topwork
