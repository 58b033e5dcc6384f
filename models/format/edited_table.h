// EditedTable: a FlatBuffers table that is to be written anew: one of a file with some fields
// replaced, or a new one. What is not replaced is copied from where it lies, with all below it.
//
// Fields are named by the generated VT_ constants. Private to models/format; the file stays open as
// long as its tables are edited.
#ifndef TOPWORK_MODELS_FORMAT_EDITED_TABLE_H_
#define TOPWORK_MODELS_FORMAT_EDITED_TABLE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "models/format/layout.h"

namespace topwork {

class Model;

class EditedTable {
 public:
  // `source`: a verified table of that layout; null for a new table.
  explicit EditedTable(TableLayout layout, const void* source = nullptr)
      : layout_(layout), source_(source) {}

  TableLayout layout() const { return layout_; }
  bool Has(int vt) const;
  void Clear(int vt);

  template <typename T>
  T Get(int vt, T missing) const {
    const Span<const uint8_t> bytes = Contents(vt);
    if (bytes.size() == sizeof(T)) std::memcpy(&missing, bytes.data(), sizeof(T));
    return missing;
  }
  // A value that readers take for a missing one is left out.
  template <typename T>
  void Set(int vt, T value, T missing) {
    if (value == missing) return Clear(vt);
    SetBytes(vt, &value, sizeof(T));
  }
  // A list of numbers; empty where it is left out.
  template <typename T>
  std::vector<T> List(int vt) const {
    const Span<const uint8_t> bytes = Contents(vt);
    std::vector<T> list(bytes.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    return list;
  }
  // An empty list leaves the field out.
  template <typename T>
  void SetList(int vt, const std::vector<T>& list) {
    if (list.empty()) return Clear(vt);
    SetBytes(vt, list.data(), list.size() * sizeof(T));
  }
  std::string Text(int vt) const;
  void SetText(int vt, const std::string& text) { SetBytes(vt, text.data(), text.size()); }
  // Bytes that stay where they are until the table is written.
  void SetView(int vt, Span<const uint8_t> bytes);

  // The elements of a list of tables, to be changed, removed or added to.
  std::vector<EditedTable>& Tables(int vt);
  // The table of a field or of a union; null where it is left out.
  EditedTable* Table(int vt);
  // A new table in that place. Sets the kind of a union, too, which is the field before.
  EditedTable* NewTable(int vt, TableLayout layout);
  // The kind of a union as a layout; kNoLayout where it is left out or unknown.
  TableLayout UnionKind(int vt) const;
  void ClearUnion(int vt);

  // About how many bytes the table takes in a file of its own, at least as many as it does.
  uint64_t Size() const;
  // The table as the root of a file; `capacity` is about how many bytes it will have, with what the
  // caller appends. Constants of `source` that are in the file leave memory, see Model::Forget.
  std::vector<uint8_t> WriteFile(const char* identifier, size_t capacity,
                                 const Model* source = nullptr) const;

 private:
  class Writer;
  struct Replaced {  // all empty: the field is left out
    int vt;
    std::vector<uint8_t> bytes;  // of a number, list or text
    Span<const uint8_t> view;    // in place of them
    std::vector<EditedTable> tables;
  };
  TableField FieldAt(int vt) const;
  const Replaced* Find(int vt) const;
  Replaced* Replace(int vt);
  // Where a field of the source begins; null where it is left out.
  const uint8_t* InSource(int vt) const;
  // Of a number, list or text, replaced or not.
  Span<const uint8_t> Contents(int vt) const;
  std::vector<EditedTable> TablesInSource(int vt) const;
  void SetBytes(int vt, const void* data, size_t size);

  TableLayout layout_;
  const void* source_;
  std::vector<Replaced> replaced_;
};

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_EDITED_TABLE_H_
