// Operators that move data on random tensors and parameters, sound or not: prepare answers with a
// Status or accepts, what it accepts runs or answers with a Status, and nothing is read or written
// out of bounds (the sanitizer builds see that). Values are small, negative or extreme numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>

#include "tests/support/one_op.h"

namespace topwork {
namespace test {
namespace {

// Inputs of a likely operator. Floats: x of one random shape, u [2], f one value, d the diagonal of
// x. Integers: r one per dimension of x, v a vector, o [1], s one value, m [rank of x, 2], b and q
// one per dimension of x but the first and last ([n] and [n, 2]), w [2, 1].
struct Recipe {
  OpCode code;
  const char* inputs;
  DType output;
};

constexpr Recipe kRecipes[] = {
    {OpCode::kReshape, "xv", DType::kFloat32},
    {OpCode::kSqueeze, "x", DType::kFloat32},
    {OpCode::kExpandDims, "xs", DType::kFloat32},
    {OpCode::kShape, "x", DType::kInt32},
    {OpCode::kRank, "x", DType::kInt32},
    {OpCode::kFill, "vf", DType::kFloat32},
    {OpCode::kTile, "xr", DType::kFloat32},
    {OpCode::kBroadcastTo, "xv", DType::kFloat32},
    {OpCode::kBroadcastArgs, "vv", DType::kInt32},
    {OpCode::kRange, "sss", DType::kInt32},
    {OpCode::kPack, "xx", DType::kFloat32},
    {OpCode::kUnpack, "x", DType::kFloat32},
    {OpCode::kSplit, "sx", DType::kFloat32},
    {OpCode::kSplitV, "xvs", DType::kFloat32},
    {OpCode::kConcatenation, "xx", DType::kFloat32},
    {OpCode::kSlice, "xrr", DType::kFloat32},
    {OpCode::kStridedSlice, "xrrr", DType::kFloat32},
    {OpCode::kTranspose, "xr", DType::kFloat32},
    {OpCode::kPad, "xm", DType::kFloat32},
    {OpCode::kPadv2, "xmf", DType::kFloat32},
    {OpCode::kMirrorPad, "xm", DType::kFloat32},
    {OpCode::kGather, "xv", DType::kFloat32},
    {OpCode::kGatherNd, "xv", DType::kFloat32},
    {OpCode::kScatterNd, "wuo", DType::kFloat32},
    {OpCode::kReverseV2, "xo", DType::kFloat32},
    {OpCode::kReverseSequence, "xv", DType::kFloat32},
    {OpCode::kSpaceToDepth, "x", DType::kFloat32},
    {OpCode::kDepthToSpace, "x", DType::kFloat32},
    {OpCode::kSpaceToBatchNd, "xbq", DType::kFloat32},
    {OpCode::kBatchToSpaceNd, "xbq", DType::kFloat32},
    {OpCode::kOneHot, "vsff", DType::kFloat32},
    {OpCode::kEmbeddingLookup, "vx", DType::kFloat32},
    {OpCode::kDynamicUpdateSlice, "xxr", DType::kFloat32},
    {OpCode::kMatrixDiag, "x", DType::kFloat32},
    {OpCode::kMatrixSetDiag, "xd", DType::kFloat32},
    {OpCode::kSparseToDense, "wouf", DType::kFloat32},
    {OpCode::kWhere, "x", DType::kInt64},
    {OpCode::kBitcast, "x", DType::kInt32},
};

class RandomOps {
 public:
  explicit RandomOps(uint32_t seed) : random_(seed) {}

  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  int32_t Number() {
    constexpr int32_t kNumbers[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, -1, -1, -2};
    constexpr int32_t kExtremes[] = {INT32_MAX, INT32_MIN, 1 << 16, 1 << 30, -100000};
    if (Pick(40) == 0) return kExtremes[Pick(static_cast<int>(std::size(kExtremes)))];
    return kNumbers[Pick(static_cast<int>(std::size(kNumbers)))];
  }

  Shape RandomShape() {
    Shape shape;
    const int rank = Pick(10) == 0 ? Pick(9) : Pick(5);
    for (int d = 0; d < rank; ++d) shape.Append(Pick(12) == 0 ? 0 : 1 + Pick(3));
    return shape;
  }

  // A tensor that could be an axis, a shape or a list of indices.
  void AddNumbers(OneOp* op, const Shape& shape) {
    const size_t n = static_cast<size_t>(shape.NumElements());
    std::vector<int32_t> values(n);
    for (int32_t& value : values) value = Number();
    const std::vector<int64_t> wide(values.begin(), values.end());
    if (Pick(6) == 0) {
      op->In<int64_t>(shape, wide);
    } else {
      op->In<int32_t>(shape, values);
    }
  }

