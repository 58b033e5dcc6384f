// What the tests of whole models share: LiteRT's answers in .npz files, and the digits data.
#ifndef TOPWORK_TESTS_MODELS_ZOO_GOLDEN_H_
#define TOPWORK_TESTS_MODELS_ZOO_GOLDEN_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "runtime/session/session.h"
#include "tests/support/npz.h"

namespace topwork {
namespace test {

// Operators of the model that Topwork does not run in any form: a model that has one must be
// refused by that operator's name.
std::set<std::string> NotYetIn(const Model& model);

// Class scores [1, C] or [N, C]: the same best class in every row, up to ties within the
// reference's own rounding. Other shapes are not looked at.
void CheckTopOne(const TensorView& output, const NpyArray& reference);

// Runs all sets of the golden file (in_K_I, ref_K_O) in order on one session, and gives every
// output with its reference to `take`. Returns how many sets are complete.
using TakeOutput = std::function<void(const TensorView& output, const NpyArray& reference)>;
int RunGolden(Session* session, const Npz& golden, const TakeOutput& take);

// A network of models/zoo, and LiteRT's answers to it.
std::shared_ptr<const Model> OpenZoo(const std::string& name);
Npz GoldenOf(const std::string& name);

// How many of the 397 digits kept for testing a network names.
int RightDigits(std::shared_ptr<const Model> model, const SessionOptions& options);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_MODELS_ZOO_GOLDEN_H_
