// Standard input is watched in turns of 100 ms, as a signal does not end a read that waits.
#include "ports/cli/sample_source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/sound_set.h"
#include "ports/cli/stop.h"
#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

class FileSource final : public SampleSource {
 public:
  FileSource(const std::string& path, const SoundReading& reading, int64_t window)
      : sounds_(reading, window) {
    sounds_.Add({path, 0.0, -1.0, ""});
  }
  bool Next(std::vector<float>* samples) override {
    if (next_ == sounds_.n_windows(0) || StopRequested()) return false;
    *samples = sounds_.Read(0, next_++);
    return true;
  }

 private:
  SoundSet sounds_;
  int64_t next_ = 0;
};

class PcmSource final : public SampleSource {
 public:
  PcmSource(int descriptor, const SoundReading& reading, int64_t window)
      : descriptor_(descriptor),
        window_(static_cast<size_t>(window)),
        hop_(static_cast<size_t>(HopOf(reading, window))) {}

  bool Next(std::vector<float>* samples) override {
    // What the window before left behind it; hops longer than a window leave samples out.
    const size_t n_before = has_begun_ ? held_.size() : 0;
    const size_t kept = has_begun_ ? n_before - std::min(hop_, n_before) : 0;
    held_.erase(held_.begin(), held_.end() - static_cast<ptrdiff_t>(kept));
    if (has_begun_ && hop_ > n_before && !Skip(hop_ - n_before)) return false;
    const bool whole = Fill();
    if (StopRequested()) return false;
    if (!has_begun_ && held_.empty()) {
      throw CliError(kExitData, "standard input: holds no samples (16-bit, little-endian)");
    }
    // Nothing new since the window before: it covered the end.
    if (!whole && has_begun_ && held_.size() <= kept) return false;
    has_begun_ = true;
    *samples = held_;
    samples->resize(window_, 0.0f);
    return true;
  }

 private:
  // Up to n bytes; 0 at the end, or when the user asked to stop.
  size_t ReadBytes(uint8_t* bytes, size_t n) {
    while (!StopRequested()) {
      pollfd waiting = {descriptor_, POLLIN, 0};
      if (poll(&waiting, 1, 100) <= 0) continue;  // nothing yet, or a signal
      const ssize_t got = read(descriptor_, bytes, n);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR || errno == EAGAIN) continue;
      throw CliError(kExitIo, "standard input: cannot read it: " + port::ErrorText(errno));
    }
    return 0;
  }

  // Adds up to n samples to held_; false when fewer came.
  bool Take(size_t n) {
    std::vector<uint8_t> bytes(2 * n);
    size_t filled = 0;
    while (filled < bytes.size()) {
      const size_t got = ReadBytes(bytes.data() + filled, bytes.size() - filled);
      if (got == 0) break;
      filled += got;
    }
    for (size_t i = 0; i + 1 < filled; i += 2) {
      const uint16_t bits = static_cast<uint16_t>(bytes[i] | bytes[i + 1] << 8);
      held_.push_back(static_cast<float>(static_cast<int16_t>(bits)) / 32768.0f);
    }
    return filled == bytes.size();
  }

  bool Fill() { return held_.size() >= window_ || Take(window_ - held_.size()); }

  bool Skip(size_t n) {
    while (n > 0) {
      const size_t part = std::min<size_t>(n, 65536);
      const bool whole = Take(part);
      held_.clear();
      if (!whole) return false;
      n -= part;
    }
    return true;
  }

  const int descriptor_;
  const size_t window_, hop_;
  bool has_begun_ = false;
  std::vector<float> held_;
};

}  // namespace

std::unique_ptr<SampleSource> OpenSoundFile(const std::string& path, const SoundReading& reading,
                                            int64_t window) {
  return std::make_unique<FileSource>(path, reading, window);
}

std::unique_ptr<SampleSource> OpenPcm(int descriptor, const SoundReading& reading, int64_t window) {
  return std::make_unique<PcmSource>(descriptor, reading, window);
}

}  // namespace cli
}  // namespace topwork
