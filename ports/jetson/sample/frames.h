// Frames of a camera, or of a folder of pictures that stands for one.
#ifndef TOPWORK_PORTS_JETSON_SAMPLE_FRAMES_H_
#define TOPWORK_PORTS_JETSON_SAMPLE_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sample {

// 8-bit RGB, rows from the top.
struct Frame {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // Waits for the next frame. False: there are no more, or it failed, and *error says why ("" at the end).
  virtual bool Next(Frame* frame, std::string* error) = 0;
};

// A device (/dev/video0, by V4L2) or a folder of .ppm files (P6) in the order of their names. Null: *error says why.
std::unique_ptr<FrameSource> OpenFrames(const std::string& where, std::string* error);
std::unique_ptr<FrameSource> OpenCamera(const std::string& device, std::string* error);

// BT.601, as cameras send it: two pixels are Y0 U Y1 V. `rgb` gets 3 * n_pixels bytes; n_pixels is even.
void YuyvToRgb(const uint8_t* yuyv, size_t n_pixels, uint8_t* rgb);

}  // namespace sample

#endif  // TOPWORK_PORTS_JETSON_SAMPLE_FRAMES_H_
