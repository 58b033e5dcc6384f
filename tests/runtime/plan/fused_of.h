// FusedOf: what the steps of an optimized plan were made of.
#ifndef TOPWORK_TESTS_RUNTIME_PLAN_FUSED_OF_H_
#define TOPWORK_TESTS_RUNTIME_PLAN_FUSED_OF_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/open_session.h"

namespace topwork {
namespace test {

// Runs the model with and without optimization; both must give the same bits. `input` returns the
// values (a vector of T) of input i. Returns what each step of the optimized plan was made of.
template <class T, class Input>
std::vector<std::string> FusedOf(const ModelSpec& spec, const Input& input,
                                 const SessionOptions& with = {}) {
  std::vector<std::vector<T>> results[2];
  std::vector<std::string> fused;
  for (const bool optimize : {false, true}) {
    SessionOptions options = with;
    options.optimize = optimize;
    const auto session = OpenSession(spec, options);
    for (int i = 0; i < session->n_inputs(); ++i) SetInput(session.get(), i, input(i));
    REQUIRE(session->Run().ToString() == "OK");
    for (int o = 0; o < session->n_outputs(); ++o) {
      results[optimize].push_back(GetOutput<T>(*session, o));
    }
    fused.clear();
    for (const Step& step : session->plan().steps) fused.push_back(step.fused);
  }
  CHECK(results[0] == results[1]);
  return fused;
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_PLAN_FUSED_OF_H_
