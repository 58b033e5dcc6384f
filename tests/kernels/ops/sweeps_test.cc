// Operators swept over types, shapes and extreme values, and operators of control flow, against
// LiteRT's reference kernels: every file tests/data/ops/sweep_<family>.twcases and
// control_<operator>.twcases, on every instruction set.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/embedded.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {

namespace sweeps_test {

void RunFiles(const std::string& prefix, size_t least) {
  const std::string folder = "tests/data/ops/", ending = ".twcases";
  size_t n_files = 0, n_run = 0;
  const EmbeddedFile* files = EmbeddedFiles(&n_files);
  for (size_t i = 0; i < n_files; ++i) {
    const std::string path = files[i].name;
    if (path.compare(0, folder.size() + prefix.size(), folder + prefix) != 0) continue;
    RunOpCases(path.substr(folder.size(), path.size() - folder.size() - ending.size()).c_str());
    ++n_run;
  }
  CHECK(n_run >= least);
}

TEST_CASE("operators swept over types: golden cases", "[ops]") { RunFiles("sweep_", 20); }

TEST_CASE("control flow: golden cases", "[ops]") { RunFiles("control_", 4); }

}  // namespace sweeps_test

}  // namespace test
}  // namespace topwork
