// Fusion: rewrites that save a pass over memory. Every rewrite needs the intermediate value to have
// one reader, so that no output of the graph changes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/plan/order.h"
#include "runtime/plan/work_graph.h"

namespace topwork {
namespace {

bool FusesResidual(const Op& op) { return op.def != nullptr && op.def->fuses_residual; }

class Fuser {
 public:
  explicit Fuser(WorkGraph* graph) : graph_(*graph) {}

  Status Run() {
    for (size_t i = 0; i < graph_.first_deferred; ++i) {
      // Readers of a variable keep their place in the order.
      if (graph_.ops[i].dead || TouchesState(graph_, graph_.ops[i].op)) continue;
      TW_RETURN_IF_ERROR(GroupsToDepthwise(i));
      FusePad(i);
      TW_RETURN_IF_ERROR(FuseScaleShift(i));
      FuseResidual(i);
      FuseOwnProduct(i);
      FuseActivation(i);
    }
    return Status::Ok();
  }

 private:
  const TensorView& View(int v) const { return graph_.views[static_cast<size_t>(v)]; }
  Op& OpAt(int i) { return graph_.ops[static_cast<size_t>(i)].op; }

  // The op that makes v when v has no other reader and op's result is float (or any number, where
  // `any_type`); otherwise −1.
  int SoleProducer(int v, bool any_type = false) const {
    if (v < 0 || (!any_type && View(v).dtype != DType::kFloat32)) return -1;
    if (graph_.CountUses(v) != 1) return -1;
    const int producer = graph_.Producer(v);
    if (producer < 0 || graph_.ops[static_cast<size_t>(producer)].op.outputs.size() != 1) return -1;
    if (TouchesState(graph_, graph_.ops[static_cast<size_t>(producer)].op)) return -1;
    return producer;
  }

  // CONV_2D with as many groups as channels is DEPTHWISE_CONV_2D, whose loops are made for it.
  Status GroupsToDepthwise(size_t i) {
    const Op& op = graph_.ops[i].op;
    if (op.code != OpCode::kConv2d || !graph_.IsConstant(op.inputs[1])) return Status::Ok();
    const TensorView& filter = View(op.inputs[1]);
    const int32_t channels = View(op.inputs[0]).shape[3], n = filter.shape[0];
    if (channels < 2 || filter.shape[3] != 1 || IsPacked(filter.dtype)) return Status::Ok();
    const OpDef* const depthwise = FindOp(OpCode::kDepthwiseConv2d);
    if (depthwise == nullptr) return Status::Ok();  // left out of this build
    TW_ASSIGN_OR_RETURN(const int turned, TurnFilter(op.inputs[1]));
    Op& kept = graph_.ops[i].op;
    kept.code = depthwise->code;
    kept.def = depthwise;
    kept.params.depth_multiplier = n / channels;
    kept.inputs[1] = turned;
    return Status::Ok();
  }

  // The filter [n, h, w, 1] as [1, h, w, n].
  Result<int> TurnFilter(int v) {
    graph_.FillHalf(v);
    const TensorView from = View(v);
    const std::shared_ptr<const Quantization> old =
        graph_.values[static_cast<size_t>(v)].quantization;
    const size_t size = static_cast<size_t>(DTypeBits(from.dtype)) / 8;
    const size_t n = static_cast<size_t>(from.shape[0]), taps = from.bytes() / size / n;
    TW_ASSIGN_OR_RETURN(Buffer buffer,
                        Buffer::Allocate(from.bytes(), "a depthwise filter", *graph_.allocator));
    for (size_t k = 0; k < taps * n; ++k) {
      std::memcpy(buffer.as<uint8_t>() + (k % taps * n + k / taps) * size,
                  from.as<const uint8_t>() + k * size, size);
    }
    const std::string name = graph_.values[static_cast<size_t>(v)].name;
    const Shape shape = {1, from.shape[1], from.shape[2], from.shape[0]};
    const int turned =
        graph_.AddConstant(name, from.dtype, shape, std::make_shared<Buffer>(std::move(buffer)));
    if (old == nullptr) return turned;
    auto quantization = std::make_shared<Quantization>(*old);  // its scales stay the model's
    quantization->axis = 3;
    graph_.views[static_cast<size_t>(turned)].quantization = quantization.get();
    graph_.values[static_cast<size_t>(turned)].quantization = std::move(quantization);
    return turned;
  }

