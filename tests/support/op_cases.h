// Golden operator cases: reads the .twcases containers and compares tensors.
//
// Layout, little endian, offsets counted from the file's first byte:
//   magic "TWCASES1"; u32 n_cases; then per case
//     u32 length + bytes           name; "name@key" runs the model's signature `key`
//     u32 length                   of the model; 0 = model and session of the case before
//     padding to 16 + bytes        the .tflite file (absent where the length is 0)
//     u32 n_inputs, tensors        in the order of the model's (or the SignatureDef's) inputs
//     u32 n_outputs, tensors       likewise; 0xFFFFFFFF = the model must be refused
//     f32 rtol                     tolerance, relative to the output's largest finite |value|;
//                                  from 1 on, integers may differ by so many steps
//   tensor: u8 dtype (TFLite's TensorType number); u8 rank; 2 bytes of 0; i32 dims[rank];
//     u64 n_bytes; padding to 16 + bytes (row-major; bool is one byte; strings are a table, see
//     runtime/tensor/strings.h)
// An input whose dims differ from the model's asks for a resize of that input first.
// It does not run anything and knows nothing of the library under test: case_runner.h runs cases.
#ifndef TOPWORK_TESTS_SUPPORT_OP_CASES_H_
#define TOPWORK_TESTS_SUPPORT_OP_CASES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace topwork {
namespace test {

// A tensor inside the container: borrows its data, which lies on a 16-byte boundary of the file.
struct CaseTensor {
  int dtype = 0;  // TFLite's TensorType: 0 f32, 1 f16, 2 i32, 3 u8, 4 i64, 6 bool, 7 i16, 9 i8
  std::vector<int32_t> dims;
  const uint8_t* data = nullptr;
  size_t n_bytes = 0;
};

struct OpCase {
  std::string file;       // e.g. "conv_2d", where it was read from a golden file
  std::string name;       // without the "@key"
  std::string signature;  // empty: the first subgraph
  const uint8_t* model = nullptr;
  size_t model_bytes = 0;
  bool same_session = false;  // runs on the session of the case before (model is that case's)
  bool refused = false;       // opening, planning or running must give an error
  std::vector<CaseTensor> inputs;
  std::vector<CaseTensor> outputs;
  float rtol = 1e-5f;
};

// Parses a whole container. `data` must outlive the cases and, for models to be used in place, lie
// on a 16-byte boundary. Returns an empty string, or what is wrong and at which byte.
std::string ReadOpCases(const void* data, size_t n_bytes, std::vector<OpCase>* cases);

// Names of the golden files tests/data/ops/<name>.twcases that begin with `prefix`, sorted.
std::vector<std::string> CaseFiles(const std::string& prefix = "");

// The cases of tests/data/ops/<file>.twcases. The test fails where the file is missing or damaged.
std::vector<OpCase> CasesOf(const std::string& file);

// Calls `visit` for every case of every golden file that passes `filter`; messages of failures
// within name the case. Returns how many were visited.
using CaseFilter = std::function<bool(const OpCase&)>;
size_t ForEachCase(const CaseFilter& filter, const std::function<void(const OpCase&)>& visit);

// Filters: cases that must run; of those, one for each model; of those, the ones that run the
// model's first subgraph.
bool IsAccepted(const OpCase& op_case);
bool OpensModel(const OpCase& op_case);
bool OpensFirstSubgraph(const OpCase& op_case);

// Compares an output with its reference: dtype, dims, then values. Floats (f32, f16, f64): NaN and
// infinities must be in the same places, elsewhere |got - ref| <= rtol * largest finite |ref|. All
// other types must be equal, or differ by rtol at most where that is 1 or more. `got` holds n_bytes
// bytes. Returns an empty string when they agree, otherwise the first (shape) or the worst (values)
// difference and its index.
std::string CompareWithReference(const CaseTensor& reference, int dtype,
                                 const std::vector<int32_t>& dims, const void* got, size_t n_bytes,
                                 float rtol);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_OP_CASES_H_
