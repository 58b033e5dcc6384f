// How files become a model's input: what the flags and the model say of pictures and sounds.
#ifndef TOPWORK_PORTS_CLI_READING_H_
#define TOPWORK_PORTS_CLI_READING_H_

#include <string>

#include "ports/cli/data/image.h"
#include "ports/cli/data/sound.h"

namespace topwork {
namespace cli {

struct Reading {
  PixelScale pixels;
  SoundReading sounds;
};

// A file that is one example, or several.
inline bool IsExamplePath(const std::string& path) {
  return IsImagePath(path) || IsSoundPath(path);
}

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_READING_H_
