// Golden cases through a Session.
#include "tests/support/run_op_cases.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/tensor/strings.h"
#include "tests/support/cpu_tables.h"
#include "tests/support/embedded.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace test {
namespace {

using OutputBytes = std::vector<std::vector<uint8_t>>;  // bytes of every output

// One way to run the cases; keeps the session for cases that continue it.
class CaseRunner {
 public:
  explicit CaseRunner(const SessionOptions& options) : options_(options) {}

  Status Run(const testing::OpCase& test_case) {
    if (!test_case.same_session) TW_RETURN_IF_ERROR(Open(test_case));
    if (session_ == nullptr) return FailedPrecondition("the case before has no session");
    if (static_cast<size_t>(session_->n_inputs()) != test_case.inputs.size()) {
      return FailedPrecondition("%d inputs, the case has %zu", session_->n_inputs(),
                                test_case.inputs.size());
    }
    for (size_t i = 0; i < test_case.inputs.size(); ++i) {
      const std::vector<int32_t>& dims = test_case.inputs[i].dims;
      const Shape shape(dims.data(), static_cast<int>(dims.size()));
      if (session_->input(InputOf(i)).shape == shape) continue;
      TW_RETURN_IF_ERROR(session_->ResizeInput(InputOf(i), shape));
    }
    TW_RETURN_IF_ERROR(session_->Prepare());
    for (size_t i = 0; i < test_case.inputs.size(); ++i) {
      const TensorView& input = session_->input(InputOf(i));
      if (input.dtype == DType::kString) {
        TW_RETURN_IF_ERROR(WriteTable(InputOf(i), test_case.inputs[i]));
        continue;
      }
      if (input.bytes() != test_case.inputs[i].n_bytes) {
        return FailedPrecondition("input %zu has %zu bytes, the case has %zu", i, input.bytes(),
                                  test_case.inputs[i].n_bytes);
      }
      if (input.bytes() > 0) std::memcpy(input.data, test_case.inputs[i].data, input.bytes());
    }
    return session_->Run();
  }

  // What is wrong with the outputs; empty when they agree with the reference.
  std::string Compare(const testing::OpCase& test_case, OutputBytes* bytes) const {
    if (static_cast<size_t>(session_->n_outputs()) != test_case.outputs.size()) {
      return "another number of outputs";
    }
    std::string wrong;
    bytes->clear();
    for (size_t i = 0; i < test_case.outputs.size(); ++i) {
      const TensorView& output = session_->output(OutputOf(i));
      const std::vector<int32_t> dims(output.shape.dims(),
                                      output.shape.dims() + output.shape.rank());
      bytes->push_back(BytesOf(output));
      const std::vector<uint8_t>& got = bytes->back();
      const std::string text =
          testing::CompareWithReference(test_case.outputs[i], static_cast<int>(output.dtype), dims,
                                        got.data(), got.size(), test_case.rtol);
      if (!text.empty()) wrong += "output " + std::to_string(i) + ": " + text + "; ";
    }
    return wrong;
  }

 private:
  // Strings of the container are a table, as in model files.
  Status WriteTable(int i, const testing::CaseTensor& tensor) {
    int64_t n = 1;
    for (int32_t dim : tensor.dims) n *= dim;
    const Span<const uint8_t> table(tensor.data, tensor.n_bytes);
    const std::string wrong = CheckStringTable(table, n);
    if (!wrong.empty()) return FailedPrecondition("input %d: %s", i, wrong.c_str());
    std::vector<StringRef> strings(static_cast<size_t>(n));
    ReadStringTable(table, strings.data());
    return session_->WriteStrings(i, strings);
  }
  static std::vector<uint8_t> BytesOf(const TensorView& output) {
    const uint8_t* data = output.as<uint8_t>();
    if (output.dtype != DType::kString) return {data, data + output.bytes()};
    std::vector<uint8_t> table(StringTableBytes(StringsOf(output)));
    WriteStringTable(StringsOf(output), table.data());
    return table;
  }

