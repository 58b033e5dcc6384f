// RenderPage. The build embeds style and scripts (toolchains/report_page.cmake); without uPlot its two
// files are empty.
#include "ports/cli/html_page.h"

extern "C" {
extern const unsigned char topwork_uplot_js[], topwork_uplot_js_end[];
extern const unsigned char topwork_uplot_css[], topwork_uplot_css_end[];
extern const unsigned char topwork_kit_js[], topwork_kit_js_end[];
extern const unsigned char topwork_report_css[], topwork_report_css_end[];
}

namespace topwork {
namespace cli {
namespace {

// Inside a script element, "</script" and "<!--" must not appear.
std::string ForScript(const Json& json) {
  const std::string text = json.dump(1, ' ', false, nlohmann::detail::error_handler_t::replace);
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string EmbeddedText(const unsigned char* begin, const unsigned char* end) {
  return std::string(reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin));
}

std::string RenderPage(const std::string& title, const Json& data, const std::string& script) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n"
         "<title>" +
         title + "</title>\n<style>" + EmbeddedText(topwork_uplot_css, topwork_uplot_css_end) +
         "\n" + EmbeddedText(topwork_report_css, topwork_report_css_end) +
         "</style></head>\n<body><main id=\"page\"></main>\n"
         "<noscript><p>This page draws itself with JavaScript, which is off; its numbers are in "
         "the JSON block of the page's source.</p></noscript>\n"
         "<script type=\"application/json\" id=\"data\">" +
         ForScript(data) + "</script>\n<script>" +
         EmbeddedText(topwork_uplot_js, topwork_uplot_js_end) + "</script>\n<script>" +
         EmbeddedText(topwork_kit_js, topwork_kit_js_end) + "</script>\n<script>" + script +
         "</script>\n</body></html>\n";
}

}  // namespace cli
}  // namespace topwork
