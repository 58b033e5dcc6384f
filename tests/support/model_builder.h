// ModelSpec: a .tflite model as plain records, sound or not, and BuildModel, which writes it down.
//
// Nothing is checked: indices, shapes and lengths go into the file as they stand, which is how the
// malformed models of the tests are made. Convenience functions keep sound models short.
#ifndef TOPWORK_TESTS_SUPPORT_MODEL_BUILDER_H_
#define TOPWORK_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/op_codes.h"
#include "runtime/tensor/tensor.h"

namespace topwork {
namespace test {

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes ToBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A builtin-options table: its number in the union and its fields by number.
class OptionsSpec {
 public:
  OptionsSpec() = default;
  explicit OptionsSpec(uint8_t type, bool second_union = false)
      : type(type), second_union(second_union) {}
  OptionsSpec& Int(int field, int32_t value);
  OptionsSpec& Long(int field, uint32_t value);
  OptionsSpec& Byte(int field, int8_t value);  // enumerations and bool
  OptionsSpec& Float(int field, float value);
  OptionsSpec& Ints(int field, std::vector<int32_t> values);
  OptionsSpec& Longs(int field, std::vector<int64_t> values);
  OptionsSpec& Text(int field, std::string value);

  struct Field {
    int number;
    int size;  // 8, 4 or 1; 0: the vector; -1: the text; -2: the vector of int64
    uint32_t bits;
    std::vector<int32_t> values;
    std::string text;
    std::vector<int64_t> longs;
  };
  uint8_t type = 0;
  bool second_union = false;  // BuiltinOptions2
  std::vector<Field> fields;
};

// One level of a sparse tensor; CSR when `segments` is not empty. index_type: 1 int32, 2 uint16,
// 3 uint8 (SparseIndexVector).
struct SparseLevelSpec {
  int8_t format = 0;
  int32_t dense_size = 0;
  uint8_t index_type = 0;
  std::vector<int32_t> segments, indices;
};

struct TensorSpec {
  std::string name;
  int type = 0;  // TensorType, any number
  std::vector<int32_t> shape;
  uint32_t buffer = 0;
  std::vector<int32_t> signature;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t axis = 0;
  bool is_variable = false;
  uint32_t external_buffer = 0;
  std::vector<int32_t> traversal_order, block_map;  // sparse when traversal_order is not empty
  std::vector<SparseLevelSpec> levels;
};

struct OpSpec {
  uint32_t opcode = 0;  // index into ModelSpec::codes
  std::vector<int32_t> inputs, outputs;
  OptionsSpec options;
  Bytes custom_options;
  std::vector<int32_t> intermediates;
  std::vector<uint8_t> mutating;
  uint64_t large_offset = 0, large_size = 0;
};

struct SubgraphSpec {
  std::string name;
  std::vector<TensorSpec> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<OpSpec> ops;
};

struct CodeSpec {
  int8_t deprecated = 0;
  int32_t builtin = 0;
  std::string custom;
  int32_t version = 1;
};

struct BufferSpec {
  Bytes data;
  uint64_t offset = 0, size = 0;
};

struct SignatureSpec {
  std::string key;
  uint32_t subgraph = 0;
  std::vector<std::pair<std::string, uint32_t>> inputs, outputs;
};

struct ModelSpec {
  uint32_t version = 3;
  std::string description;
  std::vector<CodeSpec> codes;
  std::vector<BufferSpec> buffers = std::vector<BufferSpec>(1);  // buffer 0 is empty
  std::vector<SubgraphSpec> subgraphs = std::vector<SubgraphSpec>(1);
  std::vector<SignatureSpec> signatures;
  std::vector<std::pair<std::string, uint32_t>> metadata;  // name, buffer

  SubgraphSpec& main() { return subgraphs[0]; }
  // Each returns an index: of the tensor in its subgraph, of the buffer, of the operator code.
  int AddTensor(const std::string& name, DType type, std::vector<int32_t> shape, int subgraph = 0);
  int AddInput(const std::string& name, DType type, std::vector<int32_t> shape, int subgraph = 0);
  int AddConstant(const std::string& name, DType type, std::vector<int32_t> shape, Bytes data,
                  int subgraph = 0);
  uint32_t AddBuffer(Bytes data);
  uint32_t AddCode(OpCode code, const std::string& custom = "");
  // Adds the operator (and its code when it is new); returns it for further changes.
  OpSpec& AddOp(OpCode code, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                const OptionsSpec& options = OptionsSpec(), int subgraph = 0);
};

Bytes BuildModel(const ModelSpec& spec);

// Numbers of options tables in the union BuiltinOptions.
enum OptionsType : uint8_t {
  kConv2dOptions = 1,
  kDepthwiseConv2dOptions = 2,
  kPool2dOptions = 5,
  kFullyConnectedOptions = 8,
  kSoftmaxOptions = 9,
  kConcatenationOptions = 10,
  kAddOptions = 11,
  kCallOptions = 16,
  kReshapeOptions = 17,
  kSkipGramOptions = 18,
  kSpaceToDepthOptions = 19,
  kMulOptions = 21,
  kGatherOptions = 23,
  kReducerOptions = 27,
  kDivOptions = 29,
  kSqueezeOptions = 30,
  kStridedSliceOptions = 32,
  kSplitOptions = 35,
  kArgMaxOptions = 40,
  kTransposeConvOptions = 49,
  kPackOptions = 59,
  kUnpackOptions = 64,
  kSplitVOptions = 79,
  kGatherNdOptions = 83,
  kIfOptions = 92,
  kWhileOptions = 93,
  kDepthToSpaceOptions = 94,
  kCallOnceOptions = 103,
  kHashtableOptions = 107,
  kVarHandleOptions = 111,
};

// Small sound models. Image: float CONV_2D, MAX_POOL_2D, FULLY_CONNECTED, SOFTMAX, with signature,
// metadata (normalisation, labels) and an appended zip. Loop: WHILE and IF over subgraphs. Odd: a
// sparse constant, a string constant, quantization, a variable, a custom operator.
Bytes ImageModel();
ModelSpec ImageSpec();
ModelSpec LoopSpec();
ModelSpec OddSpec();

// A file of a zip archive: `packed` is stored (method 0) or raw DEFLATE data (8) of a content with
// the given size and CRC.
struct ZipEntrySpec {
  std::string name;
  std::string packed;
  uint16_t method = 0;
  uint32_t size = 0, crc = 0;
  uint16_t flags = 0;
};
ZipEntrySpec StoredEntry(const std::string& name, const std::string& content);
// Offsets in the directory start from `base` (the model's size, as the metadata tools write them).
Bytes BuildZip(const std::vector<ZipEntrySpec>& entries, uint32_t base);
// ModelMetadata of one input, an image or, with a sample rate, audio, and one output with a labels
// file (empty name: none).
Bytes BuildMetadata(const std::vector<float>& mean, const std::vector<float>& std,
                    const std::string& labels_file, uint32_t sample_rate = 0);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_MODEL_BUILDER_H_
