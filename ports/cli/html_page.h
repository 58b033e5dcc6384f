// The skeleton of a page that opens from disk, on a desk or a phone, and draws itself from a JSON
// document inside it.
#ifndef TOPWORK_PORTS_CLI_HTML_PAGE_H_
#define TOPWORK_PORTS_CLI_HTML_PAGE_H_

#include <string>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// A file that the build has embedded (toolchains/embed.cmake).
std::string EmbeddedText(const unsigned char* begin, const unsigned char* end);

// The whole page, everything inlined: style, uPlot, report/kit.js, and `script`, which draws `data`.
// `title` holds no markup.
std::string RenderPage(const std::string& title, const Json& data, const std::string& script);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_HTML_PAGE_H_
