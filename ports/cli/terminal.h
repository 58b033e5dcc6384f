// What the tool prints for people: colours on either stream, progress on standard error.
#ifndef TOPWORK_PORTS_CLI_TERMINAL_H_
#define TOPWORK_PORTS_CLI_TERMINAL_H_

#include <cstdint>
#include <string>

namespace topwork {
namespace cli {

// True when `fd` (1 or 2) is a terminal and neither NO_COLOR is set nor TERM is "dumb".
bool UseColour(int fd);
// The text in that colour ("1" bold, "32" green, "36" cyan, "2" dim …) when UseColour(fd).
std::string Paint(int fd, const char* code, const std::string& text);

// "━━━━━━╸   ": a bar of `width` characters, filled to `fraction` (0 to 1) in halves.
std::string Bar(double fraction, int width);

// With --json, progress is shown on a terminal only: programs get nothing but the document.
bool ShowProgress(bool json);

// A bar with rate and time left on a terminal; elsewhere a plain line every two seconds.
class Progress {
 public:
  // `what`: "features"; `unit`: "images". Silent when !enabled.
  Progress(std::string what, std::string unit, bool enabled);
  ~Progress();
  // May be called as often as one likes; draws at most 20 times a second.
  void Update(int64_t done, int64_t total);
  // Ends the line; `note` is put behind it.
  void Finish(const std::string& note = "");

 private:
  // "32/s, 1.2 s left", or what it took when all is done.
  std::string Pace(int64_t done, int64_t total, int64_t now) const;
  void Draw(int64_t done, int64_t total, int64_t now);
  std::string what_;
  std::string unit_;
  bool enabled_;
  bool terminal_;
  bool open_ = false;  // a bar is on the screen without a line end
  int64_t start_;
  int64_t last_draw_ = 0;
  int64_t done_ = 0;
  int64_t total_ = 0;
};

// "1 input", "3 inputs".
std::string CountText(int64_t n, const std::string& noun);
// "72.5 %"; "–" for what is not a number.
std::string PercentText(double fraction);
// "1.2 s", "3 min 4 s", "250 ms".
std::string HumanSeconds(double seconds);
// "8.9 MiB".
std::string HumanBytes(double bytes);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TERMINAL_H_
