// What the parts of the verifier and the reader share: the model, a budget, and names for messages.
//
// Private to models/format. All functions need a model whose structure has been verified.
#ifndef TOPWORK_MODELS_FORMAT_VERIFY_CONTEXT_H_
#define TOPWORK_MODELS_FORMAT_VERIFY_CONTEXT_H_

#include <cstdint>
#include <string>

#include "kernels/contract/op_codes.h"
#include "models/format/layout.h"
#include "models/format/verify.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"
#include "runtime/tensor/tensor.h"

namespace topwork {

namespace schema {
struct Model;
struct Operator;
struct OperatorCode;
struct SubGraph;
struct Tensor;
}  // namespace schema

struct VerifyContext {
  Span<const uint8_t> bytes;  // the whole file
  const schema::Model* model = nullptr;
  // Parts of a FlatBuffer may be shared, so a small file can describe a huge model. Every record
  // read is charged with the bytes it would take unshared; a file that describes far more than
  // it holds is refused before anything is allocated for it.
  uint64_t budget = 0;

  // Constants that opening the model allocates memory for, `dense` bytes for this one, are bounded,
  // too, all together. The message begins after the tensor's name.
  Status ChargeDense(uint64_t dense);
  uint64_t dense_budget = 0;

  Status Charge(uint64_t n_bytes);
};

// "subgraph #0 'main'", "tensor #5 'conv/kernel' of subgraph #0 'main'", "operator #3 CONV_2D of
// subgraph #0 'main'"; indices outside the file give a name without the missing part.
std::string SubgraphName(const schema::Model& model, int subgraph);
std::string TensorName(const schema::Model& model, int subgraph, int tensor);
std::string OperatorName(const schema::Model& model, int subgraph, int index);

// The operator's code: the larger of the old 8-bit field and the new one.
OpCode BuiltinCode(const schema::OperatorCode& code);
// Data of buffer `index`: inside the FlatBuffer or, in large models, after it. Empty when the
// buffer has none. The buffer must have been verified.
Span<const uint8_t> BufferBytes(const schema::Model& model, Span<const uint8_t> bytes,
                                uint32_t index);
// True when a dimension is 0: such a tensor needs no data to be a constant.
bool HasNoElements(const schema::Tensor& tensor);

// Whether the bytes are a FlatBuffer of that identifier whose root has that layout, with every
// offset, vector and table inside.
bool VerifyFile(Span<const uint8_t> bytes, const char* identifier, TableLayout root);

// The steps of VerifyModel, in their order; each trusts the ones before it.
Status VerifyStructure(Span<const uint8_t> bytes, const schema::Model** model);
Status VerifyBuffers(VerifyContext* context);
Status VerifyOperatorCodes(VerifyContext* context);
Status VerifyTensors(VerifyContext* context, int subgraph);
Status VerifySparsity(VerifyContext* context, int subgraph, int tensor);
Status VerifyOperators(VerifyContext* context, int subgraph);
Status VerifyCalls(VerifyContext* context);
Status VerifySignatures(VerifyContext* context);
Status VerifyMetadataEntries(VerifyContext* context);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_VERIFY_CONTEXT_H_