  void FuseActivation(size_t i) {
    if (graph_.ops[i].dead) return;
    const Op& op = graph_.ops[i].op;
    const Activation activation = op.def == nullptr ? Activation::kNone : op.def->as_activation;
    if (activation == Activation::kNone || op.inputs.size() != 1) return;
    const int producer = SoleProducer(op.inputs[0]);
    if (producer < 0 || OpAt(producer).def == nullptr || !OpAt(producer).def->fuses_activation)
      return;
    if (OpAt(producer).params.activation != Activation::kNone) return;
    OpAt(producer).params.activation = activation;
    graph_.Absorb(producer, i, op.name());
  }

  // PAD with zeros of height and width only, before a convolution without padding of its own.
  void FusePad(size_t i) {
    Op& op = graph_.ops[i].op;
    if (!FusesResidual(op)) return;
    if (op.params.padding != Padding::kValid || op.params.has_explicit_padding) return;
    // A quantized image is padded with its zero point by both operators.
    const DType dtype = View(op.inputs[0]).dtype;
    const bool quantized =
        dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16;
    const int producer = SoleProducer(op.inputs[0], quantized);
    if (producer < 0) return;
    const Op& pad = OpAt(producer);
    if (pad.code != OpCode::kPad && (pad.code != OpCode::kPadv2 || quantized)) return;
    int64_t amounts[8];
    if (!ReadPaddings(pad, amounts)) return;
    op.params.has_explicit_padding = true;
    op.params.pad_top = static_cast<int32_t>(amounts[2]);
    op.params.pad_bottom = static_cast<int32_t>(amounts[3]);
    op.params.pad_left = static_cast<int32_t>(amounts[4]);
    op.params.pad_right = static_cast<int32_t>(amounts[5]);
    op.inputs[0] = pad.inputs[0];
    std::string& fused = graph_.ops[i].fused;
    fused += (fused.empty() ? "" : ", ") + std::string(pad.name());
    WorkOp& gone = graph_.ops[static_cast<size_t>(producer)];
    WorkOp& kept = graph_.ops[i];
    kept.pinned = kept.pinned || gone.pinned;
    kept.pinned_to_float32 = kept.pinned_to_float32 || gone.pinned_to_float32;
    gone.dead = true;
  }

  bool ReadPaddings(const Op& pad, int64_t* amounts) const {
    const TensorView& input = View(pad.inputs[0]);
    const TensorView& paddings = View(pad.inputs[1]);
    if (input.shape.rank() != 4 || paddings.data == nullptr || paddings.shape.NumElements() != 8) {
      return false;
    }
    for (size_t k = 0; k < 8; ++k) {
      amounts[k] =
          paddings.dtype == DType::kInt64 ? paddings.as<int64_t>()[k] : paddings.as<int32_t>()[k];
      if (amounts[k] < 0 || amounts[k] > INT32_MAX) return false;
    }
    if (pad.code == OpCode::kPadv2) {
      const TensorView& value = View(pad.inputs[2]);
      if (value.data == nullptr || value.as<float>()[0] != 0.0f) return false;
    }
    return amounts[0] == 0 && amounts[1] == 0 && amounts[6] == 0 && amounts[7] == 0;
  }

