// Which weights are cleared, and writing the rest.
#include "models/format/compress/prune.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/format/compress/prune_storage.h"
#include "models/format/compress/quantize_plan.h"
#include "models/format/constants.h"
#include "models/format/write_steps.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

struct Layer {
  int weights = -1;  // value
  std::vector<float> values;
  int64_t rows = 0, columns = 0;
};

// A block of a layer, and how much it counts.
struct Block {
  double score = 0.0;
  int64_t row = 0, column = 0;
  size_t layer = 0;
};

Status FindLayers(const Model& model, const PruneSpec& spec, std::vector<Layer>* layers) {
  const Graph& graph = model.main();
  std::vector<uint8_t> seen(graph.values.size(), false);
  for (const Op& op : graph.ops) {
    const int w = InputOf(op, 1);
    const bool fits = op.code == OpCode::kFullyConnected || op.code == OpCode::kConv2d;
    if (!fits || w < 0 || seen[static_cast<size_t>(w)] || op.params.weights_format != 0) continue;
    const Value& value = graph.values[static_cast<size_t>(w)];
    const bool bytes = value.dtype == DType::kInt8 && value.data != nullptr && !value.is_sparse &&
                       value.quantization != nullptr && !value.is_variable;
    if ((!bytes && !IsFloatConstant(graph, w)) || value.shape.rank() < 2 ||
        value.shape.NumElements() < spec.min_elements) {
      continue;
    }
    seen[static_cast<size_t>(w)] = true;
    Layer layer;
    layer.weights = w;
    TW_RETURN_IF_ERROR(ReadFloats(graph, w, &layer.values));
    layer.rows = value.shape[0];
    layer.columns = layer.rows == 0 ? 0 : value.shape.NumElements() / layer.rows;
    if (layer.columns > 0) layers->push_back(std::move(layer));
  }
  return Status::Ok();
}

template <typename Visit>
void ForEachWeight(const Layer& layer, const PruneSpec& spec, const Block& block, Visit visit) {
  for (int64_t r = block.row; r < std::min(layer.rows, block.row + spec.block_rows); ++r) {
    for (int64_t c = block.column; c < std::min(layer.columns, block.column + spec.block_columns);
         ++c) {
      visit(static_cast<size_t>(r * layer.columns + c));
    }
  }
}

void AddBlocks(const std::vector<Layer>& layers, size_t k, const PruneSpec& spec,
               std::vector<Block>* blocks) {
  const Layer& layer = layers[k];
  for (int64_t r = 0; r < layer.rows; r += spec.block_rows) {
    for (int64_t c = 0; c < layer.columns; c += spec.block_columns) {
      Block block = {0.0, r, c, k};
      int64_t n = 0;
      ForEachWeight(layer, spec, block, [&](size_t i) {
        const double w = static_cast<double>(layer.values[i]);
        block.score += w * w;
        ++n;
      });
      block.score /= static_cast<double>(n);
      blocks->push_back(block);
    }
  }
}

// Of equal blocks the first is cleared, so that the result depends on the weights alone. One block
// is kept: the share is rounded, but never to all.
void ClearSmallest(const PruneSpec& spec, std::vector<Block>* blocks, std::vector<Layer>* layers) {
  const size_t n = static_cast<size_t>(spec.sparsity * static_cast<double>(blocks->size()) + 0.5);
  std::stable_sort(blocks->begin(), blocks->end(),
                   [](const Block& a, const Block& b) { return a.score < b.score; });
  for (size_t i = 0; i < std::min(n, blocks->size() - 1); ++i) {
    Layer* layer = &(*layers)[(*blocks)[i].layer];
    ForEachWeight(*layer, spec, (*blocks)[i], [&](size_t k) { layer->values[k] = 0.0f; });
  }
}

Status Check(const PruneSpec& spec) {
  if (!(spec.sparsity > 0.0 && spec.sparsity < 1.0)) {
    return InvalidArgument("sparsity is {}; it lies between 0 and 1", spec.sparsity);
  }
  if (spec.block_rows < 1 || spec.block_columns < 1 || spec.min_elements < 0) {
    return InvalidArgument("blocks of {} × {} weights and min_elements {} make no sense",
                           spec.block_rows, spec.block_columns, spec.min_elements);
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<uint8_t>> PruneModel(const Model& model, const PruneSpec& spec,
                                        PruneReport* report) {
  *report = PruneReport();
  TW_RETURN_IF_ERROR(Check(spec));
  std::vector<Layer> layers;
  TW_RETURN_IF_ERROR(FindLayers(model, spec, &layers));
  if (layers.empty()) {
    return Unsupported(
        "the model has no FULLY_CONNECTED or CONV_2D with constant weights of {} elements or "
        "more that could be pruned",
        spec.min_elements);
  }
  std::vector<Block> blocks;
  for (size_t k = 0; k < layers.size(); ++k) {
    AddBlocks(layers, k, spec, &blocks);
    if (spec.global && k + 1 < layers.size()) continue;
    ClearSmallest(spec, &blocks, &layers);
    blocks.clear();
  }
  ModelTables tables(model);
  HeadReplacement changes;
  for (const Layer& layer : layers) {
    changes.constants.push_back({layer.weights, layer.values});
    report->n_weights += static_cast<int64_t>(layer.values.size());
    report->n_zeros += std::count(layer.values.begin(), layer.values.end(), 0.0f);
  }
  TW_RETURN_IF_ERROR(WriteConstants(model, changes, &tables));
  report->n_layers = static_cast<int>(layers.size());
  for (size_t k = 0; spec.sparse_storage && k < layers.size(); ++k) {
    report->n_sparse +=
        StoreSparse(layers[k].weights, spec.block_rows, spec.block_columns, &tables);
  }
  return tables.Pack();
}

}  // namespace topwork
