// topwork: the command-line tool. Uses the public C API only.
#include <csignal>
#include <cstdio>
#include <new>

#include "ports/cli/common.h"
#include "ports/cli/terminal.h"

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

const char kFooter[] =
    "Exit codes: 0 done, 2 wrong usage, 3 malformed model, 4 not supported, 5 wrong input or "
    "data,\n"
    "6 a file could not be read or written, 7 out of memory, 8 not a number, 9 stopped by the "
    "user,\n"
    "10 defect of the tool.\n\n"
    "Example:\n"
    "  topwork run mobilenet.tflite --input cat.jpg --labels labels.txt\n"
    "  topwork train mobilenet.tflite --data photos/ --output mine.tflite --report mine.html\n"
    "`topwork COMMAND --help` explains a command.";

int Fail(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "%s %s\n", Paint(2, "1;31", "topwork: error:").c_str(), message.c_str());
  return code;
}

int Main(int argc, char** argv) {
  CLI::App app("Runs .tflite models and re-trains their last layer, on this machine.", "topwork");
  app.set_version_flag("--version", std::string("topwork ") + tw_version());
  app.require_subcommand(1);
  app.footer(kFooter);
  AddInfoCommand(&app);
  AddRunCommand(&app);
  AddTrainCommand(&app);
  AddEvaluateCommand(&app);
  AddDevicesCommand(&app);
  AddBenchmarkCommand(&app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return Fail(kExitUsage, std::string(error.what()) + " (see topwork --help)");
  } catch (const CliError& error) {
    return Fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return Fail(kExitMemory, "out of memory");
  } catch (const std::exception& error) {
    return Fail(kExitInternal, std::string("unexpected: ") + error.what());
  }
  return kExitOk;
}

}  // namespace

bool StopRequested() { return g_stop != 0; }

}  // namespace cli
}  // namespace topwork

int main(int argc, char** argv) {
  std::signal(SIGINT, topwork::cli::OnSignal);
  std::signal(SIGTERM, topwork::cli::OnSignal);
  std::signal(SIGXFSZ, SIG_IGN);  // a full quota is an error of write(), not the end of the tool
  return topwork::cli::Main(argc, argv);
}
