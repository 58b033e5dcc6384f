// VerifyModel: checks everything about a .tflite file that can be checked without running it.
//
// First the structure (FlatBuffers: every offset and length lies inside the file), then the
// meaning: indices, shapes, buffer lengths, quantization, sparsity, the order of operators, calls
// between subgraphs, signatures and metadata. What concerns a single operator (axes, strides, the
// relation of its inputs' shapes) is checked when the operator is prepared.
#ifndef TOPWORK_MODELS_FORMAT_VERIFY_H_
#define TOPWORK_MODELS_FORMAT_VERIFY_H_

#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

namespace schema {
struct Model;
}

// `bytes` is the whole file, aligned to 4. On success *model points into it. A failure is
// INVALID_MODEL (malformed) or UNSUPPORTED (well-formed, but not for this library); its message
// names the table, the operator and the tensor. Time and memory are bounded by the file's size.
Status VerifyModel(Span<const uint8_t> bytes, const schema::Model** model);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_VERIFY_H_
