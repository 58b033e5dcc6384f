// Filling a session's inputs from files.
#ifndef TOPWORK_PORTS_CLI_INPUTS_H_
#define TOPWORK_PORTS_CLI_INPUTS_H_

#include <string>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// A session whose inputs have the shapes of the .npy files where the model's own, or those of
// --input-shape, cannot be run.
tw::Session OpenSessionFor(const tw::Model& model, const CommonOptions& options,
                           const std::vector<std::string>& files);

// `files`: one per model input, or none for seeded random values. A .npy file of another shape
// resizes its input first. A .txt file gives strings, one a line; those of a list may be any
// number.
void FillInputs(const CommonOptions& options, const tw::Model& model,
                const std::vector<std::string>& files, uint64_t seed, tw::Session* session);

// Random values that suit the dtype: floats in [-1, 1), any bits for 8 and 16-bit integers, 0
// or 1 for others (they are often indices), and either bool. Strings stay empty.
void FillRandom(uint64_t seed, tw::Session* session);

// The same for one tensor; *state is the generator's, any number at first.
void FillRandomTensor(uint64_t* state, const tw::Tensor& tensor);

// Random values from low to high, both included, rounded and cut to the range of an integer type.
// Throws kExitData for types that are neither integers of at least 8 bits nor float32.
void FillRange(uint64_t* state, double low, double high, const tw::Tensor& tensor);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_INPUTS_H_
