// Tables of conformal p-values, one a category.
#include "runtime/train/reject/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace topwork {
namespace {

// What a category has in the table.
struct Column {
  std::vector<float> medians, inverse_units;  // [n_scores]
  std::vector<float> levels;
};

float InUnits(float score, float median, float inverse_unit) {
  return (score - median) * inverse_unit;
}

void MeasureScore(std::vector<double> values, float* median, float* inverse_unit) {
  std::sort(values.begin(), values.end());
  const double middle = values.empty() ? 0.0 : values[values.size() / 2];
  const double unit = values.empty() ? 0.0 : middle - values[values.size() / 10];
  *median = static_cast<float>(middle);
  *inverse_unit = unit > 1e-30 ? static_cast<float>(1.0 / unit) : 1.0f;
}

// `smallest`: sorted, of the taught examples.
float Level(const std::vector<float>& smallest, double level) {
  const size_t n = smallest.size();
  const size_t n_below = static_cast<size_t>(level * static_cast<double>(n + 1) + 1e-6);
  if (n_below == 0) return std::numeric_limits<float>::lowest();
  return n_below > n ? std::numeric_limits<float>::max() : smallest[n_below - 1];
}

Column MakeColumn(const ConformalScores& scores, const std::vector<size_t>& members,
                  const ConformalTable& table) {
  const size_t n_scores = static_cast<size_t>(scores.n_scores);
  Column column;
  column.medians.resize(n_scores);
  column.inverse_units.resize(n_scores);
  std::vector<float> smallest(members.size(), std::numeric_limits<float>::max());
  for (size_t s = 0; s < n_scores; ++s) {
    std::vector<double> values;
    for (size_t i : members) values.push_back(scores.values[i * n_scores + s]);
    MeasureScore(values, &column.medians[s], &column.inverse_units[s]);
    for (size_t k = 0; k < values.size(); ++k) {
      smallest[k] = std::min(smallest[k], InUnits(static_cast<float>(values[k]), column.medians[s],
                                                  column.inverse_units[s]));
    }
  }
  std::sort(smallest.begin(), smallest.end());
  for (int l = 0; l < table.n_levels; ++l) {
    column.levels.push_back(Level(smallest, table.step * (l + 1)));
  }
  return column;
}

// Examples of the categories of fewer than `least`.
std::vector<size_t> Rest(const std::vector<std::vector<size_t>>& members, int64_t least) {
  std::vector<size_t> rest;
  for (const auto& category : members) {
    if (static_cast<int64_t>(category.size()) >= least) continue;
    rest.insert(rest.end(), category.begin(), category.end());
  }
  return rest;
}

}  // namespace

double UnitOf(std::vector<double> values) {
  float median = 0.0f, inverse_unit = 0.0f;
  MeasureScore(std::move(values), &median, &inverse_unit);
  return 1.0 / static_cast<double>(inverse_unit);
}

int64_t MinCategory(double rate) {
  const double enough = std::ceil(1.0 / rate - 1e-6) - 1.0;
  return std::max<int64_t>(20, static_cast<int64_t>(enough));
}

double ConformalTable::PValue(const float* scores, int category) const {
  float smallest = std::numeric_limits<float>::max();
  for (int s = 0; s < n_scores; ++s) {
    const size_t at = static_cast<size_t>(s * n_categories + category);
    smallest = std::min(smallest, InUnits(scores[s], medians[at], inverse_units[at]));
  }
  const auto first = levels.begin() + static_cast<int64_t>(category) * n_levels;
  const auto n_reached = std::upper_bound(first, first + n_levels, smallest) - first;
  return std::min(1.0, step * static_cast<double>(1 + n_reached));
}

ConformalTable MakeConformalTable(const ConformalScores& scores, double rate) {
  ConformalTable table;
  table.rate = rate;
  table.step = rate / static_cast<double>(std::max(1L, std::lround(rate * 100.0)));
  table.n_levels = static_cast<int>(std::ceil(1.0 / table.step - 1e-6)) - 1;
  table.n_scores = scores.n_scores;
  table.n_categories = scores.n_categories;
  std::vector<std::vector<size_t>> members(static_cast<size_t>(scores.n_categories));
  for (size_t i = 0; i < scores.categories.size(); ++i) {
    members[static_cast<size_t>(scores.categories[i])].push_back(i);
  }
  const int64_t least = MinCategory(rate);
  std::vector<size_t> rest = Rest(members, least);
  if (static_cast<int64_t>(rest.size()) < least) {
    rest = Rest(members, std::numeric_limits<int64_t>::max());
  }
  const Column common = MakeColumn(scores, rest, table);
  table.medians.resize(static_cast<size_t>(table.n_scores) * members.size());
  table.inverse_units.resize(table.medians.size());
  for (size_t c = 0; c < members.size(); ++c) {
    const bool own = static_cast<int64_t>(members[c].size()) >= least;
    const Column column = own ? MakeColumn(scores, members[c], table) : common;
    table.levels.insert(table.levels.end(), column.levels.begin(), column.levels.end());
    for (size_t s = 0; s < column.medians.size(); ++s) {
      table.medians[s * members.size() + c] = column.medians[s];
      table.inverse_units[s * members.size() + c] = column.inverse_units[s];
    }
  }
  return table;
}

}  // namespace topwork
