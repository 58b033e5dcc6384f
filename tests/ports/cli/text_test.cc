// What people read: widths, tables, bars, durations; and the metrics behind them.
#include <catch2/catch.hpp>
#include <string>

#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli_text_test {

TEST_CASE("text: colours and UTF-8 take no room of their own", "[cli]") {
  CHECK(cli::VisibleWidth("") == 0);
  CHECK(cli::VisibleWidth("abc") == 3);
  CHECK(cli::VisibleWidth("─µ…") == 3);
  CHECK(cli::VisibleWidth("\x1b[1;32mok\x1b[0m") == 2);
  CHECK(cli::Shorten("abcdef", 6) == "abcdef");
  CHECK(cli::Shorten("abcdef", 4) == "abc…");
  CHECK(cli::Shorten("äöüß", 3) == "äö…");
  CHECK(cli::ShortName("first;second;third") == "first");
  CHECK(cli::ShortName("only") == "only");
}

TEST_CASE("text: a table's columns fit their widest cell", "[cli]") {
  cli::Table table({"name", ">n"});
  table.Row({"µ", "7"});
  table.Row({"\x1b[1mlonger\x1b[0m", "1234"});
  CHECK(table.Text(1) == " name       n\n µ          7\n \x1b[1mlonger\x1b[0m  1234\n");
  cli::Table untitled({"", ""});
  untitled.Row({"a", "b"});
  CHECK(untitled.Text(0) == "a  b\n");
}

TEST_CASE("text: bars, shares, times and sizes", "[cli]") {
  CHECK(cli::Bar(0.0, 4) == "    ");
  CHECK(cli::Bar(0.5, 4) == "━━  ");
  CHECK(cli::Bar(0.625, 4) == "━━╸ ");
  CHECK(cli::Bar(7.0, 4) == "━━━━");
  CHECK(cli::Bar(-1.0, 4) == "    ");
  CHECK(cli::PercentText(0.725) == "72.5 %");
  CHECK(cli::HumanSeconds(0.0000025) == "2 µs");
  CHECK(cli::HumanSeconds(0.25) == "250 ms");
  CHECK(cli::HumanSeconds(1.25) == "1.2 s");
  CHECK(cli::HumanSeconds(184) == "3 min 4 s");
  CHECK(cli::HumanBytes(17) == "17 B");
  CHECK(cli::HumanBytes(9324448) == "8.9 MiB");
}

}  // namespace cli_text_test
}  // namespace topwork
