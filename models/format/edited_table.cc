#include "models/format/edited_table.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <iterator>

#include "models/format/model.h"

namespace topwork {
namespace {

using flatbuffers::Offset;
using flatbuffers::uoffset_t;
using flatbuffers::Vector;
using flatbuffers::voffset_t;

const uint8_t* Follow(const uint8_t* offset) {
  return offset + flatbuffers::ReadScalar<uoffset_t>(offset);
}

uint32_t CountOf(const uint8_t* vector) { return flatbuffers::ReadScalar<uoffset_t>(vector); }

}  // namespace

TableField EditedTable::FieldAt(int vt) const {
  return FieldsOf(layout_)[static_cast<size_t>((vt - 4) / 2)];
}

const EditedTable::Replaced* EditedTable::Find(int vt) const {
  for (const Replaced& replaced : replaced_) {
    if (replaced.vt == vt) return &replaced;
  }
  return nullptr;
}

EditedTable::Replaced* EditedTable::Replace(int vt) {
  Replaced* replaced = const_cast<Replaced*>(Find(vt));
  if (replaced == nullptr) {
    replaced_.emplace_back();
    replaced = &replaced_.back();
  }
  *replaced = {vt, {}, {}, {}};
  return replaced;
}

const uint8_t* EditedTable::InSource(int vt) const {
  if (source_ == nullptr) return nullptr;
  return static_cast<const flatbuffers::Table*>(source_)->GetAddressOf(static_cast<voffset_t>(vt));
}

bool EditedTable::Has(int vt) const {
  const Replaced* replaced = Find(vt);
  if (replaced == nullptr) return InSource(vt) != nullptr;
  return !replaced->bytes.empty() || !replaced->view.empty() || !replaced->tables.empty();
}

void EditedTable::Clear(int vt) { Replace(vt); }

Span<const uint8_t> EditedTable::Contents(int vt) const {
  const Replaced* replaced = Find(vt);
  if (replaced != nullptr && !replaced->bytes.empty()) return replaced->bytes;
  if (replaced != nullptr) return replaced->view;
  const uint8_t* place = InSource(vt);
  if (place == nullptr) return {};
  const TableField field = FieldAt(vt);
  if (field.kind == FieldKind::kNumber) return {place, field.detail};
  const uint8_t* vector = Follow(place);
  const size_t size = field.kind == FieldKind::kList ? field.detail : 1;
  return {vector + sizeof(uoffset_t), CountOf(vector) * size};
}

void EditedTable::SetBytes(int vt, const void* data, size_t size) {
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  std::vector<uint8_t> bytes(begin, begin + size);  // `data` may be the old contents
  Replace(vt)->bytes = std::move(bytes);
}

void EditedTable::SetView(int vt, Span<const uint8_t> bytes) { Replace(vt)->view = bytes; }

std::string EditedTable::Text(int vt) const {
  const Span<const uint8_t> bytes = Contents(vt);
  return std::string(bytes.begin(), bytes.end());
}

TableLayout EditedTable::UnionKind(int vt) const {
  return AlternativeOf(FieldAt(vt).detail, Get<uint8_t>(vt - 2, 0));
}

std::vector<EditedTable> EditedTable::TablesInSource(int vt) const {
  std::vector<EditedTable> tables;
  const uint8_t* place = InSource(vt);
  if (place == nullptr) return tables;
  const uint8_t* target = Follow(place);
  const TableField field = FieldAt(vt);
  if (field.kind == FieldKind::kTables) {
    const uint8_t* element = target + sizeof(uoffset_t);
    for (uint32_t i = 0; i < CountOf(target); ++i, element += sizeof(uoffset_t)) {
      tables.emplace_back(static_cast<TableLayout>(field.detail), Follow(element));
    }
    return tables;
  }
  const TableLayout layout =
      field.kind == FieldKind::kUnion ? UnionKind(vt) : static_cast<TableLayout>(field.detail);
  if (layout != kNoLayout) tables.emplace_back(layout, target);
  return tables;
}

std::vector<EditedTable>& EditedTable::Tables(int vt) {
  if (Find(vt) == nullptr) {
    std::vector<EditedTable> tables = TablesInSource(vt);
    Replace(vt)->tables = std::move(tables);
  }
  return const_cast<Replaced*>(Find(vt))->tables;
}

EditedTable* EditedTable::Table(int vt) {
  std::vector<EditedTable>& tables = Tables(vt);
  return tables.empty() ? nullptr : &tables[0];
}

EditedTable* EditedTable::NewTable(int vt, TableLayout layout) {
  const TableField field = FieldAt(vt);
  if (field.kind == FieldKind::kUnion) {
    uint8_t kind = 1;
    while (AlternativeOf(field.detail, kind) != layout) ++kind;
    Set<uint8_t>(vt - 2, kind, 0);
  }
  Replaced* replaced = Replace(vt);
  replaced->tables.emplace_back(layout);
  return &replaced->tables[0];
}

void EditedTable::ClearUnion(int vt) {
  Clear(vt - 2);
  Clear(vt);
}

// Writes tables from the leaves up, as a FlatBuffer wants it.
class EditedTable::Writer {
 public:
  Writer(size_t capacity, const Model* source) : builder_(capacity), source_(source) {}

