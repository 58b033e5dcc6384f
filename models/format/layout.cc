#include "models/format/layout.h"

#include <array>

namespace topwork {
namespace {

// The words of layouts.inc.
struct LayoutWords {
  static constexpr TableField Fields(uint8_t n) { return {FieldKind::kCount, n}; }
  static constexpr TableField Unused() { return {FieldKind::kUnused, 0}; }
  static constexpr TableField Number(uint8_t size) { return {FieldKind::kNumber, size}; }
  static constexpr TableField List(uint8_t size) { return {FieldKind::kList, size}; }
  static constexpr TableField Blob() { return {FieldKind::kBlob, 0}; }
  static constexpr TableField Text() { return {FieldKind::kText, 0}; }
  static constexpr TableField Texts() { return {FieldKind::kTexts, 0}; }
  static constexpr TableField Table(TableLayout layout) { return {FieldKind::kTable, layout}; }
  static constexpr TableField Tables(TableLayout layout) { return {FieldKind::kTables, layout}; }
  static constexpr TableField Union(UnionLayout which) { return {FieldKind::kUnion, which}; }
};

struct LayoutRows : LayoutWords {
  static constexpr TableField kFields[] = {
#define TW_TABLE(name, ...) __VA_ARGS__,
#define TW_UNION(name, first, last)
#include "models/format/layouts.inc"
#undef TW_UNION
#undef TW_TABLE
  };
};

struct Alternatives {
  uint8_t first, last;
};
constexpr Alternatives kUnions[] = {
#define TW_TABLE(name, ...)
#define TW_UNION(name, first, last) {first, last},
#include "models/format/layouts.inc"
#undef TW_UNION
#undef TW_TABLE
};

// Where the fields of each table begin in kFields.
constexpr std::array<uint16_t, kNoLayout> FindStarts() {
  std::array<uint16_t, kNoLayout> starts = {};
  uint16_t at = 0;
  for (uint16_t& start : starts) {
    start = static_cast<uint16_t>(at + 1);
    at = static_cast<uint16_t>(start + LayoutRows::kFields[at].detail);
  }
  return starts;
}
constexpr std::array<uint16_t, kNoLayout> kStarts = FindStarts();

}  // namespace

Span<const TableField> FieldsOf(TableLayout layout) {
  const TableField* first = LayoutRows::kFields + kStarts[layout];
  return {first, first[-1].detail};
}

TableLayout AlternativeOf(uint8_t layout_union, uint8_t kind) {
  const Alternatives& all = kUnions[layout_union];
  const int n = all.last - all.first + 1;
  return kind < 1 || kind > n ? kNoLayout : static_cast<TableLayout>(all.first + kind - 1);
}

}  // namespace topwork
