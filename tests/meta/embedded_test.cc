// The embedded files are whole, aligned and sorted.
#include "tests/support/embedded.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>

namespace topwork {
namespace test {

TEST_CASE("embedded files are whole", "[meta]") {
  const EmbeddedFile* license = FindEmbedded("LICENSE");
  REQUIRE(license != nullptr);
  const char* begin = reinterpret_cast<const char*>(license->data);
  const std::string text(begin, license->size);
  CHECK(text.find("Apache License") != std::string::npos);
  CHECK(text.find("limitations under the License.\n") == text.size() - 31);
  CHECK(FindEmbedded("no such file") == nullptr);
}

TEST_CASE("embedded files are sorted and aligned", "[meta]") {
  size_t n = 0;
  const EmbeddedFile* files = EmbeddedFiles(&n);
  REQUIRE(n > 0);
  for (size_t i = 0; i < n; ++i) {
    INFO(files[i].name);
    CHECK(reinterpret_cast<uintptr_t>(files[i].data) % 64 == 0);
    if (i > 0) CHECK(std::strcmp(files[i - 1].name, files[i].name) < 0);
  }
}

}  // namespace test
}  // namespace topwork
