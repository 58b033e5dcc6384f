// Failures of libraries built without sentences: the place in the source, and nothing computed for a text.
#include "kernels/contract/places.h"

#include <catch2/catch.hpp>
#include <string>

namespace topwork {
namespace places_test {

int n_calls = 0;

std::string Name(int i) {
  ++n_calls;
  return "tensor" + std::to_string(i);
}

TEST_CASE("a failure without a sentence names its place in the source", "[ops]") {
  n_calls = 0;
  const Status failure = InvalidModel("'{}' of {}", Name(3), 7);
  CHECK(failure.message() == "places_test.cc:" + std::to_string(__LINE__ - 1));
  CHECK(failure.code() == StatusCode::kInvalidModel);
  CHECK(failure.WithPrefix(Name(4) + ": ").message() == failure.message());
  CHECK(n_calls == 0);  // no value of the sentence was made, nor of the words before it

  // Every kind of failure keeps its code.
  CHECK(InvalidArgument("{}", 1).code() == StatusCode::kInvalidArgument);
  CHECK(Unsupported("").code() == StatusCode::kUnsupported);
  CHECK(OutOfMemory("").code() == StatusCode::kOutOfMemory);
  CHECK(IoError("").code() == StatusCode::kIo);
  CHECK(Cancelled("").code() == StatusCode::kCancelled);
  CHECK(FailedPrecondition("").code() == StatusCode::kFailedPrecondition);
  CHECK(NumericError("").code() == StatusCode::kNumeric);
  CHECK(NotFound("").code() == StatusCode::kNotFound);
  CHECK(Corrupt("").code() == StatusCode::kCorrupt);
  CHECK(InternalError("").code() == StatusCode::kInternal);
}

}  // namespace places_test
}  // namespace topwork
