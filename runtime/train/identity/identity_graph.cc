#include "runtime/train/identity/identity_graph.h"

#include <algorithm>
#include <cmath>

#include "models/format/constants.h"

namespace topwork {
namespace {

// Of each class the columns of its rows.
std::vector<std::vector<int32_t>> ColumnsOf(const IdentityView& view) {
  std::vector<std::vector<int32_t>> columns(static_cast<size_t>(view.n_classes));
  for (size_t r = 0; r < view.classes.size(); ++r) {
    if (view.classes[r] < 0) continue;
    columns[static_cast<size_t>(view.classes[r])].push_back(static_cast<int32_t>(r));
  }
  return columns;
}

class IdentityGraph {
 public:
  IdentityGraph(const IdentityView& view, HeadStorage storage, const std::string& name,
                GraphAddition* addition)
      : view_(view),
        storage_(storage),
        name_(name),
        n_classes_(view.n_classes),
        columns_(ColumnsOf(view)),
        addition_(*addition) {}

  int Add(int feature) {
    const int unit = addition_.UnitLength(feature, name_ + "/unit");
    const int32_t n_columns = static_cast<int32_t>(view_.size()) + 1;
    std::vector<float> bias(static_cast<size_t>(n_columns), 0.0f);
    bias.back() = kNoSimilarity;
    const int similarities =
        addition_.Dense(unit, AddRows(n_columns),
                        addition_.Floats(name_ + "/no_row", {n_columns}, bias), name_ + "/cosines");
    const int best = AddBest(AddColumns(similarities, n_columns - 1));
    const int scale =
        addition_.Floats(name_ + "/scale", {1, 1}, Span<const float>(&view_.scale, 1));
    return addition_.Times(best, scale, name_ + "/logits");
  }

 private:
  // As real numbers [n_columns, dim]; the last row is zero.
  int AddRows(int32_t n_columns) {
    const int32_t dim = static_cast<int32_t>(view_.dim);
    std::vector<float> rows(view_.rows.begin(), view_.rows.end());
    rows.resize(static_cast<size_t>(n_columns) * static_cast<size_t>(dim), 0.0f);
    const std::string name = name_ + "/rows";
    if (storage_ == HeadStorage::kFloat32) return addition_.Floats(name, {n_columns, dim}, rows);
    AddedTensor stored = {name + "/stored", DType::kFloat16, {n_columns, dim}, {}};
    if (storage_ == HeadStorage::kFloat16) {
      stored.constant = StoreHalf(rows);
    } else {
      float largest = 0.0f;
      for (float v : rows) largest = std::max(largest, std::fabs(v));
      stored.dtype = DType::kInt8;
      stored.constant = StoreInt8({largest > 0.0f ? largest / 127.0f : 1.0f, 0}, rows);
    }
    return addition_.Dequantize(addition_.Add(std::move(stored)), name);
  }

  // [examples, classes, most rows of a class, at least the neighbours].
  int AddColumns(int similarities, int32_t no_row) {
    most_ = static_cast<size_t>(view_.n_neighbours);
    for (const auto& of_class : columns_) most_ = std::max(most_, of_class.size());
    std::vector<int32_t> table;
    for (const auto& of_class : columns_) {
      table.insert(table.end(), of_class.begin(), of_class.end());
      table.insert(table.end(), most_ - of_class.size(), no_row);
    }
    const int32_t most = static_cast<int32_t>(most_);
    const int columns = addition_.Ints(name_ + "/columns", {n_classes_, most}, table);
    const int result = addition_.Op(OpCode::kGather, {similarities, columns}, name_ + "/by_class",
                                    DType::kFloat32, {-1, n_classes_, most});
    addition_.ops.back().axis = 1;
    return result;
  }

