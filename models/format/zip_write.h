// A zip archive of stored (uncompressed) entries, as it is appended to a .tflite.
#ifndef TOPWORK_MODELS_FORMAT_ZIP_WRITE_H_
#define TOPWORK_MODELS_FORMAT_ZIP_WRITE_H_

#include <vector>

#include "models/format/model.h"

namespace topwork {

// Appends an archive of `files` to `out`. Offsets count from the beginning of `out`, as every zip
// reader expects of an archive with something before it. Without files it writes nothing.
// UNSUPPORTED where the format's 32-bit sizes do not suffice.
Status AppendZip(const std::vector<AssociatedFile>& files, std::vector<uint8_t>* out);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_ZIP_WRITE_H_
