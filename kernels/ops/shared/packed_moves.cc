// Unpacks, moves, packs (see packed_moves.h).
//
// Scratch: a TensorView for each input and the output, the pointers to them, then the bytes of
// each.
#include "kernels/ops/shared/packed_moves.h"

#include <new>

#include "kernels/ops/shared/indexing.h"
#include "runtime/tensor/packed.h"

namespace topwork {
namespace {

size_t HeadBytes(size_t n_tensors) {
  return AlignUp(n_tensors * (sizeof(TensorView) + sizeof(TensorView*)));
}

size_t WideBytes(const TensorView& view) {
  return AlignUp(static_cast<size_t>(view.shape.NumElements()));
}

TensorView* Widened(const TensorView& view, void* place, uint8_t* data) {
  TensorView* wide = new (place) TensorView(view);
  wide->dtype = DType::kInt8;
  wide->data = data;
  return wide;
}

void UnpackAll(const TensorView& view, ThreadPool* pool, int8_t* out) {
  ParallelRows(pool, view.shape.NumElements(), 1, [&](int64_t begin, int64_t end) {
    Unpack(view.dtype, view.data, begin, end - begin, out + begin);
  });
}

void PackAll(const TensorView& view, ThreadPool* pool, const int8_t* in) {
  const int64_t n = view.shape.NumElements(), bytes = static_cast<int64_t>(view.bytes());
  ParallelRows(pool, bytes, 2, [&](int64_t begin, int64_t end) {
    PackBytes(view.dtype, in, n, begin, end, view.data);
  });
}

}  // namespace

Status RequestWidening(PrepareContext& context, Status prepared) {
  const DType dtype = context.output(0).dtype;
  if (!prepared.ok() || !IsPacked(dtype)) return prepared;
  uint64_t bytes = HeadBytes(static_cast<size_t>(context.n_inputs()) + 1);
  for (int i = 0; i < context.n_inputs(); ++i) {
    if (context.input(i) != nullptr && context.input(i)->dtype == dtype) {
      bytes += WideBytes(*context.input(i));
    }
  }
  context.RequestScratch(bytes + WideBytes(context.output(0)));
  context.SetVariant("unpacked");
  return prepared;
}

Status RunWidened(const RunContext& context, Status (*run)(const RunContext&)) {
  const TensorView& out = context.out(0);
  if (!IsPacked(out.dtype)) return run(context);
  const size_t n_inputs = context.inputs.size();
  TensorView* views = reinterpret_cast<TensorView*>(context.scratch);
  TensorView** pointers = reinterpret_cast<TensorView**>(views + n_inputs + 1);
  uint8_t* bytes = context.scratch + HeadBytes(n_inputs + 1);
  const auto take = [&](const TensorView& view) {
    uint8_t* taken = bytes;
    bytes += WideBytes(view);
    return taken;
  };
  for (size_t i = 0; i < n_inputs; ++i) {
    const TensorView* in = context.inputs[i];
    pointers[i] = const_cast<TensorView*>(in);
    if (in == nullptr || in->dtype != out.dtype) continue;
    pointers[i] = Widened(*in, views + i, take(*in));
    UnpackAll(*in, context.pool, pointers[i]->as<int8_t>());
  }
  pointers[n_inputs] = Widened(out, views + n_inputs, take(out));
  RunContext wide = context;
  wide.inputs = {pointers, n_inputs};
  wide.outputs = {pointers + n_inputs, 1};
  wide.scratch = nullptr;
  TW_RETURN_IF_ERROR(run(wide));
  PackAll(out, context.pool, pointers[n_inputs]->as<int8_t>());
  return Status::Ok();
}

}  // namespace topwork
