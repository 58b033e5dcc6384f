// A folder of PPM pictures as a source of frames; colours of cameras.
#include "frames.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sample {
namespace {

// "P6 WIDTH HEIGHT 255", one blank, the pixels; lines that begin with # between the numbers.
bool ReadPpm(const std::string& path, Frame* frame, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  file >> magic;
  int numbers[3] = {0, 0, 0};
  for (int& number : numbers) {
    while ((file >> std::ws).peek() == '#') file.ignore(1 << 20, '\n');
    file >> number;
  }
  file.get();
  if (!file || magic != "P6" || numbers[0] <= 0 || numbers[1] <= 0 || numbers[0] > 16384 ||
      numbers[1] > 16384 || numbers[2] != 255) {
    *error = path + ": not a PPM picture (P6) of 8 bits";
    return false;
  }
  frame->width = numbers[0];
  frame->height = numbers[1];
  frame->rgb.resize(static_cast<size_t>(numbers[0]) * static_cast<size_t>(numbers[1]) * 3);
  file.read(reinterpret_cast<char*>(frame->rgb.data()),
            static_cast<std::streamsize>(frame->rgb.size()));
  if (file.gcount() != static_cast<std::streamsize>(frame->rgb.size())) {
    *error = path + ": the picture is cut short";
    return false;
  }
  return true;
}

class Folder : public FrameSource {
 public:
  explicit Folder(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  bool Next(Frame* frame, std::string* error) override {
    error->clear();
    return next_ < paths_.size() && ReadPpm(paths_[next_++], frame, error);
  }

 private:
  std::vector<std::string> paths_;
  size_t next_ = 0;
};

uint8_t Byte(int value) { return static_cast<uint8_t>(std::clamp(value >> 8, 0, 255)); }

}  // namespace

void YuyvToRgb(const uint8_t* yuyv, size_t n_pixels, uint8_t* rgb) {
  for (size_t i = 0; i < n_pixels; ++i) {
    const int y = 298 * (yuyv[2 * i] - 16) + 128;
    const int u = yuyv[4 * (i / 2) + 1] - 128;
    const int v = yuyv[4 * (i / 2) + 3] - 128;
    rgb[3 * i] = Byte(y + 409 * v);
    rgb[3 * i + 1] = Byte(y - 100 * u - 208 * v);
    rgb[3 * i + 2] = Byte(y + 516 * u);
  }
}

std::unique_ptr<FrameSource> OpenFrames(const std::string& where, std::string* error) {
  if (where.compare(0, 5, "/dev/") == 0) return OpenCamera(where, error);
  std::vector<std::string> paths;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(where, code)) {
    if (entry.path().extension() == ".ppm") paths.push_back(entry.path().string());
  }
  if (paths.empty()) {
    *error = where + ": " + (code ? code.message() : "a folder without .ppm files");
    return nullptr;
  }
  std::sort(paths.begin(), paths.end());
  return std::make_unique<Folder>(std::move(paths));
}

}  // namespace sample
