// The flags of TFLite's benchmark_model, in terms of `topwork benchmark`.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_FLAGS_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

namespace topwork {
namespace cli {

struct TfliteArguments {
  std::vector<std::string> arguments;  // for `topwork benchmark`
  std::vector<std::string> notes;      // a sentence for each flag that means nothing here
  // What stands in `arguments`, an option or its value, and what the user typed for it.
  std::vector<std::pair<std::string, std::string>> typed;
};

// True when one of the arguments is --graph, which only benchmark_model has.
bool HasTfliteFlags(const std::vector<std::string>& arguments);

// Flags and defaults are those of tensorflow/lite/tools/benchmark (2025). Flags that mean something
// become options, others get a note; what cannot be done, such as another vendor's delegate, throws
// kExitUsage with the flag's name and what to do. Arguments that benchmark_model does not know stay.
TfliteArguments TranslateTfliteFlags(const std::vector<std::string>& arguments);

// A message about `flags.arguments` in the words that the user typed.
std::string InTypedWords(const TfliteArguments& flags, const std::string& message);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_TFLITE_FLAGS_H_
