// Operators whose options and inputs do not fit each other: found when the model is planned, or,
// where only data decides, when it runs. The model itself is well-formed and opens.
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/session/session.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {
namespace {

// An input of the operator under test: a constant, an input of the graph (with the values to run
// on), or left out.
struct OperandSpec {
  enum Kind { kMissing, kConstantValue, kGraphValue };
  Kind kind;
  DType type;
  std::vector<int32_t> shape;
  Bytes data;
};

OperandSpec Missing() { return {OperandSpec::kMissing, DType::kFloat32, {}, {}}; }
OperandSpec Floats(std::vector<int32_t> shape) {
  return {OperandSpec::kGraphValue, DType::kFloat32, std::move(shape), {}};
}
OperandSpec Constant(std::vector<int32_t> values) {
  const int32_t n = static_cast<int32_t>(values.size());
  return {OperandSpec::kConstantValue, DType::kInt32, {n}, ToBytes(values)};
}
OperandSpec Table(std::vector<int32_t> shape, std::vector<int32_t> values) {
  return {OperandSpec::kConstantValue, DType::kInt32, std::move(shape), ToBytes(values)};
}
OperandSpec ConstantScalar(int32_t value) { return Table({}, {value}); }
OperandSpec Weights(std::vector<int32_t> shape) {
  size_t n = 1;
  for (const int32_t dim : shape) n *= static_cast<size_t>(dim);
  return {OperandSpec::kConstantValue, DType::kFloat32, std::move(shape),
          ToBytes(std::vector<float>(n, 1.0f))};
}
OperandSpec AtRun(std::vector<int32_t> shape, std::vector<int32_t> values) {
  return {OperandSpec::kGraphValue, DType::kInt32, std::move(shape), ToBytes(values)};
}

struct OpCase {
  const char* what;
  StatusCode code;
  const char* message;
  OpCode op;
  std::vector<OperandSpec> inputs;
  OptionsSpec options;
  DType output;
  int n_outputs;
};

OpCase Case(const char* what, StatusCode code, const char* message, OpCode op,
            std::vector<OperandSpec> inputs, const OptionsSpec& options = OptionsSpec(),
            DType output = DType::kFloat32, int n_outputs = 1) {
  return {what, code, message, op, std::move(inputs), options, output, n_outputs};
}

Bytes OneOpModel(const OpCase& c, std::vector<Bytes>* values) {
  ModelSpec spec;
  std::vector<int32_t> inputs, outputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const OperandSpec& operand = c.inputs[i];
    const std::string name = "in" + std::to_string(i);
    if (operand.kind == OperandSpec::kMissing) {
      inputs.push_back(-1);
    } else if (operand.kind == OperandSpec::kConstantValue) {
      inputs.push_back(spec.AddConstant(name, operand.type, operand.shape, operand.data));
    } else {
      inputs.push_back(spec.AddInput(name, operand.type, operand.shape));
      values->push_back(operand.data);
    }
  }
  for (int i = 0; i < c.n_outputs; ++i) {
    outputs.push_back(spec.AddTensor("out" + std::to_string(i), c.output, {1}));
  }
  spec.AddOp(c.op, inputs, outputs, c.options);
  spec.main().outputs = outputs;
  return BuildModel(spec);
}

// The failure of opening, planning or running, whichever comes first.
Status OpenPlanRun(const OpCase& c) {
  std::vector<Bytes> values;
  const Bytes bytes = OneOpModel(c, &values);
  TW_ASSIGN_OR_RETURN(auto model, Model::OpenMemory(bytes.data(), bytes.size(), true));
  SessionOptions options;
  options.n_threads = 1;
  options.memory_limit_bytes = 64 << 20;
  TW_ASSIGN_OR_RETURN(auto session, Session::Create(model, options));
  for (int i = 0; i < session->n_inputs(); ++i) {
    const Bytes& data = values[static_cast<size_t>(i)];
    if (!data.empty()) std::memcpy(session->input(i).data, data.data(), data.size());
  }
  return session->Run();
}

constexpr StatusCode kModel = StatusCode::kInvalidModel;
constexpr StatusCode kNotHere = StatusCode::kUnsupported;
constexpr StatusCode kArgument = StatusCode::kInvalidArgument;
constexpr StatusCode kMemory = StatusCode::kOutOfMemory;

OptionsSpec Conv(int32_t stride_w, int32_t stride_h, int8_t padding = 0) {
  return OptionsSpec(kConv2dOptions).Byte(0, padding).Int(1, stride_w).Int(2, stride_h);
}

OptionsSpec Depthwise(int32_t stride, int32_t multiplier) {
  return OptionsSpec(kDepthwiseConv2dOptions).Int(1, stride).Int(2, stride).Int(3, multiplier);
}

OptionsSpec Pool(int32_t stride, int32_t size) {
  return OptionsSpec(kPool2dOptions).Int(1, stride).Int(2, stride).Int(3, size).Int(4, size);
}

OptionsSpec Slices(int32_t ellipsis) { return OptionsSpec(kStridedSliceOptions).Int(2, ellipsis); }

std::vector<OpCase> WindowCases() {
  const auto image = Floats({1, 4, 4, 2});
  return {
      Case("convolution of stride 0", kModel, "stride", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}, Conv(0, 1)),
      Case("convolution of negative stride", kModel, "stride", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}, Conv(1, -1)),
      Case("convolution without options", kModel, "stride", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}),
      Case("dilation 0", kModel, "dilation", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}, Conv(1, 1).Int(4, 0)),
      Case("convolution without filter", kModel, "input 1", OpCode::kConv2d,
           {image, Missing(), Missing()}, Conv(1, 1)),
      Case("filter without channels", kModel, "in1", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 0}), Missing()}, Conv(1, 1)),
      Case("filter whose channels do not divide the input's", kModel, "in1", OpCode::kConv2d,
           {image, Weights({4, 3, 3, 3}), Missing()}, Conv(1, 1)),
      Case("bias without elements", kModel, "in2", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Weights({0})}, Conv(1, 1)),
      Case("bias of another length", kModel, "in2", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Weights({4})}, Conv(1, 1)),
      Case("filter larger than the image", kModel,
           "window of height 9 is larger than the image's 4", OpCode::kConv2d,
           {image, Weights({3, 9, 9, 2}), Missing()}, Conv(1, 1, 1)),
      Case("image of rank 3", kModel, "rank", OpCode::kConv2d,
           {Floats({4, 4, 2}), Weights({3, 3, 3, 2}), Missing()}, Conv(1, 1)),
      Case("padding that does not exist", kModel, "padding 7", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}, Conv(1, 1, 7)),
      Case("activation that does not exist", kModel, "fused_activation_function 9", OpCode::kConv2d,
           {image, Weights({3, 3, 3, 2}), Missing()}, Conv(1, 1).Byte(3, 9)),
      Case("options of another operator", kModel,
           "operator #0 CONV_2D of subgraph #0 has options of type 5, its own type is 1",
           OpCode::kConv2d, {image, Weights({3, 3, 3, 2}), Missing()}, Pool(1, 2)),
      Case("pooling of stride 0", kModel, "stride", OpCode::kMaxPool2d, {image}, Pool(0, 2)),
      Case("pooling over nothing", kModel, "filter", OpCode::kAveragePool2d, {image}, Pool(1, 0)),
      Case("depthwise convolution without channels", kModel, "in0", OpCode::kDepthwiseConv2d,
           {Floats({1, 4, 4, 0}), Weights({1, 3, 3, 2}), Missing()}, Depthwise(1, 1)),
      Case("depthwise channels that do not fit", kModel, "channels", OpCode::kDepthwiseConv2d,
           {image, Weights({1, 3, 3, 3}), Missing()}, Depthwise(1, 5)),
      Case("depthwise convolution of stride 0", kModel, "stride", OpCode::kDepthwiseConv2d,
           {image, Weights({1, 3, 3, 2}), Missing()}, Depthwise(0, 1)),
      Case("transposed convolution to a negative shape", kModel, "[1, -8, 8, 3]",
           OpCode::kTransposeConv, {Constant({1, -8, 8, 3}), Weights({3, 3, 3, 2}), image},
           OptionsSpec(kTransposeConvOptions).Int(1, 2).Int(2, 2)),
      Case("weights that do not fit the features", kModel, "in1", OpCode::kFullyConnected,
           {Floats({2, 7}), Weights({3, 4}), Missing()}, OptionsSpec(kFullyConnectedOptions)),
      Case("weights without columns", kModel, "in1", OpCode::kFullyConnected,
           {Floats({2, 7}), Weights({3, 0}), Missing()}, OptionsSpec(kFullyConnectedOptions)),
      Case("resizing to nothing", kModel, "new size is 0 x 4", OpCode::kResizeBilinear,
           {image, Constant({0, 4})}),
      Case("resizing to a negative size", kModel, "new size is 4 x -4",
           OpCode::kResizeNearestNeighbor, {image, Constant({4, -4})}),
      Case("resizing beyond all memory", kModel, "too large", OpCode::kResizeBilinear,
           {image, Constant({2147483647, 2147483647})})};
}

