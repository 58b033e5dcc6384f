// The table of names, and of the attributes that are parameters (see flex_ops.h).
#include "kernels/contract/flex_ops.h"

#include <algorithm>
#include <cstring>

#include "kernels/contract/flex_map.h"
#include "kernels/contract/kernel.h"
#include "kernels/contract/node_def.h"

namespace topwork {
namespace {

// Operators whose names differ from the builtin ones by '_' and case alone.
constexpr OpCode kSameNames[] = {
    OpCode::kAbs,
    OpCode::kAdd,
    OpCode::kAddN,
    OpCode::kArgMax,
    OpCode::kArgMin,
    OpCode::kAtan2,
    OpCode::kBatchMatmul,
    OpCode::kBatchToSpaceNd,
    OpCode::kBitcast,
    OpCode::kBitwiseXor,
    OpCode::kBroadcastArgs,
    OpCode::kBroadcastTo,
    OpCode::kCast,
    OpCode::kCeil,
    OpCode::kComplexAbs,
    OpCode::kCos,
    OpCode::kCumsum,
    OpCode::kDepthToSpace,
    OpCode::kDiv,
    OpCode::kElu,
    OpCode::kEqual,
    OpCode::kExp,
    OpCode::kExpandDims,
    OpCode::kFill,
    OpCode::kFloor,
    OpCode::kFloorDiv,
    OpCode::kFloorMod,
    OpCode::kGather,
    OpCode::kGatherNd,
    OpCode::kGreater,
    OpCode::kGreaterEqual,
    OpCode::kImag,
    OpCode::kLeakyRelu,
    OpCode::kLess,
    OpCode::kLessEqual,
    OpCode::kLog,
    OpCode::kLogSoftmax,
    OpCode::kLogicalAnd,
    OpCode::kLogicalNot,
    OpCode::kLogicalOr,
    OpCode::kMatrixDiag,
    OpCode::kMatrixSetDiag,
    OpCode::kMaximum,
    OpCode::kMean,
    OpCode::kMinimum,
    OpCode::kMirrorPad,
    OpCode::kMul,
    OpCode::kMultinomial,
    OpCode::kNeg,
    OpCode::kNotEqual,
    OpCode::kOneHot,
    OpCode::kPack,
    OpCode::kPad,
    OpCode::kPadv2,
    OpCode::kPow,
    OpCode::kRandomStandardNormal,
    OpCode::kRandomUniform,
    OpCode::kRange,
    OpCode::kRank,
    OpCode::kReal,
    OpCode::kRelu,
    OpCode::kRelu6,
    OpCode::kReshape,
    OpCode::kResizeBilinear,
    OpCode::kResizeNearestNeighbor,
    OpCode::kReverseSequence,
    OpCode::kReverseV2,
    OpCode::kRfft2d,
    OpCode::kRightShift,
    OpCode::kRound,
    OpCode::kRsqrt,
    OpCode::kScatterNd,
    OpCode::kSegmentSum,
    OpCode::kSelect,
    OpCode::kSelectV2,
    OpCode::kShape,
    OpCode::kSign,
    OpCode::kSin,
    OpCode::kSlice,
    OpCode::kSoftmax,
    OpCode::kSpaceToBatchNd,
    OpCode::kSpaceToDepth,
    OpCode::kSparseToDense,
    OpCode::kSplit,
    OpCode::kSplitV,
    OpCode::kSqrt,
    OpCode::kSquare,
    OpCode::kSquaredDifference,
    OpCode::kSqueeze,
    OpCode::kStridedSlice,
    OpCode::kSub,
    OpCode::kSum,
    OpCode::kTanh,
    OpCode::kTile,
    OpCode::kTopkV2,
    OpCode::kTranspose,
    OpCode::kUnique,
    OpCode::kUnpack,
    OpCode::kUnsortedSegmentMax,
    OpCode::kUnsortedSegmentMin,
    OpCode::kUnsortedSegmentProd,
    OpCode::kUnsortedSegmentSum,
    OpCode::kWhere,
    OpCode::kZerosLike,
};

struct CodeSet {
  uint64_t bits[4] = {};
  constexpr CodeSet() {
    for (const OpCode code : kSameNames) {
      bits[static_cast<size_t>(code) / 64] |= uint64_t{1} << static_cast<size_t>(code) % 64;
    }
  }
};
constexpr CodeSet kSame;

struct OtherName {
  char name[16];
  OpCode code;
};
// A CAST that changes no type copies.
constexpr OtherName kOtherNames[] = {
    {"AddV2", OpCode::kAdd},
    {"All", OpCode::kReduceAll},
    {"Any", OpCode::kReduceAny},
    {"AvgPool", OpCode::kAveragePool2d},
    {"BatchMatMulV2", OpCode::kBatchMatmul},
    {"BatchMatMulV3", OpCode::kBatchMatmul},
    {"BiasAdd", OpCode::kAdd},
    {"ConcatV2", OpCode::kConcatenation},
    {"EnsureShape", OpCode::kCast},
    {"GatherV2", OpCode::kGather},
    {"Identity", OpCode::kCast},
    {"LRN", OpCode::kLocalResponseNormalization},
    {"MatMul", OpCode::kBatchMatmul},
    {"Max", OpCode::kReduceMax},
    {"MaxPool", OpCode::kMaxPool2d},
    {"Min", OpCode::kReduceMin},
    {"PreventGradient", OpCode::kCast},
    {"Prod", OpCode::kReduceProd},
    {"RealDiv", OpCode::kDiv},
    {"Rint", OpCode::kRound},
    {"Sigmoid", OpCode::kLogistic},
    {"Snapshot", OpCode::kCast},
    {"StopGradient", OpCode::kCast},
    {"SubV2", OpCode::kSub},
    {"TruncateDiv", OpCode::kDiv},
};

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Whether "SelectV2" is the name of SELECT_V2.
bool IsNameOf(const char* name, OpCode code) {
  const char* builtin = OpCodeName(code);
  for (; *builtin != 0; ++builtin) {
    if (*builtin == '_') continue;
    if (Upper(*name) != *builtin) return false;
    ++name;
  }
  return *name == 0;
}

Status ReadPool(const NodeDef& attributes, OpParams* params) {
  int32_t size[4] = {}, stride[4] = {};
  const bool same = attributes.Is("padding", "SAME");
  if (attributes.Ints("ksize", 4, size) != 4 || attributes.Ints("strides", 4, stride) != 4 ||
      size[0] != 1 || size[3] != 1 || stride[0] != 1 || stride[3] != 1 ||
      (!same && !attributes.Is("padding", "VALID"))) {
    return Unsupported("its window is not one of height and width, padded as SAME or VALID");
  }
  params->padding = same ? Padding::kSame : Padding::kValid;
  params->filter_h = size[1];
  params->filter_w = size[2];
  params->stride_h = stride[1];
  params->stride_w = stride[2];
  return Status::Ok();
}

// NodeDef that are parameters. Those that an operator lacks get their defaults, and no two
// operators mean different things by a name; but BATCH_MATMUL has two names for each of its own.
struct IntRow {
  char key[20];
  int32_t OpParams::*to;
};
constexpr IntRow kInts[] = {
    {"num_split", &OpParams::num_splits},
    {"num", &OpParams::count},
    {"N", &OpParams::count},
    {"begin_mask", &OpParams::begin_mask},
    {"end_mask", &OpParams::end_mask},
    {"ellipsis_mask", &OpParams::ellipsis_mask},
    {"new_axis_mask", &OpParams::new_axis_mask},
    {"shrink_axis_mask", &OpParams::shrink_axis_mask},
    {"seq_dim", &OpParams::seq_dim},
    {"batch_dim", &OpParams::batch_dims},
    {"batch_dims", &OpParams::batch_dims},
    {"block_size", &OpParams::block_size},
    {"axis", &OpParams::axis},
    {"depth_radius", &OpParams::radius},
};
struct BoolRow {
  char key[20];
  bool OpParams::*to;
};
constexpr BoolRow kBools[] = {
    {"keep_dims", &OpParams::keep_dims},
    {"exclusive", &OpParams::exclusive},
    {"reverse", &OpParams::reverse},
    {"align_corners", &OpParams::align_corners},
    {"half_pixel_centers", &OpParams::half_pixel_centers},
    {"adj_x", &OpParams::adj_x},
    {"adj_y", &OpParams::adj_y},
    {"transpose_a", &OpParams::adj_x},
    {"transpose_b", &OpParams::adj_y},
};
struct FloatRow {
  char key[8];
  float OpParams::*to;
};
constexpr FloatRow kFloats[] = {
    {"alpha", &OpParams::alpha}, {"beta", &OpParams::beta}, {"bias", &OpParams::bias}};

// The builtin operators that stand for TruncateDiv and Mean round otherwise in some types.
Status CheckRounding(const NodeDef& attributes, OpCode code, Span<const uint8_t> options) {
  enum Type : int64_t { kFloat = 1, kDouble = 2, kUInt8 = 4, kInt16 = 5, kInt8 = 6, kHalf = 19 };
  const int64_t type = attributes.Int("T", 0);
  const bool real = type == kFloat || type == kDouble || type == kHalf;
  if (code == OpCode::kDiv && real && IsText(FlexTextOf(options, 0), "TruncateDiv")) {
    return Unsupported("cutting off the fractions of quotients of real numbers is not supported");
  }
  if (code == OpCode::kMean && (type == kUInt8 || type == kInt16 || type == kInt8)) {
    return Unsupported(
        "cutting off the fractions of means of 8-bit and 16-bit integers is not supported");
  }
  return Status::Ok();
}

// What the parameters are where the attributes are missing.
void SetDefaults(OpCode code, OpParams* params) {
  if (code == OpCode::kLeakyRelu) params->alpha = 0.2f;
  if (code == OpCode::kSoftmax) params->beta = 1.0f;
  if (code == OpCode::kOneHot) params->axis = -1;
  if (code != OpCode::kLocalResponseNormalization) return;
  params->radius = 5;
  params->count = 1;
  params->bias = params->alpha = 1.0f;
  params->beta = 0.5f;
}

}  // namespace

const OpDef* FindFlexOp(const char* name) {
  if (std::strncmp(name, "Flex", 4) != 0) return nullptr;
  name += 4;
  for (size_t i = 0; i < kNumOpCodes; ++i) {
    const OpCode code = static_cast<OpCode>(i);
    if ((kSame.bits[i / 64] >> i % 64 & 1) != 0 && IsNameOf(name, code)) return FindOp(code);
  }
  for (const OtherName& other : kOtherNames) {
    if (std::strcmp(name, other.name) == 0) return FindOp(other.code);
  }
  return nullptr;
}

Status ReadFlexOptions(OpCode code, size_t n_inputs, OpParams* params) {
  const Span<const uint8_t> node = FlexTextOf(params->custom_options, 1);
  if (node.empty()) return InvalidModel("its options hold no NodeDef");
  const NodeDef attributes(node);
  TW_RETURN_IF_ERROR(CheckRounding(attributes, code, params->custom_options));
  if (attributes.Is("data_format", "NCHW")) return Unsupported("its images are NCHW");
  SetDefaults(code, params);
  for (const IntRow& row : kInts) {
    params->*row.to = attributes.Int32(row.key, params->*row.to);
  }
  for (const BoolRow& row : kBools) {
    params->*row.to = attributes.Int(row.key, params->*row.to) != 0;
  }
  for (const FloatRow& row : kFloats) {
    params->*row.to = attributes.Float(row.key, params->*row.to);
  }
  params->seed = attributes.Int("seed", 0);
  params->seed2 = attributes.Int("seed2", 0);
  params->mode = attributes.Is("mode", "SYMMETRIC") ? 1 : 0;
  if (code == OpCode::kSqueeze) {
    params->n_dims = std::min(kMaxRank, attributes.Ints("squeeze_dims", kMaxRank, params->dims));
  }
  const bool is_unique = code == OpCode::kUnique;
  if (is_unique || code == OpCode::kShape) {
    constexpr int64_t kTensorFlowInt64 = 9;
    const int64_t type = attributes.Int(is_unique ? "out_idx" : "out_type", 0);
    params->out_dtype = type == kTensorFlowInt64 ? DType::kInt64 : DType::kInt32;
  }
  params->as_float32 = code == OpCode::kResizeBilinear && n_inputs > 0;
  params->axis_is_input = n_inputs > 1 && (code == OpCode::kConcatenation ||
                                           (code == OpCode::kGather && n_inputs == 3));
  const bool pools = code == OpCode::kAveragePool2d || code == OpCode::kMaxPool2d;
  return pools ? ReadPool(attributes, params) : Status::Ok();
}

}  // namespace topwork
