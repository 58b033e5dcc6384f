// TableLayout: what the fields of a FlatBuffers table are, as data, for the tables of tflite.fbs and
// metadata.fbs. The verifier and the writer walk by it, instead of by generated code for each table.
//
// Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_LAYOUT_H_
#define TOPWORK_MODELS_FORMAT_LAYOUT_H_

#include <cstdint>

#include "runtime/base/span.h"

namespace topwork {

enum TableLayout : uint8_t {
#define TW_TABLE(name, ...) k##name,
#define TW_UNION(name, first, last)
#include "models/format/layouts.inc"
#undef TW_UNION
#undef TW_TABLE
  kNoLayout
};

enum UnionLayout : uint8_t {
#define TW_TABLE(name, ...)
#define TW_UNION(name, first, last) k##name,
#include "models/format/layouts.inc"
#undef TW_UNION
#undef TW_TABLE
};

enum class FieldKind : uint8_t {
  kCount,   // heads a table in the list of all fields: `detail` fields follow
  kUnused,  // the format retired it: neither checked nor written
  kNumber,  // `detail` is its size in bytes
  kList,    // of numbers of `detail` bytes
  kBlob,    // bytes, aligned to 16
  kText,
  kTexts,
  kTable,  // `detail` is a TableLayout, as in kTables
  kTables,
  kUnion,  // `detail` is a UnionLayout; the field before says which table
};

struct TableField {
  FieldKind kind;
  uint8_t detail;
};

Span<const TableField> FieldsOf(TableLayout layout);

// The layout of alternative `kind` of a union; kNoLayout: there is none of that number.
TableLayout AlternativeOf(uint8_t layout_union, uint8_t kind);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_LAYOUT_H_
