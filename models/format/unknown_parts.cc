// Unknown kinds are numbers of unions beyond those of the schema; unknown fields are slots of
// tables after the last known field.
#include "models/format/unknown_parts.h"

#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using flatbuffers::Table;
using flatbuffers::voffset_t;

#define TW_OPTIONS(which, table, n) n,
constexpr uint8_t kOptionFields[] = {
#include "models/format/known_fields.inc"
};
#undef TW_OPTIONS
constexpr size_t kFirst = static_cast<size_t>(schema::BuiltinOptions::MAX);
constexpr size_t kSecond = static_cast<size_t>(schema::BuiltinOptions2::MAX);
static_assert(sizeof(kOptionFields) == kFirst + kSecond, "a kind is missing");

// The first field of the table after the `known` ones; −1: none.
int UnknownField(const void* table, int known) {
  if (table == nullptr) return -1;
  const uint8_t* vtable = static_cast<const Table*>(table)->GetVTable();
  const int n = (flatbuffers::ReadScalar<voffset_t>(vtable) - 4) / 2;
  for (int field = known; field < n; ++field) {
    if (flatbuffers::ReadScalar<voffset_t>(vtable + 4 + 2 * field) != 0) return field;
  }
  return -1;
}

constexpr int Fields(voffset_t last) { return (last - 4) / 2 + 1; }

Status WouldBeLost(const std::string& where, const char* what, int number) {
  return Unsupported(
      "{} has {} #{}, which this version does not know and could not write: the new file would "
      "lack it; use a newer version of the library",
      where, what, number);
}

Status CheckFields(const std::string& where, const void* table, voffset_t last) {
  const int field = UnknownField(table, Fields(last));
  return field < 0 ? Status::Ok() : WouldBeLost(where, "the field", field);
}

// `first_row`: of this union in kOptionFields.
Status CheckOptions(const std::string& where, int kind, const void* options, size_t first_row,
                    size_t n_kinds) {
  if (options == nullptr || kind <= 0) return Status::Ok();
  if (static_cast<size_t>(kind) > n_kinds) return WouldBeLost(where, "options of the kind", kind);
  const int known = kOptionFields[first_row + static_cast<size_t>(kind) - 1];
  const int field = UnknownField(options, known);
  return field < 0 ? Status::Ok() : WouldBeLost(where, "the option field", field);
}

Status CheckOperator(const std::string& where, const schema::Operator& op) {
  TW_RETURN_IF_ERROR(CheckFields(where, &op, schema::Operator::VT_DEBUG_METADATA_INDEX));
  TW_RETURN_IF_ERROR(CheckOptions(where, static_cast<int>(op.builtin_options_type()),
                                  op.builtin_options(), 0, kFirst));
  return CheckOptions(where, static_cast<int>(op.builtin_options2_type()), op.builtin_options2(),
                      kFirst, kSecond);
}

Status CheckTensor(const std::string& where, const schema::Tensor& tensor) {
  TW_RETURN_IF_ERROR(CheckFields(where, &tensor, schema::Tensor::VT_EXTERNAL_BUFFER));
  const auto* sparsity = tensor.sparsity();
  TW_RETURN_IF_ERROR(CheckFields(where, sparsity, schema::SparsityParameters::VT_DIM_METADATA));
  const auto* quantization = tensor.quantization();
  if (quantization == nullptr) return Status::Ok();
  TW_RETURN_IF_ERROR(
      CheckFields(where, quantization, schema::QuantizationParameters::VT_QUANTIZED_DIMENSION));
  if (quantization->details() != nullptr &&
      quantization->details_type() > schema::QuantizationDetails::MAX) {
    return WouldBeLost(where, "quantization of the kind",
                       static_cast<int>(quantization->details_type()));
  }
  return Status::Ok();
}

}  // namespace

Status RefuseUnknownParts(const schema::Model& model) {
  TW_RETURN_IF_ERROR(CheckFields("the model", &model, schema::Model::VT_EXTERNAL_BUFFERS));
  const auto* codes = model.operator_codes();
  for (uint32_t i = 0; codes != nullptr && i < codes->size(); ++i) {
    TW_RETURN_IF_ERROR(CheckFields("operator code #" + std::to_string(i), codes->Get(i),
                                   schema::OperatorCode::VT_BUILTIN_CODE));
  }
  const auto* signatures = model.signature_defs();
  for (uint32_t i = 0; signatures != nullptr && i < signatures->size(); ++i) {
    TW_RETURN_IF_ERROR(CheckFields("signature #" + std::to_string(i), signatures->Get(i),
                                   schema::SignatureDef::VT_SUBGRAPH_INDEX));
  }
  for (uint32_t s = 0; s < model.subgraphs()->size(); ++s) {
    const schema::SubGraph& subgraph = *model.subgraphs()->Get(s);
    const int index = static_cast<int>(s);
    TW_RETURN_IF_ERROR(CheckFields(SubgraphName(model, index), &subgraph,
                                   schema::SubGraph::VT_DEBUG_METADATA_INDEX));
    for (uint32_t i = 0; subgraph.operators() != nullptr && i < subgraph.operators()->size(); ++i) {
      TW_RETURN_IF_ERROR(CheckOperator(OperatorName(model, index, static_cast<int>(i)),
                                       *subgraph.operators()->Get(i)));
    }
    for (uint32_t i = 0; subgraph.tensors() != nullptr && i < subgraph.tensors()->size(); ++i) {
      TW_RETURN_IF_ERROR(
          CheckTensor(TensorName(model, index, static_cast<int>(i)), *subgraph.tensors()->Get(i)));
    }
  }
  return Status::Ok();
}

}  // namespace topwork
