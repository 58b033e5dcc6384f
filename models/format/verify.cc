// VerifyModel's steps in order, and the checks that belong to no single subgraph: operator codes,
// signatures, metadata.
#include "models/format/verify.h"

#include <algorithm>
#include <vector>

#include "kernels/contract/custom_ops.h"
#include "kernels/contract/kernel.h"
#include "kernels/contract/selection.h"
#include "kernels/contract/unsupported.h"
#include "models/format/verify_context.h"
#include "runtime/base/log.h"
#include "runtime/base/printable.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

constexpr uint64_t kFreeBudget = 64 * 1024;  // small models share a lot of their few bytes
constexpr uint64_t kBudgetPerByte = 4;
constexpr uint64_t kFreeDense = 1024 * 1024;
constexpr uint64_t kDensePerByte = 256;
constexpr uint32_t kSchemaVersion = 3;

std::string Name(const flatbuffers::String* name) {
  return name == nullptr ? std::string() : Printable(name->c_str(), name->size());
}

std::string WithName(std::string text, const flatbuffers::String* name) {
  if (!kHasMessages) return std::string();
  if (name != nullptr && name->size() > 0) text += " '" + Name(name) + "'";
  return text;
}

bool IsCustom(OpCode code) { return code == OpCode::kCustom; }

uint64_t Length(const flatbuffers::String* text) { return text == nullptr ? 0 : text->size(); }

using TensorMaps = flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>;
using Indices = flatbuffers::Vector<int32_t>;

// Each name of a signature should stand for one of the subgraph's own inputs (or outputs). Where one
// does not, a warning says so: the model runs, and only that signature is refused when it is asked
// for.
Status VerifySignatureSide(VerifyContext* context, const std::string& where, const char* side,
                           const TensorMaps* maps, const Indices* allowed) {
  if (maps == nullptr) return Status::Ok();
  // One look-up table instead of a search per name keeps hostile files linear.
  std::vector<uint32_t> known;
  if (allowed != nullptr) known.assign(allowed->begin(), allowed->end());
  std::sort(known.begin(), known.end());
  for (uint32_t i = 0; i < maps->size(); ++i) {
    const schema::TensorMap* map = maps->Get(i);
    TW_RETURN_IF_ERROR(context->Charge(16 + Length(map->name())));
    if (std::binary_search(known.begin(), known.end(), map->tensor_index())) continue;
    Log(LogLevel::kWarning,
        "{} cannot be called: its {} #{} '{}' stands for tensor {}, which is no {} of the subgraph",
        where, side, i, Name(map->name()), map->tensor_index(), side);
    break;
  }
  return Status::Ok();
}

// `error` of a subgraph's operators, or the reason that stands behind it: what compilers for
// accelerators write breaks the rules of tensors, but its operators could not run anyway.
Status Explain(const Status& error, const schema::Model& model, const schema::SubGraph& subgraph) {
  const auto* operators = subgraph.operators();
  const auto* codes = model.operator_codes();
  if (operators == nullptr || codes == nullptr) return error;
  UnsupportedOps unsupported;
  std::vector<uint8_t> seen(codes->size());
  for (uint32_t i = 0; i < operators->size(); ++i) {
    const uint32_t index = operators->Get(i)->opcode_index();
    if (index >= codes->size() || seen[index]) continue;
    seen[index] = true;
    const schema::OperatorCode& code = *codes->Get(index);
    const OpCode op = BuiltinCode(code);
    const bool custom = IsCustom(op);
    const OpDef* def = custom ? FindCustomOp(code.custom_code()->str()) : FindOp(op);
    unsupported.Note(def, op, custom ? Name(code.custom_code()) : OpCodeName(op), code.version(),
                     static_cast<int>(i));
  }
  const Status refusal = unsupported.Refusal();
  return refusal.ok() ? error : refusal;
}

}  // namespace

