// What HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND and HASHTABLE_SIZE share: the two kinds of
// tables that TFLite has, int64 to string and string to int64, and how a step reaches its table.
#ifndef TOPWORK_KERNELS_OPS_CONTROL_HASH_TABLES_H_
#define TOPWORK_KERNELS_OPS_CONTROL_HASH_TABLES_H_

#include "kernels/contract/kernel.h"
#include "kernels/state/hash_table.h"

namespace topwork {

// INVALID_MODEL unless tables map `key` to `value`.
Status CheckTableTypes(const PrepareContext& context, DType key, DType value);
// Input 0 is a handle.
Status CheckHandle(const PrepareContext& context);
// For run: the table of input 0's handle.
Result<HashTable*> TableOf(const RunContext& context);
// The same; fails unless the table has these types.
Result<HashTable*> TableOf(const RunContext& context, DType key, DType value);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_CONTROL_HASH_TABLES_H_
