// The FlatBuffers part of verification: identifier, then every offset, vector and table inside the
// file. When that fails, a second walk finds the damaged table, so that the message can name it.
#include <algorithm>
#include <cstring>

#include "models/format/verify_context.h"
#include "runtime/base/printable.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using flatbuffers::Offset;
using flatbuffers::Table;
using flatbuffers::Vector;
using flatbuffers::Verifier;
using flatbuffers::voffset_t;

constexpr size_t kSmallestModel = 24;  // root offset, identifier, a table and its vtable

Verifier::Options Limits(size_t length) {
  Verifier::Options options;
  options.max_depth = 16;  // a model's own nesting is 6
  // A table that is not shared takes 8 bytes or more.
  options.max_tables =
      static_cast<flatbuffers::uoffset_t>(std::min<size_t>(1000000, 1024 + length / 4));
  return options;
}

// Looks for the first damaged part below a table whose own start is sound.
class DamageFinder {
 public:
  DamageFinder(const uint8_t* data, size_t length) : data_(data), length_(length) {}

  std::string InModel(const schema::Model* model) {
    using M = schema::Model;
    const Table* table = AsTable(model);
    if (!Start(table)) return "the root table Model";
    const auto leaf = [](const auto*) { return std::string(); };
    std::string found = InVector<schema::OperatorCode>(table, M::VT_OPERATOR_CODES,
                                                       "operator_codes", "OperatorCode", leaf);
    if (found.empty()) {
      found = InVector<schema::SubGraph>(
          table, M::VT_SUBGRAPHS, "subgraphs", "SubGraph",
          [this](const schema::SubGraph* subgraph) { return InSubgraph(subgraph); });
    }
    if (found.empty()) {
      found = InVector<schema::Buffer>(table, M::VT_BUFFERS, "buffers", "Buffer", leaf);
    }
    if (found.empty()) {
      found = InVector<schema::Metadata>(table, M::VT_METADATA, "metadata", "Metadata", leaf);
    }
    if (found.empty()) {
      found = InVector<schema::SignatureDef>(table, M::VT_SIGNATURE_DEFS, "signature_defs",
                                             "SignatureDef", leaf);
    }
    return found.empty() ? "a field of the root table Model" : found;
  }

 private:
  template <typename T>
  static const Table* AsTable(const T* table) {
    return reinterpret_cast<const Table*>(table);
  }
  Verifier NewVerifier() const { return Verifier(data_, length_, Limits(length_)); }
  bool Start(const Table* table) const {
    Verifier verifier = NewVerifier();
    return table->VerifyTableStart(verifier);
  }

  std::string InSubgraph(const schema::SubGraph* subgraph) {
    using G = schema::SubGraph;
    const Table* table = AsTable(subgraph);
    if (!Start(table)) return std::string();
    const auto leaf = [](const auto*) { return std::string(); };
    const std::string found =
        InVector<schema::Tensor>(table, G::VT_TENSORS, "tensors", "Tensor", leaf);
    if (!found.empty()) return found;
    return InVector<schema::Operator>(table, G::VT_OPERATORS, "operators", "Operator", leaf);
  }

  template <typename T, typename Inner>
  std::string InVector(const Table* parent, voffset_t field, const char* field_name,
                       const char* table_name, Inner inner) {
    Verifier verifier = NewVerifier();
    if (!parent->VerifyOffset(verifier, field)) return std::string("the vector ") + field_name;
    const auto* vector = parent->GetPointer<const Vector<Offset<T>>*>(field);
    if (vector == nullptr) return std::string();
    if (!verifier.VerifyVector(vector)) return std::string("the vector ") + field_name;
    for (flatbuffers::uoffset_t i = 0; i < vector->size(); ++i) {
      const T* element = vector->Get(i);
      if (verifier.VerifyTable(element)) continue;
      const std::string name = std::string(table_name) + " #" + std::to_string(i);
      const std::string inside = inner(element);
      return inside.empty() ? name : name + ", " + inside;
    }
    return std::string();
  }

  const uint8_t* data_;
  size_t length_;
};

}  // namespace

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
  Verifier verifier(bytes.data(), length, Limits(length));
  if (verifier.VerifyBuffer<schema::Model>(schema::ModelIdentifier())) {
    *model = schema::GetModel(bytes.data());
    return Status::Ok();
  }
  Verifier root(bytes.data(), length, Limits(length));
  if (root.VerifyOffset(0) == 0) {
    return InvalidModel("the offset of the root table Model lies outside the file ({} bytes)",
                        bytes.size());
  }
  const std::string where =
      DamageFinder(bytes.data(), length).InModel(schema::GetModel(bytes.data()));
  return InvalidModel(
      "the file is truncated or damaged: {} reaches outside the file ({} bytes), is misaligned, "
      "or is nested or repeated beyond all measure",
      where, bytes.size());
}

}  // namespace topwork
