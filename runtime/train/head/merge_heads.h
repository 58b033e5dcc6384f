// MergeHeads: heads of several models that share a backbone, as the outputs of one model.
#ifndef TOPWORK_RUNTIME_TRAIN_HEAD_MERGE_HEADS_H_
#define TOPWORK_RUNTIME_TRAIN_HEAD_MERGE_HEADS_H_

#include <memory>
#include <string>
#include <vector>

#include "models/format/model.h"

namespace topwork {

// A digest of each value of the graph: of constants their contents, of results the operator, its
// parameters and the digests of its inputs, of the graph's inputs their place. Equal digests mean
// equal numbers in every run. Empty for what comes from custom operators, state or
// other subgraphs.
std::vector<std::string> ValueDigests(const Graph& graph);

// models[0] with the head of output 0 of every other one as a further output. A head is its last
// layer, dense float32 layers in front of it, and SOFTMAX or LOGISTIC behind it; what lies below must
// be in models[0], by the digests. Heads in other storages are written in float32. Labels of a head
// are attached as "<output's name>_labels.txt". FAILED_PRECONDITION names the first value that
// models[0] lacks; UNSUPPORTED for a head of another form.
Result<std::vector<uint8_t>> MergeHeads(const std::vector<const Model*>& models);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_HEAD_MERGE_HEADS_H_
