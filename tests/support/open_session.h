// A session of a model made by hand, and its inputs and outputs as vectors. One thread.
#ifndef TOPWORK_TESTS_SUPPORT_OPEN_SESSION_H_
#define TOPWORK_TESTS_SUPPORT_OPEN_SESSION_H_

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/session/session.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {

inline Result<std::shared_ptr<const Model>> TryOpenSpec(const ModelSpec& spec) {
  const Bytes bytes = BuildModel(spec);
  return Model::OpenMemory(bytes.data(), bytes.size(), true);
}
inline std::shared_ptr<const Model> OpenSpec(const ModelSpec& spec) {
  auto model = TryOpenSpec(spec);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

inline Result<std::unique_ptr<Session>> TryOpenSession(const ModelSpec& spec,
                                                       SessionOptions options = {}) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model, TryOpenSpec(spec));
  if (options.n_threads == 0) options.n_threads = 1;  // unless the test says how many
  return Session::Create(std::move(model), options);
}

inline std::unique_ptr<Session> OpenSession(std::shared_ptr<const Model> model,
                                            SessionOptions options = {}) {
  if (options.n_threads == 0) options.n_threads = 1;  // unless the test says how many
  auto session = Session::Create(std::move(model), options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}
inline std::unique_ptr<Session> OpenSession(const ModelSpec& spec,
                                            const SessionOptions& options = {}) {
  return OpenSession(OpenSpec(spec), options);
}

template <typename T>
void SetInput(Session* session, int i, const std::vector<T>& values) {
  REQUIRE(session->input(i).bytes() == values.size() * sizeof(T));
  std::memcpy(session->input(i).data, values.data(), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> GetOutput(const Session& session, int i) {
  const TensorView& view = session.output(i);
  return std::vector<T>(view.as<T>(), view.as<T>() + view.shape.NumElements());
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_OPEN_SESSION_H_
