// The operators that refuse: from the head's feature and logits to the output "rejection".
//
// All are stock operators on float32. Quantized features and logits are dequantized first; stored
// examples lie in the file as int8. Tables lie [classes, columns], and the row of the class that the
// head answers is gathered.
#include <algorithm>

#include "models/format/append.h"
#include "runtime/train/head/head.h"
#include "runtime/train/reject/rejection.h"

namespace topwork {
namespace {

constexpr DType kFloat = DType::kFloat32;

class RejectionGraph {
 public:
  RejectionGraph(const Model& model, const Rejection& rejection)
      : graph_(model.main()), rejection_(rejection), addition_(model) {}

  GraphAddition Build(const Head& head) {
    last_axis_ = addition_.Ints("rejection/axis", {1}, std::vector<int32_t>{1});
    const int unit =
        addition_.Op(OpCode::kL2Normalization, {Rows(head.feature, head.dim, "rejection/feature")},
                     "rejection/unit", kFloat, {-1, head.dim});
    const int logits = Rows(head.logits, head.n_classes, "rejection/logits");
    int nearest = -1;
    std::vector<int> scores = {AddEnergy(logits, head.n_classes)};
    scores.push_back(AddSimilarity(rejection_.taught, unit, "rejection/taught", &nearest));
    if (rejection_.n_scores() == 3) {
      const int other = AddSimilarity(rejection_.negatives, unit, "rejection/negatives", nullptr);
      scores.push_back(Column(OpCode::kSub, {scores[1], other}, "rejection/difference"));
    }
    const int p_value = AddPValue(scores, logits);
    AddOutput(p_value, nearest);
    return std::move(addition_);
  }

 private:
  int Column(OpCode code, const std::vector<int>& inputs, const char* name) {
    return addition_.Op(code, inputs, name, kFloat, {-1, 1});
  }
  int Reduced(OpCode code, int input, const char* name) {
    const int result = Column(code, {input, last_axis_}, name);
    addition_.ops.back().keep_dims = true;
    return result;
  }
  int Float(const char* name, float value) {
    return addition_.Floats(name, {1, 1}, Span<const float>(&value, 1));
  }

  // A value of the model as float32 [examples, n]; a map is averaged over its positions.
  int Rows(int v, int n, const std::string& name) {
    const Value& value = graph_.values[static_cast<size_t>(v)];
    std::vector<int32_t> shape;
    for (int i = 0; i < value.shape.rank(); ++i) shape.push_back(value.shape[i]);
    if (value.dtype != kFloat) {
      v = addition_.Op(OpCode::kDequantize, {v}, name + "/real", kFloat, shape);
    }
    if (shape.size() == 4 && shape[1] * int64_t{shape[2]} > 1 && shape[3] == n) {
      const int axes = addition_.Ints(name + "/axes", {2}, std::vector<int32_t>{1, 2});
      return addition_.Op(OpCode::kMean, {v, axes}, name, kFloat, {-1, n});
    }
    const int target = addition_.Ints(name + "/shape", {2}, std::vector<int32_t>{-1, n});
    return addition_.Op(OpCode::kReshape, {v, target}, name, kFloat, {-1, n});
  }

  int AddEnergy(int logits, int n) {
    const int most = Reduced(OpCode::kReduceMax, logits, "rejection/most");
    const int less = addition_.Op(OpCode::kSub, {logits, most}, "rejection/less", kFloat, {-1, n});
    const int powers = addition_.Op(OpCode::kExp, {less}, "rejection/powers", kFloat, {-1, n});
    const int sum = Reduced(OpCode::kSum, powers, "rejection/sum");
    const int log = Column(OpCode::kLog, {sum}, "rejection/log");
    return Column(OpCode::kAdd, {log, most}, "rejection/energy");
  }

  int AddSimilarity(const StoredExamples& stored, int unit, const std::string& name,
                    int* out_nearest) {
    const int32_t n = static_cast<int32_t>(stored.size());
    const int32_t dim = static_cast<int32_t>(stored.dim);
    const int32_t k = stored.n_neighbours();
    const int bytes = addition_.Add({name + "/int8", DType::kInt8, {n, dim}, stored.AsConstant()});
    const int rows = addition_.Op(OpCode::kDequantize, {bytes}, name, kFloat, {n, dim});
    const int cosines =
        addition_.Op(OpCode::kFullyConnected, {unit, rows, -1}, name + "/cosines", kFloat, {-1, n});
    AddedOp top;
    top.code = OpCode::kTopkV2;
    top.inputs = {cosines, addition_.Ints(name + "/k", {}, std::vector<int32_t>{k})};
    top.outputs = {addition_.Add({name + "/nearest", kFloat, {-1, k}, {}}),
                   addition_.Add({name + "/which", DType::kInt32, {-1, k}, {}})};
    addition_.ops.push_back(top);
    if (out_nearest != nullptr) {
      *out_nearest =
          addition_.Op(OpCode::kCast, {top.outputs[1]}, name + "/index", kFloat, {-1, k});
    }
    return Reduced(OpCode::kMean, top.outputs[0], (name + "/similarity").c_str());
  }

