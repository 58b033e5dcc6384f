// Labelled data from a folder: one sub-folder of images or sounds a class (with sub-folders for groups,
// if there are any), images or parts of sounds listed in labels.csv, or x.npy with y.npy. An example
// has either one class or a row of numbers (targets). Each window of a sound is an example.
#ifndef TOPWORK_PORTS_CLI_DATASET_H_
#define TOPWORK_PORTS_CLI_DATASET_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/cli/data/npy.h"
#include "ports/cli/data/reading.h"
#include "ports/cli/data/sound_set.h"

namespace topwork {
namespace cli {

struct CsvTable;
struct FolderCounts;

// The number that a group of this name has in every data set.
int32_t NumberOfGroup(const std::string& name);

// Fails where there is no such folder; `contents`: what examples lie in, for the message.
void CheckFolder(const std::string& folder, const std::string& contents);

class Dataset {
 public:
  // Reads names, labels and targets; images and sounds are decoded later, one by one. Throws CliError: no such
  // folder, nothing in it, x.npy that does not fit `input`, labels or targets that cannot be used.
  // `input` is one example's tensor: its first dimension counts examples and is taken for 1 (a
  // single dimension counts the samples of a sound). It is not needed afterwards.
  static Dataset Open(const std::string& folder, const tw_tensor_info& input,
                      const Reading& reading);

  // Examples without labels: all images or sounds in the folder and the folders in it, sorted by
  // path, or x.npy. No class names, labels or targets. Throws as Open.
  static Dataset OpenUnlabelled(const std::string& folder, const tw_tensor_info& input,
                                const Reading& reading);

  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  // Leaves out all but these examples, which are from now on numbered in this order.
  void Keep(const std::vector<int64_t>& examples);
  // For data that is read twice: what is decoded of files is kept until it is read again, up to so many
  // bytes.
  void KeepDecoded(size_t most_bytes);

  int64_t size() const { return size_; }
  bool has_images() const { return has_files() && !has_sounds(); }
  bool has_sounds() const { return sounds_ != nullptr; }
  // The class of each example; empty with targets, and without labels.
  const std::vector<int64_t>& labels() const { return labels_; }
  // The classes, or the columns of the targets. Sorted names of the folders or of the label column;
  // for arrays the lines of classes.txt, else "0", "1" … up to the largest label or last column.
  const std::vector<std::string>& class_names() const { return class_names_; }
  // False when class_names() are mere numbers.
  bool has_names() const { return has_names_; }

  // Numbers instead of one class an example.
  bool has_targets() const { return has_targets_; }
  // class_names().size() finite numbers of example i; has_targets() only.
  const float* targets(int64_t i) const {
    return targets_.data() + static_cast<size_t>(i) * class_names_.size();
  }
  // Groups of examples that have something in common beside their class: the folders in the class
  // folders, the column `group` of labels.csv, groups.npy; of sounds without any: the files.
  bool has_groups() const { return !groups_.empty(); }
  // Of example i, 0 or more; −1 where the data has none. A group of a name has the same number in
  // every data set, so that a trainer's examples of several runs come together.
  int32_t group(int64_t i) const { return has_groups() ? groups_[static_cast<size_t>(i)] : -1; }
  // Names of all groups by their number.
  const std::map<int32_t, std::string>& group_names() const { return group_names_; }

  // Every number is 0 or 1: any number of classes an example.
  bool targets_are_binary() const { return targets_are_binary_; }

  // What is worth telling of the folder (files that were passed over, how sounds are cut); empty
  // for most.
  const std::string& note() const { return note_; }
  // "digit_3/0012.png", as labels.csv would have the file, "robin/7.wav[1.5-4.5 s]" or "x.npy[12]".
  std::string Name(int64_t i) const;
  // Names the example in every run: the canonical path of its file, the file's size and time of
  // modification in nanoseconds; for arrays x.npy's, and the position; for sounds what is read of
  // the file, and how. At most 4000 characters.
  // Throws CliError for a longer one, or a file that is gone.
  std::string Key(int64_t i) const;
  const std::string& path(int64_t i) const { return paths_[static_cast<size_t>(i)]; }
  // Example i as the bytes of the input tensor; floats are converted to its dtype, and quantized
  // where it is. Throws CliError for an unreadable image or sound.
  std::vector<uint8_t> Read(int64_t i) const;
  // labels.csv of the windows of sounds with these classes, one an example; has_sounds() only.
  std::string SoundsCsv(const std::vector<std::string>& classes) const;
  // Examples of each class; with binary targets how often each is 1, with other targets all 0.
  std::vector<int64_t> ClassCounts() const;

 private:
  Dataset() = default;
  void CopyInput(const tw_tensor_info& input);
  bool has_files() const { return !paths_.empty(); }
  std::vector<uint8_t> Decode(int64_t i) const;
  std::string FileName(int64_t i) const;
  std::string WindowName(int64_t i) const;  // dataset_sounds.cc
  void CheckFiles();
  void CutSounds(std::vector<SoundPart> parts);
  void CheckImageInput() const;
  void OpenFolders();
  void AddClassFolder(const std::string& folder, FolderCounts* counts);
  void AddGroup(const std::string& name, size_t n_examples);
  void OpenCsv(const std::string& path);  // dataset_csv.cc
  void ReadCsvFiles(const CsvTable& table);
  void ReadCsvLabels(const CsvTable& table);
  void ReadCsvTargets(const CsvTable& table);
  void ReadCsvGroups(CsvTable* table);
  std::vector<SoundPart> ReadCsvParts(CsvTable* table) const;
  void OpenArrays();  // dataset_arrays.cc
  void CheckExamples(const std::string& path) const;
  void ReadLabelArray(const std::string& path, const Array& y);
  void ReadGroupArray(const std::string& path);
  void ReadTargetArray(const std::string& path, const Array& y);
  void ReadClassNames(int64_t n_needed, bool exactly);
  void FinishTargets();
  int64_t RowOf(int64_t i) const { return rows_.empty() ? i : rows_[static_cast<size_t>(i)]; }

  std::string folder_;
  tw_tensor_info input_{};  // points into the next three
  std::unique_ptr<std::string> input_name_;
  std::vector<float> scales_;
  std::vector<int64_t> zero_points_;
  tw_tensor_info sound_input_{};  // input_ as it was given
  Reading reading_;
  int64_t size_ = 0;
  std::vector<std::string> paths_;
  std::vector<std::string> names_;  // of labels.csv
  std::vector<int64_t> labels_;
  std::vector<std::string> class_names_;
  bool has_names_ = true;
  bool has_targets_ = false;
  bool targets_are_binary_ = false;
  std::vector<float> targets_;  // example-major
  std::vector<int32_t> groups_;
  std::map<int32_t, std::string> group_names_;
  std::string note_;
  struct SoundWindow {
    size_t part;  // of sounds_
    int64_t window;
  };
  std::unique_ptr<SoundSet> sounds_;
  bool files_are_groups_ = false;
  std::vector<SoundWindow> windows_;
  Array x_;
  std::vector<int64_t> rows_;  // of x_, after Keep
  // Of each example after KeepDecoded, as far as there is room: null before the first time and after the second.
  mutable std::vector<std::shared_ptr<std::vector<uint8_t>>> decoded_;
  mutable size_t decoded_room_ = 0;
  size_t example_bytes_ = 0;
};

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_DATASET_H_
