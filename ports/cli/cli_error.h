// CliError: what a command throws to end with one line on standard error and an exit code.
#ifndef TOPWORK_PORTS_CLI_CLI_ERROR_H_
#define TOPWORK_PORTS_CLI_CLI_ERROR_H_

#include <stdexcept>
#include <string>

namespace topwork {
namespace cli {

// Exit codes of the tool; `topwork --help` lists them.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 2,        // unknown flag, missing or malformed argument
  kExitModel = 3,        // the model file is malformed
  kExitUnsupported = 4,  // the model, device or head is not supported
  kExitData = 5,         // an input, image or data set is wrong
  kExitIo = 6,           // a file could not be read or written
  kExitMemory = 7,       // out of memory, or the memory limit was reached
  kExitNumeric = 8,      // a loss or weight became NaN or infinite
  kExitCancelled = 9,    // stopped by the user
  kExitInternal = 10,    // a defect of the tool or the library
  kExitDiffers = 11,     // verify: the device and the CPU do not agree
  kExitSlower = 12,      // benchmark --compare: a setting is slower than before
};

class CliError : public std::runtime_error {
 public:
  CliError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_CLI_ERROR_H_
