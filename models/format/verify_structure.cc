// The FlatBuffers part of verification: identifier, then every offset, vector and table inside the
// file, by TableLayout. When that fails, a second walk finds the damaged table, so that the message can
// name it.
#include <algorithm>
#include <cstring>

#include "kernels/contract/selection.h"
#include "models/format/verify_context.h"
#include "runtime/base/printable.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Table;
using flatbuffers::uoffset_t;
using flatbuffers::Vector;
using flatbuffers::Verifier;
using flatbuffers::voffset_t;

constexpr size_t kSmallestFile = 12;   // root offset, identifier, a table
constexpr size_t kSmallestModel = 24;  // root offset, identifier, a table and its vtable

Verifier::Options Limits(size_t length) {
  Verifier::Options options;
  options.max_depth = 16;  // a model's own nesting is 6
  // A table that is not shared takes 8 bytes or more.
  options.max_tables = static_cast<uoffset_t>(std::min<size_t>(1000000, 1024 + length / 4));
  return options;
}

bool VerifyTable(Verifier* verifier, TableLayout layout, const uint8_t* data);

bool VerifyTables(Verifier* verifier, TableLayout layout, const uint8_t* vector) {
  if (!verifier->VerifyVectorOrString(vector, sizeof(uoffset_t))) return false;
  const uoffset_t n = flatbuffers::ReadScalar<uoffset_t>(vector);
  const uint8_t* element = vector + sizeof(uoffset_t);
  for (uoffset_t i = 0; i < n; ++i, element += sizeof(uoffset_t)) {
    const uint8_t* table = element + flatbuffers::ReadScalar<uoffset_t>(element);
    if (!VerifyTable(verifier, layout, table)) return false;
  }
  return true;
}

// `kind`: which of a union's tables; one that the schema does not know is passed over.
bool VerifyTarget(Verifier* verifier, TableField field, uint8_t kind, const uint8_t* target) {
  switch (field.kind) {
    case FieldKind::kText:
      return verifier->VerifyString(reinterpret_cast<const String*>(target));
    case FieldKind::kTexts:
      return verifier->VerifyVectorOrString(target, sizeof(uoffset_t)) &&
             verifier->VerifyVectorOfStrings(
                 reinterpret_cast<const Vector<Offset<String>>*>(target));
    case FieldKind::kTable:
      return VerifyTable(verifier, static_cast<TableLayout>(field.detail), target);
    case FieldKind::kTables:
      return VerifyTables(verifier, static_cast<TableLayout>(field.detail), target);
    case FieldKind::kUnion: {
      const TableLayout layout = AlternativeOf(field.detail, kind);
      return layout == kNoLayout || VerifyTable(verifier, layout, target);
    }
    default:
      return verifier->VerifyVectorOrString(target,
                                            field.kind == FieldKind::kList ? field.detail : 1);
  }
}

bool VerifyTable(Verifier* verifier, TableLayout layout, const uint8_t* data) {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(data);
  if (!table->VerifyTableStart(*verifier)) return false;
  const Span<const TableField> fields = FieldsOf(layout);
  for (size_t i = 0; i < fields.size(); ++i) {
    const voffset_t vt = static_cast<voffset_t>(4 + 2 * i);
    const voffset_t at = table->GetOptionalFieldOffset(vt);
    if (at == 0 || fields[i].kind == FieldKind::kUnused) continue;
    if (fields[i].kind == FieldKind::kNumber) {
      if (!verifier->VerifyFieldStruct(data, at, fields[i].detail, fields[i].detail)) return false;
      continue;
    }
    const uoffset_t offset = verifier->VerifyOffset(data, at);
    // Of a union, whose kind is the field before; no other field may look there: the first one's
    // would be the table's size, which nothing has verified.
    const bool is_union = fields[i].kind == FieldKind::kUnion;
    const uint8_t kind =
        is_union ? table->GetField<uint8_t>(static_cast<voffset_t>(vt - 2), 0) : uint8_t{0};
    if (offset == 0 || !VerifyTarget(verifier, fields[i], kind, data + at + offset)) return false;
  }
  return verifier->EndTable();
}

// Looks for the first damaged part below a table whose own start is sound.
class DamageFinder {
 public:
  DamageFinder(const uint8_t* data, size_t length) : data_(data), length_(length) {}

