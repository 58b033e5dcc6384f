// The steps of QuantizeModel. Each edits the tables of a model whose main graph is `graph`.
//
// Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_STEPS_H_
#define TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_STEPS_H_

#include <map>
#include <utility>
#include <vector>

#include "models/format/compress/quantize_plan.h"
#include "models/format/model_tables.h"

namespace topwork {

// Writes weights and biases of layers. A constant that several layers read in the same form is
// written once.
class WeightWriter {
 public:
  // `means`: see QuantizeSpec; empty: biases stay as they are.
  WeightWriter(const Graph& graph, const std::vector<std::vector<float>>& means,
               ModelTables* tables)
      : graph_(graph), means_(means), tables_(*tables) {}

  // Stores weights and bias of `op` for an input of this scale; 0: the input is float, and the bias
  // stays as it is.
  Status Write(const Op& op, float input_scale);
  int n_constants() const { return n_constants_; }

 private:
  int NewConstant(int old, int axis, const StoredConstant& stored);
  void CorrectBias(const Op& op, const HeadFormat& format, const std::vector<float>& weights,
                   std::vector<float>* bias) const;

  const Graph& graph_;
  const std::vector<std::vector<float>>& means_;
  ModelTables& tables_;
  std::map<std::pair<std::pair<int, int>, float>, std::pair<int, int>> written_;
  int n_constants_ = 0;
};

// Int8 activations and weights by `plan`; counts in *report.
Status WriteIntegers(const Graph& graph, const IntegerPlan& plan, const QuantizeSpec& spec,
                     ModelTables* tables, QuantizeReport* report);

// Removes DEQUANTIZE operators that nobody reads any more.
void RemoveUnreadDequantize(ModelTables* tables);

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_COMPRESS_QUANTIZE_STEPS_H_
