// Golden cases through a Session.
#include "tests/support/case_runner.h"

#include <cstring>

#include "runtime/tensor/strings.h"

namespace topwork {
namespace test {
namespace {

std::vector<uint8_t> BytesOf(const TensorView& output) {
  const uint8_t* data = output.as<uint8_t>();
  if (output.dtype != DType::kString) return {data, data + output.bytes()};
  std::vector<uint8_t> table(StringTableBytes(StringsOf(output)));
  WriteStringTable(StringsOf(output), table.data());
  return table;
}

// Position among the subgraph's values of entry i of the signature, or −1.
int Position(const std::vector<int>& values, const std::vector<Signature::Entry>& entries,
             size_t i) {
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] == entries[i].value) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

Status CaseRunner::Open(const OpCase& op_case) {
  if (!op_case.same_session) TW_RETURN_IF_ERROR(OpenModel(op_case));
  if (session_ == nullptr) return FailedPrecondition("the case before has no session");
  if (static_cast<size_t>(session_->n_inputs()) != op_case.inputs.size()) {
    return FailedPrecondition("{} inputs, the case has {}", session_->n_inputs(),
                              op_case.inputs.size());
  }
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const std::vector<int32_t>& dims = op_case.inputs[i].dims;
    const Shape shape(dims.data(), static_cast<int>(dims.size()));
    if (session_->input(InputOf(i)).shape == shape) continue;
    TW_RETURN_IF_ERROR(session_->ResizeInput(InputOf(i), shape));
  }
  return session_->Prepare();
}

Status CaseRunner::Write(const OpCase& op_case) {
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const CaseTensor& tensor = op_case.inputs[i];
    const TensorView& input = session_->input(InputOf(i));
    if (input.dtype == DType::kString) {
      TW_RETURN_IF_ERROR(WriteTable(InputOf(i), tensor));
      continue;
    }
    if (input.bytes() != tensor.n_bytes) {
      return FailedPrecondition("input {} has {} bytes, the case has {}", i, input.bytes(),
                                tensor.n_bytes);
    }
    if (input.bytes() > 0) std::memcpy(input.data, tensor.data, input.bytes());
  }
  return Status::Ok();
}

Status CaseRunner::Run(const OpCase& op_case) {
  TW_RETURN_IF_ERROR(Open(op_case));
  TW_RETURN_IF_ERROR(Write(op_case));
  return Run();
}

std::string CaseRunner::Compare(const OpCase& op_case) const {
  const std::vector<std::vector<uint8_t>> bytes = OutputBytes(op_case);
  if (static_cast<size_t>(session_->n_outputs()) != bytes.size()) {
    return "another number of outputs";
  }
  std::string wrong;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const TensorView& output = session_->output(OutputOf(i));
    const std::vector<int32_t> dims(output.shape.dims(), output.shape.dims() + output.shape.rank());
    const std::string text =
        CompareWithReference(op_case.outputs[i], static_cast<int>(output.dtype), dims,
                             bytes[i].data(), bytes[i].size(), op_case.rtol);
    if (!text.empty()) wrong += "output " + std::to_string(i) + ": " + text + "; ";
  }
  return wrong;
}

std::vector<std::vector<uint8_t>> CaseRunner::OutputBytes(const OpCase& op_case) const {
  std::vector<std::vector<uint8_t>> bytes;
  if (static_cast<size_t>(session_->n_outputs()) != op_case.outputs.size()) return bytes;
  for (size_t i = 0; i < op_case.outputs.size(); ++i) {
    bytes.push_back(BytesOf(session_->output(OutputOf(i))));
  }
  return bytes;
}

Status CaseRunner::OpenModel(const OpCase& op_case) {
  session_.reset();
  signature_ = nullptr;
  TW_ASSIGN_OR_RETURN(model_, Model::OpenMemory(op_case.model, op_case.model_bytes, false));
  SessionOptions options = options_;
  if (!op_case.signature.empty()) {
    for (const Signature& signature : model_->signatures()) {
      if (signature.key == op_case.signature) signature_ = &signature;
    }
    if (signature_ == nullptr) return NotFound("no signature '{}'", op_case.signature);
    options.subgraph = signature_->subgraph;
  }
  TW_ASSIGN_OR_RETURN(session_, Session::Create(model_, options));
  return Status::Ok();
}

// Strings of the container are a table, as in model files.
Status CaseRunner::WriteTable(int i, const CaseTensor& tensor) {
  int64_t n = 1;
  for (int32_t dim : tensor.dims) n *= dim;
  const Span<const uint8_t> table(tensor.data, tensor.n_bytes);
  const std::string wrong = CheckStringTable(table, n);
  if (!wrong.empty()) return FailedPrecondition("input {}: {}", i, wrong);
  std::vector<StringRef> strings(static_cast<size_t>(n));
  ReadStringTable(table, strings.data());
  return session_->WriteStrings(i, strings);
}

int CaseRunner::InputOf(size_t i) const {
  if (signature_ == nullptr) return static_cast<int>(i);
  const Graph& graph = model_->subgraphs()[static_cast<size_t>(signature_->subgraph)];
  return Position(graph.inputs, signature_->inputs, i);
}

int CaseRunner::OutputOf(size_t i) const {
  if (signature_ == nullptr) return static_cast<int>(i);
  const Graph& graph = model_->subgraphs()[static_cast<size_t>(signature_->subgraph)];
  return Position(graph.outputs, signature_->outputs, i);
}

SessionOptions OneThreadOn(std::shared_ptr<const Device> device) {
  SessionOptions options;
  options.n_threads = 1;
  if (device != nullptr) options.devices = {std::move(device)};
  return options;
}

}  // namespace test
}  // namespace topwork
