// Files compiled into the test binary, so that it can be copied to a device and run alone.
//
// tests/CMakeLists.txt embeds every tests/data/ops/*.twcases and every file that
// TEST_EMBEDDED_FILES of tests/sources.cmake lists. Data is read-only, lives as long as the program
// and is 64-byte aligned.
#ifndef TOPWORK_TESTS_SUPPORT_EMBEDDED_H_
#define TOPWORK_TESTS_SUPPORT_EMBEDDED_H_

#include <cstddef>

namespace topwork {
namespace test {

struct EmbeddedFile {
  const char* name;  // path from the root of the source tree: "tests/data/ops/add.twcases"
  const unsigned char* data;
  size_t size;
};

// All embedded files, sorted by name.
const EmbeddedFile* EmbeddedFiles(size_t* n);

// The file of that name, or null.
const EmbeddedFile* FindEmbedded(const char* name);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_EMBEDDED_H_
