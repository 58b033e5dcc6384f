// Sounds that unit tests make: tones, written by libsndfile where the build has it.
#ifndef TOPWORK_TESTS_PORTS_CLI_DATA_SOUNDS_H_
#define TOPWORK_TESTS_PORTS_CLI_DATA_SOUNDS_H_

#include <topwork/topwork.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#ifdef TW_HAVE_SOUNDS
#include <sndfile.h>
#endif

namespace topwork {
namespace cli_test {

inline tw_tensor_info SoundInput(const std::vector<int32_t>& dims,
                                 tw_dtype dtype = TW_DTYPE_FLOAT32) {
  tw_tensor_info info{};
  info.struct_size = sizeof(info);
  info.name = "input";
  info.dtype = dtype;
  info.rank = static_cast<int32_t>(dims.size());
  std::memcpy(info.dims, dims.data(), dims.size() * sizeof(int32_t));
  std::memcpy(info.open_dims, dims.data(), dims.size() * sizeof(int32_t));
  return info;
}

// A sine of amplitude 1/4.
inline std::vector<float> Tone(double frequency, double seconds, int rate) {
  std::vector<float> samples(static_cast<size_t>(std::llround(seconds * rate)));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(
        0.25 * std::sin(2 * 3.14159265358979323846 * frequency * static_cast<double>(i) / rate));
  }
  return samples;
}

#ifdef TW_HAVE_SOUNDS

constexpr int kWav = SF_FORMAT_WAV, kFlac = SF_FORMAT_FLAC;
constexpr int kUint8 = SF_FORMAT_PCM_U8, kInt16 = SF_FORMAT_PCM_16, kInt24 = SF_FORMAT_PCM_24,
              kInt32 = SF_FORMAT_PCM_32, kFloat = SF_FORMAT_FLOAT, kDouble = SF_FORMAT_DOUBLE;

// Interleaved samples of `channels` channels.
inline void WriteWav(const std::string& path, const std::vector<float>& samples, int rate,
                     int channels, int format) {
  SF_INFO info{};
  info.samplerate = rate;
  info.channels = channels;
  info.format = format;
  SNDFILE* const sound = sf_open(path.c_str(), SFM_WRITE, &info);
  REQUIRE(sound != nullptr);
  const sf_count_t n = static_cast<sf_count_t>(samples.size());
  REQUIRE(sf_write_float(sound, samples.data(), n) == n);
  REQUIRE(sf_close(sound) == 0);
}

#endif

}  // namespace cli_test
}  // namespace topwork

#endif  // TOPWORK_TESTS_PORTS_CLI_DATA_SOUNDS_H_
