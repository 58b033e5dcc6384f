// Labelled data from a folder: one sub-folder of images a class, or x.npy with y.npy.
#ifndef TOPWORK_PORTS_CLI_DATASET_H_
#define TOPWORK_PORTS_CLI_DATASET_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ports/cli/image.h"
#include "ports/cli/npy.h"

namespace topwork {
namespace cli {

class Dataset {
 public:
  // Reads names and labels; images are decoded later, one by one. Throws CliError: no such folder,
  // nothing in it, x.npy that does not fit `input`, labels that are not int64 or negative.
  // `input` is one example's tensor: its first dimension counts examples and is taken for 1. It is
  // not needed afterwards.
  static Dataset Open(const std::string& folder, const tw_tensor_info& input,
                      const PixelScale& scale);

  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  bool has_images() const { return !paths_.empty(); }
  const std::vector<int64_t>& labels() const { return labels_; }
  // Sorted names of the folders; for arrays "0", "1" … up to the largest label.
  const std::vector<std::string>& class_names() const { return class_names_; }
  // "digit_3/0012.png", or "x.npy[12]".
  std::string Name(int64_t i) const;
  const std::string& path(int64_t i) const { return paths_[static_cast<size_t>(i)]; }
  // Example i as the bytes of the input tensor. Throws CliError for an unreadable image.
  std::vector<uint8_t> Read(int64_t i) const;
  // Examples of each class.
  std::vector<int64_t> ClassCounts() const;

 private:
  Dataset() = default;
  void OpenFolders(const std::string& folder);
  void OpenArrays(const std::string& folder);

  std::string folder_;
  tw_tensor_info input_{};  // points into the next three
  std::unique_ptr<std::string> input_name_;
  std::vector<float> scales_;
  std::vector<int64_t> zero_points_;
  PixelScale scale_;
  std::vector<std::string> paths_;
  std::vector<int64_t> labels_;
  std::vector<std::string> class_names_;
  Array x_;
  size_t example_bytes_ = 0;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_DATASET_H_
