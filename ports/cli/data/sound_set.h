// Files of sounds, or parts of them, as windows of samples. Pieces of the files are decoded as they
// are needed, and the last ones are kept: memory does not grow with the files.
#ifndef TOPWORK_PORTS_CLI_SOUND_SET_H_
#define TOPWORK_PORTS_CLI_SOUND_SET_H_

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "ports/cli/data/sound.h"

namespace topwork {
namespace cli {

// Seconds [start, end) of a file.
struct SoundPart {
  std::string path;
  double start = 0.0;
  double end = -1.0;  // -1: to the end of the file
  std::string where;  // begins messages: "labels.csv:3: "
};

class SoundSet {
 public:
  SoundSet(const SoundReading& reading, int64_t window);

  // Opens the part; its windows are numbered from 0 on. Throws CliError for a file that is no sound
  // and a part that is not in it.
  void Add(const SoundPart& part);
  size_t n_parts() const { return parts_.size(); }
  int64_t n_windows(size_t part) const;

  // Samples of a window, leveled. Throws CliError, with the part's `where`, for samples that cannot
  // be decoded or are no numbers.
  std::vector<float> Read(size_t part, int64_t window) const;

  // Seconds in the file at which a window begins and ends; it ends with its part at the latest.
  double Start(size_t part, int64_t window) const;
  double End(size_t part, int64_t window) const;
  // What makes the window's samples beside the file itself, for keys of caches.
  std::string Key(size_t part, int64_t window) const;

  const SoundReading& reading() const { return reading_; }
  int64_t window() const { return window_; }
  int64_t hop() const { return hop_; }

 private:
  struct Entry {
    SoundPart part;
    int rate = 0;
    int64_t first = 0, n_frames = 0;  // in the file
    int64_t n_samples = 0;            // at the model's rate
    double gain = 0.0;                // 0: not known yet
  };
  // Some seconds of a part, at the model's rate.
  struct Piece {
    size_t part;
    int64_t number;
    std::vector<float> samples;
  };

  const Piece& GetPiece(size_t part, int64_t number) const;
  std::vector<float> DecodePiece(const Entry& entry, int64_t number) const;
  double Gain(size_t part) const;

  SoundReading reading_;
  int64_t window_, hop_;
  mutable std::vector<Entry> parts_;
  mutable std::list<Piece> pieces_;  // the last one used is the first
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_SOUND_SET_H_