  Status Open(const testing::OpCase& test_case) {
    session_.reset();
    signature_ = nullptr;
    TW_ASSIGN_OR_RETURN(model_, Model::OpenMemory(test_case.model, test_case.model_bytes, false));
    SessionOptions options = options_;
    if (!test_case.signature.empty()) {
      for (const Signature& signature : model_->signatures()) {
        if (signature.key == test_case.signature) signature_ = &signature;
      }
      if (signature_ == nullptr) return NotFound("no signature '%s'", test_case.signature.c_str());
      options.subgraph = signature_->subgraph;
    }
    TW_ASSIGN_OR_RETURN(session_, Session::Create(model_, options));
    return Status::Ok();
  }

  // Position among the subgraph's values of entry i of the signature.
  int Position(const std::vector<int>& values, const std::vector<Signature::Entry>& entries,
               size_t i) const {
    for (size_t k = 0; k < values.size(); ++k) {
      if (values[k] == entries[i].value) return static_cast<int>(k);
    }
    return -1;
  }
  int InputOf(size_t i) const {
    if (signature_ == nullptr) return static_cast<int>(i);
    const Graph& graph = model_->subgraphs()[static_cast<size_t>(signature_->subgraph)];
    return Position(graph.inputs, signature_->inputs, i);
  }
  int OutputOf(size_t i) const {
    if (signature_ == nullptr) return static_cast<int>(i);
    const Graph& graph = model_->subgraphs()[static_cast<size_t>(signature_->subgraph)];
    return Position(graph.outputs, signature_->outputs, i);
  }

  SessionOptions options_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
  const Signature* signature_ = nullptr;
};

// Runs all cases one way; the outputs' bytes go to *bytes, case by case.
void RunCasesOneWay(const std::vector<testing::OpCase>& cases, const SessionOptions& options,
                    std::vector<OutputBytes>* bytes) {
  CaseRunner runner(options);
  bytes->resize(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << cases[i].name << " on " << options.cpu->isa << ", " << options.n_threads
                 << " threads, " << (options.optimize ? "" : "not ") << "optimized");
    const Status status = runner.Run(cases[i]);
    if (cases[i].refused) {
      CHECK_FALSE(status.ok());
      CHECK(status.code() != StatusCode::kInternal);
      continue;
    }
    CHECK(status.ToString() == "OK");
    if (status.ok()) CHECK(runner.Compare(cases[i], &(*bytes)[i]) == "");
  }
}

// Whether there are products of bytes in the cases of that name.
bool MultiplyBytes(const std::string& name) {
  for (const char* part : {"conv_2d", "fully_connected", "int4", "lstm", "rnn", "svdf"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void RunOpCases(const char* name) {
  const std::string path = "tests/data/ops/" + std::string(name) + ".twcases";
  INFO(path);
  const EmbeddedFile* file = FindEmbedded(path.c_str());
  REQUIRE(file != nullptr);
  std::vector<testing::OpCase> cases;
  REQUIRE(testing::ReadOpCases(file->data, file->size, &cases) == "");
  REQUIRE_FALSE(cases.empty());
  for (const CpuKernels* cpu : TestedCpuKernels()) {
    if (HasBytesOnly(*cpu) && !MultiplyBytes(name)) continue;
    for (const bool optimize : {true, false}) {
      SessionOptions options;
      options.cpu = cpu;
      options.optimize = optimize;
      std::vector<OutputBytes> one, four;
      options.n_threads = 1;
      RunCasesOneWay(cases, options, &one);
      options.n_threads = 4;
      RunCasesOneWay(cases, options, &four);
      for (size_t i = 0; i < cases.size(); ++i) {
        INFO("case " << cases[i].name << " on " << cpu->isa);
        const bool same_bytes = one[i] == four[i];
        CHECK(same_bytes);
      }
    }
  }
}

}  // namespace test
}  // namespace topwork