  uoffset_t Write(const EditedTable& table) {
    const Span<const TableField> fields = FieldsOf(table.layout_);
    std::vector<Value> values(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const int vt = static_cast<int>(4 + 2 * i);
      if (fields[i].kind == FieldKind::kUnused || !table.Has(vt)) continue;
      if (fields[i].kind == FieldKind::kNumber) {
        const Span<const uint8_t> bytes = table.Contents(vt);
        std::memcpy(&values[i].number, bytes.data(), bytes.size());
        values[i].size = fields[i].detail;
      } else {
        values[i].offset = WriteField(table, vt, fields[i]);
        if (values[i].offset != 0) values[i].size = sizeof(uoffset_t);
      }
    }
    for (size_t i = 1; i < fields.size(); ++i) {  // a union is whole or not there
      if (fields[i].kind == FieldKind::kUnion && values[i].size == 0) values[i - 1].size = 0;
    }
    return WriteTable(values);
  }

  std::vector<uint8_t> Finish(uoffset_t root, const char* identifier, size_t capacity) {
    builder_.Finish(Offset<flatbuffers::Table>(root), identifier);
    const uint8_t* begin = builder_.GetBufferPointer();
    std::vector<uint8_t> out;
    out.reserve(std::max<size_t>(capacity, builder_.GetSize()));
    out.assign(begin, begin + builder_.GetSize());
    return out;
  }

 private:
  struct Value {
    uint64_t number = 0;
    uoffset_t offset = 0;
    size_t size = 0;  // in bytes; 0: left out
  };

  // 0: there is nothing to write.
  uoffset_t WriteField(const EditedTable& table, int vt, TableField field) {
    switch (field.kind) {
      case FieldKind::kTexts:
        return WriteTexts(table.InSource(vt));
      case FieldKind::kTable:
      case FieldKind::kTables:
      case FieldKind::kUnion:
        break;
      default:
        return WriteBytes(table.Contents(vt), field);
    }
    const Replaced* replaced = table.Find(vt);
    const std::vector<EditedTable> source =
        replaced == nullptr ? table.TablesInSource(vt) : std::vector<EditedTable>();
    std::vector<Offset<flatbuffers::Table>> offsets;
    for (const EditedTable& child : replaced == nullptr ? source : replaced->tables) {
      offsets.emplace_back(Write(child));
    }
    if (offsets.empty()) return 0;
    return field.kind == FieldKind::kTables ? builder_.CreateVector(offsets).o : offsets[0].o;
  }