  // A row of a table [classes, columns] for each example.
  int AddRow(const std::string& name, const float* values, int columns, int best) {
    const int n = rejection_.table.n_categories;
    const int all = addition_.Floats(
        name, {n, columns},
        Span<const float>(values, static_cast<size_t>(n) * static_cast<size_t>(columns)));
    return addition_.Op(OpCode::kGather, {all, best}, name + "/row", kFloat, {-1, columns});
  }

  // The smallest of the measured scores.
  int AddSmallest(const std::vector<int>& scores, int best) {
    const ConformalTable& table = rejection_.table;
    int smallest = -1;
    for (size_t s = 0; s < scores.size(); ++s) {
      const size_t first = s * static_cast<size_t>(table.n_categories);
      const int median = AddRow("rejection/median", table.medians.data() + first, 1, best);
      const int unit = AddRow("rejection/unit", table.inverse_units.data() + first, 1, best);
      const int less = Column(OpCode::kSub, {scores[s], median}, "rejection/less_median");
      const int measured = Column(OpCode::kMul, {less, unit}, "rejection/measured");
      smallest = smallest < 0
                     ? measured
                     : Column(OpCode::kMinimum, {smallest, measured}, "rejection/smallest");
    }
    return smallest;
  }

  // step · (1 + the levels of the class that the smallest score reaches).
  int AddPValue(const std::vector<int>& scores, int logits) {
    const ConformalTable& table = rejection_.table;
    const int32_t n_levels = table.n_levels;
    const int best =
        addition_.Op(OpCode::kArgMax, {logits, last_axis_}, "rejection/class", DType::kInt32, {-1});
    const int levels = AddRow("rejection/levels", table.levels.data(), n_levels, best);
    const int reached = addition_.Op(OpCode::kGreaterEqual, {AddSmallest(scores, best), levels},
                                     "rejection/reached", DType::kBool, {-1, n_levels});
    const int ones =
        addition_.Op(OpCode::kCast, {reached}, "rejection/passed", kFloat, {-1, n_levels});
    const int count = Reduced(OpCode::kSum, ones, "rejection/count");
    const int step = Float("rejection/step", static_cast<float>(table.step));
    const int scaled = Column(OpCode::kMul, {count, step}, "rejection/scaled");
    const int sum = Column(OpCode::kAdd, {scaled, step}, "rejection/unbounded");
    return Column(OpCode::kMinimum, {sum, Float("rejection/one", 1.0f)}, "rejection/p_value");
  }

  void AddOutput(int p_value, int nearest) {
    const int limit = Float("rejection/limit", rejection_.table.Limit());
    const int below =
        addition_.Op(OpCode::kLess, {p_value, limit}, "rejection/below", DType::kBool, {-1, 1});
    const int refused = Column(OpCode::kCast, {below}, "rejection/refused");
    AddedOutput output;
    output.name = kRejectionOutput;
    output.tensor =
        addition_.Op(OpCode::kConcatenation, {p_value, refused, nearest}, kRejectionOutput, kFloat,
                     {-1, 2 + rejection_.taught.n_neighbours()});
    addition_.ops.back().axis = 1;
    addition_.outputs.push_back(output);
    std::string names = StrFormat("{}\t{:.6g}\n", kPromised, rejection_.table.rate);
    for (const std::string& name : rejection_.names) names += name + "\n";
    addition_.files.push_back({kStoredNames, names});
  }

  const Graph& graph_;
  const Rejection& rejection_;
  GraphAddition addition_;
  int last_axis_ = -1;
};

}  // namespace

Result<std::vector<uint8_t>> WithRejection(const Model& model, int output,
                                           const Rejection& rejection) {
  const int old = FindRejection(model);
  if (old >= 0) {
    TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, WithoutRejection(model));
    TW_ASSIGN_OR_RETURN(std::shared_ptr<const Model> without,
                        Model::OpenMemory(bytes.data(), bytes.size(), false));
    if (model.main_index() != 0) {
      TW_ASSIGN_OR_RETURN(without, Model::WithMain(without, model.main_index()));
    }
    return WithRejection(*without, output - (old < output ? 1 : 0), rejection);
  }
  TW_ASSIGN_OR_RETURN(const Head head, FindHead(model.main(), output));
  if (head.appended() || head.n_classes != rejection.table.n_categories ||
      head.dim != rejection.taught.dim) {
    return Unsupported("output #{} has no head of {} classes over {} features that could refuse",
                       output, rejection.table.n_categories, rejection.taught.dim);
  }
  return AppendToModel(model, RejectionGraph(model, rejection).Build(head));
}

}  // namespace topwork