  std::string InModel(const Table* model) const {
    using M = schema::Model;
    if (!Start(model)) return "the root table Model";
    const Part parts[] = {{M::VT_OPERATOR_CODES, "operator_codes", "OperatorCode", kOperatorCode},
                          {M::VT_SUBGRAPHS, "subgraphs", "SubGraph", kSubGraph},
                          {M::VT_BUFFERS, "buffers", "Buffer", kBuffer},
                          {M::VT_METADATA, "metadata", "Metadata", kMetadata},
                          {M::VT_SIGNATURE_DEFS, "signature_defs", "SignatureDef", kSignatureDef}};
    const std::string found = InParts(model, parts);
    return found.empty() ? "a field of the root table Model" : found;
  }

 private:
  struct Part {
    voffset_t field;
    const char* field_name;
    const char* table_name;
    TableLayout layout;
  };
  Verifier NewVerifier() const { return Verifier(data_, length_, Limits(length_)); }
  bool Start(const Table* table) const {
    Verifier verifier = NewVerifier();
    return table->VerifyTableStart(verifier);
  }

  std::string InParts(const Table* table, Span<const Part> parts) const {
    for (const Part& part : parts) {
      const std::string found = InPart(table, part);
      if (!found.empty()) return found;
    }
    return std::string();
  }

  std::string InSubgraph(const Table* subgraph) const {
    using G = schema::SubGraph;
    if (!Start(subgraph)) return std::string();
    const Part parts[] = {{G::VT_TENSORS, "tensors", "Tensor", kTensor},
                          {G::VT_OPERATORS, "operators", "Operator", kOperator}};
    return InParts(subgraph, parts);
  }

  std::string InPart(const Table* parent, const Part& part) const {
    Verifier verifier = NewVerifier();
    const std::string vector_name = std::string("the vector ") + part.field_name;
    if (!parent->VerifyOffset(verifier, part.field)) return vector_name;
    const auto* vector = parent->GetPointer<const Vector<Offset<Table>>*>(part.field);
    if (vector == nullptr) return std::string();
    if (!verifier.VerifyVector(vector)) return vector_name;
    for (uoffset_t i = 0; i < vector->size(); ++i) {
      const Table* element = vector->Get(i);
      if (VerifyTable(&verifier, part.layout, reinterpret_cast<const uint8_t*>(element))) continue;
      const std::string name = std::string(part.table_name) + " #" + std::to_string(i);
      const std::string inside = part.layout == kSubGraph ? InSubgraph(element) : std::string();
      return inside.empty() ? name : name + ", " + inside;
    }
    return std::string();
  }

  const uint8_t* data_;
  size_t length_;
};

}  // namespace

bool VerifyFile(Span<const uint8_t> bytes, const char* identifier, TableLayout root) {
  Verifier verifier(bytes.data(), bytes.size(), Limits(bytes.size()));
  if (bytes.size() < kSmallestFile || !flatbuffers::BufferHasIdentifier(bytes.data(), identifier)) {
    return false;
  }
  const uoffset_t offset = verifier.VerifyOffset(0);
  return offset != 0 && VerifyTable(&verifier, root, bytes.data() + offset);
}

Status VerifyStructure(Span<const uint8_t> bytes, const schema::Model** model) {
  if (bytes.size() < kSmallestModel) {
    return InvalidModel("the file is {} bytes long; the smallest .tflite model has {}",
                        bytes.size(), kSmallestModel);
  }
  if (std::memcmp(bytes.data() + 4, schema::ModelIdentifier(), 4) != 0) {
    const std::string found = Printable(reinterpret_cast<const char*>(bytes.data()) + 4, 4);
    return InvalidModel("this is not a .tflite model: bytes 4 to 7 are '{}', not '{}'", found,
                        schema::ModelIdentifier());
  }
  // Weights beyond 2 GiB lie after the FlatBuffer, which itself is always smaller.
  const size_t length =
      std::min(bytes.size(), static_cast<size_t>(FLATBUFFERS_MAX_BUFFER_SIZE) - 1);
  if (VerifyFile({bytes.data(), length}, schema::ModelIdentifier(), kModel)) {
    *model = schema::GetModel(bytes.data());
    return Status::Ok();
  }
  Verifier root(bytes.data(), length, Limits(length));
  if (root.VerifyOffset(0) == 0) {
    return InvalidModel("the offset of the root table Model lies outside the file ({} bytes)",
                        bytes.size());
  }
  std::string where;
  if (kHasMessages) {
    where = DamageFinder(bytes.data(), length).InModel(flatbuffers::GetRoot<Table>(bytes.data()));
  }
  return InvalidModel(
      "the file is truncated or damaged: {} reaches outside the file ({} bytes), is misaligned, "
      "or is nested or repeated beyond all measure",
      where, bytes.size());
}

}  // namespace topwork
