#include "runtime/train/auto/head_design.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/train/judge/scores.h"
#include "runtime/train/random.h"

namespace topwork {

Result<HeadDesign> HeadDesign::Gather(const TrainingContext& context,
                                      std::vector<int32_t> examples) {
  const FeatureCache& cache = context.set->cache();
  HeadDesign d;
  d.examples = std::move(examples);
  d.n = static_cast<int64_t>(d.examples.size());
  d.dim = context.layers->head_dim();
  d.n_outputs = context.n_classes();
  d.products = context.products;
  const size_t n = d.examples.size();
  const size_t n_outputs = static_cast<size_t>(d.n_outputs);
  TW_RETURN_IF_ERROR(HeadInputsOf(context, d.examples, &d.scratch, &d.rows));
  TW_RETURN_IF_ERROR(context.watch->Expect(n * n_outputs * sizeof(float), "the examples' targets"));
  d.targets.assign(n * n_outputs, 0.0f);
  const LossOptions& loss = context.set->loss();
  d.has_own_weights = !context.set->example_weights().empty();
  for (size_t i = 0; i < n; ++i) {
    const int32_t example = d.examples[i];
    const bool labels = cache.uses_labels();
    if (d.has_own_weights) {
      d.weights.push_back(context.set->example_weights()[static_cast<size_t>(example)]);
    }
    d.labels.push_back(labels ? cache.label(example) : 0);
    d.values.push_back(labels ? nullptr : cache.values(example));
    float* target = d.targets.data() + i * n_outputs;
    if (labels) {
      target[d.labels[i]] = 1.0f;
      if (!loss.class_weights.empty()) {
        d.weights.push_back(loss.class_weights[static_cast<size_t>(d.labels[i])]);
      }
      continue;
    }
    const bool both = loss.loss == Loss::kSigmoidCrossEntropy;
    for (size_t c = 0; c < n_outputs; ++c) {
      target[c] = both ? 2.0f * d.values[i][c] - 1.0f : d.values[i][c];
    }
  }
  for (size_t i = 0; i < n && !cache.groups().empty(); ++i) {
    d.groups.push_back(cache.group(d.examples[i]));
  }
  // A single group cannot be left out.
  const auto same = [&](int32_t group) { return group >= 0 && group == d.groups.front(); };
  if (std::all_of(d.groups.begin(), d.groups.end(), same)) d.groups.clear();
  context.watch->NoteBytes(d.bytes());
  return d;
}

size_t HeadDesign::bytes() const {
  return (scratch.size() + targets.size() + 4 * rows.size()) * sizeof(float) +
         2 * rows.size() * sizeof(void*);
}

std::vector<std::vector<int64_t>> LeavingTogether(const HeadDesign& design,
                                                  Span<const int32_t> groups) {
  std::vector<std::vector<int64_t>> out;
  std::vector<int64_t> order(static_cast<size_t>(design.n));
  std::iota(order.begin(), order.end(), 0);
  const auto group = [&](int64_t b) {
    return groups.empty() ? -1 : groups[static_cast<size_t>(b)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return group(a) < group(b); });
  for (int64_t b : order) {
    const bool joins = !out.empty() && group(b) >= 0 && group(out.back().front()) == group(b);
    if (joins) {
      out.back().push_back(b);
    } else {
      out.push_back({b});
    }
  }
  return out;
}

std::vector<int32_t> MakeParts(const HeadDesign& design, int n_parts, uint64_t seed) {
  const size_t n = static_cast<size_t>(design.n);
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).Shuffle(&order);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return design.labels[static_cast<size_t>(a)] < design.labels[static_cast<size_t>(b)];
  });
  std::vector<int32_t> parts(n, 0);
  std::map<int32_t, int32_t> of_group;
  int32_t next = 0;
  for (int32_t b : order) {
    const int32_t group = design.groups.empty() ? -1 : design.groups[static_cast<size_t>(b)];
    const auto found = group < 0 ? of_group.end() : of_group.find(group);
    int32_t part = next % n_parts;
    if (found != of_group.end()) {
      part = found->second;
    } else {
      ++next;
      if (group >= 0) of_group[group] = part;
    }
    parts[static_cast<size_t>(b)] = part;
  }
  return parts;
}

}  // namespace topwork
