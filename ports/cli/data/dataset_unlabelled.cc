// Dataset without labels: all images or sounds in a folder and the folders in it, or x.npy.
#include <algorithm>
#include <filesystem>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

namespace fs = std::filesystem;

Dataset Dataset::OpenUnlabelled(const std::string& folder, const tw_tensor_info& input,
                                const Reading& reading) {
  CheckFolder(folder, "of images or sounds, or one with x.npy");
  std::error_code error;
  Dataset data;
  data.folder_ = folder;
  data.reading_ = reading;
  data.CopyInput(input);
  const std::string arrays = (fs::path(folder) / "x.npy").string();
  if (fs::exists(arrays, error)) {
    data.x_ = ReadNpy(arrays);
    data.CheckExamples(arrays);
    data.size_ = data.x_.shape[0];
    if (data.size_ == 0) throw CliError(kExitData, arrays + ": holds no examples");
    data.example_bytes_ = data.x_.bytes.size() / static_cast<size_t>(data.size_);
    return data;
  }
  fs::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    const bool hidden = it->path().filename().string()[0] == '.';
    if (hidden) it.disable_recursion_pending();
    if (hidden || !IsExamplePath(it->path().string()) || !it->is_regular_file()) continue;
    data.paths_.push_back(it->path().string());
  }
  if (error) throw CliError(kExitIo, folder + ": cannot list it: " + error.message());
  if (data.paths_.empty()) {
    throw CliError(kExitData,
                   folder + ": holds no .jpg, .png, .bmp, .wav or .flac files, and no x.npy");
  }
  std::sort(data.paths_.begin(), data.paths_.end());
  data.CheckFiles();
  data.size_ = static_cast<int64_t>(data.paths_.size());
  if (data.has_sounds()) data.CutSounds({});
  return data;
}

}  // namespace cli
}  // namespace topwork
