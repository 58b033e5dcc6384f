// libsndfile cuts a WAV file that ends early without a word; its log says so, and the file is refused.
#include "ports/cli/data/sound_file.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "ports/cli/cli_error.h"

#ifdef TW_HAVE_SOUNDS
#include <sndfile.h>
#include <soxr.h>
#endif

namespace topwork {
namespace cli {

#ifdef TW_HAVE_SOUNDS
namespace {

using Sound = std::unique_ptr<SNDFILE, int (*)(SNDFILE*)>;

std::string SecondsText(int64_t frames, int rate) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f s", static_cast<double>(frames) / rate);
  return buffer;
}

// Recorders that do not know the length yet write 0 or the largest number there.
bool EndsEarly(SNDFILE* sound) {
  char log[16384] = "";
  sf_command(sound, SFC_GET_LOG_INFO, log, sizeof(log));
  const char* line = std::strstr(log, "\ndata : ");
  long long promised = 0, there = 0;
  if (line == nullptr ||
      std::sscanf(line, "\ndata : %lld (should be %lld)", &promised, &there) != 2) {
    return false;
  }
  return promised > there && promised < 0x7ff00000;
}

Sound OpenSound(const std::string& path, SoundFormat* format) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw CliError(kExitIo, path + ": cannot read it: " + error.message());
  if (size == 0) throw CliError(kExitData, path + ": is empty; it must be a WAV or FLAC file");
  SF_INFO info{};
  Sound sound(sf_open(path.c_str(), SFM_READ, &info), sf_close);
  if (sound == nullptr) {
    std::string why = sf_strerror(nullptr);
    while (!why.empty() && (why.back() == '.' || why.back() == '\n')) why.pop_back();
    throw CliError(kExitData, path + ": not a readable WAV or FLAC file (" + why + ")");
  }
  if (info.samplerate <= 0 || info.channels <= 0 || info.frames == SF_COUNT_MAX) {
    throw CliError(kExitData, path + ": says " + std::to_string(info.samplerate) + " Hz and " +
                                  std::to_string(info.channels) +
                                  " channels, or not how long it is; write it anew");
  }
  if (EndsEarly(sound.get())) {
    throw CliError(kExitData, path + ": is cut off: it ends after " +
                                  SecondsText(info.frames, info.samplerate) +
                                  ", before the length that it promises; copy or record it anew");
  }
  if (info.frames <= 0) throw CliError(kExitData, path + ": holds no samples");
  format->n_frames = info.frames;
  format->rate = info.samplerate;
  return sound;
}

}  // namespace

SoundFormat ReadSoundFormat(const std::string& path) {
  SoundFormat format;
  OpenSound(path, &format);
  return format;
}

std::vector<float> ReadSoundFrames(const std::string& path, int64_t first, int64_t n_frames) {
  SoundFormat format;
  const Sound sound = OpenSound(path, &format);
  SF_INFO info{};
  sf_command(sound.get(), SFC_GET_CURRENT_SF_INFO, &info, sizeof(info));
  const size_t channels = static_cast<size_t>(info.channels);
  std::vector<float> block(static_cast<size_t>(n_frames) * channels);
  const sf_count_t at = sf_seek(sound.get(), first, SEEK_SET);
  const sf_count_t got = at == first ? sf_readf_float(sound.get(), block.data(), n_frames) : 0;
  if (got != n_frames) {
    throw CliError(kExitData, path + ": is damaged or cut off: nothing can be read behind " +
                                  SecondsText(first + got, format.rate) + " of " +
                                  SecondsText(format.n_frames, format.rate));
  }
  std::vector<float> samples(static_cast<size_t>(n_frames));
  for (size_t i = 0; i < samples.size(); ++i) {
    float sum = 0.0f;
    for (size_t c = 0; c < channels; ++c) sum += block[i * channels + c];
    samples[i] = sum / static_cast<float>(channels);
    if (std::isfinite(samples[i])) continue;
    throw CliError(kExitData, path + ": holds a sample that is no number, at " +
                                  SecondsText(first + static_cast<int64_t>(i), format.rate) +
                                  " (sample " + std::to_string(first + static_cast<int64_t>(i)) +
                                  ")");
  }
  return samples;
}

std::vector<float> ResampleSound(const std::vector<float>& samples, int from_rate, int to_rate,
                                 const std::string& path) {
  if (from_rate == to_rate) return samples;
  const double ratio = static_cast<double>(to_rate) / from_rate;
  std::vector<float> out(
      static_cast<size_t>(std::llround(static_cast<double>(samples.size()) * ratio)));
  const soxr_io_spec_t types = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  size_t n_used = 0, n_made = 0;
  const soxr_error_t error =
      soxr_oneshot(from_rate, to_rate, 1, samples.data(), samples.size(), &n_used, out.data(),
                   out.size(), &n_made, &types, &quality, nullptr);
  if (error != nullptr) {
    throw CliError(kExitData, path + ": cannot be brought from " + std::to_string(from_rate) +
                                  " to " + std::to_string(to_rate) + " Hz: " + error);
  }
  return out;
}

#else

namespace {
[[noreturn]] void NoSounds(const std::string& path) {
  throw CliError(
      kExitUnsupported,
      path +
          ": this topwork was built without sounds; install libsndfile and libsoxr "
          "(Debian: libsndfile1-dev, libsoxr-dev) and build it with -DTOPWORK_SOUNDS=ON");
}
}  // namespace

SoundFormat ReadSoundFormat(const std::string& path) { NoSounds(path); }
std::vector<float> ReadSoundFrames(const std::string& path, int64_t, int64_t) { NoSounds(path); }
std::vector<float> ResampleSound(const std::vector<float>&, int, int, const std::string& path) {
  NoSounds(path);
}

#endif

}  // namespace cli
}  // namespace topwork
