// Windows, levels and inputs of sounds, and files of them that libsndfile writes here. Files that are
// wrong are in sounds_test.py.
#include "ports/cli/data/sound.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ports/cli/data/sound_file.h"
#include "ports/cli/data/sound_set.h"
#include "tests/ports/cli/data/sounds.h"
#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_sound_test {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using cli::SoundReading;
using cli::SoundSet;
using cli_test::Failure;
using cli_test::Folder;
using cli_test::SoundInput;
using cli_test::Tone;

TEST_CASE("sounds: windows as the Python package cuts them", "[cli]") {
  const struct {
    int64_t n, window, hop, expected;
  } cases[] = {{10, 4, 2, 4}, {11, 4, 2, 5}, {3, 4, 4, 1},  {8, 4, 4, 2},
               {9, 4, 4, 3},  {4, 4, 1, 1},  {10, 2, 5, 2}, {11, 2, 5, 3}};
  for (const auto& c : cases) {
    CAPTURE(c.n, c.window, c.hop);
    CHECK(cli::CountWindows(c.n, c.window, c.hop) == c.expected);
  }
}

TEST_CASE("sounds: hops are whole samples, one at least", "[cli]") {
  SoundReading reading;
  CHECK(cli::HopOf(reading, 800) == 800);
  reading.hop = 0.02;
  CHECK(cli::HopOf(reading, 800) == 320);
  reading.hop = 1e-6;
  CHECK_THAT(Failure([&] { cli::HopOf(reading, 800); }), StartsWith("2 --hop 1e-06 s: is not"));
  CHECK(cli::SoundText(SoundReading(), 800) ==
        "windows of 800 samples (0.05 s) at 16000 Hz (assumed)");
}

TEST_CASE("sounds: the gain of a level ends at full scale", "[cli]") {
  CHECK(cli::LevelGain(-20.0, 0.01, 0.5) == Approx(1.0));
  CHECK(cli::LevelGain(-40.0, 0.01, 0.5) == Approx(0.1));
  CHECK(cli::LevelGain(0.0, 0.01, 0.5) == Approx(2.0));
  CHECK(cli::LevelGain(-20.0, 0.0, 0.0) == 1.0);
}

TEST_CASE("sounds: inputs that take samples, and what the others look like", "[cli]") {
  CHECK(cli::WindowOf(SoundInput({15600})) == 15600);
  CHECK(cli::WindowOf(SoundInput({1, 800})) == 800);
  CHECK(cli::WindowOf(SoundInput({1, 800, 1}, TW_DTYPE_INT16)) == 800);
  const struct {
    std::vector<int32_t> dims;
    tw_dtype dtype;
    const char* why;
  } refused[] = {
      {{1, 49, 10, 1}, TW_DTYPE_FLOAT32, "(float32 [1, 49, 10, 1]) looks like a spectrogram"},
      {{1, 96, 64}, TW_DTYPE_FLOAT32, "looks like a spectrogram"},
      {{1, 224, 224, 3}, TW_DTYPE_FLOAT32, "looks like an image"},
      {{1, 40}, TW_DTYPE_FLOAT32, "is too short for samples"},
      {{1, 800}, TW_DTYPE_INT32, "has a type that holds no samples"}};
  for (const auto& c : refused) {
    CHECK(cli::WindowOf(SoundInput(c.dims, c.dtype)) == 0);
    CHECK_THAT(
        Failure([&] { cli::CheckSoundInput("d: holds sounds", SoundInput(c.dims, c.dtype)); }),
        StartsWith("5 d: holds sounds, but the model's input 'input'") && Contains(c.why) &&
            Contains(".npy"));
  }
  tw_tensor_info open = SoundInput({1, 1});
  open.open_dims[1] = -1;
  CHECK_THAT(Failure([&] { cli::CheckSoundInput("d", open); }),
             Contains("has an open length") && Contains("--input-shape"));
}

