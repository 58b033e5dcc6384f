// topwork-camera: names what a camera sees, and learns what it is told.
//
// Usage: topwork-camera MODEL.tflite FRAMES CHECKPOINT KEYS CLASS...
//   FRAMES      /dev/video0, or a folder of .ppm pictures
//   CHECKPOINT  what was learnt; made at the first key, resumed from afterwards
//   KEYS        a pipe, a terminal (/dev/tty) or a file: '1' says that the present frame shows the first CLASS and so
//               on up to '9', 'q' ends, any other character does nothing. One is read for each frame.
// Prints a line a frame: its number, the class and its score, and "learnt CLASS (N examples)" after a key.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "frames.h"
#include "learner.h"

namespace {

constexpr char kUsage[] =
    "usage: topwork-camera MODEL.tflite FRAMES CHECKPOINT KEYS CLASS CLASS...\n"
    "  FRAMES      a camera (/dev/video0) or a folder of .ppm pictures\n"
    "  CHECKPOINT  a file for what is learnt; it is made at the first key\n"
    "  KEYS        a pipe, a terminal or a file: '1' teaches the first CLASS, 'q' ends";

volatile sig_atomic_t stopped = 0;
void Stop(int) { stopped = 1; }

// A pipe is opened for both ways, so that it stays when its writer goes.
int OpenKeys(const char* path) {
  struct stat about;
  const bool is_pipe = stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
  return open(path, (is_pipe ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
}

// The next key, '\0' when there is none now.
char ReadKey(int fd) {
  char key = '\0';
  return read(fd, &key, 1) == 1 ? key : '\0';
}

int Fail(const std::string& what) {
  std::fprintf(stderr, "topwork-camera: %s\n", what.c_str());
  return 1;
}

// What is wrong with the names of the classes; "" for nothing.
std::string CheckClasses(const std::vector<std::string>& classes) {
  if (classes.size() > 9)
    return "keys teach 9 classes at most, not " + std::to_string(classes.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].empty()) return "class " + std::to_string(i + 1) + " has no name";
    if (std::find(classes.begin(), classes.begin() + i, classes[i]) != classes.begin() + i) {
      return "two classes are named '" + classes[i] + "'";
    }
  }
  return "";
}

int Run(sample::Learner* learner, sample::FrameSource* frames, int keys,
        const std::vector<std::string>& classes) {
  sample::Frame frame;
  std::string error;
  for (int n = 0; stopped == 0 && frames->Next(&frame, &error); ++n) {
    const char key = ReadKey(keys);
    if (key == 'q') return 0;
    const size_t number = static_cast<size_t>(key - '1');
    if (key >= '1' && number < classes.size()) {
      if (tw::Status status = learner->Learn(frame, number); !status)
        return Fail(status.ToString());
      std::printf("%d learnt %s (%lld examples)\n", n, classes[number].c_str(),
                  static_cast<long long>(learner->n_examples()));
    } else {
      std::string name;
      float score;
      if (tw::Status status = learner->Classify(frame, &name, &score); !status) {
        return Fail(status.ToString());
      }
      if (name.empty()) {
        std::printf("%d nothing learnt yet\n", n);
      } else {
        std::printf("%d %s %.3f\n", n, name.c_str(), static_cast<double>(score));
      }
    }
    std::fflush(stdout);
  }
  return error.empty() ? 0 : Fail(error);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return Fail(kUsage);
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_handler = Stop;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  const std::vector<std::string> classes(argv + 5, argv + argc);
  std::string error = CheckClasses(classes);
  if (!error.empty()) return Fail(error);
  const std::unique_ptr<sample::FrameSource> frames = sample::OpenFrames(argv[2], &error);
  if (frames == nullptr) return Fail(error);
  const int keys = OpenKeys(argv[4]);
  if (keys < 0) return Fail(std::string(argv[4]) + ": " + std::strerror(errno));
  auto learner = sample::Learner::Create(argv[1], classes, argv[3]);
  if (!learner) return Fail(learner.status().ToString());
  std::printf("%lld examples from before\n", static_cast<long long>((*learner)->n_examples()));
  return Run(learner->get(), frames.get(), keys, classes);
}
