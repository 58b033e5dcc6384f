// RunOpCases: runs the golden cases of tests/data/ops/<name>.twcases and checks them, in a
// TEST_CASE. RunOpCasesOf: those of all files whose names begin alike.
//
// A case that must be refused passes when opening, planning or running gives a Status; the outputs
// of all others are compared with the reference at the case's tolerance.
#ifndef TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_
#define TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_

#include <cstddef>
#include <functional>
#include <string>

namespace topwork {
namespace test {

enum class Ways {
  kOne,    // the best instruction set, one thread
  kUsual,  // every instruction set that the processor has (those for products of bytes: the cases
           // that have such products, see cpu_tables.h), one thread and four, which must give the
           // same bytes; on the best one without the plan's optimizations as well, on one thread
  kAll,    // without optimizations on every instruction set, one thread and four
};

// `name`: the file's name without its folder and extension, e.g. "conv_2d".
void RunOpCases(const char* name, Ways ways = Ways::kUsual);
// Files that pass `filter`, if there is one; fewer than `least` are a failure.
void RunOpCasesOf(const char* prefix, size_t least,
                  const std::function<bool(const std::string&)>& filter = nullptr);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_
