// Dataset: listing is sorted by name, so that the same folder gives the same order everywhere.
#include "ports/cli/data/dataset.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/numbers.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxKeyBytes = 4000;

std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const std::string& name : ListFolder(folder.string())) entries.push_back(folder / name);
  return entries;
}

bool IsHidden(const fs::path& path) { return path.filename().string()[0] == '.'; }

// Images and sounds of formats that are not read.
bool IsOtherFormat(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* other : {".webp", ".gif",  ".tif", ".tiff", ".heic", ".heif", ".avif",
                            ".jfif", ".jp2",  ".jxl", ".ppm",  ".pgm",  ".tga",  ".mp3",
                            ".ogg",  ".opus", ".m4a", ".aac",  ".wma",  ".aif",  ".aiff"}) {
    if (ending == other) return true;
  }
  return false;
}

}  // namespace

// What lies in a folder of class folders besides the files that are read.
struct FolderCounts {
  size_t n_files = 0;  // in the class folders
  size_t n_stray = 0;  // images and sounds beside the class folders
  size_t n_other = 0;  // of formats that are not read
  std::string first_other;
};

namespace {

std::vector<std::string> ExamplesIn(const fs::path& folder, FolderCounts* counts) {
  std::vector<std::string> examples;
  std::error_code error;
  for (const fs::path& file : Entries(folder)) {
    if (!fs::is_regular_file(file, error) || IsHidden(file)) continue;
    ++counts->n_files;
    if (IsExamplePath(file.string())) examples.push_back(file.string());
    if (!IsOtherFormat(file)) continue;
    if (counts->n_other++ == 0) counts->first_other = file.string();
  }
  return examples;
}

std::string WhyNoExamples(const FolderCounts& counts) {
  const std::string none = "its folders hold no .jpg, .png or .bmp files, and no .wav or .flac";
  if (counts.n_other > 0) return none + "; convert the others, as " + counts.first_other;
  if (counts.n_files > 0) return none;
  if (counts.n_stray > 0) {
    return "holds images or sounds, but nothing tells their classes: put them into one folder per "
           "class, or list them in labels.csv";
  }
  return "is empty; it must hold one folder of images or sounds per class, or them and labels.csv, "
         "or x.npy and y.npy";
}

std::string KeyOfFile(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  uintmax_t size = 0;
  if (!error) size = fs::file_size(canonical, error);
  fs::file_time_type time;
  if (!error) time = fs::last_write_time(canonical, error);
  if (error) throw CliError(kExitIo, path + ": cannot read it: " + error.message());
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return canonical.string() + "|" + std::to_string(size) + "|" + std::to_string(nanos);
}

}  // namespace

void CheckFolder(const std::string& folder, const std::string& contents) {
  std::error_code error;
  const bool exists = fs::exists(folder, error);
  if (error) throw CliError(kExitIo, folder + ": cannot read it: " + error.message());
  if (!exists) throw CliError(kExitIo, folder + ": no such folder");
  if (fs::is_directory(folder, error)) return;
  throw CliError(kExitIo, folder + ": is not a folder; examples lie in a folder " + contents);
}

Dataset Dataset::Open(const std::string& folder, const tw_tensor_info& input,
                      const Reading& reading) {
  CheckFolder(folder, "of class folders, or one with labels.csv, or with x.npy and y.npy");
  std::error_code error;
  Dataset data;
  data.folder_ = folder;
  data.reading_ = reading;
  data.CopyInput(input);
  const fs::path root(folder);
  const bool csv = fs::exists(root / "labels.csv", error);
  const bool arrays = fs::exists(root / "x.npy", error) || fs::exists(root / "y.npy", error);
  if (csv && arrays) {
    throw CliError(kExitData, folder + ": holds labels.csv and .npy files; keep one of the two");
  }
  if (arrays) {
    data.OpenArrays();
  } else if (csv) {
    data.OpenCsv((root / "labels.csv").string());
  } else {
    data.OpenFolders();
  }
  return data;
}

