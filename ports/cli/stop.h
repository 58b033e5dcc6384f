// Stopping on Ctrl-C: the signal only sets a flag; a thread turns it into the library's cancel.
#ifndef TOPWORK_PORTS_CLI_STOP_H_
#define TOPWORK_PORTS_CLI_STOP_H_

#include <atomic>
#include <functional>
#include <thread>

namespace topwork {
namespace cli {

// SIGINT and SIGTERM ask for a stop; a second one ends the process at once. A write beyond a file
// size limit is made an error of that write.
void InstallSignals();
// True after the user asked to stop.
bool StopRequested();

// While it lives, a request to stop calls `cancel` from another thread, again every 20 ms.
class CancelOnStop {
 public:
  explicit CancelOnStop(std::function<void()> cancel);
  ~CancelOnStop();
  CancelOnStop(const CancelOnStop&) = delete;
  CancelOnStop& operator=(const CancelOnStop&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_STOP_H_
