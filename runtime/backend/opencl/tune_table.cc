// The file: "topwork-tuning 1 SHA256\n", the driver's identity, "\n", then lines of three fields.
// The checksum covers all behind the first line.
#include "runtime/backend/opencl/tune_table.h"

#include <cstdlib>
#include <vector>

#include "ports/port.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace opencl {
namespace {

const char kHead[] = "topwork-tuning 1 ";

std::string PathIn(const std::string& folder, const std::string& driver) {
  if (folder.empty()) return "";
  return folder + "/tuning-" + Sha256Hex(driver.data(), driver.size()).substr(0, 16);
}

std::string ReadWhole(const std::string& path) {
  port::MappedFile file;
  if (path.empty() || port::MapFile(path.c_str(), &file) != 0) return "";
  std::string text(file.data, file.data + file.size);
  port::UnmapFile(&file);
  return text;
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

// Fields are parted by tabs and lines by newlines; a driver's name may hold either.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

TuneTable::TuneTable(const std::string& folder, const std::string& driver)
    : folder_(folder),
      driver_(OneLine(driver)),
      path_(PathIn(folder, OneLine(driver))),
      times_(Read()) {}

TuneTable::Times TuneTable::Read() const {
  Times times;
  const std::string text = ReadWhole(path_);
  size_t at = 0;
  const std::string head = Take(text, '\n', &at);
  if (head != kHead + Sha256Hex(text.data() + at, text.size() - at)) return times;
  if (Take(text, '\n', &at) != driver_) return times;
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
  if (path_.empty() || port::MakeFolders(folder_.c_str()) != 0) return;
  const Times others = Read();
  for (const auto& work : others) times_[work.first].insert(work.second.begin(), work.second.end());
  std::string body = driver_ + "\n";
  for (const auto& work : times_) {
    for (const auto& time : work.second) {
      body += work.first + "\t" + time.first + "\t" + std::to_string(time.second) + "\n";
    }
  }
  const std::string text = kHead + Sha256Hex(body.data(), body.size()) + "\n" + body;
  port::AtomicFile* file = nullptr;
  if (port::AtomicFileOpen(path_.c_str(), &file) != 0) return;
  if (port::AtomicFileWrite(file, text.data(), text.size()) != 0) {
    port::AtomicFileDiscard(file);
    return;
  }
  // What could not be kept is measured again another time.
  (void)port::AtomicFileCommit(file);
}

}  // namespace opencl
}  // namespace topwork
