// Sounds as a model takes them: windows of samples in [-1, 1] at one rate, one window a run. What
// reads the files is in sound_file.h, what keeps them at hand in sound_set.h.
#ifndef TOPWORK_PORTS_CLI_SOUND_H_
#define TOPWORK_PORTS_CLI_SOUND_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

// How sounds are cut and scaled.
struct SoundReading {
  int rate = 16000;                     // samples a second that the model wants
  std::string rate_source = "assumed";  // for people
  double hop = 0.0;                     // seconds from window to window; 0: the window's length
  std::optional<double> level;          // decibels, see LevelGain; none: as recorded
};

// True for the endings .wav and .flac, in any case.
bool IsSoundPath(const std::string& path);

// Samples that an input takes in one run: [n], [1, n] or [1, n, 1] of float32 or of 8 or 16-bit
// integers. 0 when it takes none.
int64_t WindowOf(const tw_tensor_info& info);
// Throws kExitData, beginning with `what`, when WindowOf is 0: what the input looks like instead,
// and what to do.
void CheckSoundInput(const std::string& what, const tw_tensor_info& info);

// Samples from window to window; throws kExitUsage for a hop below one sample.
int64_t HopOf(const SoundReading& reading, int64_t window);
// Windows of n_samples > 0 samples: none begins behind the end, and the last one is filled up with
// zeros where samples are left behind the window before it.
int64_t CountWindows(int64_t n_samples, int64_t window, int64_t hop);

// What brings samples with this mean of squares and this largest magnitude to a root mean square of
// `level` decibels below full scale; less where a sample would leave [-1, 1]; 1 for silence.
double LevelGain(double level, double mean_square, double peak);

// A window in the input's type: floats as they are, integers through their quantization, and those
// without one as WAV files hold samples (1.0 is 32768 or 128). `what` begins messages.
std::vector<uint8_t> SamplesToTensor(const std::vector<float>& samples, const tw_tensor_info& info,
                                     const std::string& what);

// "windows of 15600 samples (0.975 s), one every 0.5 s, at 16000 Hz (assumed)".
std::string SoundText(const SoundReading& reading, int64_t window);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_SOUND_H_
