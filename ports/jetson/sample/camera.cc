// A camera by V4L2: 640x480 YUYV, four buffers that the driver shares with this program.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frames.h"

namespace sample {
namespace {

int Call(int fd, unsigned long request, void* argument) {
  int result;
  do result = ioctl(fd, request, argument);
  while (result < 0 && errno == EINTR);
  return result;
}

class Camera : public FrameSource {
 public:
  explicit Camera(int fd) : fd_(fd) {}
  ~Camera() override {
    v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    Call(fd_, VIDIOC_STREAMOFF, &type);
    for (const Buffer& buffer : buffers_) munmap(buffer.data, buffer.size);
    close(fd_);
  }

  // Null, or what failed.
  const char* Start() {
    v4l2_capability can{};
    if (Call(fd_, VIDIOC_QUERYCAP, &can) < 0) return "it is no V4L2 device";
    if ((can.device_caps & V4L2_CAP_VIDEO_CAPTURE) == 0) return "it is no camera";
    v4l2_format format{};
    format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    format.fmt.pix.width = 640;
    format.fmt.pix.height = 480;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    format.fmt.pix.field = V4L2_FIELD_NONE;
    if (Call(fd_, VIDIOC_S_FMT, &format) < 0) return "it takes no format (is it in use?)";
    if (format.fmt.pix.pixelformat != V4L2_PIX_FMT_YUYV) return "it has no YUYV pictures";
    width_ = static_cast<int>(format.fmt.pix.width) & ~1;  // the driver chose the nearest
    height_ = static_cast<int>(format.fmt.pix.height);
    stride_ = format.fmt.pix.bytesperline;
    v4l2_requestbuffers request{};
    request.count = 4;
    request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    request.memory = V4L2_MEMORY_MMAP;
    if (Call(fd_, VIDIOC_REQBUFS, &request) < 0) return "it shares no buffers";
    for (unsigned i = 0; i < request.count; ++i) {
      if (!AddBuffer(i)) return "its buffers cannot be mapped";
    }
    v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return Call(fd_, VIDIOC_STREAMON, &type) < 0 ? "it does not start" : nullptr;
  }

  bool Next(Frame* frame, std::string* error) override {
    v4l2_buffer buffer{};
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    if (Call(fd_, VIDIOC_DQBUF, &buffer) < 0) {
      *error = std::string("no frame from the camera: ") + std::strerror(errno);
      return false;
    }
    const size_t row = static_cast<size_t>(width_) * 3;
    frame->width = width_;
    frame->height = height_;
    frame->rgb.resize(row * static_cast<size_t>(height_));
    const auto* const data = static_cast<const uint8_t*>(buffers_[buffer.index].data);
    for (size_t y = 0; y < static_cast<size_t>(height_); ++y) {
      YuyvToRgb(data + y * stride_, static_cast<size_t>(width_), frame->rgb.data() + y * row);
    }
    error->clear();
    if (Call(fd_, VIDIOC_QBUF, &buffer) == 0) return true;
    *error = std::string("the camera does not take its buffer back: ") + std::strerror(errno);
    return false;
  }

 private:
  struct Buffer {
    void* data;
    size_t size;
  };

  bool AddBuffer(unsigned index) {
    v4l2_buffer buffer{};
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    buffer.index = index;
    if (Call(fd_, VIDIOC_QUERYBUF, &buffer) < 0) return false;
    void* data = mmap(nullptr, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                      static_cast<off_t>(buffer.m.offset));
    if (data == MAP_FAILED) return false;
    buffers_.push_back({data, buffer.length});
    return buffer.length >= stride_ * static_cast<size_t>(height_) &&
           Call(fd_, VIDIOC_QBUF, &buffer) == 0;
  }

  int fd_;
  int width_ = 0;
  int height_ = 0;
  size_t stride_ = 0;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::unique_ptr<FrameSource> OpenCamera(const std::string& device, std::string* error) {
  const int fd = open(device.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    *error = device + ": " + std::strerror(errno);
    return nullptr;
  }
  auto camera = std::make_unique<Camera>(fd);
  const char* const failed = camera->Start();
  if (failed == nullptr) return camera;
  *error = device + ": " + failed;
  return nullptr;
}

}  // namespace sample
