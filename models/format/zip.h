// The zip archive appended to a .tflite file: label lists and other associated files.
#ifndef TOPWORK_MODELS_FORMAT_ZIP_H_
#define TOPWORK_MODELS_FORMAT_ZIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/format/model.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

// Reads every file of the archive at the end of `bytes`; none when there is no archive. A damaged
// archive, a wrong checksum, encryption and zip64 are errors that name the file. The result is at
// most 1 MiB + 128 times the input.
Result<std::vector<AssociatedFile>> ReadAppendedZip(Span<const uint8_t> bytes);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_ZIP_H_
