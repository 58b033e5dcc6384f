// Device policies: text files that say which operators of a model a device must not compute in its
// own way. `topwork verify --policy` writes them.
#ifndef TOPWORK_RUNTIME_API_DEVICE_POLICY_H_
#define TOPWORK_RUNTIME_API_DEVICE_POLICY_H_

#include <string>
#include <vector>

#include "models/format/graph.h"
#include "runtime/base/status.h"

namespace topwork {
namespace api {

// Appends the operators of the policy in the file, "#12", to the lists. The first line is "topwork
// device policy 1"; each other one is "cpu #12 CONV_2D" (on the CPU) or "float32 #12 CONV_2D" (not
// in float16), or empty. Errors: IO; INVALID_ARGUMENT with the line: not such a file, or operator
// 12 of `graph` is no CONV_2D: it was made for another model.
Status ReadDevicePolicy(const std::string& path, const Graph& graph,
                        std::vector<std::string>* cpu_ops, std::vector<std::string>* float32_ops);
// The same for the file's content; `path` is for messages.
Status ParseDevicePolicy(const std::string& text, const std::string& path, const Graph& graph,
                         std::vector<std::string>* cpu_ops, std::vector<std::string>* float32_ops);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_DEVICE_POLICY_H_
