// Finding an output of a model by its name.
#ifndef TOPWORK_MODELS_FORMAT_FIND_OUTPUT_H_
#define TOPWORK_MODELS_FORMAT_FIND_OUTPUT_H_

#include <string>

#include "models/format/model.h"

namespace topwork {

// Position, among the main subgraph's outputs, of the output with that name: a tensor's name, or
// what a signature calls it. NOT_FOUND lists the names.
Result<int> FindOutput(const Model& model, const std::string& name);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_FIND_OUTPUT_H_
