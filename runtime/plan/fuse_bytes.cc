// Functions of bytes: operators that compute element by element, from one tensor of bytes and from
// constants, are together a function of a byte, for example x * sigmoid(x). The last of them becomes
// a QUANTIZE with a table of the 256 answers. Folding makes the table: the operators run on all
// bytes. Where a convolution makes the one tensor, and nobody else reads it, it looks its results up.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/contract/selection.h"
#include "runtime/plan/order.h"
#include "runtime/plan/work_graph.h"

namespace topwork {
namespace {

constexpr int32_t kBytes = 256;
// Of a table that is computed from the ops themselves: from more, tables that come before it are made first, or
// a chain of n would take the time of n * n.
constexpr size_t kMostOps = 16;

class ByteFuser {
 public:
  explicit ByteFuser(WorkGraph* graph)
      : graph_(*graph), root_(graph->values.size()), maker_(graph->values.size(), -1) {
    for (size_t v = 0; v < root_.size(); ++v) root_[v] = static_cast<int>(v);
  }

  Status Run() {
    if (quantize_ == nullptr) return Status::Ok();  // left out of this build
    for (size_t i = 0; i < graph_.first_deferred; ++i) {
      const int root = RootOf(graph_.ops[i].op);
      if (root < 0) continue;
      const size_t made = static_cast<size_t>(graph_.ops[i].op.outputs[0]);
      root_[made] = root;
      maker_[made] = static_cast<int>(i);
      if (IsByte(static_cast<int>(made))) TW_RETURN_IF_ERROR(AddTable(i));
    }
    TW_RETURN_IF_ERROR(MakeTables());
    if (!kFusesTables) return Status::Ok();
    RemoveDeadOps(&graph_);
    for (size_t i = 0; i < graph_.first_deferred; ++i) FuseTable(i);
    return Status::Ok();
  }

 private:
  // An op that becomes a function of the bytes of `root`.
  struct Table {
    size_t op = 0;
    int root = -1;
    std::string names;  // of the ops from there on to it
    Status status;
    std::shared_ptr<Buffer> answers;
  };

  const TensorView& View(int v) const { return graph_.views[static_cast<size_t>(v)]; }

  bool IsByte(int v) const {
    return View(v).dtype == DType::kInt8 || View(v).dtype == DType::kUInt8;
  }
  bool HasScales(int v) const {
    return View(v).quantization != nullptr && View(v).quantization->scales.size() > 1;
  }

  // The tensor of bytes that the op's result is a function of; −1: there is none.
  int RootOf(const Op& op) const {
    if (op.def == nullptr || !op.def->by_element || op.outputs.size() != 1) return -1;
    if (HasScales(op.outputs[0]) || TouchesState(graph_, op)) return -1;
    int root = -1;
    for (int v : op.inputs) {
      if (v < 0 || HasScales(v)) return -1;
      if (graph_.IsConstant(v)) {
        if (View(v).shape.NumElements() != 1) return -1;
        continue;
      }
      const int from = root_[static_cast<size_t>(v)];
      if (!IsByte(from) || (root >= 0 && from != root)) return -1;
      root = from;
    }
    return root >= 0 && View(op.outputs[0]).shape == View(root).shape ? root : -1;
  }

  // The ops between v and its root.
  void Collect(int v, std::set<size_t>* ops) const {
    if (v < 0 || graph_.IsConstant(v) || root_[static_cast<size_t>(v)] == v) return;
    const size_t maker = static_cast<size_t>(maker_[static_cast<size_t>(v)]);
    if (!ops->insert(maker).second) return;
    for (int input : graph_.ops[maker].op.inputs) Collect(input, ops);
  }

  // Notes that op i becomes a table, if that saves an operator.
  Status AddTable(size_t i) {
    const int made = graph_.ops[i].op.outputs[0];
    std::set<size_t> ops;
    Collect(made, &ops);
    const auto is_taken = [&] {
      return kFusesTables && Taker(root_[static_cast<size_t>(made)], made) >= 0;
    };
    if (ops.size() < 2 && !is_taken()) return Status::Ok();
    if (ops.size() > kMostOps) TW_RETURN_IF_ERROR(MakeTables());
    tables_.emplace_back();
    tables_.back().op = i;
    tables_.back().root = root_[static_cast<size_t>(made)];
    return Status::Ok();
  }

  // Each table is filled for itself, so threads may take them in any order.
  Status MakeTables() {
    const auto fill = [&](int64_t t, int) { FillTable(&tables_[static_cast<size_t>(t)]); };
    const int64_t n_tables = static_cast<int64_t>(tables_.size());
    if (kPreparesOnThreads && graph_.pool != nullptr && n_tables > 1) {
      graph_.pool->ParallelFor(n_tables, fill);
    } else {
      for (int64_t t = 0; t < n_tables; ++t) fill(t, 0);
    }
    for (const Table& table : tables_) {
      TW_RETURN_IF_ERROR(table.status);
      if (table.answers != nullptr) UseTable(table);
    }
    tables_.clear();
    return Status::Ok();
  }

