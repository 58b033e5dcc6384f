// RunOpCases: runs the golden cases of tests/data/ops/<name>.twcases and checks them, in a
// TEST_CASE.
//
// Every case runs on every instruction set that this processor has (those for products of bytes
// run the cases that have such products; see cpu_tables.h), with the plan's optimizations
// and without, and on one thread and four; the outputs of one thread and of four must be the same
// bytes. Outputs are compared with the reference at the case's tolerance. A case that must be
// refused passes when opening, planning or running gives a Status.
#ifndef TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_
#define TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_

namespace topwork {
namespace test {

// `name`: the file's name without its folder and extension, e.g. "conv_2d".
void RunOpCases(const char* name);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_RUN_OP_CASES_H_
