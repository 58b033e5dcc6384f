// Reading of WAV and FLAC files by libsndfile, and other rates by soxr. A build without them
// (TOPWORK_SOUNDS) refuses every file and says what to install.
#ifndef TOPWORK_PORTS_CLI_SOUND_FILE_H_
#define TOPWORK_PORTS_CLI_SOUND_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

struct SoundFormat {
  int64_t n_frames = 0;  // samples of each channel
  int rate = 0;          // frames a second
};

// Throws CliError: kExitIo for a file that cannot be opened; kExitData for one that is empty, is no
// sound, holds no samples, or less than it promises; kExitUnsupported in a build without sounds.
SoundFormat ReadSoundFormat(const std::string& path);

// n_frames frames from frame `first` on, which the file has, as the mean of the channels. Throws
// CliError also where a sample is NaN or infinite, or cannot be decoded.
std::vector<float> ReadSoundFrames(const std::string& path, int64_t first, int64_t n_frames);

// Samples of another rate; as many as last as long, rounded.
std::vector<float> ResampleSound(const std::vector<float>& samples, int from_rate, int to_rate,
                                 const std::string& path);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_SOUND_FILE_H_
