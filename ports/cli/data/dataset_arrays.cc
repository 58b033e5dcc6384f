// Dataset of arrays: x.npy with y.npy, and the names of the classes in classes.txt.
//   y.npy, integers [N]                  the class of each example
//   y.npy, floats or bool [N]            one target an example
//   y.npy, floats, integers, bool [N,C]  C targets an example (integers: C ≥ 2)
//   groups.npy, integers [N]             the group of each example, if there are groups
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/dataset.h"
#include "ports/cli/data/numbers.h"
#include "ports/cli/files.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

namespace fs = std::filesystem;

// A y.npy with a label beyond this is taken for a mistake rather than for that many classes.
constexpr int64_t kMaxClasses = 100000;

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

void Dataset::OpenArrays() {
  const std::string x_path = (fs::path(folder_) / "x.npy").string();
  const std::string y_path = (fs::path(folder_) / "y.npy").string();
  x_ = ReadNpy(x_path);
  const Array y = ReadNpy(y_path);
  CheckExamples(x_path);
  const bool numeric = IsInteger(y.dtype) || IsFloat(y.dtype) || y.dtype == TW_DTYPE_BOOL;
  const bool is_column = y.shape.size() == 2 && y.shape[1] == 1 && IsInteger(y.dtype);
  if (!numeric || y.shape.empty() || y.shape.size() > 2 || is_column) {
    throw CliError(
        kExitData,
        y_path + ": is " + tw_dtype_name(y.dtype) + " of shape " + ShapeText(y.shape) +
            "; it must be integers [N], the class of each example, or numbers: floats "
            "[N], or anything [N, C] for C outputs" +
            (is_column ? " (y[:, 0] for classes, y.astype('float32') for numbers)" : ""));
  }
  if (y.shape[0] != x_.shape[0]) {
    throw CliError(kExitData, y_path + ": has " + std::to_string(y.shape[0]) + " labels for " +
                                  std::to_string(x_.shape[0]) + " examples in x.npy");
  }
  if (y.shape[0] == 0) throw CliError(kExitData, x_path + ": holds no examples");
  size_ = y.shape[0];
  example_bytes_ = x_.bytes.size() / static_cast<size_t>(size_);
  if (y.shape.size() == 1 && IsInteger(y.dtype)) {
    ReadLabelArray(y_path, y);
  } else {
    ReadTargetArray(y_path, y);
  }
  ReadGroupArray((fs::path(folder_) / "groups.npy").string());
}

void Dataset::ReadGroupArray(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const Array groups = ReadNpy(path);
  if (!IsInteger(groups.dtype) || groups.shape != std::vector<int64_t>{size_}) {
    throw CliError(kExitData, path + ": is " + tw_dtype_name(groups.dtype) + " of shape " +
                                  ShapeText(groups.shape) + "; it must be integers [" +
                                  std::to_string(size_) + "], the group of each example");
  }
  for (int64_t i = 0; i < size_; ++i) {
    const int64_t group = std::llround(NumberAt(groups.dtype, groups.bytes.data(), i));
    AddGroup(std::to_string(group), 1);
  }
}

void Dataset::CheckExamples(const std::string& path) const {
  if (!CanConvert(x_.dtype, input_)) {
    throw CliError(kExitData, path + ": is " + tw_dtype_name(x_.dtype) + ", the model's input '" +
                                  input_.name + "' is " + tw_dtype_name(input_.dtype) +
                                  "; convert it with NumPy, with the values that the model wants");
  }
  bool fits = x_.shape.size() == static_cast<size_t>(input_.rank) && input_.rank > 0;
  std::string want = "[N";
  for (int32_t i = 1; i < input_.rank; ++i) {
    fits = fits && x_.shape[static_cast<size_t>(i)] == input_.dims[i];
    want += ", " + std::to_string(input_.dims[i]);
  }
  if (fits) return;
  throw CliError(kExitData,
                 path + ": has shape " + ShapeText(x_.shape) + ", the model needs " + want + "]");
}

void Dataset::ReadLabelArray(const std::string& path, const Array& y) {
  int64_t largest = 0;
  for (int64_t i = 0; i < size_; ++i) {
    const double label = NumberAt(y.dtype, y.bytes.data(), i);
    if (label < 0.0 || label >= static_cast<double>(kMaxClasses)) {
      throw CliError(kExitData, path + ": label " + std::to_string(std::llround(label)) +
                                    " at position " + std::to_string(i) +
                                    " is not a class number (0 to " +
                                    std::to_string(kMaxClasses - 1) + ")");
    }
    labels_.push_back(std::llround(label));
    largest = std::max(largest, labels_.back());
  }
  ReadClassNames(largest + 1, false);
}

void Dataset::ReadTargetArray(const std::string& path, const Array& y) {
  const int64_t n = y.shape.size() == 2 ? y.shape[1] : 1;
  if (n < 1 || n > kMaxClasses) {
    throw CliError(kExitData, path + ": has shape " + ShapeText(y.shape) +
                                  "; an example needs 1 to " + std::to_string(kMaxClasses) +
                                  " numbers");
  }
  for (int64_t k = 0; k < size_ * n; ++k) {
    const float value = static_cast<float>(NumberAt(y.dtype, y.bytes.data(), k));
    if (!std::isfinite(value)) {
      throw CliError(kExitData, path + ": the number at [" + std::to_string(k / n) + ", " +
                                    std::to_string(k % n) +
                                    "] is not finite; leave the example out");
    }
    targets_.push_back(value);
  }
  ReadClassNames(n, true);
  FinishTargets();
}

// Names from classes.txt, where there is one, else numbers. `n_needed`: columns, or one more than
// the largest label; more names than labels are fine, some classes may have no examples here.
void Dataset::ReadClassNames(int64_t n_needed, bool exactly) {
  const std::string path = (fs::path(folder_) / "classes.txt").string();
  std::error_code error;
  has_names_ = fs::exists(path, error);
  if (!has_names_) {
    for (int64_t c = 0; c < n_needed; ++c) class_names_.push_back(std::to_string(c));
    return;
  }
  class_names_ = ReadLines(path);
  const int64_t n = static_cast<int64_t>(class_names_.size());
  if (n < n_needed || (exactly && n != n_needed)) {
    throw CliError(kExitData, path + ": has " + CountText(n, "name") + ", y.npy has " +
                                  (exactly ? std::to_string(n_needed) + " columns"
                                           : "labels up to " + std::to_string(n_needed - 1)));
  }
  std::set<std::string> seen;
  for (size_t c = 0; c < class_names_.size(); ++c) {
    const std::string where = path + ":" + std::to_string(c + 1) + ": ";
    if (class_names_[c].empty())
      throw CliError(kExitData, where + "the line is empty; name a class");
    if (!seen.insert(class_names_[c]).second) {
      throw CliError(kExitData, where + "'" + class_names_[c] + "' is named twice");
    }
  }
}

}  // namespace cli
}  // namespace topwork
