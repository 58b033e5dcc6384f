// Signals and the thread that watches for them.
#include "ports/cli/stop.h"

#include <chrono>
#include <csignal>
#include <utility>

namespace topwork {
namespace cli {
namespace {

volatile std::sig_atomic_t g_stop = 0;

void OnSignal(int number) {
  if (g_stop != 0) {  // the second time: at once
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  g_stop = 1;
}

}  // namespace

void InstallSignals() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool StopRequested() { return g_stop != 0; }

CancelOnStop::CancelOnStop(std::function<void()> cancel)
    : thread_([this, cancel = std::move(cancel)] {
        while (!done_.load()) {
          if (StopRequested()) cancel();
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
      }) {}

CancelOnStop::~CancelOnStop() {
  done_.store(true);
  thread_.join();
}

}  // namespace cli
}  // namespace topwork