Status VerifyContext::Charge(uint64_t n_bytes) {
  if (n_bytes > budget) {
    return InvalidModel(
        "the file ({} bytes) describes far more tables than it holds: its parts are repeated "
        "beyond all measure",
        bytes.size());
  }
  budget -= n_bytes;
  return Status::Ok();
}

Status VerifyContext::ChargeDense(uint64_t dense) {
  if (dense > dense_budget) {
    return InvalidModel(
        ": with the sparse and blockwise constants before it, it stands for more dense bytes ({} of "
        "its own) than a file of {} bytes explains",
        dense, bytes.size());
  }
  dense_budget -= dense;
  return Status::Ok();
}

std::string SubgraphName(const schema::Model& model, int subgraph) {
  if (!kHasMessages) return std::string();
  const std::string text = "subgraph #" + std::to_string(subgraph);
  const auto* all = model.subgraphs();
  const uint32_t i = static_cast<uint32_t>(subgraph);
  if (all == nullptr || i >= all->size()) return text;
  return WithName(text, all->Get(i)->name());
}

std::string TensorName(const schema::Model& model, int subgraph, int tensor) {
  if (!kHasMessages) return std::string();
  std::string text = "tensor #" + std::to_string(tensor);
  const auto* tensors = model.subgraphs()->Get(static_cast<uint32_t>(subgraph))->tensors();
  const uint32_t i = static_cast<uint32_t>(tensor);
  if (tensors != nullptr && i < tensors->size()) text = WithName(text, tensors->Get(i)->name());
  return text + " of " + SubgraphName(model, subgraph);
}

std::string OperatorName(const schema::Model& model, int subgraph, int index) {
  if (!kHasMessages) return std::string();
  std::string text = "operator #" + std::to_string(index);
  const auto* operators = model.subgraphs()->Get(static_cast<uint32_t>(subgraph))->operators();
  const uint32_t i = static_cast<uint32_t>(index);
  const auto* codes = model.operator_codes();
  if (operators != nullptr && i < operators->size() && codes != nullptr) {
    const uint32_t code_index = operators->Get(i)->opcode_index();
    if (code_index < codes->size()) {
      const schema::OperatorCode* code = codes->Get(code_index);
      const OpCode builtin = BuiltinCode(*code);
      text += std::string(" ") + OpCodeName(builtin);
      if (IsCustom(builtin)) text = WithName(text, code->custom_code());
    }
  }
  return text + " of " + SubgraphName(model, subgraph);
}

OpCode BuiltinCode(const schema::OperatorCode& code) {
  return static_cast<OpCode>(std::max(static_cast<int32_t>(code.deprecated_builtin_code()),
                                      static_cast<int32_t>(code.builtin_code())));
}

Status VerifyOperatorCodes(VerifyContext* context) {
  const auto* codes = context->model->operator_codes();
  if (codes == nullptr) return Status::Ok();
  for (uint32_t i = 0; i < codes->size(); ++i) {
    const schema::OperatorCode* code = codes->Get(i);
    TW_RETURN_IF_ERROR(context->Charge(16 + Length(code->custom_code())));
    const int32_t builtin = static_cast<int32_t>(BuiltinCode(*code));
    if (builtin < 0) {
      return InvalidModel("OperatorCode #{} has builtin code {}; codes are 0 or more", i, builtin);
    }
    if (builtin >= kNumOpCodes) {
      return Unsupported(
          "OperatorCode #{} has builtin code {}, which is newer than this library "
          "(it knows 0 to {})",
          i, builtin, kNumOpCodes - 1);
    }
    if (IsCustom(static_cast<OpCode>(builtin)) && Length(code->custom_code()) == 0) {
      return InvalidModel("OperatorCode #{} is CUSTOM but has no custom_code to name it", i);
    }
    if (code->version() < 1) {
      return InvalidModel("OperatorCode #{} {} has version {}; versions start at 1", i,
                          OpCodeName(static_cast<OpCode>(builtin)), code->version());
    }
  }
  return Status::Ok();
}

