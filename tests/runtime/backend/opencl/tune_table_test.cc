// Measured times on disk: they come back, and whatever is wrong with the file counts as nothing.
#include "runtime/backend/opencl/tune_table.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/temp_folder.h"

namespace topwork {
namespace tune_table_test {

using opencl::TuneTable;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("opencl tune table: times come back, the least is the best", "[backend]") {
  const test::TempFolder folder;
  TuneTable table(folder / "a", "driver 1");
  CHECK(table.Best("work") == "");
  CHECK(table.Nanos("work", "x") == -1);
  table.Keep("work", "broken", TuneTable::kFailed);
  CHECK(table.Best("work") == "");
  CHECK(table.Nanos("work", "broken") == TuneTable::kFailed);
  table.Keep("work", "x", 30);
  table.Keep("work", "y", 20);
  table.Keep("work", "z", 0);  // a clock too coarse to see it
  table.Keep("work", "z", 25);
  table.Keep("other\twork\n", "x", 5);
  const TuneTable again(folder / "a", "driver 1");
  CHECK(again.Best("work") == "y");
  CHECK(again.Nanos("work", "x") == 30);
  CHECK(again.Nanos("work", "z") == 25);
  CHECK(again.Nanos("work", "broken") == TuneTable::kFailed);
  CHECK(again.Best("other work ") == "x");
  CHECK(TuneTable(folder / "a", "driver 2").Best("work") == "");
  TuneTable nowhere("", "driver 1");
  nowhere.Keep("work", "x", 1);
  CHECK(nowhere.Best("work") == "x");
}

TEST_CASE("opencl tune table: two processes add to one file", "[backend]") {
  const test::TempFolder folder;
  TuneTable one(folder / "a", "driver"), two(folder / "a", "driver");
  one.Keep("work", "x", 30);
  two.Keep("work", "y", 20);
  one.Keep("more", "x", 1);
  const TuneTable both(folder / "a", "driver");
  CHECK(both.Best("work") == "y");
  CHECK(both.Nanos("work", "x") == 30);
  CHECK(both.Best("more") == "x");
}

TEST_CASE("opencl tune table: a damaged or foreign file counts as empty", "[backend]") {
  const test::TempFolder folder;
  std::string path;
  {
    TuneTable table(folder / "a", "driver");
    table.Keep("work", "x", 30);
    path = table.path();
  }
  const std::string good = ReadFile(path);
  REQUIRE(good.size() > 60);
  for (size_t size = 0; size < good.size(); size += 7) {
    WriteFile(path, good.substr(0, size));
    CHECK(TuneTable(folder / "a", "driver").Best("work") == "");
  }
  for (size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    WriteFile(path, bad);
    CHECK(TuneTable(folder / "a", "driver").Best("work") == "");
  }
  TuneTable table(folder / "a", "driver");
  table.Keep("work", "y", 10);  // and it is written anew
  CHECK(TuneTable(folder / "a", "driver").Best("work") == "y");
  WriteFile(path, good);
  CHECK(TuneTable(folder / "a", "driver").Best("work") == "x");
}

}  // namespace tune_table_test
}  // namespace topwork
