// Rounding a trained head to the types of its model.
#include "runtime/train/stored_head.h"

#include <algorithm>
#include <numeric>

#include "models/format/write.h"
#include "runtime/train/head/tail_graph.h"
#include "runtime/train/identity/identity_fit.h"
#include "runtime/train/judge/scores.h"

namespace topwork {

HeadFormat StoredFormat(const TrainingContext& context) {
  const Head& head = context.layers->head();
  const bool real = context.options->optimizer == Optimizer::kKnn || context.options->float_head ||
                    head.becomes_float() || context.layers->added().n_units > 0;
  return real ? HeadFormat() : head.format;
}

void ScaledHead(const TrainingState& state, std::vector<float>* weights, std::vector<float>* bias) {
  weights->assign(state.weights().begin(), state.weights().end());
  bias->assign(state.bias().begin(), state.bias().end());
  const float scale = static_cast<float>(1.0 / state.temperature);
  for (float& w : *weights) w *= scale;
  for (float& b : *bias) b *= scale;
}

AsStored::AsStored(const TrainingContext& context)
    : context_(context),
      kept_(context.state->parameters().begin(), context.state->parameters().end()) {
  context_.watch->NoteBytes(2 * kept_.size() * sizeof(float));  // and the scaled head
  if (context.options->optimizer == Optimizer::kKnn) {
    RoundIdentity(context);
    return;
  }
  TrainingState& state = *context_.state;
  std::vector<float> weights, bias;
  ScaledHead(state, &weights, &bias);
  float* to = state.network->parameters().data();
  RoundHead(StoredFormat(context_), context_.n_classes(), context_.layers->head_dim(), weights,
            bias, to + state.InfoOf(kHeadWeights).offset, to + state.InfoOf(kHeadBias).offset);
  const Graph& graph = context_.layers->model().main();
  const Tail& tail = context_.layers->tail();
  for (size_t i = 0; i < tail.constants.size(); ++i) {
    const ParameterInfo& info = state.layout()[i + 2];  // after the head's two
    RoundAsStored(graph, tail.constants[i].stored,
                  {to + info.offset, static_cast<size_t>(info.size)});
  }
}

AsStored::~AsStored() {
  std::copy(kept_.begin(), kept_.end(), context_.state->network->parameters().begin());
}

Status AsStored::MeasureScores(float* out_min, float* out_max) const {
  const FeatureCache& cache = context_.set->cache();
  std::vector<int32_t> all(static_cast<size_t>(cache.size()));
  std::iota(all.begin(), all.end(), 0);
  float low = 0.0f;
  float high = 0.0f;
  const auto widen = [&](int32_t, const float* scores) {
    for (int c = 0; c < context_.n_classes(); ++c) {
      low = std::min(low, scores[c]);
      high = std::max(high, scores[c]);
    }
  };
  TW_RETURN_IF_ERROR(
      ForEachScores(context_.state->network.get(), cache, all, context_.watch, widen));
  // Without examples: what a trained classifier's scores usually span.
  *out_min = low < high ? low : -16.0f;
  *out_max = low < high ? high : 16.0f;
  return Status::Ok();
}

}  // namespace topwork
