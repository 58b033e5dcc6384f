// HelpFormatter: CLI11's own, with wrapped descriptions, and values and groups in plain words.
#include "ports/cli/help.h"

#include <sstream>
#include <utility>

namespace topwork {
namespace cli {
namespace {

constexpr size_t kHelpWidth = 100;
constexpr size_t kNameWidth = 30;  // of the column of names

// CLI11 joins the name of a kind of value and what its checks say: "N:INT in [0 - 1024]".
void SplitType(const CLI::Option* option, std::string* kind, std::string* range) {
  const std::string type = option->get_type_name();
  const size_t colon = type.find(':');
  *kind = type.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : type.substr(colon + 1);
  if (*kind == "TEXT" && !rest.empty()) *kind = rest;
  const size_t begin = rest.find(" in ["), middle = rest.find(" - "), end = rest.find(']');
  if (begin == std::string::npos || middle == std::string::npos || end < middle) return;
  *range = rest.substr(begin + 5, middle - begin - 5) + " to " +
           rest.substr(middle + 3, end - middle - 3);
}

}  // namespace

std::string WrapText(const std::string& text, size_t width, size_t indent) {
  std::istringstream words(text);
  std::string wrapped, word;
  size_t column = indent;
  while (words >> word) {
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

HelpFormatter::HelpFormatter() { column_width(kNameWidth); }

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string kind, range;
  SplitType(option, &kind, &range);
  if (option->get_type_size() == 0 || kind.empty()) return "";
  const bool list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  return " " + kind + (list ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string kind, notes;
  SplitType(option, &kind, &notes);
  const std::string value = option->get_default_str();
  if (!value.empty()) notes += (notes.empty() ? "default " : "; default ") + value;
  if (option->get_required()) notes += notes.empty() ? "required" : "; required";
  return option->get_description() + (notes.empty() ? "" : " (" + notes + ")");
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string line = "  " + make_option_name(option, is_positional) + make_option_opts(option);
  const std::string text = WrapText(make_option_desc(option), kHelpWidth, kNameWidth);
  if (!text.empty()) {
    const bool fits = line.size() + 2 <= kNameWidth;
    line += fits ? std::string(kNameWidth - line.size(), ' ') : "\n" + std::string(kNameWidth, ' ');
  }
  return line + text + "\n";
}

std::string HelpFormatter::make_expanded(const CLI::App* group) const {
  std::string text;
  for (const CLI::Option* option : group->get_options({})) {
    if (option != group->get_help_ptr()) text += make_option(option, false);
  }
  return "\n" + group->get_group() + ":\n" + text;
}

}  // namespace cli
}  // namespace topwork
