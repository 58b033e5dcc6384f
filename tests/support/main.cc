// The main function of topwork_tests: Catch2's command line plus --skip-code, and the list of
// skips.
//
// Exit code: the number of failed tests (255 at most); otherwise --skip-code when a test was
// skipped; otherwise 0. It is never --skip-code when a test failed.
#define CATCH_CONFIG_RUNNER
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "kernels/contract/cpu_kernels.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

struct SkipList {
  std::map<std::string, std::string> reasons;
  bool quiet = false;
};

SkipList& Skips() {
  static SkipList list;
  return list;
}

int g_failed_tests = 0;

struct FailureCounter : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(Catch::TestRunStats const& stats) override {
    g_failed_tests = static_cast<int>(stats.totals.testCases.failed);
  }
};
CATCH_REGISTER_LISTENER(FailureCounter)

// Whether it is the best instruction set of the processor.
bool IsBestOfAll(const std::string& isa) {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  return isa == tables[n - 1]->isa;
}

}  // namespace

void Skip(const std::string& why) {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  Skips().reasons[name] = why;
  if (!Skips().quiet) {
    std::printf("SKIP %s: %s\n", name.c_str(), why.c_str());
    std::fflush(stdout);
  }
}

const std::string* SkipReason(const std::string& test_name) {
  const auto found = Skips().reasons.find(test_name);
  return found == Skips().reasons.end() ? nullptr : &found->second;
}

int SkipCount() { return static_cast<int>(Skips().reasons.size()); }

void SetSkipQuiet(bool quiet) { Skips().quiet = quiet; }

}  // namespace test
}  // namespace topwork

int main(int argc, char** argv) {
  // The same on machines with a GPU; tests of it choose a device themselves.
  setenv("TOPWORK_AUTO_DEVICE", "off", 0);
  Catch::Session session;
  int skip_code = 0;
  session.cli(session.cli() | Catch::clara::Opt(skip_code, "code")["--skip-code"](
                                  "exit code when no test failed but some were skipped"));
  session.configData().warnings = static_cast<Catch::WarnAbout::What>(
      Catch::WarnAbout::NoAssertions | Catch::WarnAbout::NoTests);
  int code = session.applyCommandLine(argc, argv);
  if (code != 0) return code;
  const char* isa = std::getenv("TOPWORK_ISA");
  if (isa != nullptr && *isa != '\0' && isa != std::string(topwork::BestCpuKernels().isa)) {
    std::printf("SKIP all tests: this build and processor do not have TOPWORK_ISA=%s\n", isa);
    return skip_code;
  }
  if (isa != nullptr && *isa != '\0' && topwork::test::IsBestOfAll(isa)) {
    std::printf("SKIP all tests: without TOPWORK_ISA they run on %s\n", isa);
    return skip_code;
  }
  code = session.run();
  const Catch::Config& config = session.config();
  if (config.listTests() || config.listTags() || config.listTestNamesOnly() ||
      config.listReporters()) {
    return 0;
  }
  const int skipped = topwork::test::SkipCount();
  if (skipped > 0 && !topwork::test::Skips().quiet) std::printf("%d tests skipped\n", skipped);
  if (code == 0) return skipped > 0 ? skip_code : 0;
  code = std::min(255, std::max(1, topwork::test::g_failed_tests));
  return code == skip_code ? code - 1 : code;
}