std::vector<OpCase> ShapeCases() {
  const auto grid = Floats({2, 3});
  return {
      Case("operands that do not broadcast", kModel, "[2, 3]", OpCode::kAdd, {grid, Floats({2, 2})},
           OptionsSpec(kAddOptions)),
      Case("operand left out", kModel, "input 1", OpCode::kMul, {grid, Missing()},
           OptionsSpec(kMulOptions)),
      Case("mean over an axis that is not there", kModel, "axis", OpCode::kMean,
           {grid, Constant({2})}, OptionsSpec(kReducerOptions)),
      Case("mean over a negative axis that is not there", kModel, "axis", OpCode::kMean,
           {grid, Constant({-3})}, OptionsSpec(kReducerOptions)),
      Case("largest over an axis that is not there", kModel, "axis", OpCode::kArgMax,
           {grid, ConstantScalar(7)}, OptionsSpec(kArgMaxOptions).Byte(0, 2), DType::kInt32),
      Case("new dimension far before the first", kModel, "axis", OpCode::kExpandDims,
           {grid, ConstantScalar(-100000)}),
      Case("reshape to another number of elements", kModel, "the numbers of elements differ",
           OpCode::kReshape, {grid, Constant({4})}),
      Case("reshape with two open dimensions", kModel, "more than one dimension is -1",
           OpCode::kReshape, {grid, Constant({-1, -1})}),
      Case("reshape to a negative shape", kModel, "a dimension is below -1", OpCode::kReshape,
           {grid, Constant({-3, -2})}),
      Case("reshape to rank 9", kNotHere, "rank 9", OpCode::kReshape,
           {grid, Constant({1, 1, 1, 1, 1, 1, 1, 2, 3})}),
      Case("reshape whose product overflows", kModel, "the shape is too large", OpCode::kReshape,
           {grid, Constant({65536, 65536, 65536, 65536})}),
      Case("concatenation beyond 32 bits", kModel, "4294967294", OpCode::kConcatenation,
           {Floats({2147483647, 0}), Floats({2147483647, 0})}, OptionsSpec(kConcatenationOptions)),
      Case("concatenation of unequal shapes", kModel, "[2, 3]", OpCode::kConcatenation,
           {grid, Floats({2, 4})}, OptionsSpec(kConcatenationOptions)),
      Case("concatenation along an axis that is not there", kModel, "axis", OpCode::kConcatenation,
           {grid, grid}, OptionsSpec(kConcatenationOptions).Int(0, 5)),
      Case("transposition that repeats an axis", kModel, "names dimension 0 twice",
           OpCode::kTranspose, {grid, Constant({0, 0})}),
      Case("transposition by axes that are not there", kModel, "-9 is outside [-2, 2)",
           OpCode::kTranspose, {grid, Constant({0, -9})}),
      Case("negative padding", kModel, "padding is -1", OpCode::kPad,
           {grid, Table({2, 2}, {0, -1, 0, 0})}),
      Case("padding of another rank", kModel, "in1", OpCode::kPad, {grid, Table({1, 2}, {0, 1})}),
      Case("mirror wider than the image", kModel, "paddings 9 and 0 of dimension 0",
           OpCode::kMirrorPad, {grid, Table({2, 2}, {9, 0, 0, 0})}),
      Case("split that does not divide", kModel, "does not divide into 2", OpCode::kSplit,
           {ConstantScalar(1), grid}, OptionsSpec(kSplitOptions).Int(0, 2), DType::kFloat32, 2),
      Case("split into nothing", kModel, "num_splits", OpCode::kSplit, {ConstantScalar(1), grid},
           OptionsSpec(kSplitOptions).Int(0, 0), DType::kFloat32, 2),
      Case("split sizes left out", kModel, "input 1", OpCode::kSplitV,
           {grid, Missing(), ConstantScalar(1)}, OptionsSpec(kSplitVOptions).Int(0, 2),
           DType::kFloat32, 2),
      Case("split sizes that do not add up", kModel, "sum up to 2, the dimension is 3",
           OpCode::kSplitV, {grid, Constant({1, 1}), ConstantScalar(1)},
           OptionsSpec(kSplitVOptions).Int(0, 2), DType::kFloat32, 2),
      Case("squeeze of a dimension that is not 1", kModel, "which is not 1", OpCode::kSqueeze,
           {grid}, OptionsSpec(kSqueezeOptions).Ints(0, {1})),
      Case("squeeze of an axis that is not there", kModel, "squeeze_dims 11 is outside",
           OpCode::kSqueeze, {grid}, OptionsSpec(kSqueezeOptions).Ints(0, {11})),
      Case("pack of unequal shapes", kModel, "[2, 3]", OpCode::kPack, {grid, Floats({3, 2})},
           OptionsSpec(kPackOptions).Int(0, 2)),
      Case("unpack into a wrong number", kModel, "num", OpCode::kUnpack, {grid},
           OptionsSpec(kUnpackOptions).Int(0, 3), DType::kFloat32, 3),
      Case("block size 0", kModel, "block_size", OpCode::kSpaceToDepth, {Floats({1, 4, 4, 1})},
           OptionsSpec(kSpaceToDepthOptions).Int(0, 0)),
      Case("negative block size", kModel, "block_size", OpCode::kDepthToSpace,
           {Floats({1, 4, 4, 4})}, OptionsSpec(kDepthToSpaceOptions).Int(0, -2)),
      Case("slice of stride 0", kModel, "stride 1 is 0", OpCode::kStridedSlice,
           {grid, Constant({0, 0}), Constant({2, 3}), Constant({1, 0})}, Slices(0)),
      Case("slice with two ellipses", kModel, "2 ellipses", OpCode::kStridedSlice,
           {grid, Constant({0, 0}), Constant({2, 3}), Constant({1, 1})}, Slices(3)),
      Case("slice with more entries than dimensions", kModel, "3 indices", OpCode::kStridedSlice,
           {grid, Constant({0, 0, 0}), Constant({1, 1, 1}), Constant({1, 1, 1})}, Slices(0)),
      Case("slice that reaches outside", kModel, "begin 2 and size 2", OpCode::kSlice,
           {grid, Constant({0, 2}), Constant({2, 2})}),
      Case("tile beyond all memory", kModel, "4294967294", OpCode::kTile,
           {grid, Constant({2147483647, 2147483647})}),
      Case("negative tile", kModel, "multiple is -1", OpCode::kTile, {grid, Constant({1, -1})}),
      Case("fill of a negative shape", kModel, "dimension of the output is -5", OpCode::kFill,
           {Constant({-5}), Weights({})}),
      Case("fill beyond the memory limit", kMemory, "the memory limit is 67108864", OpCode::kFill,
           {Constant({60000000}), Weights({})}),
      Case("range that never ends", kModel, "delta", OpCode::kRange,
           {ConstantScalar(0), ConstantScalar(5), ConstantScalar(0)}, OptionsSpec(), DType::kInt32),
      Case("matrices that do not fit", kModel, "[2, 3] and [4, 5]", OpCode::kBatchMatmul,
           {grid, Floats({4, 5})}),
      Case("broadcast to a smaller shape", kModel, "[2, 3]", OpCode::kBroadcastTo,
           {grid, Constant({3})}),
      Case("more of the largest than there are", kModel, "k is 4", OpCode::kTopkV2,
           {grid, ConstantScalar(4)}, OptionsSpec(), DType::kFloat32, 2),
      Case("an operator that does not exist here", kNotHere, "CONCAT_EMBEDDINGS",
           OpCode::kConcatEmbeddings, {grid, Constant({0, 1})}),
      Case("sparse lookup without a dense shape", kModel, "lacks its input 2",
           OpCode::kEmbeddingLookupSparse, {grid, Constant({0, 1})}),
      Case("transposed volume convolution without data", kModel, "lacks its input 2",
           OpCode::kConv3dTranspose, {grid, grid})};
}

