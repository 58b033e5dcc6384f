// Which number of a model's output belongs to which class or column of the data.
#ifndef TOPWORK_PORTS_CLI_MATCH_H_
#define TOPWORK_PORTS_CLI_MATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

// One entry a class of the data: the position in the output, −1 where the model does not know it.
// Names are matched to `labels`, the model's own; without names, or without labels and with as many
// outputs as classes, the order decides. `note` tells what is worth knowing. A single output is two
// scores here (n_outputs 2). Throws CliError where class numbers go beyond the outputs.
std::vector<int64_t> MatchClasses(const Dataset& data, const std::vector<std::string>& labels,
                                  int64_t n_outputs, std::string* note);

// One entry a column of the targets (or a class): each has its output. By name where any name is a
// label of the model, else in order. Throws CliError where a column has none.
std::vector<int64_t> MatchColumns(const Dataset& data, const std::vector<std::string>& labels,
                                  int64_t n_outputs);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_MATCH_H_
