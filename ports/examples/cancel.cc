// Stops a run from another thread, and runs again.
// Usage: cancel MODEL
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

  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (void)session->Cancel();
  });
  long n_runs = 0;
  tw::Status status;
  while ((status = session->Run()).ok()) ++n_runs;
  watchdog.join();
  std::printf("after %ld runs: %s\n", n_runs, status.ToString().c_str());
  const bool again = session->Run().ok();
  return status.code() == TW_STATUS_CANCELLED && again ? 0 : 1;
}
