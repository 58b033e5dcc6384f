// Preloaded into the sample, it is /dev/video0: a camera that fills its four shared buffers in turn with YUYV frames,
// bright in the upper or in the lower half (frames 0, 1, 4, 5, ... are bright above), and is unplugged after ten.
// /dev/video1 is one that has no YUYV.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  kWidth = 64,
  kHeight = 48,
  kStride = 2 * kWidth + 32,
  kSize = kStride * kHeight,
  kBuffers = 4
};
static int camera = -1;
static unsigned queue[kBuffers], n_queued, n_given;
static int is_on, has_yuyv;

int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "open");
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  has_yuyv = strcmp(path, "/dev/video1") != 0;
  if (has_yuyv && strcmp(path, "/dev/video0") != 0) return real(path, flags, mode);
  camera = memfd_create("camera", 0);
  return ftruncate(camera, kBuffers * 4096 * 4) == 0 ? camera : -1;
}

static void draw(unsigned index) {
  unsigned char* data = mmap(NULL, kSize, PROT_WRITE, MAP_SHARED, camera, index * 4096 * 4);
  const int above = n_given / 2 % 2 == 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int i = 0; i < kStride; i += 2) {
      data[y * kStride + i] = (y < kHeight / 2) == above ? 235 : 16;
      data[y * kStride + i + 1] = 128;
    }
  }
  munmap(data, kSize);
}

static int take(struct v4l2_buffer* buffer) {
  if (!is_on || n_queued == 0) return errno = EINVAL, -1;
  if (n_given >= 10) return errno = ENODEV, -1;
  buffer->index = queue[0];
  memmove(queue, queue + 1, --n_queued * sizeof(queue[0]));
  draw(buffer->index);
  ++n_given;
  return 0;
}

int ioctl(int fd, unsigned long request, ...) {
  static int (*real)(int, unsigned long, ...);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ioctl");
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (fd != camera || camera < 0) return real(fd, request, argument);
  struct v4l2_buffer* buffer = argument;
  struct v4l2_pix_format* pixels = &((struct v4l2_format*)argument)->fmt.pix;
  switch (request) {
    case VIDIOC_QUERYCAP:
      ((struct v4l2_capability*)argument)->device_caps =
          V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
      return 0;
    case VIDIOC_S_FMT:  // as drivers do, it takes the nearest of what it has
      pixels->width = kWidth;
      pixels->height = kHeight;
      pixels->bytesperline = kStride;
      if (!has_yuyv) pixels->pixelformat = V4L2_PIX_FMT_MJPEG;
      return 0;
    case VIDIOC_REQBUFS:
      return ((struct v4l2_requestbuffers*)argument)->count == kBuffers ? 0 : -1;
    case VIDIOC_QUERYBUF:
      buffer->length = kSize;
      buffer->m.offset = buffer->index * 4096 * 4;
      return 0;
    case VIDIOC_QBUF:
      queue[n_queued++] = buffer->index;
      return 0;
    case VIDIOC_DQBUF:
      return take(buffer);
    case VIDIOC_STREAMON:
      is_on = 1;
      return 0;
    case VIDIOC_STREAMOFF:
      is_on = 0;
      return 0;
    default:
      return errno = ENOTTY, -1;
  }
}