  // y = conv(x) * c, / c, + c or − c with a constant per channel goes into the weights and the
  // bias.
  Status FuseScaleShift(size_t i) {
    const Op op = graph_.ops[i].op;
    const bool divides = op.code == OpCode::kDiv, subtracts = op.code == OpCode::kSub;
    const bool scales = op.code == OpCode::kMul || divides;
    const bool shifts = op.code == OpCode::kAdd || subtracts;
    if ((!scales && !shifts) || op.inputs.size() != 2) return Status::Ok();
    const bool swapped = graph_.IsConstant(op.inputs[0]);
    if (swapped && (divides || subtracts)) return Status::Ok();
    const int constant = op.inputs[swapped ? 0 : 1];
    const int producer = SoleProducer(op.inputs[swapped ? 1 : 0]);
    if (producer < 0 || !graph_.IsConstant(constant)) return Status::Ok();
    const Op& conv = OpAt(producer);
    if (!FusesResidual(conv) || conv.params.fused_residual ||
        conv.params.activation != Activation::kNone || !ConstantWeights(conv)) {
      return Status::Ok();
    }
    const int32_t channels = View(conv.outputs[0]).shape.back();
    std::vector<float> values;
    if (!PerChannel(View(constant), channels, View(conv.outputs[0]).shape, &values)) {
      return Status::Ok();
    }
    if (View(op.outputs[0]).shape != View(conv.outputs[0]).shape) return Status::Ok();
    if (divides) {
      for (float& value : values) value = 1.0f / value;
    }
    if (subtracts) {
      for (float& value : values) value = -value;
    }
    for (float value : values) {
      if (!std::isfinite(value)) return Status::Ok();
    }
    TW_RETURN_IF_ERROR(scales ? Scale(producer, values) : Shift(producer, values));
    OpAt(producer).params.activation = op.params.activation;
    graph_.Absorb(producer, i, op.name());
    return Status::Ok();
  }

  bool ConstantWeights(const Op& conv) const {
    if (!graph_.IsConstant(conv.inputs[1]) || View(conv.inputs[1]).dtype != DType::kFloat32) {
      return false;
    }
    const int bias = conv.inputs.size() > 2 ? conv.inputs[2] : -1;
    return bias < 0 || graph_.IsConstant(bias);
  }

  // True when the constant broadcasts along all but the last dimension.
  static bool PerChannel(const TensorView& view, int32_t channels, const Shape& out,
                         std::vector<float>* values) {
    if (view.dtype != DType::kFloat32 || view.shape.rank() > out.rank()) return false;
    const int64_t n = view.shape.NumElements();
    if (n != 1 && (n != channels || view.shape.back() != channels)) return false;
    values->resize(static_cast<size_t>(channels));
    for (size_t c = 0; c < values->size(); ++c) (*values)[c] = view.as<float>()[n == 1 ? 0 : c];
    return true;
  }

  // A writable copy of constant v under a new value index.
  Result<int> CloneConstant(int v) {
    graph_.FillHalf(v);
    const TensorView view = View(v);
    TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(std::max<size_t>(view.bytes(), 1),
                                                        "fused weights", *graph_.allocator));
    std::memcpy(buffer.data(), view.data, view.bytes());
    const std::string name = graph_.values[static_cast<size_t>(v)].name;
    return graph_.AddConstant(name, view.dtype, view.shape,
                              std::make_shared<Buffer>(std::move(buffer)));
  }

  // Channel c of the output comes from weights [c, …] (CONV_2D, FULLY_CONNECTED) or […, c].
  Status Scale(int producer, const std::vector<float>& factors) {
    TW_ASSIGN_OR_RETURN(const int weights, CloneConstant(OpAt(producer).inputs[1]));
    Op& conv = OpAt(producer);
    conv.inputs[1] = weights;
    const TensorView& view = View(weights);
    const size_t channels = factors.size();
    const size_t n = static_cast<size_t>(view.shape.NumElements());
    const size_t per_channel = n / channels;
    for (size_t k = 0; k < n; ++k) {
      const size_t c = conv.def->weighted.axis > 0 ? k % channels : k / per_channel;
      view.as<float>()[k] *= factors[c];
    }
    if (conv.inputs.size() > 2 && conv.inputs[2] >= 0) {
      TW_ASSIGN_OR_RETURN(const int bias, CloneConstant(conv.inputs[2]));
      OpAt(producer).inputs[2] = bias;
      for (size_t c = 0; c < channels; ++c) View(bias).as<float>()[c] *= factors[c];
    }
    return Status::Ok();
  }

