// ChooseExamples: distances to the chosen are kept, each choice updates them.
#include "runtime/train/audit/choice.h"

#include <algorithm>

#include "runtime/train/audit/cosine.h"

namespace topwork {
namespace {

// Doubt counts as at least this, so that of sure examples the farthest still goes first.
constexpr double kLeastDoubt = 1e-3;

}  // namespace

Result<std::vector<Suggestion>> ChooseExamples(const ChoiceProblem& problem, int64_t count,
                                               ThreadPool* pool) {
  const size_t n = static_cast<size_t>(problem.n);
  std::vector<double> doubt(n, 1.0);
  for (size_t i = 0; i < problem.doubt.size(); ++i) {
    const float value = problem.doubt[i];
    if (!(value >= 0.0f && value <= 1.0f)) {
      return InvalidArgument("the doubt of example {} is {}, not in [0, 1]", i, value);
    }
    doubt[i] = std::max(kLeastDoubt, static_cast<double>(value));
  }
  Cosines cosines(problem.rows, problem.n, problem.dim, pool);
  std::vector<double> distances(n, 2.0);
  std::vector<float> near(n * static_cast<size_t>(Cosines::kBlock));
  const auto take_in = [&](const float* const* centres, int64_t n_centres) {
    cosines.Of(Span<const float* const>(centres, static_cast<size_t>(n_centres)), near.data());
    for (size_t k = 0; k < n * static_cast<size_t>(n_centres); ++k) {
      double& distance = distances[k / static_cast<size_t>(n_centres)];
      distance = std::min(distance, std::max(0.0, 1.0 - static_cast<double>(near[k])));
    }
  };
  for (int64_t first = 0; first < problem.n_known; first += Cosines::kBlock) {
    take_in(problem.known + first, std::min(Cosines::kBlock, problem.n_known - first));
  }
  std::vector<Suggestion> chosen(
      static_cast<size_t>(std::max<int64_t>(0, std::min(count, problem.n))));
  for (Suggestion& one : chosen) {
    size_t best = n;
    for (size_t i = 0; i < n; ++i) {
      if (doubt[i] < 0.0) continue;  // chosen
      if (best == n || distances[i] * doubt[i] > distances[best] * doubt[best]) best = i;
    }
    one.index = static_cast<int64_t>(best);
    one.distance = distances[best];
    if (!problem.doubt.empty()) one.doubt = static_cast<double>(problem.doubt[best]);
    doubt[best] = -1.0;
    take_in(problem.rows + best, 1);
  }
  return chosen;
}

}  // namespace topwork
