// STABLEHLO_GATHER: copies boxes of size `slice_sizes` out of input 0. An index vector of input 1
// gives the place of each box, which is moved so that it lies inside.
//
// The output's dimensions `offset_dims` are those of a box without `collapsed_slice_dims`; the
// others are the batch dimensions of the indices. Elements of 8 bits or more, of any type.
#include <algorithm>

#include "kernels/ops/movement/index_vectors.h"
#include "kernels/ops/shared/indexing.h"
#include "kernels/ops/shared/strided_copy.h"

namespace topwork {
namespace {

struct GatherState : OpState {
  IndexVectors vectors;
  int64_t out_step[kMaxRank] = {};  // of batch dimensions, in bytes
  int64_t last[kMaxRank] = {};      // start of a box, at most
  int64_t src_step[kMaxRank] = {};
  StridedCopy box;
  int64_t n_boxes = 1, box_bytes = 0;
};

Status Parse(const OptionsView& options, OpParams* params) {
  if (!options.present()) return InvalidModel("its options are missing");
  params->options = options;
  return Status::Ok();
}

Status ReadBox(const PrepareContext& context, int64_t* sizes) {
  const LongList list = context.params().options.LongVector(4);
  const Shape& shape = context.input(0)->shape;
  bool fits = list.size() == static_cast<size_t>(shape.rank());
  for (int d = 0; fits && d < shape.rank(); ++d) {
    sizes[d] = list[static_cast<size_t>(d)];
    fits = sizes[d] >= 0 && sizes[d] <= shape.dim(d);
  }
  if (fits) return Status::Ok();
  return context.Invalid("its slice_sizes do not fit into {} of shape {}", context.InputName(0),
                         shape.ToString());
}

// The output's shape: batch dimensions and kept dimensions of the box in the order of the output.
Status OutputShape(const PrepareContext& context, const std::vector<int>& kept,
                   const int64_t* sizes, const IndexVectors& vectors, std::vector<int>* offset_dims,
                   Shape* out) {
  const int rank = vectors.n_batch + static_cast<int>(kept.size());
  TW_RETURN_IF_ERROR(CheckOutputRank(context, rank));
  TW_RETURN_IF_ERROR(ReadDims(context, 0, "offset_dims", rank, offset_dims));
  if (offset_dims->size() != kept.size()) {
    return context.Invalid("it has {} offset_dims, {} expected", offset_dims->size(), kept.size());
  }
  std::sort(offset_dims->begin(), offset_dims->end());
  for (int d = 0, b = 0; d < rank; ++d) {
    const int64_t n =
        Contains(*offset_dims, d) ? sizes[kept[static_cast<size_t>(d - b)]] : vectors.batch[b++];
    out->Append(static_cast<int32_t>(n));
  }
  return Status::Ok();
}

Status Prepare(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  TW_RETURN_IF_ERROR(CheckMovable(context, 0));
  const TensorView& operand = *context.input(0);
  const int rank = operand.shape.rank();
  GatherState* s = context.NewState<GatherState>();
  int64_t sizes[kMaxRank] = {};
  TW_RETURN_IF_ERROR(ReadBox(context, sizes));
  std::vector<int> collapsed, map, kept, offset_dims;
  TW_RETURN_IF_ERROR(ReadDims(context, 1, "collapsed_slice_dims", rank, &collapsed));
  TW_RETURN_IF_ERROR(ReadDims(context, 2, "start_index_map", rank, &map));
  TW_RETURN_IF_ERROR(
      PlanIndexVectors(context, context.params().options.Long(3, 0), map, &s->vectors));
  for (int d = 0; d < rank; ++d) {
    if (!Contains(collapsed, d)) kept.push_back(d);
    s->last[d] = operand.shape.dim(d) - sizes[d];
  }
  Shape out;
  TW_RETURN_IF_ERROR(OutputShape(context, kept, sizes, s->vectors, &offset_dims, &out));
  TW_RETURN_IF_ERROR(context.SetOutput(0, operand.dtype, out));
  const int64_t element = ElementBytes(operand);
  int64_t dst[kMaxRank];
  ContiguousStrides(operand.shape, element, s->src_step);
  ContiguousStrides(out, element, dst);
  s->box = StridedCopy(element);
  s->box_bytes = element;
  for (int d = 0, b = 0; d < out.rank(); ++d) {
    if (Contains(offset_dims, d)) {
      s->box.AddDim(out.dim(d), s->src_step[kept[static_cast<size_t>(d - b)]], dst[d]);
      s->box_bytes *= out.dim(d);
    } else {
      s->n_boxes *= out.dim(d);
      s->out_step[b++] = dst[d];
    }
  }
  s->box.Finish();
  return Status::Ok();
}

Status Run(const RunContext& context) {
  const GatherState& s = context.get_state<GatherState>();
  const uint8_t* from = context.input_data<uint8_t>(0);
  uint8_t* to = context.output_data<uint8_t>(0);
  // A lone box is cut up by its own copy.
  ThreadPool* const inner = s.n_boxes == 1 ? context.pool : nullptr;
  if (context.in(0).shape.NumElements() == 0 && context.out(0).bytes() > 0) {
    std::memset(to, 0, context.out(0).bytes());  // boxes of nothing, whose dimension is left out
    return Status::Ok();
  }
  ParallelRows(context.pool, s.n_boxes, s.box_bytes, [&](int64_t begin, int64_t end) {
    int64_t start[kMaxRank];
    for (int64_t k = begin; k < end; ++k) {
      int64_t at = 0, src = 0, dst = 0, rest = k;
      for (int b = s.vectors.n_batch - 1; b >= 0; --b) {
        const int64_t i = rest % s.vectors.batch[b];
        rest /= s.vectors.batch[b];
        at += i * s.vectors.batch_step[b];
        dst += i * s.out_step[b];
      }
      s.vectors.Read(context.in(1), at, start);
      for (int d = 0; d < s.vectors.rank; ++d) {
        src += std::clamp<int64_t>(start[d], 0, s.last[d]) * s.src_step[d];
      }
      s.box.Run(from + src, to + dst, inner);
    }
  });
  return Status::Ok();
}

}  // namespace

constexpr OpDef kOps[] = {
    OpDef(OpCode::kStablehloGather)
        .Types({DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kInt64,
                DType::kBool, DType::kInt16, DType::kInt8, DType::kFloat64, DType::kUInt64,
                DType::kUInt32, DType::kUInt16})
        .Options(OptionsType2::kStablehloGather, Parse)
        .Cpu(Prepare, Run),
};

Span<const OpDef> StablehloGatherOps() { return Selected<kOps>(); }

}  // namespace topwork
