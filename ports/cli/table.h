// Tables for people: columns as wide as their widest cell, colours and UTF-8 taken into account.
#ifndef TOPWORK_PORTS_CLI_TABLE_H_
#define TOPWORK_PORTS_CLI_TABLE_H_

#include <string>
#include <vector>

namespace topwork {
namespace cli {

// Characters that the text takes on the screen: escape sequences take none, every other code point
// one.
size_t VisibleWidth(const std::string& text);
// At most `width` characters; a longer text ends in "…". For text without colours.
std::string Shorten(const std::string& text, size_t width);
// A tensor's name for people: converters join the names of fused tensors by ';'; the first is kept.
std::string ShortName(const std::string& name);

class Table {
 public:
  // A column whose title begins with '>' is set flush right. All titles empty: no title row.
  explicit Table(const std::vector<std::string>& titles);
  // As many cells as columns.
  void Row(const std::vector<std::string>& cells);
  // The table with `indent` spaces before each line, to standard output.
  void Print(size_t indent) const;
  // The lines themselves.
  std::string Text(size_t indent) const;

 private:
  std::vector<bool> right_;
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TABLE_H_
