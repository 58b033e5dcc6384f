// Pieces begin at whole seconds of their part, where samples of both rates meet. Each is decoded with
// a second more on both sides, which the filter of the converter reaches over: a sample is the same
// whichever window asks for it.
#include "ports/cli/data/sound_set.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/sound_file.h"

namespace topwork {
namespace cli {
namespace {

constexpr int64_t kPieceSeconds = 10;
constexpr int64_t kMarginSeconds = 1;
constexpr size_t kPiecesKept = 4;

}  // namespace

SoundSet::SoundSet(const SoundReading& reading, int64_t window)
    : reading_(reading), window_(window), hop_(HopOf(reading, window)) {}

void SoundSet::Add(const SoundPart& part) {
  Entry entry;
  entry.part = part;
  SoundFormat format;
  try {
    format = ReadSoundFormat(part.path);
  } catch (const CliError& error) {
    throw CliError(error.code(), part.where + error.what());
  }
  entry.rate = format.rate;
  const double last = part.end < 0.0 ? static_cast<double>(format.n_frames)
                                     : std::nearbyint(part.end * format.rate);
  const double first = std::nearbyint(part.start * format.rate);
  if (!(first >= 0.0 && first < last && last <= static_cast<double>(format.n_frames))) {
    char text[128];
    std::snprintf(text, sizeof(text), ": lasts %.3f s; %g to ",
                  static_cast<double>(format.n_frames) / format.rate, part.start);
    std::string end = "its end";
    if (part.end >= 0.0) {
      char number[32];
      std::snprintf(number, sizeof(number), "%g s", part.end);
      end = number;
    }
    throw CliError(kExitData, part.where + part.path + text + end + " is not in it");
  }
  entry.first = static_cast<int64_t>(first);
  entry.n_frames = static_cast<int64_t>(last) - entry.first;
  entry.n_samples = std::max<int64_t>(
      1, std::llround(static_cast<double>(entry.n_frames) * reading_.rate / format.rate));
  parts_.push_back(entry);
}

int64_t SoundSet::n_windows(size_t part) const {
  return CountWindows(parts_[part].n_samples, window_, hop_);
}

std::vector<float> SoundSet::DecodePiece(const Entry& entry, int64_t number) const {
  const int64_t begin = number * kPieceSeconds;  // seconds of the part
  const int64_t margin = std::min(begin, kMarginSeconds);
  const int64_t from = (begin - margin) * entry.rate;
  const int64_t to =
      std::min(entry.n_frames, (begin + kPieceSeconds + kMarginSeconds) * entry.rate);
  try {
    std::vector<float> samples =
        ResampleSound(ReadSoundFrames(entry.part.path, entry.first + from, to - from), entry.rate,
                      reading_.rate, entry.part.path);
    const int64_t skip = margin * reading_.rate;
    const int64_t n = std::min(kPieceSeconds * reading_.rate,
                               entry.n_samples - number * kPieceSeconds * reading_.rate);
    samples.erase(samples.begin(), samples.begin() + skip);
    samples.resize(static_cast<size_t>(n));
    return samples;
  } catch (const CliError& error) {
    throw CliError(error.code(), entry.part.where + error.what());
  }
}

const SoundSet::Piece& SoundSet::GetPiece(size_t part, int64_t number) const {
  const auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.part == part && piece.number == number;
  });
  if (found != pieces_.end()) {
    pieces_.splice(pieces_.begin(), pieces_, found);
  } else {
    pieces_.push_front({part, number, DecodePiece(parts_[part], number)});
    if (pieces_.size() > kPiecesKept) pieces_.pop_back();
  }
  return pieces_.front();
}

double SoundSet::Gain(size_t part) const {
  Entry& entry = parts_[part];
  if (!reading_.level || entry.gain != 0.0) return reading_.level ? entry.gain : 1.0;
  double squares = 0.0, peak = 0.0;
  for (int64_t at = 0; at < entry.n_samples; at += kPieceSeconds * reading_.rate) {
    for (float sample : GetPiece(part, at / (kPieceSeconds * reading_.rate)).samples) {
      const double value = static_cast<double>(sample);
      squares += value * value;
      peak = std::max(peak, std::fabs(value));
    }
  }
  entry.gain = LevelGain(*reading_.level, squares / static_cast<double>(entry.n_samples), peak);
  return entry.gain;
}

std::vector<float> SoundSet::Read(size_t part, int64_t window) const {
  const float gain = static_cast<float>(Gain(part));
  const int64_t begin = window * hop_;
  const int64_t end = std::min(parts_[part].n_samples, begin + window_);
  const int64_t piece_samples = kPieceSeconds * reading_.rate;
  std::vector<float> samples(static_cast<size_t>(window_), 0.0f);
  for (int64_t at = begin; at < end;) {
    const Piece& piece = GetPiece(part, at / piece_samples);
    const int64_t offset = at % piece_samples;
    const int64_t n = std::min(end - at, static_cast<int64_t>(piece.samples.size()) - offset);
    std::transform(piece.samples.begin() + offset, piece.samples.begin() + offset + n,
                   samples.begin() + (at - begin), [gain](float sample) { return sample * gain; });
    at += n;
  }
  return samples;
}

double SoundSet::Start(size_t part, int64_t window) const {
  const Entry& entry = parts_[part];
  return static_cast<double>(entry.first) / entry.rate +
         static_cast<double>(window * hop_) / reading_.rate;
}

double SoundSet::End(size_t part, int64_t window) const {
  const Entry& entry = parts_[part];
  return std::min(static_cast<double>(entry.first + entry.n_frames) / entry.rate,
                  Start(part, window) + static_cast<double>(window_) / reading_.rate);
}

std::string SoundSet::Key(size_t part, int64_t window) const {
  const Entry& entry = parts_[part];
  std::string key;
  for (int64_t number :
       {entry.first, entry.n_frames, window * hop_, window_, static_cast<int64_t>(reading_.rate)}) {
    key += "|" + std::to_string(number);
  }
  return key + (reading_.level ? "|" + std::to_string(*reading_.level) + " dB" : "");
}

}  // namespace cli
}  // namespace topwork
