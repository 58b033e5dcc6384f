// Catch2 reporter "unity": prints what ThrowTheSwitch's Unity prints, for the parsers of embedded
// CI.
//
//   file:line:name:PASS           line of the test
//   file:line:name:FAIL: message  line of the first failed assertion
//   file:line:name:IGNORE: why    a test that called TW_SKIP
//
// then an empty line, 23 dashes, "N Tests N Failures N Ignored " and OK or FAIL. Parsers split
// lines at colons, so colons in names and messages become semicolons; every line is flushed,
// because a device may reboot. With "-v high" the name of each test is printed before it runs, to
// attribute a hang.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#include <cstdio>
#include <set>
#include <string>

#include "tests/support/skip.h"

namespace topwork {
namespace test {
namespace {

std::string OneField(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == ':') {
      out += ';';
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof(hex), "\\x%02X", byte);
      out += hex;
    } else {
      out += c;
    }
  }
  return out;
}

std::string Describe(const Catch::AssertionStats& stats) {
  const Catch::AssertionResult& result = stats.assertionResult;
  std::string text;
  const auto append = [&text](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (result.hasExpression()) append(result.getExpressionInMacro());
  if (result.hasExpandedExpression()) append("got " + result.getExpandedExpression());
  if (result.getResultType() == Catch::ResultWas::FatalErrorCondition) append("fatal error");
  if (result.getResultType() == Catch::ResultWas::ThrewException) append("unexpected exception");
  if (result.hasMessage()) append(result.getMessage());
  // Catch2 also lists an explicit FAIL's own message here; do not print it twice.
  for (const Catch::MessageInfo& info : stats.infoMessages) {
    if (!result.hasMessage() || info.message != result.getMessage()) append(info.message);
  }
  return text;
}

class UnityReporter : public Catch::StreamingReporterBase<UnityReporter> {
 public:
  explicit UnityReporter(const Catch::ReporterConfig& config) : StreamingReporterBase(config) {
    SetSkipQuiet(true);
  }

  static std::string getDescription() { return "Prints the lines of the Unity test framework"; }
  static std::set<Catch::Verbosity> getSupportedVerbosities() {
    return {Catch::Verbosity::Quiet, Catch::Verbosity::Normal, Catch::Verbosity::High};
  }

  void assertionStarting(const Catch::AssertionInfo&) override {}

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    StreamingReporterBase::testCaseStarting(info);
    failure_seen_ = false;
    if (m_config->verbosity() == Catch::Verbosity::High) {
      stream << "RUN " << OneField(info.name) << '\n' << std::flush;
    }
  }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (stats.assertionResult.isOk() || failure_seen_) return true;
    failure_seen_ = true;
    failure_line_ = stats.assertionResult.getSourceInfo();
    failure_text_ = Describe(stats);
    return true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ++n_tests_;
    const std::string* skip = SkipReason(stats.testInfo.name);
    if (stats.totals.testCases.failed > 0) {
      ++n_failures_;
      if (!failure_seen_) {
        failure_line_ = stats.testInfo.lineInfo;
        failure_text_ = "the test made no assertion, or passed though it was expected to fail";
      }
      Line(failure_line_, stats.testInfo.name, "FAIL", failure_text_);
    } else if (skip != nullptr) {
      ++n_ignored_;
      Line(stats.testInfo.lineInfo, stats.testInfo.name, "IGNORE", *skip);
    } else {
      Line(stats.testInfo.lineInfo, stats.testInfo.name, "PASS", "");
    }
    StreamingReporterBase::testCaseEnded(stats);
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    stream << "\n-----------------------\n"
           << n_tests_ << " Tests " << n_failures_ << " Failures " << n_ignored_ << " Ignored \n"
           << (n_failures_ == 0 ? "OK" : "FAIL") << '\n'
           << std::flush;
    StreamingReporterBase::testRunEnded(stats);
  }

 private:
  void Line(const Catch::SourceLineInfo& where, const std::string& name, const char* result,
            const std::string& message) {
    stream << OneField(where.file) << ':' << where.line << ':' << OneField(name) << ':' << result;
    if (!message.empty()) stream << ": " << OneField(message);
    stream << '\n' << std::flush;
  }

  int n_tests_ = 0;
  int n_failures_ = 0;
  int n_ignored_ = 0;
  bool failure_seen_ = false;
  Catch::SourceLineInfo failure_line_{"", 0};
  std::string failure_text_;
};

CATCH_REGISTER_REPORTER("unity", UnityReporter)

}  // namespace
}  // namespace test
}  // namespace topwork
