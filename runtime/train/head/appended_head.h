// Heads for outputs that are embeddings. Part of head.h, which is the interface.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_

#include "runtime/train/head/head.h"

namespace topwork {

// True when the output is plainly an embedding: one vector an example, made by pooling or by
// L2_NORMALIZATION and only reshaped, quantized or dequantized since.
bool EndsInEmbedding(const Graph& graph, int output);

// A head behind the output, whose elements, flattened example by example, are the embedding.
// UNSUPPORTED when they are no real numbers or the output is no result of the model.
Result<Head> HeadBehind(const Graph& graph, int output);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_
