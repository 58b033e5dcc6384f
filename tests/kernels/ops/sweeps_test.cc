// Operators swept over types, shapes and extreme values, against LiteRT's reference kernels: every
// file tests/data/ops/sweep_<family>.twcases, on every instruction set.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/embedded.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

TEST_CASE("operators swept over types: golden cases", "[ops]") {
  const std::string folder = "tests/data/ops/", ending = ".twcases";
  size_t n_files = 0, n_run = 0;
  const EmbeddedFile* files = EmbeddedFiles(&n_files);
  for (size_t i = 0; i < n_files; ++i) {
    const std::string path = files[i].name;
    if (path.compare(0, folder.size() + 6, folder + "sweep_") != 0) continue;
    RunOpCases(path.substr(folder.size(), path.size() - folder.size() - ending.size()).c_str());
    ++n_run;
  }
  CHECK(n_run >= 20);
}

}  // namespace test
}  // namespace topwork
