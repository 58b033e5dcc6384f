// Where the windows of a run come from: a sound file, or samples on standard input.
#ifndef TOPWORK_PORTS_CLI_SAMPLE_SOURCE_H_
#define TOPWORK_PORTS_CLI_SAMPLE_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "ports/cli/data/sound.h"

namespace topwork {
namespace cli {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // The next window of samples in [-1, 1]; false at the end, or when the user asked to stop.
  virtual bool Next(std::vector<float>* samples) = 0;
};

// Windows of a WAV or FLAC file. Throws CliError as SoundSet.
std::unique_ptr<SampleSource> OpenSoundFile(const std::string& path, const SoundReading& reading,
                                            int64_t window);
// Windows of 16-bit samples, little-endian, one channel, of an open file as they arrive; they are
// cut as those of a file. Throws CliError when there is not one sample.
std::unique_ptr<SampleSource> OpenPcm(int descriptor, const SoundReading& reading, int64_t window);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_SAMPLE_SOURCE_H_
