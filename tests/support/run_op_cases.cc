// Golden cases, each way that a session can run them on this processor.
#include "tests/support/run_op_cases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/case_runner.h"
#include "tests/support/cpu_tables.h"

namespace topwork {
namespace test {
namespace {

using OutputBytes = std::vector<std::vector<uint8_t>>;  // of every output of a case

// Runs all cases one way; the outputs' bytes, case by case.
std::vector<OutputBytes> RunCasesOneWay(const std::vector<OpCase>& cases,
                                        const SessionOptions& options) {
  CaseRunner runner(options);
  std::vector<OutputBytes> bytes(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << cases[i].name << " on " << options.cpu->isa << ", " << options.n_threads
                 << " threads, " << (options.optimize ? "" : "not ") << "optimized");
    const Status status = runner.Run(cases[i]);
    if (cases[i].refused) {
      CHECK_FALSE(status.ok());
      CHECK(status.code() != StatusCode::kInternal);
      continue;
    }
    CHECK(status.ToString() == "OK");
    if (!status.ok()) continue;
    CHECK(runner.Compare(cases[i]) == "");
    bytes[i] = runner.OutputBytes(cases[i]);
  }
  return bytes;
}

// Whether there are products of bytes in the cases of that file.
bool MultiplyBytes(const std::string& file) {
  for (const char* part : {"conv_2d", "fully_connected", "int4", "lstm", "rnn", "svdf"}) {
    if (file.find(part) != std::string::npos) return true;
  }
  return false;
}

// The instruction sets that the cases of that file run on.
std::vector<const CpuKernels*> TablesFor(const std::string& file) {
  std::vector<const CpuKernels*> tables;
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    if (!HasBytesOnly(*cpu) || MultiplyBytes(file)) tables.push_back(cpu);
  }
  if (tables.empty()) tables.push_back(&BestCpuKernels());
  return tables;
}

void CheckSameBytes(const std::vector<OpCase>& cases, const CpuKernels& cpu,
                    const std::vector<OutputBytes>& one, const std::vector<OutputBytes>& four) {
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << cases[i].name << " on " << cpu.isa);
    const bool same_bytes = one[i] == four[i];
    CHECK(same_bytes);
  }
}

}  // namespace

void RunOpCases(const char* name, Ways ways) {
  INFO(name);
  const std::vector<OpCase> cases = CasesOf(name);
  const std::vector<const CpuKernels*> tables = TablesFor(name);
  const bool has_best = std::count(tables.begin(), tables.end(), &BestCpuKernels()) > 0;
  const CpuKernels* best = has_best ? &BestCpuKernels() : tables.back();
  for (const CpuKernels* cpu : tables) {
    if (ways == Ways::kOne && cpu != best) continue;
    SessionOptions options;
    options.cpu = cpu;
    options.n_threads = 1;
    const std::vector<OutputBytes> one = RunCasesOneWay(cases, options);
    if (ways == Ways::kOne) continue;
    options.n_threads = 4;
    CheckSameBytes(cases, *cpu, one, RunCasesOneWay(cases, options));
    if (ways != Ways::kAll && cpu != best) continue;
    options.optimize = false;
    options.n_threads = 1;
    const std::vector<OutputBytes> plain = RunCasesOneWay(cases, options);
    if (ways != Ways::kAll) continue;
    options.n_threads = 4;
    CheckSameBytes(cases, *cpu, plain, RunCasesOneWay(cases, options));
  }
}

void RunOpCasesOf(const char* prefix, size_t least,
                  const std::function<bool(const std::string&)>& filter) {
  size_t n_files = 0;
  for (const std::string& file : CaseFiles(prefix)) {
    if (filter != nullptr && !filter(file)) continue;
    RunOpCases(file.c_str());
    ++n_files;
  }
  CHECK(n_files >= least);
}

}  // namespace test
}  // namespace topwork
