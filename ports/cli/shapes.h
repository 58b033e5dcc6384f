// --input-shape: sizes for inputs, above all for those that a model's author left open; and
// --input-range.
#ifndef TOPWORK_PORTS_CLI_SHAPES_H_
#define TOPWORK_PORTS_CLI_SHAPES_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// "x=1,224,224,3": an input by its name, or by its number as in "#0".
struct GivenShape {
  std::string input;
  std::vector<int32_t> dims;
};

void AddInputShapeOption(CLI::App* command, CommonOptions* options);

// Empty when `text` reads INPUT=D,D,... with whole dimensions from 1 on; else what is wrong.
std::string ParseInputShape(const std::string& text, GivenShape* shape);

// "x=0,254": a range of values for an input.
struct InputRange {
  std::string input;
  double low = 0.0, high = 0.0;
};
// Empty when `text` reads INPUT=LOW,HIGH; else what is wrong.
std::string ParseInputRange(const std::string& text, InputRange* range);

// The position of an input that is named, or numbered as in "#0", among `inputs` (objects with
// "name"). Throws kExitData, with the names that there are; `flag` goes in front.
size_t FindNamedInput(const Json& inputs, const std::string& input, const std::string& flag);

// For each input of the session its given shape, rank −1 where none is given; empty when no shape is
// given at all. Throws kExitData for an input or a rank that the model does not have.
std::vector<tw_shape> InputShapes(const tw::Model& model, const CommonOptions& options);

// The inputs of a session that does not exist yet: objects with "name" and "shape".
Json PlannedInputs(const tw::Model& model, const CommonOptions& options);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_SHAPES_H_
