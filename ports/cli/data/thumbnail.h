// Thumbnails for the report.
#ifndef TOPWORK_PORTS_CLI_THUMBNAIL_H_
#define TOPWORK_PORTS_CLI_THUMBNAIL_H_

#include <string>

#include "ports/cli/data/image.h"

namespace topwork {
namespace cli {

// The image as the bytes of a PNG file; empty when it cannot be encoded.
std::vector<uint8_t> PngBytes(const Image& image);

constexpr int kThumbnailSize = 96;

// The image as a data: URI, at most kThumbnailSize pixels wide and high, its proportions kept: a
// PNG where the image is that small already, else a JPEG. Empty when it cannot be encoded.
std::string ThumbnailUri(const Image& image);
// Of a file; empty when it cannot be read.
std::string ThumbnailOfFile(const std::string& path);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_THUMBNAIL_H_
