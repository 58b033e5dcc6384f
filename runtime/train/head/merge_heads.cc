// Digests as in a Merkle tree (1987); then each head's layers are appended.
#include "runtime/train/head/merge_heads.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "models/format/append.h"
#include "models/format/constants.h"
#include "models/format/layer_weights.h"
#include "runtime/base/sha256.h"
#include "runtime/train/head/head.h"

namespace topwork {
namespace {

// SHA-256 of numbers and bytes.
class Hash {
 public:
  Hash(std::initializer_list<int64_t> numbers) { Add(numbers.begin(), numbers.size() * 8); }
  void Add(const void* data, size_t size) { sha_.Update(data, size); }
  void Add(const std::string& text) { Add(text.data(), text.size() + 1); }
  void Add(int64_t number) { Add(&number, sizeof(number)); }
  // Its type, scales and shape from dimension `first` on.
  void AddType(const Value& value, int first) {
    Add(static_cast<int64_t>(value.dtype));
    Add(value.shape.rank());
    for (int i = first; i < value.shape.rank(); ++i) Add(value.shape[i]);
    if (value.quantization == nullptr) return;
    const Quantization& q = *value.quantization;
    Add(q.scales.data(), q.scales.size() * sizeof(q.scales[0]));
    for (int64_t zero : q.zero_points) Add(zero);
  }
  std::string Text() {
    const auto bytes = sha_.Finish();
    return std::string(bytes.begin(), bytes.end());
  }

 private:
  Sha256 sha_;
};

// All numbers of OpParams that decide what an operator computes.
void AddParams(const OpParams& p, Hash* hash) {
  const int64_t numbers[] = {static_cast<int64_t>(p.activation),
                             static_cast<int64_t>(p.padding),
                             p.stride_h,
                             p.stride_w,
                             p.dilation_h,
                             p.dilation_w,
                             p.filter_h,
                             p.filter_w,
                             p.depth_multiplier,
                             p.axis,
                             p.batch_dims,
                             p.keep_dims,
                             p.begin_mask,
                             p.end_mask,
                             p.ellipsis_mask,
                             p.new_axis_mask,
                             p.shrink_axis_mask,
                             p.offset,
                             p.align_corners,
                             p.half_pixel_centers,
                             p.block_size,
                             p.radius,
                             p.num_splits,
                             p.count,
                             p.seq_dim,
                             p.mode,
                             p.adj_x,
                             p.adj_y,
                             p.approximate,
                             p.exclusive,
                             p.reverse,
                             p.pot_scale_int16,
                             static_cast<int64_t>(p.in_dtype),
                             static_cast<int64_t>(p.out_dtype),
                             p.stride_d,
                             p.dilation_d,
                             p.time_major,
                             p.merge_outputs,
                             p.rank};
  const float reals[] = {p.alpha, p.beta, p.bias, p.min, p.max, p.cell_clip, p.proj_clip};
  hash->Add(numbers, sizeof(numbers));
  hash->Add(reals, sizeof(reals));
  for (int i = 0; i < p.n_dims; ++i) hash->Add(p.dims[i]);
}

// What it computes does not follow from its parameters and inputs: state, other subgraphs, options
// that nobody here can read.
bool IsOpaque(const Op& op) {
  return op.def == nullptr || op.is_custom() || op.def->has_effects ||
         std::string(op.name()).rfind("STABLEHLO", 0) == 0 || !op.params.boundaries.empty() ||
         op.variable_inputs != 0 || op.list_inputs != 0 || !op.intermediates.empty();
}

// Appends the head of one model after what it shares with the first one.
class HeadCopy {
 public:
  HeadCopy(const Model& from, const std::vector<std::string>& shared, GraphAddition* addition)
      : graph_(from.main()),
        shared_(shared),
        digests_(ValueDigests(graph_)),
        addition_(*addition) {}

  // Gives the tensor of the final scores.
  Result<int> Append(const std::string& name) {
    TW_ASSIGN_OR_RETURN(const Head head, FindHead(graph_, 0));
    if (head.appended()) {
      return Unsupported("its output '{}' is a feature, no head", ValueAt(graph_.outputs[0]).name);
    }
    if (head.activation != Activation::kNone || head.final_activation == OpCode::kLogSoftmax) {
      return Unsupported("its head has LOG_SOFTMAX or a fused activation");
    }
    TW_ASSIGN_OR_RETURN(int v, AppendFeature(head.feature));
    if (head.n_positions > 1) v = addition_.Pooled(v, name + "/pooled");
    std::vector<float> weights, bias;
    TW_RETURN_IF_ERROR(ReadShippedHead(graph_, head, &weights, &bias));
    const bool scores = head.has_activation();
    v = AppendDense(v, weights, bias, scores ? name + "/logits" : name);
    if (!scores) return v;
    return addition_.Op(head.final_activation, {v}, name, DType::kFloat32, {-1, head.n_classes});
  }

