// Sparse constants written behind DENSIFY. Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_
#define TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_

#include "models/format/model_tables.h"

namespace topwork {

// Stores the constant (or the one behind the DEQUANTIZE that makes it) as its blocks that are not
// all zero, and a DENSIFY in front of its readers. Blocks that do not divide the first and the last
// dimension count as 1 × 1. False, and nothing changed, where that would not be smaller.
bool StoreSparse(int tensor, int block_rows, int block_columns, ModelTables* tables);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_
