// Arithmetic of windows and levels, and which inputs take sounds. No file is read here.
#include "ports/cli/data/sound.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/numbers.h"

namespace topwork {
namespace cli {
namespace {

// Rows shorter than 10 ms at 8 kHz hold features, not samples.
constexpr int64_t kShortestWindow = 80;

bool HoldsSamples(tw_dtype dtype) {
  return dtype == TW_DTYPE_FLOAT32 || dtype == TW_DTYPE_INT16 || dtype == TW_DTYPE_INT8 ||
         dtype == TW_DTYPE_UINT8;
}

// The dimension that counts samples, −1 where there is none.
int32_t SampleDim(const tw_tensor_info& info) {
  if (info.rank == 1) return 0;
  if (info.rank == 2 || (info.rank == 3 && info.dims[2] == 1)) return 1;
  return -1;
}

std::string ShapeText(const tw_tensor_info& info) {
  std::string text = std::string(tw_dtype_name(info.dtype)) + " [";
  for (int32_t i = 0; i < info.rank; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(info.dims[i]);
  }
  return text + "]";
}

std::string Seconds(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.4g s", seconds);
  return buffer;
}

template <typename T>
std::vector<uint8_t> ToIntegers(const std::vector<float>& samples, float full_scale, float zero) {
  std::vector<uint8_t> bytes(samples.size() * sizeof(T));
  for (size_t i = 0; i < samples.size(); ++i) {
    const float stored = std::nearbyint(samples[i] * full_scale);
    const T value =
        static_cast<T>(std::min(full_scale - 1.0f, std::max(-full_scale, stored)) + zero);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

bool IsSoundPath(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = path.substr(dot);
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".wav" || ending == ".flac";
}

int64_t WindowOf(const tw_tensor_info& info) {
  const int32_t at = SampleDim(info);
  if (at < 0 || !HoldsSamples(info.dtype) || info.dims[at] < kShortestWindow) return 0;
  return info.dims[at];
}

void CheckSoundInput(const std::string& what, const tw_tensor_info& info) {
  if (WindowOf(info) > 0) return;
  const int32_t at = SampleDim(info);
  std::string why,
      advice = "make the model's input from the sounds as its author did, and give it as .npy";
  if (at < 0) {
    why = info.rank == 4 && (info.dims[3] == 3 || info.dims[3] == 4)
              ? "looks like an image"
              : "looks like a spectrogram or other features of a sound";
  } else if (!HoldsSamples(info.dtype)) {
    why = "has a type that holds no samples";
  } else if (info.open_dims[at] < 0) {
    why = "has an open length";
    advice = "give the length where a command takes --input-shape, or convert the model with one";
  } else {
    why = "is too short for samples, and looks like features";
  }
  throw CliError(kExitData, what + ", but the model's input '" + info.name + "' (" +
                                ShapeText(info) + ") " + why +
                                ", not like samples ([n], [1, n] or [1, n, 1]); " + advice);
}

int64_t HopOf(const SoundReading& reading, int64_t window) {
  if (reading.hop == 0.0) return window;
  const double samples = std::nearbyint(reading.hop * reading.rate);
  if (samples >= 1.0 && samples < 1e15) return static_cast<int64_t>(samples);
  throw CliError(kExitUsage, "--hop " + Seconds(reading.hop) + ": is not a sample or more at " +
                                 std::to_string(reading.rate) + " Hz");
}

int64_t CountWindows(int64_t n_samples, int64_t window, int64_t hop) {
  const int64_t to_cover = (n_samples - window + hop - 1) / hop;
  return 1 + std::max<int64_t>(0, std::min(to_cover, (n_samples - 1) / hop));
}

double LevelGain(double level, double mean_square, double peak) {
  if (peak <= 0.0 || mean_square <= 0.0) return 1.0;
  return std::min(std::pow(10.0, level / 20.0) / std::sqrt(mean_square), 1.0 / peak);
}

std::vector<uint8_t> SamplesToTensor(const std::vector<float>& samples, const tw_tensor_info& info,
                                     const std::string& what) {
  const bool quantized = info.n_scales > 0;
  if (!quantized && info.dtype == TW_DTYPE_INT16)
    return ToIntegers<int16_t>(samples, 32768.0f, 0.0f);
  if (!quantized && info.dtype == TW_DTYPE_INT8) return ToIntegers<int8_t>(samples, 128.0f, 0.0f);
  if (!quantized && info.dtype == TW_DTYPE_UINT8)
    return ToIntegers<uint8_t>(samples, 128.0f, 128.0f);
  if (!CanConvert(TW_DTYPE_FLOAT32, info)) {
    throw CliError(kExitData, what + ": cannot become the input '" + info.name + "' (" +
                                  ShapeText(info) + "), which has " +
                                  std::to_string(info.n_scales) + " scales");
  }
  return Convert(TW_DTYPE_FLOAT32, samples.data(), static_cast<int64_t>(samples.size()), info,
                 what);
}

std::string SoundText(const SoundReading& reading, int64_t window) {
  const int64_t hop = HopOf(reading, window);
  std::string text = "windows of " + std::to_string(window) + " samples (" +
                     Seconds(static_cast<double>(window) / reading.rate) + ")";
  if (hop != window)
    text += ", one every " + Seconds(static_cast<double>(hop) / reading.rate) + ",";
  return text + " at " + std::to_string(reading.rate) + " Hz (" + reading.rate_source + ")";
}

}  // namespace cli
}  // namespace topwork