void Dataset::CopyInput(const tw_tensor_info& input) {
  input_ = input;
  input_.data = nullptr;
  if (input_.rank > 0) input_.dims[0] = 1;
  input_name_ = std::make_unique<std::string>(input.name);
  input_.name = input_name_->c_str();
  scales_.assign(input.scales, input.scales + input.n_scales);
  zero_points_.assign(input.zero_points, input.zero_points + input.n_scales);
  input_.scales = scales_.data();
  input_.zero_points = zero_points_.data();
  sound_input_ = input_;
  sound_input_.dims[0] = input.dims[0];
}

void Dataset::CheckImageInput() const {
  if (IsImageTensor(input_)) return;
  throw CliError(kExitData, folder_ + ": holds images, but the model's input '" + input_.name +
                                "' is not an image (float32 or 8-bit [1, H, W, 1|3|4]); use x.npy "
                                "and y.npy");
}

// The number of a group: FNV-1a of its name, without the sign.
int32_t NumberOfGroup(const std::string& name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return static_cast<int32_t>(hash & 0x7fffffffu);
}

void Dataset::AddGroup(const std::string& name, size_t n_examples) {
  const int32_t number = NumberOfGroup(name);
  const std::string& known = group_names_.emplace(number, name).first->second;
  if (known != name) {
    throw CliError(kExitData, folder_ + ": the groups '" + known + "' and '" + name +
                                  "' cannot be told apart by their numbers; rename one of them");
  }
  groups_.insert(groups_.end(), n_examples, number);
}

// A class's images, or the images of the groups in its folder.
void Dataset::AddClassFolder(const std::string& folder, FolderCounts* counts) {
  std::vector<std::string> own = ExamplesIn(folder, counts);
  std::error_code error;
  const bool alone = !own.empty();
  const bool others_have_groups = has_groups();
  const size_t n_before = paths_.size();
  std::string first_group;
  for (const fs::path& entry : Entries(folder)) {
    if (!fs::is_directory(entry, error) || IsHidden(entry)) continue;
    const std::vector<std::string> members = ExamplesIn(entry, counts);
    if (members.empty()) continue;
    if (first_group.empty()) first_group = entry.string();
    AddGroup(entry.filename().string(), members.size());
    paths_.insert(paths_.end(), members.begin(), members.end());
  }
  const bool grouped = !first_group.empty();
  const std::string& first = grouped ? first_group : folder;
  if (alone && (grouped || others_have_groups)) {
    throw CliError(kExitData, own[0] + ": is in no group, but there are groups such as " +
                                  (grouped ? first : group_names_.begin()->second) +
                                  "; put every file into the folder of a group, or none");
  }
  if (grouped && !others_have_groups && n_before > 0) {
    throw CliError(kExitData, paths_[0] + ": is in no group, but " + first +
                                  " is one; put every file into the folder of a group, or none");
  }
  paths_.insert(paths_.end(), own.begin(), own.end());
}

void Dataset::OpenFolders() {
  FolderCounts counts;
  std::error_code error;
  for (const fs::path& entry : Entries(folder_)) {
    counts.n_stray += IsExamplePath(entry.string());
    if (!fs::is_directory(entry, error) || IsHidden(entry)) continue;
    const size_t n_before = paths_.size();
    AddClassFolder(entry.string(), &counts);
    if (paths_.size() == n_before) continue;
    labels_.insert(labels_.end(), paths_.size() - n_before,
                   static_cast<int64_t>(class_names_.size()));
    class_names_.push_back(entry.filename().string());
  }
  if (paths_.empty()) throw CliError(kExitData, folder_ + ": " + WhyNoExamples(counts));
  if (counts.n_other > 0) {
    note_ = std::to_string(counts.n_other) + (counts.n_other == 1 ? " file was" : " files were") +
            " passed over, as only .jpg, .png, .bmp, .wav and .flac are read; the first is " +
            counts.first_other;
  }
  CheckFiles();
  size_ = static_cast<int64_t>(paths_.size());
  if (has_sounds()) CutSounds({});
}

