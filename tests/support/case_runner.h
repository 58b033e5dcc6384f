// CaseRunner: golden cases on sessions of one kind, one case after the other.
//
//   CaseRunner runner(options);
//   REQUIRE(runner.Run(op_case).ToString() == "OK");
//   CHECK(runner.Compare(op_case) == "");
// A case that continues the one before runs on its session.
#ifndef TOPWORK_TESTS_SUPPORT_CASE_RUNNER_H_
#define TOPWORK_TESTS_SUPPORT_CASE_RUNNER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/session/session.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace test {

class CaseRunner {
 public:
  explicit CaseRunner(SessionOptions options) : options_(std::move(options)) {}

  // The steps of a run, for tests that look at the session in between: a session of the case's
  // shapes; the case's inputs written to it; a run.
  Status Open(const OpCase& op_case);
  Status Write(const OpCase& op_case);
  Status Run() { return session_->Run(); }
  // All of them.
  Status Run(const OpCase& op_case);

  // Valid after Open.
  Session& session() const { return *session_; }

  // What is wrong with the outputs; empty when they agree with the case's.
  std::string Compare(const OpCase& op_case) const;
  // The bytes of every output, in the case's order; strings as a table.
  std::vector<std::vector<uint8_t>> OutputBytes(const OpCase& op_case) const;

 private:
  Status OpenModel(const OpCase& op_case);
  Status WriteTable(int i, const CaseTensor& tensor);
  // Where input (output) i of the case is among the subgraph's.
  int InputOf(size_t i) const;
  int OutputOf(size_t i) const;

  SessionOptions options_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
  const Signature* signature_ = nullptr;
};

// Options of a session on one thread, on that backend or, without one, on the CPU alone.
SessionOptions OneThreadOn(std::shared_ptr<const Backend> backend);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_CASE_RUNNER_H_
