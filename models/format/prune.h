// PruneModel: the smallest weights of FULLY_CONNECTED and CONV_2D become 0.
//
// Weights form a matrix [output channels, the rest]. Its blocks are kept or cleared as a whole;
// those with the smallest mean square are cleared first. Weights keep their storage (float32,
// float16, int8). The file stays dense, or stores them sparse with a DENSIFY where that is smaller.
#ifndef TOPWORK_MODELS_FORMAT_PRUNE_H_
#define TOPWORK_MODELS_FORMAT_PRUNE_H_

#include <vector>

#include "models/format/model.h"

namespace topwork {

struct PruneSpec {
  double sparsity = 0.5;  // share of the blocks that are cleared, in (0, 1)
  bool global = false;    // true: share of all layers together; false: of each layer
  int block_rows = 1, block_columns = 1;
  int64_t min_elements = 1024;  // weights with fewer elements stay as they are
  bool sparse_storage = false;
};

struct PruneReport {
  int n_layers = 0;       // layers that were pruned
  int n_sparse = 0;       // layers stored sparse
  int64_t n_weights = 0;  // weights of the pruned layers
  int64_t n_zeros = 0;    // zeros among them afterwards
};

// UNSUPPORTED where no layer has weights that can be pruned.
Result<std::vector<uint8_t>> PruneModel(const Model& model, const PruneSpec& spec,
                                        PruneReport* report);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PRUNE_H_