void Dataset::Keep(const std::vector<int64_t>& examples) {
  const auto choose = [&](auto* values, size_t per_example) {
    std::decay_t<decltype(*values)> kept;
    if (values->empty()) return;
    for (int64_t i : examples) {
      const auto begin = values->begin() + i * static_cast<ptrdiff_t>(per_example);
      kept.insert(kept.end(), begin, begin + static_cast<ptrdiff_t>(per_example));
    }
    *values = std::move(kept);
  };
  choose(&paths_, 1);
  choose(&names_, 1);
  choose(&labels_, 1);
  choose(&groups_, 1);
  choose(&windows_, 1);
  choose(&decoded_, 1);
  choose(&targets_, class_names_.size());
  if (!has_files()) {
    std::vector<int64_t> rows;
    for (int64_t i : examples) rows.push_back(RowOf(i));
    rows_ = std::move(rows);
  }
  size_ = static_cast<int64_t>(examples.size());
}

void Dataset::FinishTargets() {
  has_targets_ = true;
  targets_are_binary_ = std::all_of(targets_.begin(), targets_.end(),
                                    [](float value) { return value == 0.0f || value == 1.0f; });
}

std::string Dataset::Name(int64_t i) const {
  if (!has_files()) return "x.npy[" + std::to_string(RowOf(i)) + "]";
  return windows_.empty() ? FileName(i) : WindowName(i);
}

std::string Dataset::FileName(int64_t i) const {
  if (!names_.empty()) return names_[static_cast<size_t>(i)];
  return fs::path(paths_[static_cast<size_t>(i)]).lexically_relative(folder_).string();
}

std::string Dataset::Key(int64_t i) const {
  const std::string path =
      has_files() ? paths_[static_cast<size_t>(i)] : (fs::path(folder_) / "x.npy").string();
  std::string key = KeyOfFile(path);
  if (!has_files()) key += "|" + std::to_string(RowOf(i));
  if (has_sounds()) {
    const SoundWindow& at = windows_[static_cast<size_t>(i)];
    key += sounds_->Key(at.part, at.window);
  }
  if (key.size() > kMaxKeyBytes) {
    throw CliError(kExitData, path + ": its path is too long (" + std::to_string(key.size()) +
                                  " characters with size and time, at most " +
                                  std::to_string(kMaxKeyBytes) + "); move the data");
  }
  return key;
}

void Dataset::KeepDecoded(size_t most_bytes) {
  decoded_.clear();
  if (has_files()) decoded_.resize(static_cast<size_t>(size_));
  decoded_room_ = most_bytes;
}

std::vector<uint8_t> Dataset::Read(int64_t i) const {
  if (decoded_.empty()) return Decode(i);
  std::shared_ptr<std::vector<uint8_t>>& kept = decoded_[static_cast<size_t>(i)];
  if (kept) {
    std::vector<uint8_t> bytes = std::move(*kept);
    decoded_room_ += bytes.size();
    kept.reset();
    return bytes;
  }
  std::vector<uint8_t> bytes = Decode(i);
  if (bytes.size() <= decoded_room_) {
    decoded_room_ -= bytes.size();
    kept = std::make_shared<std::vector<uint8_t>>(bytes);
  }
  return bytes;
}

std::vector<uint8_t> Dataset::Decode(int64_t i) const {
  if (has_images()) return LoadImageForTensor(path(i), reading_.pixels, input_);
  if (has_sounds()) {
    const SoundWindow& at = windows_[static_cast<size_t>(i)];
    return SamplesToTensor(sounds_->Read(at.part, at.window), input_, Name(i));
  }
  const uint8_t* begin = x_.bytes.data() + static_cast<size_t>(RowOf(i)) * example_bytes_;
  if (x_.dtype == input_.dtype) return std::vector<uint8_t>(begin, begin + example_bytes_);
  return Convert(x_.dtype, begin, x_.n_elements() / x_.shape[0], input_, Name(i));
}

std::vector<int64_t> Dataset::ClassCounts() const {
  std::vector<int64_t> counts(class_names_.size(), 0);
  for (int64_t label : labels_) ++counts[static_cast<size_t>(label)];
  for (size_t k = 0; targets_are_binary_ && k < targets_.size(); ++k) {
    counts[k % counts.size()] += targets_[k] == 1.0f;
  }
  return counts;
}

}  // namespace cli
}  // namespace topwork
