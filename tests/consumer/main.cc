// The smallest user of the C++ API: prints the version it links, and what a file that is none is refused for.
#include <cstdio>
#include <topwork/topwork.hpp>

int main() {
  const tw::Result<tw::Model> model = tw::Model::OpenMemory("no model", 8);
  if (model.ok() || model.status().code() != TW_STATUS_INVALID_MODEL) return 1;
  std::printf("%s\n", tw_version());
  return 0;
}