  // What the last of the ops makes of all bytes; null where that cannot be said.
  void FillTable(Table* table) const {
    WorkGraph all;
    all.allocator = graph_.allocator;
    all.cpu = graph_.cpu;
    std::map<int, int> copies;
    Result<Buffer> bytes = Buffer::Allocate(kBytes, "all bytes", *graph_.allocator);
    table->status = bytes.status();
    if (!bytes.ok()) return;
    for (int i = 0; i < kBytes; ++i) bytes->as<uint8_t>()[i] = static_cast<uint8_t>(i);
    const int root = table->root;
    copies[root] = all.AddConstant("", View(root).dtype, Shape({kBytes}),
                                   std::make_shared<Buffer>(std::move(bytes.value())));
    all.values[0].quantization = graph_.values[static_cast<size_t>(root)].quantization;
    all.views[0].quantization = View(root).quantization;
    const auto copy = [&](int v) {
      const auto [place, is_new] = copies.try_emplace(v, static_cast<int>(all.values.size()));
      if (is_new) {
        all.values.push_back(graph_.values[static_cast<size_t>(v)]);
        all.views.push_back(View(v));
        all.origin.push_back(nullptr);
      }
      return place->second;
    };
    std::set<size_t> ops;
    Collect(graph_.ops[table->op].op.outputs[0], &ops);
    for (size_t i : ops) {
      const WorkOp& made = graph_.ops[i];
      table->names += (table->names.empty() ? "" : ", ") +
                      (made.op.params.fused_table ? made.fused : std::string(made.op.name()));
      WorkOp work;
      work.op = made.op;
      for (int& v : work.op.inputs) v = copy(v);
      for (int& v : work.op.outputs) v = copy(v);
      all.ops.push_back(std::move(work));
    }
    const size_t result = static_cast<size_t>(all.ops.back().op.outputs[0]);
    const Status status = InferAndFold(&all);
    const bool is_known = status.ok() && all.views[result].data != nullptr &&
                          all.views[result].shape.NumElements() == kBytes;
    if (is_known) table->answers = all.values[result].owned;
  }

  void UseTable(const Table& table) {
    WorkOp& last = graph_.ops[table.op];
    last.fused = table.names;
    last.op.def = quantize_;
    last.op.code = quantize_->code;
    last.op.params = OpParams();
    last.op.params.fused_table = true;
    last.op.inputs = {table.root,
                      graph_.AddConstant("table", DType::kUInt8, Shape({kBytes}), table.answers)};
  }

  // The op that makes `root` and can make `result` instead, a function of it; −1: there is none.
  int Taker(int root, int result) const {
    const int maker = graph_.Producer(root);
    if (maker < 0) return -1;
    const Op& op = graph_.ops[static_cast<size_t>(maker)].op;
    const bool takes = op.def != nullptr && op.def->fuses_function && !op.params.fused_table &&
                       op.inputs.size() <= 3 && !TouchesState(graph_, op) &&
                       View(op.inputs[0]).dtype == View(root).dtype &&
                       View(result).dtype == View(root).dtype;
    return takes && graph_.CountUses(root) == 1 ? maker : -1;
  }

  // Makes op i, a table, part of the op before it.
  void FuseTable(size_t i) {
    const Op& op = graph_.ops[i].op;
    if (!op.params.fused_table) return;
    const int root = op.inputs[0], maker = Taker(root, op.outputs[0]);
    if (maker < 0) return;
    const size_t table = static_cast<size_t>(op.inputs[1]);
    graph_.values[table].quantization = graph_.values[static_cast<size_t>(root)].quantization;
    graph_.views[table].quantization = View(root).quantization;
    Op& kept = graph_.ops[static_cast<size_t>(maker)].op;
    kept.inputs.resize(4, -1);
    kept.inputs[3] = op.inputs[1];
    kept.params.fused_table = true;
    graph_.Absorb(maker, i, "");
  }

  WorkGraph& graph_;
  const OpDef* const quantize_ = FindOp(OpCode::kQuantize);
  std::vector<Table> tables_;  // that are not made yet, in the order of their ops
  std::vector<int> root_;   // the tensor of bytes that a value is a function of: itself, or another
  std::vector<int> maker_;  // of values whose root is another: the op
};

}  // namespace

Status FuseBytes(WorkGraph* graph) {
  TW_RETURN_IF_ERROR(ByteFuser(graph).Run());
  RemoveDeadOps(graph);
  return Status::Ok();
}

}  // namespace topwork
