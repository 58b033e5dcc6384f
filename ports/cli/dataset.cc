// Dataset: listing is sorted by name, so that the same folder gives the same order everywhere.
#include "ports/cli/dataset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ports/cli/cli_error.h"

namespace topwork {
namespace cli {
namespace {

namespace fs = std::filesystem;

// A y.npy with a label beyond this is taken for a mistake rather than for that many classes.
constexpr int64_t kMaxClasses = 100000;

std::string ShapeText(const int64_t* dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::vector<fs::path> Entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) throw CliError(kExitIo, folder.string() + ": cannot list it: " + error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

Dataset Dataset::Open(const std::string& folder, const tw_tensor_info& input,
                      const PixelScale& scale) {
  std::error_code error;
  if (!fs::exists(folder, error)) throw CliError(kExitIo, folder + ": no such folder");
  if (!fs::is_directory(folder, error)) {
    throw CliError(kExitIo, folder +
                                ": is not a folder; --data takes a folder of class folders, "
                                "or one with x.npy and y.npy");
  }
  Dataset data;
  data.folder_ = folder;
  data.input_ = input;
  data.input_.data = nullptr;
  if (data.input_.rank > 0) data.input_.dims[0] = 1;
  data.input_name_ = std::make_unique<std::string>(input.name);
  data.input_.name = data.input_name_->c_str();
  data.scales_.assign(input.scales, input.scales + input.n_scales);
  data.zero_points_.assign(input.zero_points, input.zero_points + input.n_scales);
  data.input_.scales = data.scales_.data();
  data.input_.zero_points = data.zero_points_.data();
  data.scale_ = scale;
  if (fs::exists(fs::path(folder) / "x.npy", error) ||
      fs::exists(fs::path(folder) / "y.npy", error)) {
    data.OpenArrays(folder);
  } else {
    data.OpenFolders(folder);
  }
  return data;
}

void Dataset::OpenFolders(const std::string& folder) {
  size_t n_files = 0;
  std::error_code error;
  for (const fs::path& entry : Entries(folder)) {
    if (!fs::is_directory(entry, error) || entry.filename().string()[0] == '.') continue;
    std::vector<std::string> images;
    for (const fs::path& file : Entries(entry)) {
      if (!fs::is_regular_file(file, error)) continue;
      ++n_files;
      if (IsImagePath(file.string())) images.push_back(file.string());
    }
    if (images.empty()) continue;
    const int64_t label = static_cast<int64_t>(class_names_.size());
    class_names_.push_back(entry.filename().string());
    paths_.insert(paths_.end(), images.begin(), images.end());
    labels_.insert(labels_.end(), images.size(), label);
  }
  if (paths_.empty()) {
    throw CliError(
        kExitData,
        folder + (n_files > 0 ? ": its folders hold no .jpg, .png or .bmp files"
                              : ": is empty; it must hold one folder of images per class, "
                                "or x.npy and y.npy"));
  }
  if (!IsImageTensor(input_)) {
    throw CliError(kExitData,
                   folder + ": holds images, but the model's input '" + input_.name +
                       "' is not an image (float32 or 8-bit [1, H, W, 1|3|4]); use x.npy "
                       "and y.npy");
  }
}

void Dataset::OpenArrays(const std::string& folder) {
  const std::string x_path = (fs::path(folder) / "x.npy").string();
  const std::string y_path = (fs::path(folder) / "y.npy").string();
  x_ = ReadNpy(x_path);
  const Array y = ReadNpy(y_path);
  if (x_.dtype != input_.dtype) {
    throw CliError(kExitData, x_path + ": is " + tw_dtype_name(x_.dtype) + ", the model's input '" +
                                  input_.name + "' is " + tw_dtype_name(input_.dtype));
  }
  std::vector<int64_t> want = {-1};
  for (int32_t i = 1; i < input_.rank; ++i) want.push_back(input_.dims[i]);
  bool fits = x_.shape.size() == want.size() && input_.rank > 0;
  for (size_t i = 1; fits && i < want.size(); ++i) fits = x_.shape[i] == want[i];
  if (!fits) {
    std::string shape = "[N";
    for (size_t i = 1; i < want.size(); ++i) shape += ", " + std::to_string(want[i]);
    throw CliError(kExitData, x_path + ": has shape " +
                                  ShapeText(x_.shape.data(), x_.shape.size()) +
                                  ", the model needs " + shape + "]");
  }
  if (y.dtype != TW_DTYPE_INT64 || y.shape.size() != 1) {
    throw CliError(kExitData, y_path + ": must be a vector of int64 class numbers, it is " +
                                  tw_dtype_name(y.dtype) + " of shape " +
                                  ShapeText(y.shape.data(), y.shape.size()));
  }
  if (y.shape[0] != x_.shape[0]) {
    throw CliError(kExitData, y_path + ": has " + std::to_string(y.shape[0]) + " labels for " +
                                  std::to_string(x_.shape[0]) + " examples in x.npy");
  }
  if (y.shape[0] == 0) throw CliError(kExitData, x_path + ": holds no examples");
  labels_.resize(static_cast<size_t>(y.shape[0]));
  std::memcpy(labels_.data(), y.bytes.data(), y.bytes.size());
  int64_t largest = 0;
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i] < 0 || labels_[i] >= kMaxClasses) {
      throw CliError(kExitData, y_path + ": label " + std::to_string(labels_[i]) + " at position " +
                                    std::to_string(i) + " is not a class number (0 to " +
                                    std::to_string(kMaxClasses - 1) + ")");
    }
    largest = std::max(largest, labels_[i]);
  }
  for (int64_t c = 0; c <= largest; ++c) class_names_.push_back(std::to_string(c));
  example_bytes_ = x_.bytes.size() / labels_.size();
}

std::string Dataset::Name(int64_t i) const {
  if (!has_images()) return "x.npy[" + std::to_string(i) + "]";
  const fs::path path(paths_[static_cast<size_t>(i)]);
  return (path.parent_path().filename() / path.filename()).string();
}

std::vector<uint8_t> Dataset::Read(int64_t i) const {
  if (has_images()) return LoadImageForTensor(paths_[static_cast<size_t>(i)], scale_, input_);
  const auto begin = x_.bytes.begin() + i * static_cast<int64_t>(example_bytes_);
  return std::vector<uint8_t>(begin, begin + static_cast<int64_t>(example_bytes_));
}

std::vector<int64_t> Dataset::ClassCounts() const {
  std::vector<int64_t> counts(class_names_.size(), 0);
  for (int64_t label : labels_) ++counts[static_cast<size_t>(label)];
  return counts;
}

}  // namespace cli
}  // namespace topwork
