// Finds the parts of a file that this version's schema does not know: options of new kinds, new
// fields. Private to the writer.
#ifndef TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_
#define TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_

#include "runtime/base/status.h"

namespace topwork {

namespace schema {
struct Model;
}  // namespace schema

// Finds what the schema does not know. FlatBuffers do not tell where an unknown table ends, so it
// cannot be copied, and without it an operator would mean something else. UNSUPPORTED names the
// first such part of operators, tensors, subgraphs, signatures and the model itself.
Status RefuseUnknownParts(const schema::Model& model);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_UNKNOWN_PARTS_H_
