// Unknown kinds are numbers of unions beyond those of the schema; unknown fields are slots of
// tables after the last known field.
#include "models/format/unknown_parts.h"

#include "models/format/layout.h"
#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

using flatbuffers::Table;
using flatbuffers::voffset_t;

// The first field of the table after those of its layout; −1: none.
int UnknownField(const void* table, TableLayout layout) {
  if (table == nullptr) return -1;
  const int known = static_cast<int>(FieldsOf(layout).size());
  const uint8_t* vtable = static_cast<const Table*>(table)->GetVTable();
  const int n = (flatbuffers::ReadScalar<voffset_t>(vtable) - 4) / 2;
  for (int field = known; field < n; ++field) {
    if (flatbuffers::ReadScalar<voffset_t>(vtable + 4 + 2 * field) != 0) return field;
  }
  return -1;
}

Status WouldBeLost(const std::string& where, const char* what, int number) {
  return Unsupported(
      "{} has {} #{}, which this version does not know and could not write: the new file would "
      "lack it; use a newer version of the library",
      where, what, number);
}

Status CheckFields(const std::string& where, const void* table, TableLayout layout) {
  const int field = UnknownField(table, layout);
  return field < 0 ? Status::Ok() : WouldBeLost(where, "the field", field);
}

Status CheckOptions(const std::string& where, UnionLayout which, int kind, const void* options) {
  if (options == nullptr || kind <= 0) return Status::Ok();
  const TableLayout layout = AlternativeOf(which, static_cast<uint8_t>(kind));
  if (layout == kNoLayout) return WouldBeLost(where, "options of the kind", kind);
  const int field = UnknownField(options, layout);
  return field < 0 ? Status::Ok() : WouldBeLost(where, "the option field", field);
}

Status CheckOperator(const std::string& where, const schema::Operator& op) {
  TW_RETURN_IF_ERROR(CheckFields(where, &op, kOperator));
  TW_RETURN_IF_ERROR(CheckOptions(
      where, kBuiltinOptions, static_cast<int>(op.builtin_options_type()), op.builtin_options()));
  return CheckOptions(where, kBuiltinOptions2, static_cast<int>(op.builtin_options2_type()),
                      op.builtin_options2());
}

Status CheckTensor(const std::string& where, const schema::Tensor& tensor) {
  TW_RETURN_IF_ERROR(CheckFields(where, &tensor, kTensor));
  const auto* sparsity = tensor.sparsity();
  TW_RETURN_IF_ERROR(CheckFields(where, sparsity, kSparsityParameters));
  const auto* quantization = tensor.quantization();
  if (quantization == nullptr) return Status::Ok();
  TW_RETURN_IF_ERROR(CheckFields(where, quantization, kQuantizationParameters));
  if (quantization->details() != nullptr &&
      quantization->details_type() > schema::QuantizationDetails::MAX) {
    return WouldBeLost(where, "quantization of the kind",
                       static_cast<int>(quantization->details_type()));
  }
  return Status::Ok();
}

}  // namespace

Status RefuseUnknownParts(const schema::Model& model) {
  TW_RETURN_IF_ERROR(CheckFields("the model", &model, kModel));
  const auto* codes = model.operator_codes();
  for (uint32_t i = 0; codes != nullptr && i < codes->size(); ++i) {
    TW_RETURN_IF_ERROR(
        CheckFields("operator code #" + std::to_string(i), codes->Get(i), kOperatorCode));
  }
  const auto* signatures = model.signature_defs();
  for (uint32_t i = 0; signatures != nullptr && i < signatures->size(); ++i) {
    TW_RETURN_IF_ERROR(
        CheckFields("signature #" + std::to_string(i), signatures->Get(i), kSignatureDef));
  }
  for (uint32_t s = 0; s < model.subgraphs()->size(); ++s) {
    const schema::SubGraph& subgraph = *model.subgraphs()->Get(s);
    const int index = static_cast<int>(s);
    TW_RETURN_IF_ERROR(CheckFields(SubgraphName(model, index), &subgraph, kSubGraph));
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
