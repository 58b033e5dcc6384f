// What --help prints: lines that fit a terminal, and options in groups.
#ifndef TOPWORK_PORTS_CLI_HELP_H_
#define TOPWORK_PORTS_CLI_HELP_H_

#include <CLI/CLI.hpp>
#include <string>

namespace topwork {
namespace cli {

// Subcommands that are added later have it, too.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  // The kind of value: "N", "{float32,float16}". Its range and default go behind the description.
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  // An option group: its name and its options.
  std::string make_expanded(const CLI::App* group) const override;
};

// The text in lines of at most `width` characters, all but the first `indent` spaces in. Only
// spaces are broken.
std::string WrapText(const std::string& text, size_t width, size_t indent);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_HELP_H_
