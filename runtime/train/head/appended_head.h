// Heads for outputs that are features. Part of head.h, which is the interface.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_

#include "runtime/train/head/head.h"

namespace topwork {

// True when the output is plainly a feature: one vector for each example, made by pooling or
// L2_NORMALIZATION and afterwards only reshaped, quantized or dequantized.
bool EndsInFeature(const Graph& graph, int output);

// A head after the output, whose elements, flattened example by example, are the feature.
// UNSUPPORTED when they are not real numbers, or when no operator computes the output.
Result<Head> HeadAfter(const Graph& graph, int output);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_APPENDED_HEAD_H_