std::vector<OpCase> IndexCases() {
  const auto grid = Floats({2, 3});
  return {Case("gather of an index that is not there", kArgument, "index 7", OpCode::kGather,
               {grid, AtRun({2}, {0, 7})}, OptionsSpec(kGatherOptions)),
          Case("gather of a negative index", kArgument, "index -1", OpCode::kGather,
               {grid, AtRun({1}, {-1})}, OptionsSpec(kGatherOptions)),
          Case("gather from nothing", kArgument, "index 0", OpCode::kGather,
               {Floats({0, 3}), AtRun({1}, {0})}, OptionsSpec(kGatherOptions)),
          Case("gather along an axis that is not there", kModel, "axis", OpCode::kGather,
               {grid, AtRun({1}, {0})}, OptionsSpec(kGatherOptions).Int(0, 2)),
          Case("gather_nd of an index that is not there", kArgument, "index 3", OpCode::kGatherNd,
               {grid, AtRun({1, 2}, {1, 3})}),
          Case("gather_nd of a negative index", kArgument, "index -1", OpCode::kGatherNd,
               {grid, AtRun({1, 2}, {-1, 0})}),
          Case("gather_nd from nothing", kArgument, "index 0", OpCode::kGatherNd,
               {Floats({0, 3}), AtRun({1, 2}, {0, 0})}),
          Case("gather_nd with too many coordinates", kModel, "in1", OpCode::kGatherNd,
               {grid, AtRun({1, 3}, {0, 0, 0})}),
          Case("scatter_nd outside its output", kArgument, "index 4", OpCode::kScatterNd,
               {AtRun({1, 1}, {4}), Floats({1}), Constant({4})}),
          Case("scatter_nd before its output", kArgument, "index -1", OpCode::kScatterNd,
               {AtRun({1, 1}, {-1}), Floats({1}), Constant({4})}),
          Case("embedding of a word that is not there", kArgument, "index 2",
               OpCode::kEmbeddingLookup, {AtRun({1}, {2}), Weights({2, 3})}),
          Case("integer division by 0", kArgument, "cannot be divided by 0", OpCode::kDiv,
               {AtRun({1}, {5}), AtRun({1}, {0})}, OptionsSpec(kDivOptions), DType::kInt32),
          Case("integer floor division by 0", kArgument, "cannot be divided by 0",
               OpCode::kFloorDiv, {AtRun({1}, {5}), AtRun({1}, {0})}, OptionsSpec(), DType::kInt32),
          Case("integer remainder by 0", kArgument, "cannot be divided by 0", OpCode::kFloorMod,
               {AtRun({1}, {5}), AtRun({1}, {0})}, OptionsSpec(), DType::kInt32),
          Case("sequence longer than it is", kArgument, "length 9", OpCode::kReverseSequence,
               {grid, AtRun({2}, {1, 9})}, OptionsSpec(87).Int(0, 1)),
          Case("reshape known only at run time, to another size", kModel, "to [5]",
               OpCode::kReshape, {grid, AtRun({1}, {5})})};
}

void CheckOps(const std::vector<OpCase>& cases) {
  for (const OpCase& c : cases) {
    // Where addresses have 32 bits, its inputs are too large already.
    if (sizeof(size_t) == 4 && std::strcmp(c.what, "concatenation beyond 32 bits") == 0) continue;
    const Status status = OpenPlanRun(c);
    INFO(c.what << " gave " << status.ToString());
    CHECK(status.code() == c.code);
    CHECK_THAT(status.message(), Catch::Contains(c.message));
    if (c.code != kMemory) CHECK_THAT(status.message(), Catch::Contains(OpCodeName(c.op)));
  }
}

}  // namespace

TEST_CASE("malformed operators: windows", "[format]") { CheckOps(WindowCases()); }
TEST_CASE("malformed operators: shapes and axes", "[format]") { CheckOps(ShapeCases()); }
TEST_CASE("malformed operators: indices known only at run time", "[format]") {
  CheckOps(IndexCases());
}

}  // namespace test
}  // namespace topwork
