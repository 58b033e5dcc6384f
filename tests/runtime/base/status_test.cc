// Status and Result: codes, messages, prefixes and the two macros that pass failures on.
#include "runtime/base/status.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace topwork {
namespace status_test {

Status Fail(int n) { return n == 0 ? Status::Ok() : InvalidModel("tensor {} of '{}'", n, "main"); }

Result<std::string> Name(int n) {
  TW_RETURN_IF_ERROR(Fail(n));
  return std::string("fine");
}

Result<size_t> Length(int n) {
  TW_ASSIGN_OR_RETURN(const std::string name, Name(n));
  return name.size();
}

TEST_CASE("a status is OK until it carries a failure", "[base]") {
  const Status ok;
  CHECK(ok.ok());
  CHECK(ok.code() == StatusCode::kOk);
  CHECK(ok.message().empty());
  CHECK(ok.ToString() == "OK");
  CHECK(ok.WithPrefix("here: ").ok());

  const Status failure = Fail(7);
  CHECK_FALSE(failure.ok());
  CHECK(failure.code() == StatusCode::kInvalidModel);
  CHECK(failure.message() == "tensor 7 of 'main'");
  CHECK(failure.ToString() == "INVALID_MODEL: tensor 7 of 'main'");
  const Status prefixed = failure.WithPrefix("operator #3: ");
  CHECK(prefixed.message() == "operator #3: tensor 7 of 'main'");
  CHECK(prefixed.code() == StatusCode::kInvalidModel);
}

TEST_CASE("every status code has a name of its own", "[base]") {
  std::set<std::string> names;
  for (int code = 0; code <= 12; ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  CHECK(names.size() == 13);
  CHECK(names.count("UNKNOWN") == 0);
}

TEST_CASE("results hand on values and failures", "[base]") {
  Result<size_t> length = Length(0);
  REQUIRE(length.ok());
  CHECK(*length == 4);
  CHECK(Length(2).status().message() == "tensor 2 of 'main'");
  CHECK_FALSE(Name(1).ok());
}

}  // namespace status_test
}  // namespace topwork