  uoffset_t WriteBytes(Span<const uint8_t> bytes, TableField field) {
    if (bytes.empty()) return 0;
    const uoffset_t offset = CopyBytes(bytes.size(), bytes.data(), field);
    if (field.kind == FieldKind::kBlob && source_ != nullptr)
      source_->Forget(bytes.data(), bytes.size());
    return offset;
  }

  uoffset_t CopyBytes(size_t n, const uint8_t* data, TableField field) {
    if (field.kind == FieldKind::kText) {
      return builder_.CreateString(reinterpret_cast<const char*>(data), n).o;
    }
    if (field.kind == FieldKind::kBlob) builder_.ForceVectorAlignment(n, sizeof(uint8_t), 16);
    switch (field.detail) {
      case 2:
        return builder_.CreateVector(reinterpret_cast<const uint16_t*>(data), n / 2).o;
      case 4:
        return builder_.CreateVector(reinterpret_cast<const uint32_t*>(data), n / 4).o;
      case 8:
        return builder_.CreateVector(reinterpret_cast<const uint64_t*>(data), n / 8).o;
      default:
        return builder_.CreateVector(data, n).o;
    }
  }

  uoffset_t WriteTexts(const uint8_t* place) {
    const auto* texts = reinterpret_cast<const Vector<Offset<flatbuffers::String>>*>(Follow(place));
    std::vector<Offset<flatbuffers::String>> offsets;
    for (uint32_t i = 0; i < texts->size(); ++i) {
      const flatbuffers::String* text = texts->Get(i);
      offsets.push_back(builder_.CreateString(text->c_str(), text->size()));
    }
    return builder_.CreateVector(offsets).o;
  }

  // Large fields first, so that small ones fill no gaps.
  uoffset_t WriteTable(const std::vector<Value>& values) {
    const uoffset_t start = builder_.StartTable();
    for (size_t size = 8; size > 0; size /= 2) {
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].size == size) AddField(static_cast<voffset_t>(4 + 2 * i), values[i]);
      }
    }
    return builder_.EndTable(start);
  }

  void AddField(voffset_t vt, const Value& value) {
    if (value.offset != 0) return builder_.AddOffset(vt, Offset<void>(value.offset));
    if (value.size == 8) return builder_.AddElement(vt, value.number);
    if (value.size == 4) return builder_.AddElement(vt, static_cast<uint32_t>(value.number));
    builder_.AddElement(vt, static_cast<uint8_t>(value.number));
  }

  flatbuffers::FlatBufferBuilder builder_;
  const Model* const source_;
};

// Each vector with its length, its end and what aligns it; what the file has once for several users
// counts for each.
uint64_t EditedTable::Size() const {
  constexpr uint64_t kAround = 32;
  const Span<const TableField> fields = FieldsOf(layout_);
  uint64_t size = kAround + 12 * fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    const int vt = static_cast<int>(4 + 2 * i);
    const FieldKind kind = fields[i].kind;
    if (kind == FieldKind::kUnused || kind == FieldKind::kNumber || !Has(vt)) continue;
    size += kAround;
    if (kind == FieldKind::kTexts) {
      const auto* texts =
          reinterpret_cast<const Vector<Offset<flatbuffers::String>>*>(Follow(InSource(vt)));
      for (uint32_t k = 0; k < texts->size(); ++k) size += kAround + texts->Get(k)->size();
    } else if (kind == FieldKind::kTable || kind == FieldKind::kTables ||
               kind == FieldKind::kUnion) {
      const Replaced* replaced = Find(vt);
      const std::vector<EditedTable> source =
          replaced == nullptr ? TablesInSource(vt) : std::vector<EditedTable>();
      for (const EditedTable& child : replaced == nullptr ? source : replaced->tables) {
        size += sizeof(uoffset_t) + child.Size();
      }
    } else {
      size += Contents(vt).size();
    }
  }
  return size;
}

std::vector<uint8_t> EditedTable::WriteFile(const char* identifier, size_t capacity,
                                            const Model* source) const {
  Writer writer(capacity, source);
  return writer.Finish(writer.Write(*this), identifier, capacity);
}

}  // namespace topwork