  void AddFloats(OneOp* op, const Shape& shape) {
    op->In<float>(shape, std::vector<float>(static_cast<size_t>(shape.NumElements()), 1.0f));
  }

  // One input in eight is not what the recipe says.
  void AddInput(OneOp* op, char kind, const Shape& x) {
    constexpr char kKinds[] = "xufdrvosmbqw";
    const int surprise = Pick(32);
    if (surprise == 0) {
      op->Missing();
      return;
    }
    if (surprise == 1) {
      op->Unknown(static_cast<DType>(Pick(kNumDTypes)), Shape({2, Number() & INT32_MAX}));
      return;
    }
    if (surprise < 4) kind = kKinds[Pick(static_cast<int>(std::size(kKinds)) - 1)];
    const int rank = x.rank();
    const int middle = std::max(rank - 2, 0);
    switch (kind) {
      case 'x':
        return AddFloats(op, surprise == 4 ? RandomShape() : x);
      case 'u':
        return AddFloats(op, Shape({2}));
      case 'f':
        return AddFloats(op, Shape());
      case 'd': {
        Shape diagonal(x.dims(), middle);
        if (rank >= 2) diagonal.Append(std::min(x.dim(rank - 2), x.dim(rank - 1)));
        return AddFloats(op, diagonal);
      }
      case 'r':
        return AddNumbers(op, Shape({rank}));
      case 'v':
        return AddNumbers(op, Shape({Pick(4)}));
      case 'o':
        return AddNumbers(op, Shape({1}));
      case 's':
        return AddNumbers(op, Shape());
      case 'm':
        return AddNumbers(op, Shape({rank, 2}));
      case 'b':
        return AddNumbers(op, Shape({middle}));
      case 'q':
        return AddNumbers(op, Shape({middle, 2}));
      default:
        return AddNumbers(op, Shape({2, 1}));
    }
  }

  void RandomParams(OpParams* params) {
    params->axis = Number();
    params->batch_dims = Pick(2) == 0 ? 0 : Number();
    params->seq_dim = Number();
    params->count = params->num_splits = 1 + Pick(3);
    params->block_size = Number();
    params->mode = static_cast<uint8_t>(Pick(2));
    params->n_dims = Pick(4) - 1;
    for (int32_t& dim : params->dims) dim = Number();
    for (int32_t* mask : {&params->begin_mask, &params->end_mask, &params->ellipsis_mask,
                          &params->new_axis_mask, &params->shrink_axis_mask}) {
      *mask = Pick(3) == 0 ? Number() : 0;
    }
    params->offset = Pick(8) == 0;
    params->out_dtype = Pick(2) == 0 ? DType::kInt32 : DType::kInt64;
  }

 private:
  std::mt19937 random_;
};

// How many of the random operators were run to the end.
int RunRandomOps(const Recipe& recipe, uint32_t seed, int rounds) {
  RandomOps random(seed);
  int n_run = 0;
  for (int round = 0; round < rounds; ++round) {
    OneOp op(recipe.code);
    random.RandomParams(&op.params);
    const Shape x = random.RandomShape();
    for (const char* kind = recipe.inputs; *kind != 0; ++kind) random.AddInput(&op, *kind, x);
    const int n_outputs = random.Pick(4) == 0 ? random.Pick(4) : 1;
    const DType dtype = random.Pick(9) == 0 ? DType::kInt64 : recipe.output;
    for (int i = 0; i < n_outputs; ++i) op.Out(dtype);
    const Status prepared = op.Prepare();
    if (!prepared.ok()) {
      const bool says_why = prepared.code() != StatusCode::kInternal &&
                            prepared.message().rfind("operator #0 ", 0) == 0;
      if (!says_why) FAIL_CHECK(prepared.ToString());
      continue;
    }
    size_t bytes = 0;
    for (const TensorView& output : op.context().outputs()) {
      bytes = std::max(bytes, output.bytes());
    }
    if (bytes > 100000 || !op.has_all_values()) continue;
    const Status status = op.Run();
    if (status.ok()) ++n_run;
    if (!status.ok() && status.code() != StatusCode::kInvalidArgument) {
      FAIL_CHECK(status.ToString());
    }
  }
  return n_run;
}

}  // namespace

TEST_CASE("operators that move data survive random tensors", "[ops]") {
  for (const Recipe& recipe : kRecipes) {
    INFO(OpCodeName(recipe.code));
    CHECK(RunRandomOps(recipe, 1000 + static_cast<uint32_t>(recipe.code), 4000) > 4);
  }
}

}  // namespace test
}  // namespace topwork