  int AddBest(int by_class) {
    const int32_t last = 2;
    const int axis = addition_.Ints(name_ + "/axis", {1}, Span<const int32_t>(&last, 1));
    const std::vector<int32_t> shape = {-1, n_classes_};
    if (view_.n_neighbours == 1) {
      return addition_.Op(OpCode::kReduceMax, {by_class, axis}, name_ + "/best", DType::kFloat32,
                          shape);
    }
    const int32_t k = view_.n_neighbours;
    const int largest = addition_.Largest(by_class, k, name_);
    const size_t values = static_cast<size_t>(largest - addition_.n_before);
    addition_.tensors[values].shape = {-1, n_classes_, k};
    addition_.tensors[values + 1].shape = {-1, n_classes_, k};
    std::vector<float> shares;
    for (const auto& of_class : columns_) {
      const size_t n = std::clamp<size_t>(of_class.size(), 1, static_cast<size_t>(k));
      for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
        shares.push_back(i < n ? 1.0f / static_cast<float>(n) : 0.0f);
      }
    }
    const int share = addition_.Floats(name_ + "/shares", {1, n_classes_, k}, shares);
    const int weighted = addition_.Times(largest, share, name_ + "/weighted");
    return addition_.Op(OpCode::kSum, {weighted, axis}, name_ + "/mean", DType::kFloat32, shape);
  }

  const IdentityView& view_;
  const HeadStorage storage_;
  const std::string name_;
  const int32_t n_classes_;
  const std::vector<std::vector<int32_t>> columns_;
  size_t most_ = 0;
  GraphAddition& addition_;
};

// The name that the main subgraph's signature has for the output, else the tensor's own.
std::string NameOf(const Model& model, int output) {
  const int v = model.main().outputs[static_cast<size_t>(output)];
  for (const Signature& signature : model.signatures()) {
    if (signature.subgraph != model.main_index()) continue;
    for (const Signature::Entry& entry : signature.outputs) {
      if (entry.value == v) return entry.name;
    }
  }
  return model.main().values[static_cast<size_t>(v)].name;
}

}  // namespace

int AddIdentity(const IdentityView& view, HeadStorage storage, int feature, const std::string& name,
                GraphAddition* addition) {
  return IdentityGraph(view, storage, name, addition).Add(feature);
}

Result<std::vector<uint8_t>> WithIdentity(const Model& model, int output, const IdentityView& view,
                                          HeadStorage storage, FinalActivation activation) {
  TW_ASSIGN_OR_RETURN(const Head head, FindHead(model.main(), output));
  if (head.appended() || head.dim != view.dim) {
    return Unsupported("output #{} has no head over {} features", output, view.dim);
  }
  GraphAddition addition(model);
  const std::string name = NameOf(model, output);
  const int feature = addition.RealRows(head.feature, head.dim, "identity/feature");
  int scores = AddIdentity(view, storage, feature, "identity", &addition);
  if (activation != FinalActivation::kNone) {
    scores =
        addition.Op(CodeFor(activation), {scores}, name, DType::kFloat32, {-1, view.n_classes});
  }
  AddedOutput added;
  added.tensor = scores;
  added.name = name;
  added.replaces = output;
  addition.outputs.push_back(added);
  return AppendToModel(model, addition);
}

bool FindIdentity(const Graph& graph, int output, Head* out) {
  const auto feature_of = [&](const Op& op) { return op.inputs[0]; };
  int v = graph.outputs[static_cast<size_t>(output)];
  const Op* op = ProducerOf(graph, v);
  if (op != nullptr && (op->code == OpCode::kSoftmax || op->code == OpCode::kLogSoftmax)) {
    v = feature_of(*op);
    op = ProducerOf(graph, v);
  }
  const int logits = v;
  bool gathers = false;
  // MUL, then REDUCE_MAX or SUM, MUL and TOPK_V2, then GATHER, FULLY_CONNECTED, L2_NORMALIZATION.
  for (int step = 0; step < 8 && op != nullptr && !op->inputs.empty(); ++step) {
    v = feature_of(*op);
    if (v < 0) return false;
    if (op->code == OpCode::kL2Normalization) {
      const Shape& rows = graph.values[static_cast<size_t>(v)].shape;
      const Shape& scores = graph.values[static_cast<size_t>(logits)].shape;
      if (!gathers || rows.rank() != 2 || scores.rank() != 2) return false;
      out->output = output;
      out->op = 0;
      out->feature = v;
      out->logits = logits;
      out->dim = rows[1];
      out->n_classes = scores[1];
      return true;
    }
    gathers = gathers || op->code == OpCode::kGather;
    op = ProducerOf(graph, v);
  }
  return false;
}

}  // namespace topwork
