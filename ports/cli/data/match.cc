// Matching by name, else by order.
#include "ports/cli/data/match.h"

#include <algorithm>
#include <numeric>

#include "ports/cli/cli_error.h"

namespace topwork {
namespace cli {
namespace {

// Positions of the data's names among the labels; −1 for those that are no labels.
std::vector<int64_t> ByName(const Dataset& data, const std::vector<std::string>& labels,
                            int64_t n_outputs, size_t* out_n_known) {
  std::vector<int64_t> match(data.class_names().size(), -1);
  *out_n_known = 0;
  for (size_t c = 0; data.has_names() && c < match.size(); ++c) {
    const auto found = std::find(labels.begin(), labels.end(), data.class_names()[c]);
    if (found == labels.end() || found - labels.begin() >= n_outputs) continue;
    match[c] = found - labels.begin();
    ++*out_n_known;
  }
  return match;
}

std::vector<int64_t> InOrder(size_t n) {
  std::vector<int64_t> match(n);
  std::iota(match.begin(), match.end(), int64_t{0});
  return match;
}

}  // namespace

std::vector<int64_t> MatchClasses(const Dataset& data, const std::vector<std::string>& labels,
                                  int64_t n_outputs, std::string* note) {
  const size_t n = data.class_names().size();
  size_t n_known = 0;
  const std::vector<int64_t> match = ByName(data, labels, n_outputs, &n_known);
  if (n_known > 0) {
    if (n_known < n) {
      *note =
          std::to_string(n - n_known) + " of " + std::to_string(n) +
          " classes of the data are not among the model's labels: their examples count as wrong";
    }
    return match;
  }
  const int64_t n_classes = static_cast<int64_t>(n);
  if (data.has_names() ? n_classes == n_outputs && labels.empty() : n_classes <= n_outputs) {
    if (data.has_images()) *note = "the model has no labels: classes are matched in sorted order";
    if (!data.has_names() && n_classes < n_outputs) {
      *note = "the data has " + std::to_string(n) + " classes, the model " +
              std::to_string(n_outputs) + "; class numbers are taken for the model's first ones";
    }
    return InOrder(n);
  }
  if (!data.has_names()) {
    throw CliError(kExitData, "y.npy has labels up to " + std::to_string(n - 1) +
                                  ", the model tells " + std::to_string(n_outputs) +
                                  " classes apart");
  }
  *note =
      labels.empty()
          ? "the model has no labels to find the data's classes among (--labels FILE gives them)"
          : "the model knows none of the data's classes by name";
  *note += ": every example counts as wrong";
  return match;
}

std::vector<int64_t> MatchColumns(const Dataset& data, const std::vector<std::string>& labels,
                                  int64_t n_outputs) {
  const std::vector<std::string>& names = data.class_names();
  size_t n_known = 0;
  const std::vector<int64_t> match = ByName(data, labels, n_outputs, &n_known);
  if (n_known == names.size()) return match;
  if (n_known > 0) {
    const auto unknown = std::find(match.begin(), match.end(), int64_t{-1});
    throw CliError(kExitData, "the model has no output for '" +
                                  names[static_cast<size_t>(unknown - match.begin())] +
                                  "' of the data; 'topwork info' shows its labels");
  }
  if (static_cast<int64_t>(names.size()) != n_outputs) {
    throw CliError(kExitData, "the data has " + std::to_string(names.size()) +
                                  (data.has_targets() ? " numbers" : " classes") +
                                  ", the model gives " + std::to_string(n_outputs) +
                                  " for each example");
  }
  return InOrder(names.size());
}

}  // namespace cli
}  // namespace topwork
