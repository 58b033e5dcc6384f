// Which operators a device computes, and of which types: as kernels/OPERATORS.md lists them, and as
// a plan shows.
#ifndef TOPWORK_TESTS_SUPPORT_DEVICE_OPERATORS_H_
#define TOPWORK_TESTS_SUPPORT_DEVICE_OPERATORS_H_

#include <map>
#include <set>
#include <string>

#include "runtime/plan/plan.h"

namespace topwork {
namespace test {

// Names of types by name of operator.
using OperatorTypes = std::map<std::string, std::set<std::string>>;

// Adds the operators that the plan's devices compute.
void AddDeviceOperators(const Plan& plan, OperatorTypes* types);

// Those of the plans of all golden cases for a device that takes every program; computed once, and
// without a device.
const OperatorTypes& PlannedDeviceOperators();

// The column "OpenCL" of kernels/OPERATORS.md.
OperatorTypes ListedDeviceOperators();

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_DEVICE_OPERATORS_H_
