// Times as a record file of lines, and the best of them.
#include "runtime/backend/opencl/tune_table.h"

#include <cstdlib>
#include <vector>

#include "ports/port.h"
#include "runtime/base/held_file.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {
namespace {

constexpr size_t kMaxBytes = 16u << 20;

std::string PathIn(const std::string& folder, const std::string& driver) {
  if (folder.empty()) return "";
  return folder + "/tuning-" + Sha256Hex(driver.data(), driver.size()).substr(0, 16);
}

// The text up to the next `end`, and *at behind it.
std::string Take(const std::string& text, char end, size_t* at) {
  const size_t stop = text.find(end, *at);
  const size_t begin = *at;
  if (stop == std::string::npos) {
    *at = text.size();
    return "";
  }
  *at = stop + 1;
  return text.substr(begin, stop - begin);
}

// Fields are parted by tabs and lines by newlines.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

TuneTable::TuneTable(const std::string& folder, const std::string& driver)
    : folder_(folder),
      path_(PathIn(folder, driver)),
      id_{RecordKind::kTuning, 1, driver},
      times_(Read()) {}

TuneTable::Times TuneTable::Read() const {
  Times times;
  std::vector<uint8_t> bytes;
  if (path_.empty() || !LoadRecord(path_, id_, kMaxBytes, &bytes)) return times;
  const std::string text(bytes.begin(), bytes.end());
  size_t at = 0;
  while (at < text.size()) {
    const std::string work = Take(text, '\t', &at), variant = Take(text, '\t', &at);
    const int64_t nanos = std::strtoll(Take(text, '\n', &at).c_str(), nullptr, 10);
    if (nanos > 0) times[work][variant] = nanos;
  }
  return times;
}

std::string TuneTable::Best(const std::string& work) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string best;
  int64_t least = kFailed;
  const auto found = times_.find(work);
  if (found == times_.end()) return best;
  for (const auto& time : found->second) {
    if (time.second >= least) continue;
    least = time.second;
    best = time.first;
  }
  return best;
}

int64_t TuneTable::Nanos(const std::string& work, const std::string& variant) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = times_.find(work);
  if (found == times_.end()) return -1;
  const auto time = found->second.find(variant);
  return time == found->second.end() ? -1 : time->second;
}

TuneTable::Times TuneTable::Begin(const std::string& prefix) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Times found;
  for (const auto& work : times_) {
    if (work.first.compare(0, prefix.size(), prefix) == 0) found.insert(work);
  }
  return found;
}

void TuneTable::Keep(const std::string& work, const std::string& variant, int64_t nanos) {
  const std::lock_guard<std::mutex> lock(mutex_);
  times_[OneLine(work)][OneLine(variant)] = nanos > 0 ? nanos : 1;
  Save();
}

void TuneTable::Save() {
  if (path_.empty()) return;
  // Times that another program keeps at the same moment must not be lost.
  if (port::MakeFolders(folder_.c_str()) != 0) return;
  const HeldFile held = HeldFile::TakeSoon(path_);
  const Times others = Read();
  for (const auto& work : others) times_[work.first].insert(work.second.begin(), work.second.end());
  std::string text;
  for (const auto& work : times_) {
    for (const auto& time : work.second) {
      text += work.first + "\t" + time.first + "\t" + std::to_string(time.second) + "\n";
    }
  }
  // What could not be kept is measured again another time.
  (void)KeepRecord(folder_, path_, id_,
                   {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace opencl
}  // namespace topwork