Status VerifySignatures(VerifyContext* context) {
  const auto* signatures = context->model->signature_defs();
  if (signatures == nullptr) return Status::Ok();
  const auto* subgraphs = context->model->subgraphs();
  for (uint32_t i = 0; i < signatures->size(); ++i) {
    const schema::SignatureDef* signature = signatures->Get(i);
    TW_RETURN_IF_ERROR(context->Charge(24 + Length(signature->signature_key())));
    const std::string where =
        WithName("SignatureDef #" + std::to_string(i), signature->signature_key());
    const uint32_t index = signature->subgraph_index();
    if (index >= subgraphs->size()) {
      return InvalidModel("{} belongs to subgraph {}, but the model has {}", where, index,
                          subgraphs->size());
    }
    const schema::SubGraph* subgraph = subgraphs->Get(index);
    // The look-up tables below cost as much as the subgraph's own index lists.
    const uint64_t n = (subgraph->inputs() == nullptr ? 0 : subgraph->inputs()->size()) +
                       (subgraph->outputs() == nullptr ? 0 : subgraph->outputs()->size());
    TW_RETURN_IF_ERROR(context->Charge(n));
    TW_RETURN_IF_ERROR(
        VerifySignatureSide(context, where, "input", signature->inputs(), subgraph->inputs()));
    TW_RETURN_IF_ERROR(
        VerifySignatureSide(context, where, "output", signature->outputs(), subgraph->outputs()));
  }
  return Status::Ok();
}

Status VerifyMetadataEntries(VerifyContext* context) {
  const auto* buffers = context->model->buffers();
  const uint32_t n_buffers = buffers == nullptr ? 0 : buffers->size();
  if (const auto* entries = context->model->metadata()) {
    for (uint32_t i = 0; i < entries->size(); ++i) {
      const schema::Metadata* entry = entries->Get(i);
      TW_RETURN_IF_ERROR(context->Charge(16 + Length(entry->name())));
      if (entry->buffer() < n_buffers) continue;
      return InvalidModel("Metadata #{} '{}' is in buffer {}, but the model has {}", i,
                          Name(entry->name()), entry->buffer(), n_buffers);
    }
  }
  return Status::Ok();
}

Status VerifyModel(Span<const uint8_t> bytes, const schema::Model** out) {
  const schema::Model* model = nullptr;
  TW_RETURN_IF_ERROR(VerifyStructure(bytes, &model));
  if (model->version() != kSchemaVersion) {
    return InvalidModel("the schema version is {}; .tflite models have version {}",
                        model->version(), kSchemaVersion);
  }
  VerifyContext context;
  context.bytes = bytes;
  context.model = model;
  context.budget = kFreeBudget + kBudgetPerByte * static_cast<uint64_t>(bytes.size());
  context.dense_budget = kFreeDense + kDensePerByte * static_cast<uint64_t>(bytes.size());
  const auto* subgraphs = model->subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0) {
    return InvalidModel("the model has no subgraph");
  }
  TW_RETURN_IF_ERROR(context.Charge(Length(model->description())));
  TW_RETURN_IF_ERROR(VerifyBuffers(&context));
  TW_RETURN_IF_ERROR(VerifyOperatorCodes(&context));
  for (uint32_t i = 0; i < subgraphs->size(); ++i) {
    TW_RETURN_IF_ERROR(context.Charge(32 + Length(subgraphs->Get(i)->name())));
    TW_RETURN_IF_ERROR(VerifyTensors(&context, static_cast<int>(i)));
  }
  for (uint32_t i = 0; i < subgraphs->size(); ++i) {
    const Status verified = VerifyOperators(&context, static_cast<int>(i));
    if (!verified.ok()) return Explain(verified, *model, *subgraphs->Get(i));
  }
  if (kHasCalls) TW_RETURN_IF_ERROR(VerifyCalls(&context));
  TW_RETURN_IF_ERROR(VerifySignatures(&context));
  TW_RETURN_IF_ERROR(VerifyMetadataEntries(&context));
  *out = model;
  return Status::Ok();
}

}  // namespace topwork
