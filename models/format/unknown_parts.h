// What a file has that this version's schema does not know: options of new kinds, new fields.
// Private to the writer.
#ifndef TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_
#define TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_

#include "runtime/base/status.h"

namespace topwork {

namespace schema {
struct Model;
}  // namespace schema

// FlatBuffers do not tell how far an unknown table reaches, so it cannot be copied; without it an
// operator would mean something else. UNSUPPORTED names the first such part of operators, tensors,
// subgraphs, signatures and the model itself.
Status RefuseUnknownParts(const schema::Model& model);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_
