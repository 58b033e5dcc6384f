// Dataset of sounds: each file, or part of one, is opened as an example and then cut into windows,
// which have its class, its targets and its group.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/csv.h"
#include "ports/cli/data/dataset.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

namespace fs = std::filesystem;

std::string SecondsText(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f", seconds);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

// Images or sounds, and never both; and those that the model takes.
void Dataset::CheckFiles() {
  const auto is_sound = [](const std::string& path) { return IsSoundPath(path); };
  const auto sound = std::find_if(paths_.begin(), paths_.end(), is_sound);
  const auto image = std::find_if_not(paths_.begin(), paths_.end(), is_sound);
  if (sound != paths_.end() && image != paths_.end()) {
    throw CliError(kExitData, folder_ + ": holds images and sounds, such as " + *image + " and " +
                                  *sound + "; keep one of the two");
  }
  if (sound == paths_.end()) {
    CheckImageInput();
    return;
  }
  const std::string what = folder_ + ": holds sounds";
  CheckSoundInput(what, sound_input_);
  sounds_ = std::make_unique<SoundSet>(reading_.sounds, WindowOf(sound_input_));
}

// `parts` where labels.csv names parts of files, one an example; else whole files.
void Dataset::CutSounds(std::vector<SoundPart> parts) {
  if (parts.empty()) {
    for (const std::string& path : paths_) parts.push_back({path, 0.0, -1.0, ""});
  }
  std::vector<int64_t> examples;
  std::vector<SoundWindow> windows;
  for (size_t p = 0; p < parts.size(); ++p) {
    sounds_->Add(parts[p]);
    const int64_t n = sounds_->n_windows(p);
    examples.insert(examples.end(), static_cast<size_t>(n), static_cast<int64_t>(p));
    for (int64_t w = 0; w < n; ++w) windows.push_back({p, w});
  }
  files_are_groups_ = !has_groups();
  if (files_are_groups_) {
    for (int64_t i = 0; i < size_; ++i) {
      // Files whose numbers meet are one group: that holds back more together, and nothing apart.
      const std::string name = FileName(i);
      groups_.push_back(NumberOfGroup(name));
      group_names_.emplace(groups_.back(), name);
    }
  }
  Keep(examples);
  windows_ = std::move(windows);
  const std::string text = SoundText(sounds_->reading(), sounds_->window());
  note_ = (note_.empty() ? "" : note_ + "; ") + text;
}

std::string Dataset::WindowName(int64_t i) const {
  const SoundWindow& at = windows_[static_cast<size_t>(i)];
  const std::string end = SecondsText(sounds_->End(at.part, at.window));
  return FileName(i) + "[" + SecondsText(sounds_->Start(at.part, at.window)) + "-" + end + " s]";
}

std::string Dataset::SoundsCsv(const std::vector<std::string>& classes) const {
  std::vector<std::string> header = {"file", "start", "end", "class"};
  if (!files_are_groups_) header.push_back("group");
  std::string csv = CsvLine(header);
  for (int64_t i = 0; i < size_; ++i) {
    const SoundWindow& at = windows_[static_cast<size_t>(i)];
    char start[32], end[32];
    std::snprintf(start, sizeof(start), "%.6f", sounds_->Start(at.part, at.window));
    std::snprintf(end, sizeof(end), "%.6f", sounds_->End(at.part, at.window));
    std::vector<std::string> fields = {FileName(i), start, end, classes[static_cast<size_t>(i)]};
    if (!files_are_groups_) fields.push_back(group_names_.at(group(i)));
    csv += CsvLine(fields);
  }
  return csv;
}

}  // namespace cli
}  // namespace topwork
