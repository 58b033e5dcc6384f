// A stream is ended by Ctrl-C as it is by its last sample: what is open ends, and the exit code is 0.
#include "ports/cli/listen.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "ports/cli/data/numbers.h"
#include "ports/cli/events.h"
#include "ports/cli/files.h"
#include "ports/cli/rejection.h"
#include "ports/cli/sample_source.h"
#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/port.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace cli {
namespace {

// An output as rows of scores, one for each part of a window: [n, length] after any number of 1.
struct Rows {
  int64_t n = 0, length = 0;  // both 0 for another output
};

Rows RowsOf(const tw::Tensor& output) {
  if (!IsFloat(output.dtype) && !IsInteger(output.dtype)) return {};
  const std::vector<int32_t> shape = output.shape();
  if (shape.empty()) return {};
  for (size_t i = 0; i + 2 < shape.size(); ++i) {
    if (shape[i] != 1) return {};
  }
  const int64_t n = shape.size() == 1 ? 1 : shape[shape.size() - 2];
  return n > 0 && shape.back() > 0 ? Rows{n, shape.back()} : Rows{};
}

std::string Number(const char* format, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

class Listener {
 public:
  Listener(const CommonOptions& common, const std::string& input, const ListenOptions& options)
      : common_(common),
        options_(options),
        input_(input),
        model_(OpenModel(common.model)),
        labels_(LabelsFor(model_, options.labels)),
        session_(OpenSession(model_, common)) {
    if (session_.n_inputs() != 1) {
      throw CliError(kExitUnsupported, common.model + ": has " +
                                           std::to_string(session_.n_inputs()) +
                                           " inputs; a sound goes into a model of one");
    }
    const tw::Tensor tensor = CheckValue(session_.Input(0));
    const std::string what = is_pcm() ? "standard input: holds samples" : input + ": is a sound";
    CheckSoundInput(what, tensor);
    reading_ = ReadingFor(common, model_, tensor).sounds;
    if (is_pcm() && reading_.level) {
      throw CliError(kExitUsage,
                     "--level needs the whole sound, which standard input does not have yet");
    }
    window_ = WindowOf(tensor);
    hop_ = HopOf(reading_, window_);
    ChooseOutput();
  }

  void Run() {
    const std::unique_ptr<SampleSource> source = is_pcm()
                                                     ? OpenPcm(STDIN_FILENO, reading_, window_)
                                                     : OpenSoundFile(input_, reading_, window_);
    if (!common_.json) PrintNote(SoundText(reading_, window_));
    const EventOptions joining = {options_.threshold, Seconds(window_) / n_rows(), options_.gap};
    EventJoiner joiner(
        joining, [this](const SoundEvent& event) { Began(event); },
        [this](const SoundEvent& event) { Ended(event); });
    const int64_t begin = port::NowNanos();
    std::vector<float> samples;
    while (source->Next(&samples)) {
      const double start = static_cast<double>(n_windows_ * hop_) / reading_.rate;
      const std::vector<std::vector<double>> rows = Score(samples, start);
      for (size_t i = 0; i < rows.size(); ++i) {
        const double at = start + static_cast<double>(i) * joining.length;
        if (options_.every_window) PrintWindow(at, joining.length, rows[i]);
        joiner.Add(at, rows[i]);
      }
      ++n_windows_;
    }
    if (!options_.stream) CheckStop();
    joiner.Finish();
    run_seconds_ = port::SecondsSince(begin);
    Finish();
  }

 private:
  bool is_pcm() const { return input_ == "-"; }
  double Seconds(int64_t samples) const { return static_cast<double>(samples) / reading_.rate; }

  double n_rows() const { return static_cast<double>(rows_.n); }

  // The first row of numbers, else the first rows; of as many as there are labels, where a file
  // gives them.
  void ChooseOutput() {
    std::string found;
    for (size_t i = 0; i < session_.n_outputs(); ++i) {
      const tw::Tensor output = CheckValue(session_.Output(i));
      found += (found.empty() ? "" : ", ") + TensorText(output);
      if (output.name == std::string(kRejectionOutput)) {
        refuses_ = true;
        continue;
      }
      const Rows rows = RowsOf(output);
      const bool fits =
          options_.labels.empty() || rows.length == static_cast<int64_t>(labels_.size());
      if (rows.n == 0 || !fits || (rows_.n != 0 && (rows_.n == 1 || rows.n != 1))) continue;
      rows_ = rows;
      output_ = i;
    }
    if (rows_.n > 1 && hop_ < window_) {
      throw CliError(kExitUsage, "--hop: the model gives " + std::to_string(rows_.n) +
                                     " rows of scores for a window, so windows may not overlap");
    }
    if (rows_.n != 0) return;
    if (!options_.labels.empty()) {
      throw CliError(kExitData, options_.labels + ": has " +
                                    CountText(static_cast<int64_t>(labels_.size()), "name") +
                                    ", but no output has as many classes (" + found + ")");
    }
    throw CliError(kExitUnsupported,
                   common_.model + ": no output is rows of scores for a window (" + found + ")");
  }

  // Scores of a window's rows; none that the model refuses reaches a threshold.
  std::vector<std::vector<double>> Score(const std::vector<float>& samples, double start) {
    const std::string what = input_ + ", " + Number("%.3f", start) + " s";
    const tw::Tensor input = CheckValue(session_.Input(0));
    const std::vector<uint8_t> bytes = SamplesToTensor(samples, input, what);
    Check(session_.WriteInput(0, bytes.data(), bytes.size()), what);
    Check(session_.Run(), common_.model);
    const tw::Tensor output = CheckValue(session_.Output(output_));
    if (RowsOf(output).n != rows_.n || RowsOf(output).length != rows_.length) {
      throw CliError(kExitUnsupported, what + ": output '" + output.name + "' is now " +
                                           TensorText(output) + "; a time line needs one shape");
    }
    const bool refused = refuses_ && CheckValue(session_.Rejection()).is_unknown != 0;
    std::vector<std::vector<double>> rows(static_cast<size_t>(rows_.n));
    for (int64_t i = 0; i < rows_.n * rows_.length; ++i) {
      const double score = RealAt(output, i);
      if (std::isnan(score)) {
        throw CliError(kExitNumeric, what + ": output '" + output.name + "' holds NaN");
      }
      rows[static_cast<size_t>(i / rows_.length)].push_back(refused ? -HUGE_VAL : score);
    }
    return rows;
  }

  std::string NameOf(int64_t index) const {
    const size_t i = static_cast<size_t>(index);
    return labels_.size() == static_cast<size_t>(rows_.length) ? Printable(labels_[i])
                                                               : "class " + std::to_string(index);
  }

  Json EventJson(const SoundEvent& event) const {
    return {{"start", event.start},
            {"end", event.end},
            {"class", event.index},
            {"label", NameOf(event.index)},
            {"score", event.score}};
  }

  void PrintLine(const std::string& line) const {
    if (std::printf("%s\n", line.c_str()) < 0 || std::fflush(stdout) != 0) {
      throw CliError(kExitIo, "standard output cannot be written");
    }
  }

  void Began(const SoundEvent& event) const {
    if (!options_.stream) return;
    if (common_.json) {
      Json json = EventJson(event);
      json.erase("end");
      PrintLine(JsonText({{"began", json}}, -1));
      return;
    }
    PrintLine(Number("%10.3f s  ", event.start) + Paint(1, "1", NameOf(event.index)) +
              Number("  %.3f", event.score));
  }

  void Ended(const SoundEvent& event) {
    if (!options_.stream) {
      events_.push_back(event);
    } else if (common_.json) {
      PrintLine(JsonText({{"ended", EventJson(event)}}, -1));
    } else {
      PrintLine(Number("%10.3f s  ", event.end) +
                Paint(1, "2",
                      NameOf(event.index) + " ends, since " + Number("%.3f s", event.start) +
                          ", at most " + Number("%.3f", event.score)));
    }
  }

  void PrintWindow(double start, double length, const std::vector<double>& scores) const {
    const auto best = std::max_element(scores.begin(), scores.end());
    const bool refused = std::isinf(*best) && *best < 0.0;
    const int64_t index = best - scores.begin();
    if (common_.json) {
      Json json = {{"start", start}, {"end", start + length}};
      if (!refused) json.update({{"class", index}, {"label", NameOf(index)}, {"score", *best}});
      json["is_unknown"] = refused;
      PrintLine(JsonText({{"window", json}}, -1));
      return;
    }
    PrintLine(Number("%10.3f s  ", start) +
              Paint(1, "2", refused ? "unknown" : NameOf(index) + Number("  %.3f", *best)));
  }

  std::string WindowsText() const {
    const std::string text = CountText(n_windows_, "window");
    return rows_.n == 1 ? text : text + " of " + std::to_string(rows_.n) + " rows";
  }

  void Finish() {
    if (options_.stream) {
      if (!common_.json) {
        std::fprintf(stderr, "%s in %s\n", WindowsText().c_str(),
                     HumanSeconds(run_seconds_).c_str());
      }
      return;
    }
    std::sort(events_.begin(), events_.end(), [this](const SoundEvent& a, const SoundEvent& b) {
      if (a.start < b.start || b.start < a.start) return a.start < b.start;
      return NameOf(a.index) < NameOf(b.index);
    });
    if (common_.json) {
      PrintJson(TimeLineJson());
      return;
    }
    Table table({">start", ">end", "class", ">score"});
    for (const SoundEvent& event : events_) {
      table.Row({Number("%.3f s", event.start), Number("%.3f s", event.end),
                 Paint(1, "1", NameOf(event.index)), Number("%.3f", event.score)});
    }
    if (!events_.empty()) table.Print(2);
    std::printf("%s\n", Paint(1, "2",
                              CountText(static_cast<int64_t>(events_.size()), "event") + " from " +
                                  Number("%g", options_.threshold) + " on in " + WindowsText() +
                                  ", in " + HumanSeconds(run_seconds_))
                            .c_str());
  }

  Json TimeLineJson() const {
    Json json = {{"model", common_.model},
                 {"input", input_},
                 {"rate", reading_.rate},
                 {"rate_source", reading_.rate_source},
                 {"window_seconds", Seconds(window_)},
                 {"hop_seconds", Seconds(hop_)},
                 {"threshold", options_.threshold},
                 {"gap_seconds", options_.gap},
                 {"n_windows", n_windows_},
                 {"rows_per_window", rows_.n},
                 {"run_ms", run_seconds_ * 1e3}};
    json["events"] = Json::array();
    for (const SoundEvent& event : events_) json["events"].push_back(EventJson(event));
    return json;
  }

  const CommonOptions& common_;
  const ListenOptions& options_;
  const std::string input_;
  const tw::Model model_;
  const std::vector<std::string> labels_;
  tw::Session session_;
  SoundReading reading_;
  int64_t window_ = 0, hop_ = 0;
  size_t output_ = 0;
  Rows rows_;
  bool refuses_ = false;
  int64_t n_windows_ = 0;
  double run_seconds_ = 0.0;
  std::vector<SoundEvent> events_;
};

}  // namespace

void AddListenOptions(CLI::App* command, ListenOptions* options) {
  command
      ->add_option("--threshold", options->threshold,
                   "score at which a class is heard, as the model gives scores (of logits 0 is a "
                   "probability of one half)")
      ->type_name("P")
      ->group("Sounds")
      ->capture_default_str();
  command
      ->add_option("--gap", options->gap,
                   "parts of a class at most so many seconds apart are one event")
      ->check(NonNegativeCheck())
      ->type_name("SECONDS")
      ->group("Sounds");
  command
      ->add_flag("--stream", options->stream,
                 "print each event when it begins and when it ends, until the input ends or Ctrl-C")
      ->group("Sounds");
  command
      ->add_flag("--every-window", options->every_window,
                 "with --stream: print the best class of each window, too")
      ->group("Sounds");
}

bool IsListening(const std::vector<std::string>& inputs, const ListenOptions& options) {
  return options.stream || std::any_of(inputs.begin(), inputs.end(), [](const std::string& input) {
           return input == "-" || IsSoundPath(input);
         });
}

void Listen(const CommonOptions& common, const std::vector<std::string>& inputs,
            const ListenOptions& options) {
  if (inputs.size() != 1 || (inputs[0] != "-" && !IsSoundPath(inputs[0]))) {
    throw CliError(kExitUsage,
                   "a sound goes into a model of one input: give one --input, a WAV or FLAC file, "
                   "or - for samples on standard input");
  }
  if (inputs[0] == "-" && !options.stream) {
    throw CliError(kExitUsage, "--input - has no end to wait for: add --stream");
  }
  if (inputs[0] == "-" && isatty(STDIN_FILENO) != 0) {
    throw CliError(kExitUsage,
                   "--input -: standard input is a terminal; pipe samples into it, as in arecord "
                   "-t raw -f S16_LE -c 1 -r 16000 | topwork run MODEL --stream --input -");
  }
  Listener(common, inputs[0], options).Run();
}

}  // namespace cli
}  // namespace topwork
