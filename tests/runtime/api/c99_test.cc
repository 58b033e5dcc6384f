// C API: the walk of a program written in C99.
#include "tests/runtime/api/c99_walk.h"
#include "tests/runtime/api/support.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace api_test {

TEST_CASE("a C99 program opens, runs, resizes, binds and looks at a model", "[api]") {
  const test::EmbeddedFile* file = test::FindEmbedded(kDigitsModel);
  REQUIRE(file != nullptr);
  const char* error = c99_walk(file->data, file->size);
  CHECK((error == nullptr ? std::string() : std::string(error)) == "");
}

}  // namespace api_test
}  // namespace topwork
