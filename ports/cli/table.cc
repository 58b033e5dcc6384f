// Tables: the widths are known only at the end, so rows are kept until printed.
#include "ports/cli/table.h"

#include <algorithm>
#include <cstdio>

#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr size_t kGap = 2;

// Bytes of the code point or escape sequence that begins at `i`.
size_t UnitBytes(const std::string& text, size_t i, bool* visible) {
  *visible = true;
  size_t n = 1;
  if (text[i] == '\x1b') {
    *visible = false;
    while (i + n < text.size() && text[i + n] != 'm') ++n;
    return std::min(n + 1, text.size() - i);
  }
  while (i + n < text.size() && (static_cast<unsigned char>(text[i + n]) & 0xc0) == 0x80) ++n;
  return n;
}

}  // namespace

size_t VisibleWidth(const std::string& text) {
  size_t width = 0;
  bool visible = true;
  for (size_t i = 0; i < text.size(); i += UnitBytes(text, i, &visible)) {
    UnitBytes(text, i, &visible);
    width += visible ? 1 : 0;
  }
  return width;
}

std::string Shorten(const std::string& text, size_t width) {
  if (VisibleWidth(text) <= width || width == 0) return text;
  bool visible = true;
  size_t i = 0;
  for (size_t n = 0; n + 1 < width; ++n) i += UnitBytes(text, i, &visible);
  return text.substr(0, i) + "…";
}

std::string ShortName(const std::string& name) { return name.substr(0, name.find(';')); }

Table::Table(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    right_.push_back(!title.empty() && title[0] == '>');
    titles_.push_back(right_.back() ? title.substr(1) : title);
  }
}

void Table::Row(const std::vector<std::string>& cells) { rows_.push_back(cells); }

std::string Table::Text(size_t indent) const {
  std::vector<size_t> widths;
  bool titled = false;
  for (const std::string& title : titles_) {
    widths.push_back(VisibleWidth(title));
    titled = titled || !title.empty();
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], VisibleWidth(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent, ' ');
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(widths[c] - VisibleWidth(cells[c]), ' ');
      const bool last = c + 1 == cells.size();
      text += right_[c] ? pad + cells[c] : cells[c] + (last ? "" : pad);
      if (!last) text += std::string(kGap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = titled ? Paint(1, "2", line(titles_)) + "\n" : "";
  for (const std::vector<std::string>& row : rows_) text += line(row) + "\n";
  return text;
}

void Table::Print(size_t indent) const { std::fputs(Text(indent).c_str(), stdout); }

}  // namespace cli
}  // namespace topwork
