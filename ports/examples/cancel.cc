// Stops a run from another thread, and runs again.
// Usage: cancel MODEL
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <topwork/topwork.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tw::Result<tw::Model> model = tw::Model::OpenFile(argv[1]);
  if (!model) return std::fprintf(stderr, "%s\n", model.status().message().c_str()), 1;
  tw::Result<tw::Session> session = tw::Session::Create(*model);
  if (!session) return std::fprintf(stderr, "%s\n", session.status().message().c_str()), 1;

  // Cancel() stops the run in progress; the flag keeps another one from starting.
  std::atomic<bool> stop{false};
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
    (void)session->Cancel();
  });
  long n_runs = 0;
  tw::Status status;
  while (!stop && (status = session->Run()).ok()) ++n_runs;
  watchdog.join();
  std::printf("after %ld runs: %s\n", n_runs, status.ToString().c_str());
  const bool stopped = status.ok() || status.code() == TW_STATUS_CANCELLED;
  return stopped && session->Run().ok() ? 0 : 1;
}
