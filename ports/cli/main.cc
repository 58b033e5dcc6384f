// topwork: the command-line tool. Uses the public C API only.
#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "ports/cli/benchmark/tflite_flags.h"
#include "ports/cli/common.h"
#include "ports/cli/help.h"
#include "ports/cli/stop.h"
#include "ports/cli/terminal.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace cli {
namespace {

const char kExitCodes[] = R"(Exit codes:
   0  done
   2  wrong usage: an unknown flag, a missing or malformed argument
   3  the model file is malformed
   4  the model, the device or the last layer is not supported
   5  an input, image, label or data set is wrong, or the model or machine has nothing of that name
   6  a file could not be read or written
   7  out of memory
   8  a loss or weight became infinite or not a number
   9  stopped by the user (Ctrl-C)
  10  a defect of topwork; please report it
  11  verify: the device and the CPU do not agree
  12  benchmark --compare: a setting is slower than in the base
Every failure prints one line on standard error. Results go to standard output, progress to standard
error; NO_COLOR=1 turns colours off.

Examples:
  topwork info mobilenet.tflite --plan
  topwork run mobilenet.tflite --input cat.jpg --labels labels.txt
  topwork train mobilenet.tflite --data photos/ --output mine.tflite --report mine.html
  topwork learn mobilenet.tflite --memory mine.memory --add photos/ --output mine.tflite
  topwork evaluate mine.tflite --data photos-kept-back/
  topwork quantize mine.tflite --to int8 --data photos/ --output small.tflite
`topwork COMMAND --help` explains a command.)";

int Fail(ExitCode code, const std::string& message) {
  // One line, whatever a file name or a library's text holds.
  std::string line;
  for (char c : message) line += c == '\n' || c == '\r' ? ' ' : c;
  line = Printable(line);
  std::fprintf(stderr, "%s %s\n", Paint(2, "1;31", "topwork: error:").c_str(), line.c_str());
  return code;
}

// Letters that are changed, left out or put in between (Levenshtein 1966).
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// "; did you mean --optimizer?" of a name that is much like one of `names`, dashes aside; else "".
std::string DidYouMean(const std::string& typed, const std::vector<std::string>& names) {
  const auto distance = [&](const std::string& name) { return EditDistance(typed, name); };
  const auto nearest = std::min_element(
      names.begin(), names.end(),
      [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  const size_t n_letters = typed.size() - std::min(typed.size(), typed.find_first_not_of('-'));
  const bool like = nearest != names.end() && distance(*nearest) * 2 <= n_letters;
  return like ? "; did you mean " + *nearest + "?" : "";
}

// The flags of a command, those of its groups among them.
void AddFlagNames(const CLI::App& command, std::vector<std::string>* names) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names->push_back("--" + name);
  }
  for (const CLI::App* group : command.get_subcommands({})) AddFlagNames(*group, names);
}

// The first flag that the command does not have, as a message; "" where it has all.
std::string UnknownFlag(const CLI::App& command, int argc, char** argv) {
  std::vector<std::string> names;
  AddFlagNames(command, &names);
  for (int i = 2; i < argc; ++i) {
    const std::string typed = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (typed.rfind("--", 0) != 0 || std::count(names.begin(), names.end(), typed) > 0) continue;
    return "there is no flag " + typed + DidYouMean(typed, names);
  }
  return "";
}

// What the parser found wrong, with the command whose help explains it.
int FailUsage(const CLI::App& app, int argc, char** argv, const TfliteArguments& flags,
              const CLI::ParseError& error) {
  std::string command = "topwork";
  std::string message = error.what();
  if (app.get_subcommands().empty()) {
    message = argc < 2 ? "no command given"
              : argv[1][0] == '-'
                  ? "unknown flag '" + std::string(argv[1]) + "' in the place of a command"
                  : "'" + std::string(argv[1]) + "' is not a command";
    std::vector<std::string> names;
    for (const CLI::App* known : app.get_subcommands({})) names.push_back(known->get_name());
    if (argc >= 2) message += DidYouMean(argv[1], names);
    message += "; commands are";
    for (const std::string& name : names) message += " " + name;
  } else {
    const CLI::App& chosen = *app.get_subcommands().front();
    command += " " + chosen.get_name();
    const std::string unknown = UnknownFlag(chosen, argc, argv);
    const auto is = [&](CLI::ExitCodes code) {
      return error.get_exit_code() == static_cast<int>(code);
    };
    // A misspelt flag is also what a required one lacks, so it is named first.
    const bool may_be = is(CLI::ExitCodes::ExtrasError) || is(CLI::ExitCodes::RequiredError);
    if (flags.arguments.empty() && may_be && !unknown.empty()) message = unknown;
  }
  return Fail(kExitUsage, InTypedWords(flags, message) + " (see " + command + " --help)");
}

// The arguments after the program's name. `topwork benchmark` takes the flags of TFLite's
// benchmark_model, and so does a link to this program of that name; *flags gets what became of them.
std::vector<std::string> ReadArguments(int argc, char** argv, TfliteArguments* flags) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string path = argc > 0 ? argv[0] : "";
  const bool linked = path.substr(path.rfind('/') + 1) == "benchmark_model";
  if (linked) arguments.insert(arguments.begin(), "benchmark");
  if (arguments.empty() || arguments[0] != "benchmark") return arguments;
  if (!HasTfliteFlags(arguments)) {
    if (linked && std::count(arguments.begin(), arguments.end(), "--help") == 0) {
      throw CliError(kExitUsage, "no model: benchmark_model needs --graph=FILE");
    }
    return arguments;
  }
  *flags = TranslateTfliteFlags(std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  for (const std::string& note : flags->notes) {
    std::fprintf(stderr, "topwork: note: %s\n", Printable(note).c_str());
  }
  arguments = flags->arguments;
  arguments.insert(arguments.begin(), "benchmark");
  return arguments;
}

int Main(int argc, char** argv) {
  CLI::App app("Runs .tflite models and re-trains their last layer, on this machine.", "topwork");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this page");
  app.set_version_flag("--version", std::string("topwork ") + tw_version(), "print the version");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  AddInfoCommand(&app);
  AddRunCommand(&app);
  AddTrainCommand(&app);
  AddLearnCommand(&app);
  AddEvaluateCommand(&app);
  AddDevicesCommand(&app);
  AddBenchmarkCommand(&app);
  AddVerifyCommand(&app);
  AddQuantizeCommand(&app);
  AddPruneCommand(&app);
  AddAuditCommand(&app);
  AddSuggestCommand(&app);
  AddMergeCommand(&app);
  TfliteArguments flags;
  try {
    std::vector<std::string> arguments = ReadArguments(argc, argv, &flags);
    std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return FailUsage(app, argc, argv, flags, error);
  } catch (const CliError& error) {
    return Fail(error.code(), InTypedWords(flags, error.what()));
  } catch (const std::bad_alloc&) {
    return Fail(kExitMemory, "out of memory");
  } catch (const std::exception& error) {
    return Fail(kExitInternal, std::string("unexpected: ") + error.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Fail(kExitIo, "standard output cannot be written: is the disk full?");
  }
  return kExitOk;
}

}  // namespace
}  // namespace cli
}  // namespace topwork

int main(int argc, char** argv) {
  topwork::cli::InstallSignals();
  return topwork::cli::Main(argc, argv);
}
