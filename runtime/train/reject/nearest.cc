// Products are sums of eight lanes, which the compiler makes vectors of.
#include "runtime/train/reject/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/thread_pool.h"

namespace topwork {
namespace {

constexpr int64_t kDotLanes = 8;

double Dot(const float* a, const float* b, int64_t n) {
  float lanes[kDotLanes] = {};
  int64_t i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (int64_t l = 0; l < kDotLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  }
  double sum = 0.0;
  for (float lane : lanes) sum += static_cast<double>(lane);
  for (; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// 1 / length, of a vector of zeros 0.
double InverseLength(const float* x, int64_t n) {
  const double squares = Dot(x, x, n);
  return squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
}

// How many of each class are chosen: as even as the classes' sizes allow.
std::vector<int64_t> Quotas(const std::vector<std::vector<int32_t>>& classes, int64_t max_rows) {
  std::vector<int64_t> quotas(classes.size(), 0);
  int64_t left = std::max<int64_t>(max_rows, static_cast<int64_t>(classes.size()));
  for (bool changed = true; left > 0 && changed;) {
    changed = false;
    for (size_t c = 0; c < classes.size() && left > 0; ++c) {
      if (quotas[c] >= static_cast<int64_t>(classes[c].size())) continue;
      ++quotas[c];
      --left;
      changed = true;
    }
  }
  return quotas;
}

// `count` of the members, each the farthest from those before it; the first is the first member.
void ChooseCentres(const FeatureRows& examples, const std::vector<int32_t>& members, int64_t count,
                   std::vector<int32_t>* chosen) {
  if (count == static_cast<int64_t>(members.size())) {
    chosen->insert(chosen->end(), members.begin(), members.end());
    return;
  }
  std::vector<double> closest(members.size(), -std::numeric_limits<double>::infinity());
  size_t next = 0;
  for (int64_t k = 0; k < count; ++k) {
    const float* centre = examples.rows[static_cast<size_t>(members[next])];
    const double inverse = InverseLength(centre, examples.dim);
    chosen->push_back(members[next]);
    closest[next] = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < members.size(); ++i) {
      const float* row = examples.rows[static_cast<size_t>(members[i])];
      const double cosine =
          Dot(row, centre, examples.dim) * inverse * InverseLength(row, examples.dim);
      closest[i] = std::max(closest[i], cosine);
    }
    next = static_cast<size_t>(std::min_element(closest.begin(), closest.end()) - closest.begin());
  }
}

}  // namespace

void TakeRoots(float* features, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    features[i] *= 1.0f / std::sqrt(std::fabs(features[i]) + kLeastRoot);
  }
}

std::vector<int32_t> ChooseExamples(const FeatureRows& examples, Span<const int32_t> candidates,
                                    int64_t max_rows) {
  std::vector<std::vector<int32_t>> classes;
  for (int32_t i : candidates) {
    const size_t c =
        examples.labels.empty() ? 0 : static_cast<size_t>(examples.labels[static_cast<size_t>(i)]);
    if (classes.size() <= c) classes.resize(c + 1);
    classes[c].push_back(i);
  }
  const std::vector<int64_t> quotas = Quotas(classes, max_rows);
  std::vector<int32_t> chosen;
  for (size_t c = 0; c < classes.size(); ++c) {
    ChooseCentres(examples, classes[c], quotas[c], &chosen);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

StoredExamples Store(const FeatureRows& examples, std::vector<int32_t> chosen) {
  StoredExamples stored;
  stored.dim = examples.dim;
  stored.examples = std::move(chosen);
  float largest = 0.0f;
  for (int32_t i : stored.examples) {
    const float* row = examples.rows[static_cast<size_t>(i)];
    const float inverse = static_cast<float>(InverseLength(row, examples.dim));
    for (int64_t d = 0; d < examples.dim; ++d) {
      stored.rows.push_back(row[d] * inverse);
      largest = std::max(largest, std::fabs(stored.rows.back()));
    }
  }
  stored.scale = largest > 0.0f ? largest / 127.0f : 1.0f;
  for (float& v : stored.rows) v = std::round(v / stored.scale) * stored.scale;
  return stored;
}

StoredConstant StoredExamples::AsConstant() const { return StoreInt8({scale, 0}, rows); }

double Similarity(const StoredExamples& stored, const float* features,
                  const std::vector<uint8_t>& skip, int32_t* nearest) {
  const double inverse = InverseLength(features, stored.dim);
  double best[kNeighbours];
  int32_t which[kNeighbours];
  int n = 0;
  for (int64_t r = 0; r < stored.size(); ++r) {
    if (!skip.empty() && skip[static_cast<size_t>(r)]) continue;
    const double cosine = Dot(features, stored.rows.data() + r * stored.dim, stored.dim) * inverse;
    int at = n < kNeighbours ? n++ : kNeighbours;
    for (; at > 0 && best[at - 1] < cosine; --at) {
      if (at == kNeighbours) continue;
      best[at] = best[at - 1];
      which[at] = which[at - 1];
    }
    if (at == kNeighbours) continue;
    best[at] = cosine;
    which[at] = static_cast<int32_t>(r);
  }
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += best[i];
  if (nearest != nullptr) std::copy_n(which, n, nearest);
  return n > 0 ? sum / n : 0.0;
}

std::vector<double> LeftOutSimilarities(const StoredExamples& stored, const FeatureRows& examples,
                                        bool same, ThreadPool* pool) {
  std::vector<double> result(static_cast<size_t>(examples.size()));
  const auto left_out = [&](int64_t i, int32_t other) {
    if (i == other) return true;
    if (examples.groups.empty()) return false;
    const int32_t group = examples.groups[static_cast<size_t>(i)];
    return group >= 0 && group == examples.groups[static_cast<size_t>(other)];
  };
  pool->ParallelFor(examples.size(), [&](int64_t i, int) {
    std::vector<uint8_t> skip;
    if (same) {
      for (int32_t other : stored.examples) skip.push_back(left_out(i, other));
    }
    result[static_cast<size_t>(i)] =
        Similarity(stored, examples.rows[static_cast<size_t>(i)], skip, nullptr);
  });
  return result;
}

}  // namespace topwork
