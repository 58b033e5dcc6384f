// Sparse constants written after DENSIFY. Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_
#define TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_

#include "models/format/model_tables.h"

namespace topwork {

// Stores only those blocks of the constant (or of the one that the DEQUANTIZE reads) that are not
// all zero, and puts a DENSIFY before its readers. Blocks that do not divide the first and the last
// dimension count as 1 × 1. Returns false, and changes nothing, where that would not be smaller.
bool StoreSparse(int tensor, int block_rows, int block_columns, ModelTables* tables);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PRUNE_STORAGE_H_