 private:
  const Value& ValueAt(int v) const { return graph_.values[static_cast<size_t>(v)]; }

  int AppendDense(int input, const std::vector<float>& weights, const std::vector<float>& bias,
                  const std::string& name) {
    const int32_t n = static_cast<int32_t>(bias.size());
    const int32_t dim = static_cast<int32_t>(weights.size()) / n;
    const int w = addition_.Floats(name + "/weights", {n, dim}, weights);
    const int b = addition_.Floats(name + "/bias", {n}, bias);
    return addition_.Dense(input, w, b, name);
  }

  // The value in real numbers: the one that the first model has, or a dense layer after one.
  Result<int> AppendFeature(int v) {
    const std::string& digest = digests_[static_cast<size_t>(v)];
    const auto found = std::find(shared_.begin(), shared_.end(), digest);
    if (!digest.empty() && found != shared_.end()) {
      const int same = static_cast<int>(found - shared_.begin());
      return ValueAt(v).dtype == DType::kFloat32
                 ? same
                 : addition_.Dequantize(same, ValueAt(v).name + "/dequantized");
    }
    const Op* op = ProducerOf(graph_, v);
    const bool dense =
        op != nullptr && op->code == OpCode::kFullyConnected && ValueAt(v).dtype == DType::kFloat32;
    if (op != nullptr && IsDequantize(op->code)) return AppendFeature(op->inputs[0]);
    if (!dense) {
      return FailedPrecondition("'{}' is not in the first model: their backbones differ",
                                ValueAt(v).name);
    }
    TW_ASSIGN_OR_RETURN(const int input, AppendFeature(op->inputs[0]));
    const LayerWeights found_weights = FindWeights(graph_, *op);
    if (!found_weights.is_constant || found_weights.transposed) {
      return Unsupported("the weights of '{}' are computed", ValueAt(v).name);
    }
    std::vector<float> weights, bias(static_cast<size_t>(found_weights.shape[0]), 0.0f);
    TW_RETURN_IF_ERROR(ReadFloats(graph_, found_weights.value, &weights));
    if (op->inputs.size() > 2 && op->inputs[2] >= 0) {
      TW_RETURN_IF_ERROR(ReadFloats(graph_, op->inputs[2], &bias));
    }
    const int made = AppendDense(input, weights, bias, ValueAt(v).name);
    addition_.ops.back().activation = op->params.activation;
    return made;
  }

  const Graph& graph_;
  const std::vector<std::string>& shared_;  // digests of the first model's values
  const std::vector<std::string> digests_;
  GraphAddition& addition_;
};

}  // namespace

std::vector<std::string> ValueDigests(const Graph& graph) {
  std::vector<std::string> digests(graph.values.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    if (value.data == nullptr) continue;
    Hash hash({0});
    hash.AddType(value, 0);
    hash.Add(value.data, ByteSize(value.dtype, value.shape));
    digests[v] = hash.Text();
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const size_t v = static_cast<size_t>(graph.inputs[i]);
    Hash hash({1, static_cast<int64_t>(i)});
    hash.AddType(graph.values[v], 1);  // a resize changes the batch
    digests[v] = hash.Text();
  }
  for (const Op& op : graph.ops) {
    bool known = !IsOpaque(op);
    for (int v : op.inputs) known = known && (v < 0 || !digests[static_cast<size_t>(v)].empty());
    for (size_t i = 0; known && i < op.outputs.size(); ++i) {
      if (op.outputs[i] < 0) continue;
      const size_t out = static_cast<size_t>(op.outputs[i]);
      Hash hash({2, static_cast<int64_t>(op.code), static_cast<int64_t>(i)});
      AddParams(op.params, &hash);
      for (int v : op.inputs) hash.Add(v < 0 ? std::string() : digests[static_cast<size_t>(v)]);
      hash.AddType(graph.values[out], 1);
      digests[out] = hash.Text();
    }
  }
  return digests;
}

Result<std::vector<uint8_t>> MergeHeads(const std::vector<const Model*>& models) {
  if (models.size() < 2) return InvalidArgument("{} models to merge; at least 2", models.size());
  const Model& first = *models[0];
  const std::vector<std::string> shared = ValueDigests(first.main());
  GraphAddition addition(first);
  for (size_t k = 1; k < models.size(); ++k) {
    const std::string name = StrFormat("scores_{}", k + 1);
    Result<int> scores = HeadCopy(*models[k], shared, &addition).Append(name);
    if (!scores.ok()) return scores.status().WithPrefix(StrFormat("model {}: ", k + 1));
    AddedOutput output;
    output.tensor = *scores;
    output.name = name;
    addition.outputs.push_back(output);
    std::string labels;
    for (const std::string& label : models[k]->labels()) labels += label + "\n";
    if (!labels.empty()) addition.files.push_back({name + "_labels.txt", labels});
  }
  return AppendToModel(first, addition);
}

}  // namespace topwork
