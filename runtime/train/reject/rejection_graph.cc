// The operators that refuse: from the head's feature and logits to the output "rejection".
//
// All are stock operators on float32. Quantized features and logits are dequantized first; stored
// examples lie in the file as int8. Tables lie [classes, columns], and the row of the class that the
// head answers is gathered.
#include <algorithm>

#include "models/format/append.h"
#include "runtime/train/head/head.h"
#include "runtime/train/identity/identity_graph.h"
#include "runtime/train/reject/rejection.h"

namespace topwork {
namespace {

class RejectionGraph {
 public:
  RejectionGraph(const Model& model, const Rejection& rejection)
      : rejection_(rejection), addition_(model) {}

  GraphAddition Build(const Head& head) {
    last_axis_ = addition_.Ints("rejection/axis", {1}, std::vector<int32_t>{1});
    const int feature = addition_.RealRows(head.feature, head.dim, "rejection/feature");
    const int unit = addition_.UnitLength(AddRoots(feature), "rejection/unit");
    const int logits = addition_.RealRows(head.logits, head.n_classes, "rejection/logits");
    int nearest = -1;
    const int near = AddSimilarity(rejection_.taught, unit, "rejection/taught", &nearest);
    const int part =
        addition_.Times(AddEnergy(logits), Float("rejection/energy_share", rejection_.energy_share),
                        "rejection/energy_part");
    std::vector<int> scores = {addition_.Plus(near, part, "rejection/likeness")};
    if (rejection_.n_scores() == 2) {
      const int other = AddSimilarity(rejection_.negatives, unit, "rejection/negatives", nullptr);
      scores.push_back(addition_.Minus(near, other, "rejection/difference"));
    }
    const int p_value = AddPValue(scores, logits);
    AddOutput(p_value, nearest);
    return std::move(addition_);
  }

 private:
  int Float(const char* name, float value) {
    return addition_.Floats(name, {1, 1}, Span<const float>(&value, 1));
  }

  // As TakeRoots has them.
  int AddRoots(int feature) {
    const int size = addition_.Plus(addition_.Absolute(feature, "rejection/absolute"),
                                    Float("rejection/least", kLeastRoot), "rejection/size");
    return addition_.Times(feature, addition_.InverseRoot(size, "rejection/inverse_root"),
                           "rejection/root");
  }

  int AddEnergy(int logits) {
    const int most = addition_.MaxOver(logits, last_axis_, "rejection/most");
    const int less = addition_.Minus(logits, most, "rejection/less");
    const int powers = addition_.Exp(less, "rejection/powers");
    const int sum = addition_.SumOver(powers, last_axis_, "rejection/sum");
    const int mean = addition_.MeanOver(logits, last_axis_, "rejection/mean");
    const int above = addition_.Minus(most, mean, "rejection/above_mean");
    return addition_.Plus(addition_.Log(sum, "rejection/log"), above, "rejection/energy");
  }

  int AddSimilarity(const StoredExamples& stored, int unit, const std::string& name,
                    int* out_nearest) {
    const int32_t n = static_cast<int32_t>(stored.size());
    const int32_t dim = static_cast<int32_t>(stored.dim);
    const int bytes = addition_.Add({name + "/int8", DType::kInt8, {n, dim}, stored.AsConstant()});
    const int rows = addition_.Dequantize(bytes, name);
    const int cosines = addition_.Dense(unit, rows, -1, name + "/cosines");
    const int largest = addition_.Largest(cosines, stored.n_neighbours(), name);
    if (out_nearest != nullptr) *out_nearest = addition_.ToFloat(largest + 1, name + "/index");
    return addition_.MeanOver(largest, last_axis_, name + "/similarity");
  }

  // A row of a table [classes, columns] for each example.
  int AddRow(const std::string& name, const float* values, int columns, int best) {
    const int n = rejection_.table.n_categories;
    const int all = addition_.Floats(
        name, {n, columns},
        Span<const float>(values, static_cast<size_t>(n) * static_cast<size_t>(columns)));
    return addition_.RowsAt(all, best, name + "/row");
  }

  // The smallest of the measured scores.
  int AddSmallest(const std::vector<int>& scores, int best) {
    const ConformalTable& table = rejection_.table;
    int smallest = -1;
    for (size_t s = 0; s < scores.size(); ++s) {
      const size_t first = s * static_cast<size_t>(table.n_categories);
      const int median = AddRow("rejection/median", table.medians.data() + first, 1, best);
      const int unit = AddRow("rejection/unit", table.inverse_units.data() + first, 1, best);
      const int less = addition_.Minus(scores[s], median, "rejection/less_median");
      const int measured = addition_.Times(less, unit, "rejection/measured");
      smallest =
          smallest < 0 ? measured : addition_.Minimum(smallest, measured, "rejection/smallest");
    }
    return smallest;
  }

  // step · (1 + the levels of the class that the smallest score reaches).
  int AddPValue(const std::vector<int>& scores, int logits) {
    const ConformalTable& table = rejection_.table;
    const int best = addition_.LargestAt(logits, last_axis_, "rejection/class");
    const int levels = AddRow("rejection/levels", table.levels.data(), table.n_levels, best);
    const int reached = addition_.IsAtLeast(AddSmallest(scores, best), levels, "rejection/reached");
    const int ones = addition_.ToFloat(reached, "rejection/passed");
    const int count = addition_.SumOver(ones, last_axis_, "rejection/count");
    const int step = Float("rejection/step", static_cast<float>(table.step));
    const int scaled = addition_.Times(count, step, "rejection/scaled");
    const int sum = addition_.Plus(scaled, step, "rejection/unbounded");
    return addition_.Minimum(sum, Float("rejection/one", 1.0f), "rejection/p_value");
  }

  void AddOutput(int p_value, int nearest) {
    const int limit = Float("rejection/limit", rejection_.table.Limit());
    const int below = addition_.IsLess(p_value, limit, "rejection/below");
    const int refused = addition_.ToFloat(below, "rejection/refused");
    AddedOutput output;
    output.name = kRejectionOutput;
    output.tensor = addition_.Joined({p_value, refused, nearest}, kRejectionOutput);
    addition_.outputs.push_back(output);
    std::string names = StrFormat("{}\t{:.6g}\n", kPromised, rejection_.table.rate);
    for (const std::string& name : rejection_.names) names += name + "\n";
    addition_.files.push_back({kStoredNames, names});
  }

  const Rejection& rejection_;
  GraphAddition addition_;
  int last_axis_ = -1;
};

}  // namespace

Result<std::vector<uint8_t>> WithoutRejection(const Model& model) {
  GraphAddition removal(model);
  const int output = FindRejection(model);
  if (output >= 0) removal.removed_outputs = {output};
  removal.files.push_back({kStoredNames, ""});
  return AppendToModel(model, removal);
}

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
  Head head;
  if (!FindIdentity(model.main(), output, &head)) {
    TW_ASSIGN_OR_RETURN(head, FindHead(model.main(), output));
  }
  if (head.appended() || head.n_classes != rejection.table.n_categories ||
      head.dim != rejection.taught.dim) {
    return Unsupported("output #{} has no head of {} classes over {} features that could refuse",
                       output, rejection.table.n_categories, rejection.taught.dim);
  }
  return AppendToModel(model, RejectionGraph(model, rejection).Build(head));
}

}  // namespace topwork
