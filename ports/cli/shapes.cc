// --input-shape, read and held against the inputs that the model describes.
#include "ports/cli/shapes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace topwork {
namespace cli {
namespace {

// A part of text[0, n) as a whole number; false when it is none.
bool ReadWhole(const std::string& text, int64_t* value) {
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, *value);
  return read.ec == std::errc() && read.ptr == end && !text.empty();
}

// The inputs in the session's order, as tw_model_describe tells them.
Json SessionInputs(const tw::Model& model, const std::string& signature) {
  const Json description = Json::parse(CheckValue(model.Describe()));
  if (signature.empty()) return description["inputs"];
  for (const Json& known : description["signatures"]) {
    if (known["key"] == signature) return known["inputs"];
  }
  return Json::array();  // the library tells which signatures there are
}

// "[1, open, open, 3]".
std::string DimsText(const Json& input) {
  std::string text = "[";
  for (size_t i = 0; i < input["shape"].size(); ++i) {
    const bool open = i < input["open_shape"].size() && input["open_shape"][i].get<int>() < 0;
    text += (i > 0 ? ", " : "") +
            (open ? std::string("open") : std::to_string(input["shape"][i].get<int>()));
  }
  return text + "]";
}

}  // namespace

void AddInputShapeOption(CLI::App* command, CommonOptions* options) {
  const auto check = [](const std::string& text) {
    GivenShape shape;
    return ParseInputShape(text, &shape);
  };
  command
      ->add_option("--input-shape", options->input_shapes,
                   "the shape of an input whose size the model's author left open, as in "
                   "x=1,224,224,3; #0 stands for the first input; once for each input")
      ->check(CLI::Validator(check, ""))
      ->allow_extra_args(false)
      ->type_name("INPUT=D,...");
}

std::string ParseInputShape(const std::string& text, GivenShape* shape) {
  const std::string wrong = "'" + text + "' is not INPUT=D,D,... as in x=1,224,224,3";
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrong;
  shape->input = text.substr(0, equals);
  shape->dims.clear();
  for (size_t at = equals + 1;;) {
    const size_t comma = std::min(text.find(',', at), text.size());
    int64_t dim = 0;
    if (!ReadWhole(text.substr(at, comma - at), &dim)) return wrong;
    if (dim < 1 || dim > INT32_MAX) {
      return "'" + text + "': a size is a whole number from 1 to 2147483647";
    }
    shape->dims.push_back(static_cast<int32_t>(dim));
    if (comma == text.size()) break;
    at = comma + 1;
  }
  return shape->dims.size() > 8 ? "'" + text + "' has more than 8 dimensions" : "";
}

std::string ParseInputRange(const std::string& text, InputRange* range) {
  const std::string wrong = "'" + text + "' is not INPUT=LOW,HIGH as in ids=0,999";
  const size_t equals = text.rfind('='), comma = text.find(',', equals + 1);
  if (equals == std::string::npos || equals == 0 || comma == std::string::npos) return wrong;
  range->input = text.substr(0, equals);
  const bool low =
      CLI::detail::lexical_cast(text.substr(equals + 1, comma - equals - 1), range->low);
  const bool high = CLI::detail::lexical_cast(text.substr(comma + 1), range->high);
  if (!low || !high || !std::isfinite(range->low) || !std::isfinite(range->high)) return wrong;
  return range->low <= range->high ? "" : "'" + text + "': LOW is above HIGH";
}

size_t FindNamedInput(const Json& inputs, const std::string& input, const std::string& flag) {
  std::string names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = inputs[i]["name"].get<std::string>();
    if (name == input || input == "#" + std::to_string(i)) return i;
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  throw CliError(kExitData,
                 flag + ": no input '" + input + "'; there is " + (names.empty() ? "none" : names));
}

std::vector<tw_shape> InputShapes(const tw::Model& model, const CommonOptions& options) {
  if (options.input_shapes.empty()) return {};
  const Json inputs = SessionInputs(model, options.signature);
  std::vector<tw_shape> shapes(inputs.size(), tw_shape{-1, {}});
  if (inputs.empty()) return {};
  for (const std::string& text : options.input_shapes) {
    GivenShape given;
    const std::string wrong = ParseInputShape(text, &given);
    if (!wrong.empty()) throw CliError(kExitUsage, "--input-shape: " + wrong);
    const size_t i = FindNamedInput(inputs, given.input, options.model + ": --input-shape");
    const size_t rank = inputs[i]["shape"].size();
    if (rank != given.dims.size()) {
      throw CliError(kExitData, options.model + ": --input-shape " + text + " has " +
                                    std::to_string(given.dims.size()) + " dimensions; input '" +
                                    inputs[i]["name"].get<std::string>() + "' is " +
                                    DimsText(inputs[i]));
    }
    shapes[i].rank = static_cast<int32_t>(rank);
    std::copy(given.dims.begin(), given.dims.end(), shapes[i].dims);
  }
  return shapes;
}

Json PlannedInputs(const tw::Model& model, const CommonOptions& options) {
  Json inputs = Json::array();
  if (options.signature.empty()) {  // without a description, for which the whole file is read
    const size_t n_inputs = CheckValue(model.Info()).n_inputs;
    for (size_t i = 0; i < n_inputs; ++i) inputs.push_back(TensorJson(CheckValue(model.Input(i))));
  } else {
    inputs = SessionInputs(model, options.signature);
  }
  const std::vector<tw_shape> shapes = InputShapes(model, options);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const tw_shape& shape = shapes[i];
    if (shape.rank >= 0)
      inputs[i]["shape"] = std::vector<int32_t>(shape.dims, shape.dims + shape.rank);
  }
  return inputs;
}

}  // namespace cli
}  // namespace topwork
