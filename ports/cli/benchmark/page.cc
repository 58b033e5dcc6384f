// The benchmark's script around its document; the build embeds it (toolchains/report_page.cmake).
#include "ports/cli/benchmark/page.h"

#include "ports/cli/html_page.h"

extern "C" {
extern const unsigned char topwork_benchmark_js[], topwork_benchmark_js_end[];
}

namespace topwork {
namespace cli {

std::string RenderBenchmark(const Json& document) {
  Json data = document;
  data["made_by"] = std::string("topwork ") + tw_version();
  return RenderPage("Topwork benchmark", data,
                    EmbeddedText(topwork_benchmark_js, topwork_benchmark_js_end));
}

}  // namespace cli
}  // namespace topwork