  Status Shift(int producer, const std::vector<float>& amounts) {
    const size_t channels = amounts.size();
    Op& conv = OpAt(producer);
    const int old = conv.inputs.size() > 2 ? conv.inputs[2] : -1;
    TW_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(channels * sizeof(float), "a fused bias",
                                                        *graph_.allocator));
    for (size_t c = 0; c < channels; ++c) {
      buffer.as<float>()[c] = amounts[c] + (old < 0 ? 0.0f : View(old).as<float>()[c]);
    }
    const int bias =
        graph_.AddConstant("fused bias", DType::kFloat32, Shape({static_cast<int32_t>(channels)}),
                           std::make_shared<Buffer>(std::move(buffer)));
    conv.inputs.resize(std::max<size_t>(conv.inputs.size(), 3), -1);
    conv.inputs[2] = bias;
    return Status::Ok();
  }

  // y = conv(x) + r with r of the same shape: r becomes the convolution's residual input.
  void FuseResidual(size_t i) {
    if (graph_.ops[i].dead) return;
    const Op op = graph_.ops[i].op;
    if (op.code != OpCode::kAdd || op.inputs.size() != 2 || op.inputs[0] == op.inputs[1]) return;
    int best = -1, residual = -1;
    for (size_t side = 0; side < 2; ++side) {
      const int producer = SoleProducer(op.inputs[side]);
      if (producer <= best || !CanTakeResidual(OpAt(producer))) continue;
      const int other = op.inputs[1 - side];
      if (View(other).shape != View(op.outputs[0]).shape ||
          View(op.inputs[side]).shape != View(op.outputs[0]).shape || graph_.IsConstant(other)) {
        continue;
      }
      if (graph_.Producer(other) >= producer) continue;  // not there yet when the conv runs
      best = producer;
      residual = other;
    }
    if (best < 0) return;
    Op& conv = OpAt(best);
    conv.inputs.resize(4, -1);
    conv.inputs[3] = residual;
    conv.params.fused_residual = true;
    conv.params.activation = op.params.activation;
    graph_.Absorb(best, i, "ADD");
  }

  // x * f(x): the product becomes part of f, which is LOGISTIC.
  void FuseOwnProduct(size_t i) {
    if (graph_.ops[i].dead) return;
    const Op& op = graph_.ops[i].op;
    if (op.code != OpCode::kMul || op.params.activation != Activation::kNone) return;
    for (size_t side = 0; side < 2; ++side) {
      const int producer = SoleProducer(op.inputs[side]);
      if (producer < 0 || OpAt(producer).def == nullptr || !OpAt(producer).def->fuses_product ||
          OpAt(producer).params.fused_product || OpAt(producer).inputs[0] != op.inputs[1 - side]) {
        continue;
      }
      OpAt(producer).params.fused_product = true;
      return graph_.Absorb(producer, i, op.name());
    }
  }

  // Sums of quantized data would need another arithmetic.
  bool AddsFloats(const Op& conv) const {
    return View(conv.inputs[1]).dtype == DType::kFloat32 ||
           (conv.def->adds_to_dynamic && View(conv.inputs[0]).dtype == DType::kFloat32);
  }

  bool CanTakeResidual(const Op& conv) const {
    return FusesResidual(conv) && conv.inputs.size() > 1 && conv.inputs[1] >= 0 &&
           AddsFloats(conv) && conv.params.activation == Activation::kNone &&
           !conv.params.fused_residual && conv.inputs.size() <= 3;
  }

  WorkGraph& graph_;
};

}  // namespace

Status Fuse(WorkGraph* graph) {
  TW_RETURN_IF_ERROR(Fuser(graph).Run());
  RemoveDeadOps(graph);
  return Status::Ok();
}

}  // namespace topwork
