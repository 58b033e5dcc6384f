// PruneModel: the smallest weights of FULLY_CONNECTED and CONV_2D become 0.
//
// Weights are seen as a matrix [output channels, the rest]; blocks of it are kept or cleared as a
// whole, those of the smallest mean square first. Weights keep their storage (float32, float16,
// int8); the file stays dense, or stores them sparse behind DENSIFY where that is smaller.
#ifndef TOPWORK_MODELS_FORMAT_PRUNE_H_
#define TOPWORK_MODELS_FORMAT_PRUNE_H_

#include <vector>

#include "models/format/model.h"

namespace topwork {

struct PruneSpec {
  double sparsity = 0.5;  // share of the blocks that are cleared, in (0, 1)
  bool global = false;    // of all layers together, else of each
  int block_rows = 1, block_columns = 1;
  int64_t min_elements = 1024;  // smaller weights stay as they are
  bool sparse_storage = false;
};

struct PruneReport {
  int n_layers = 0;       // that were pruned
  int n_sparse = 0;       // stored sparse
  int64_t n_weights = 0;  // of those layers
  int64_t n_zeros = 0;    // of those weights, afterwards
};

// UNSUPPORTED where no layer has weights that can be pruned.
Result<std::vector<uint8_t>> PruneModel(const Model& model, const PruneSpec& spec,
                                        PruneReport* report);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PRUNE_H_
