// Nearest neighbours in stock operators.
//
//   feature → L2_NORMALIZATION → FULLY_CONNECTED by the stored rows, and one column kNoSimilarity
//   → GATHER [classes, most rows of a class], missing ones that column
//   → REDUCE_MAX, or for several neighbours TOPK_V2, MUL by 1 / n_c, SUM
//   → MUL by the scale
// Rows lie in the file as float32, float16 or int8; all is computed in float32.
#ifndef TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_GRAPH_H_
#define TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_GRAPH_H_

#include <string>
#include <vector>

#include "models/format/append.h"
#include "runtime/train/head/head.h"
#include "runtime/train/identity/identity_head.h"

namespace topwork {

// From `feature`, float32 [examples, dim], to the logits, [examples, classes].
int AddIdentity(const IdentityView& view, HeadStorage storage, int feature, const std::string& name,
                GraphAddition* addition);

// The model, whose output `output` is that of a dense head, with nearest neighbours in its place: a
// float32 output [examples, classes], behind `activation`.
Result<std::vector<uint8_t>> WithIdentity(const Model& model, int output, const IdentityView& view,
                                          HeadStorage storage, FinalActivation activation);

// What WithIdentity made: feature, dim, logits and n_classes; false where the output is another.
bool FindIdentity(const Graph& graph, int output, Head* out);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_IDENTITY_IDENTITY_GRAPH_H_