template <typename T>
std::vector<T> Stored(const std::vector<float>& samples, const tw_tensor_info& input) {
  const std::vector<uint8_t> bytes = cli::SamplesToTensor(samples, input, "a.wav");
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_CASE("sounds: samples in each type of input", "[cli]") {
  const std::vector<float> samples = {0.0f, 0.5f, -1.0f, 1.0f, 2.0f};
  CHECK(Stored<float>(samples, SoundInput({1, 5})) == samples);
  CHECK(Stored<int16_t>(samples, SoundInput({1, 5}, TW_DTYPE_INT16)) ==
        std::vector<int16_t>{0, 16384, -32768, 32767, 32767});
  CHECK(Stored<int8_t>(samples, SoundInput({1, 5}, TW_DTYPE_INT8)) ==
        std::vector<int8_t>{0, 64, -128, 127, 127});
  CHECK(Stored<uint8_t>(samples, SoundInput({1, 5}, TW_DTYPE_UINT8)) ==
        std::vector<uint8_t>{128, 192, 0, 255, 255});
  const float scale = 0.01f;
  const int64_t zero = -3;
  tw_tensor_info quantized = SoundInput({1, 5}, TW_DTYPE_INT8);
  quantized.n_scales = 1;
  quantized.scales = &scale;
  quantized.zero_points = &zero;
  CHECK(Stored<int8_t>(samples, quantized) == std::vector<int8_t>{-3, 47, -103, 97, 127});
}

#ifdef TW_HAVE_SOUNDS

using cli_test::WriteWav;

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b, size_t from,
                         size_t to) {
  double largest = 0.0;
  for (size_t i = from; i < to; ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

TEST_CASE("sounds: every format gives what was written", "[cli]") {
  const Folder folder;
  const std::vector<float> tone = Tone(440.0, 1.0, 16000);
  const struct {
    const char* name;
    int format;
    double error;
  } formats[] = {{"u8.wav", cli_test::kWav | cli_test::kUint8, 7.9e-3},
                 {"s16.wav", cli_test::kWav | cli_test::kInt16, 3.1e-5},
                 {"s24.wav", cli_test::kWav | cli_test::kInt24, 2e-7},
                 {"s32.wav", cli_test::kWav | cli_test::kInt32, 1e-7},
                 {"f32.wav", cli_test::kWav | cli_test::kFloat, 0.0},
                 {"f64.wav", cli_test::kWav | cli_test::kDouble, 0.0},
                 {"s16.flac", cli_test::kFlac | cli_test::kInt16, 3.1e-5},
                 {"s24.FLAC", cli_test::kFlac | cli_test::kInt24, 2e-7}};
  for (const auto& f : formats) {
    CAPTURE(f.name);
    const std::string path = folder.path() + "/" + f.name;
    CHECK(cli::IsSoundPath(path));
    WriteWav(path, tone, 16000, 1, f.format);
    const cli::SoundFormat format = cli::ReadSoundFormat(path);
    CHECK(format.n_frames == 16000);
    CHECK(format.rate == 16000);
    const std::vector<float> got = cli::ReadSoundFrames(path, 4000, 8000);
    CHECK(LargestDifference(got, std::vector<float>(tone.begin() + 4000, tone.end()), 0, 8000) <=
          f.error);
  }
}

TEST_CASE("sounds: a FLAC file that is cut off says from where on", "[cli]") {
  const Folder folder;
  const std::string path = folder.path() + "/a.flac";
  std::vector<float> noise(80000);
  uint32_t state = 1;
  for (float& sample : noise) {
    state = state * 1664525u + 1013904223u;
    sample = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  WriteWav(path, noise, 16000, 1, cli_test::kFlac | cli_test::kInt16);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  CHECK(cli::ReadSoundFrames(path, 0, 16000).size() == 16000);
  CHECK_THAT(Failure([&] { (void)cli::ReadSoundFrames(path, 0, 80000); }),
             StartsWith("5 " + path + ": is damaged or cut off: nothing can be read behind 2.") &&
                 Contains(" of 5.000 s"));
}

TEST_CASE("sounds: channels are averaged", "[cli]") {
  const Folder folder;
  const std::vector<float> tone = Tone(440.0, 0.5, 16000);
  std::vector<float> both;
  for (float sample : tone) both.insert(both.end(), {sample, 0.0f, sample * 0.5f});
  const std::string path = folder.path() + "/a.wav";
  WriteWav(path, both, 16000, 3, cli_test::kWav | cli_test::kFloat);
  const std::vector<float> got = cli::ReadSoundFrames(path, 0, 8000);
  for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(tone[i] * 0.5f).margin(1e-7));
}

// The tone keeps frequency, length and level; only the ends, which the filter reaches over, differ.
TEST_CASE("sounds: other rates are converted, piece by piece", "[cli]") {
  const Folder folder;
  for (const int rate : {8000, 22050, 44100, 48000}) {
    CAPTURE(rate);
    const std::string path = folder.path() + "/a.wav";
    WriteWav(path, Tone(1000.0, 25.0, rate), rate, 1, cli_test::kWav | cli_test::kFloat);
    SoundReading reading;
    SoundSet sounds(reading, 16000 * 25);
    sounds.Add({path, 0.0, -1.0, ""});
    REQUIRE(sounds.n_windows(0) == 1);
    const std::vector<float> got = sounds.Read(0, 0);
    const std::vector<float> expected = Tone(1000.0, 25.0, 16000);
    CHECK(LargestDifference(got, expected, 800, got.size() - 800) < 2e-3);
    // Where pieces meet nothing is heard.
    for (const size_t meeting : {160000u, 320000u}) {
      CHECK(LargestDifference(got, expected, meeting - 50, meeting + 50) < 2e-3);
    }
  }
  const std::string path = folder.path() + "/high.wav";
  WriteWav(path, Tone(11000.0, 1.0, 48000), 48000, 1, cli_test::kWav | cli_test::kFloat);
  SoundSet sounds(SoundReading(), 16000);
  sounds.Add({path, 0.0, -1.0, ""});
  CHECK(LargestDifference(sounds.Read(0, 0), std::vector<float>(16000, 0.0f), 800, 15200) < 1e-3);
}

TEST_CASE("sounds: a window is the same whatever was read before", "[cli]") {
  const Folder folder;
  const std::string path = folder.path() + "/a.flac";
  WriteWav(path, Tone(700.0, 65.0, 44100), 44100, 1, cli_test::kFlac | cli_test::kInt16);
  SoundReading reading;
  reading.hop = 0.35;
  SoundSet in_order(reading, 8000), backwards(reading, 8000);
  in_order.Add({path, 1.2, -1.0, ""});
  backwards.Add({path, 1.2, -1.0, ""});
  const int64_t n = in_order.n_windows(0);
  CHECK(n == cli::CountWindows(std::llround(63.8 * 16000), 8000, 5600));
  std::vector<std::vector<float>> windows;
  for (int64_t i = 0; i < n; ++i) windows.push_back(in_order.Read(0, i));
  for (int64_t i = n - 1; i >= 0; --i) {
    REQUIRE(backwards.Read(0, i) == windows[static_cast<size_t>(i)]);
  }
}

TEST_CASE("sounds: each part is brought to its level", "[cli]") {
  const Folder folder;
  const std::string path = folder.path() + "/a.wav";
  std::vector<float> sound = Tone(440.0, 1.0, 16000);
  for (size_t i = 8000; i < sound.size(); ++i) sound[i] *= 0.1f;
  WriteWav(path, sound, 16000, 1, cli_test::kWav | cli_test::kFloat);
  SoundReading reading;
  reading.level = -40.0;
  SoundSet sounds(reading, 8000);
  sounds.Add({path, 0.0, 0.5, ""});
  sounds.Add({path, 0.5, 1.0, ""});
  for (size_t part = 0; part < 2; ++part) {
    double squares = 0.0;
    for (float sample : sounds.Read(part, 0)) squares += static_cast<double>(sample * sample);
    CHECK(std::sqrt(squares / 8000) == Approx(0.01).epsilon(0.001));
  }
}

TEST_CASE("sounds: parts that are not in the file are refused", "[cli]") {
  const Folder folder;
  const std::string path = folder.path() + "/a.wav";
  WriteWav(path, Tone(440.0, 1.0, 16000), 16000, 1, cli_test::kWav | cli_test::kInt16);
  SoundSet sounds(SoundReading(), 800);
  const std::pair<double, double> parts[] = {{0.5, 0.5}, {0.0, 1.5}, {2.0, -1.0}, {0.7, 0.2}};
  for (const auto& [start, end] : parts) {
    CAPTURE(start, end);
    const cli::SoundPart part = {path, start, end, "labels.csv:3: "};
    CHECK_THAT(
        Failure([&] { sounds.Add(part); }),
        StartsWith("5 labels.csv:3: " + path + ": lasts 1.000 s; ") && Contains("is not in it"));
  }
  CHECK(sounds.n_parts() == 0);
}

#else

TEST_CASE("sounds: a build without them says what to install", "[cli]") {
  CHECK_THAT(Failure([] { cli::ReadSoundFormat("a.wav"); }),
             StartsWith("4 a.wav: this topwork was built without sounds") &&
                 Contains("libsndfile1-dev, libsoxr-dev"));
}

#endif

}  // namespace cli_sound_test
}  // namespace topwork
