// FeatureFile: rows of examples on disk, for more than memory holds and for the next run.
//
//   header   as of every record file (runtime/base/record_file.h); the key is a text
//   record   example id 32, checksum u64 (of id and rows), rows, zeros up to a multiple of 8
// The text says what the rows were made from and with; a file with another text is replaced. Files
// grow at their end only, so what a crash tears off is at most the last record; a record whose
// checksum is wrong counts as absent. Byte order is the processor's. No row is ever changed. One
// thread at a time, one trainer at a time (the file is locked).
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_FILE_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_FILE_H_

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ports/port.h"
#include "runtime/base/held_file.h"
#include "runtime/base/record_file.h"
#include "runtime/base/status.h"

namespace topwork {

// SHA-256 of an example's key or data; all zeros: unknown.
using ExampleId = std::array<uint8_t, 32>;

class FeatureFile {
 public:
  // Opens the file, or creates it. `text` has one "name value" a line; `rows_bytes` is the size of
  // one example's rows. A file with another text, or a damaged header, is emptied, and the log says
  // why. INVALID_ARGUMENT for a file that is no feature file, FAILED_PRECONDITION while another
  // trainer has it open.
  static Result<std::unique_ptr<FeatureFile>> Open(const std::string& path, const std::string& text,
                                                   size_t rows_bytes);
  ~FeatureFile();
  FeatureFile(const FeatureFile&) = delete;
  FeatureFile& operator=(const FeatureFile&) = delete;

  const std::string& path() const { return path_; }
  // Records in the file, damaged ones included.
  int64_t size() const { return n_records_; }
  // On disk.
  size_t bytes() const { return header_bytes_ + static_cast<size_t>(n_records_) * stride_; }
  // *out: the sound record of this example, or −1. A damaged one is forgotten, and *out_damaged
  // set.
  Status Find(const ExampleId& id, int64_t* out, bool* out_damaged);
  // Writes one record; on failure (a full disk, say) the file holds what it held.
  Status Append(const ExampleId& id, const void* rows, int64_t* out);
  // Makes rows(record) readable; pointers from before are invalid then.
  Status Map(int64_t record);
  // Rows of a record that Find gave or Map was called for.
  const uint8_t* rows(int64_t record) const { return Record(record) + kRowsOffset; }

 private:
  static constexpr size_t kRowsOffset = 40;
  struct IdHash {
    size_t operator()(const ExampleId& id) const {
      size_t hash;
      std::memcpy(&hash, id.data(), sizeof(hash));
      return hash;
    }
  };
  FeatureFile() = default;
  Status ReadHeader(std::string* out_reason) const;
  Status Start();
  void IndexRecords();
  const uint8_t* Record(int64_t record) const {
    return mapped_.data + header_bytes_ + static_cast<size_t>(record) * stride_;
  }
  uint64_t Checksum(const uint8_t* record) const;

  std::string path_;
  RecordId id_;
  HeldFile held_;
  size_t rows_bytes_ = 0;
  size_t header_bytes_ = 0;
  size_t stride_ = 0;
  uint64_t seed_ = 0;  // of the records' checksums
  port::LockedFile* file_ = nullptr;
  port::MappedFile mapped_;
  bool damage_logged_ = false;
  int64_t n_records_ = 0;
  int64_t n_mapped_ = 0;
  std::vector<uint8_t> record_;  // the one that is being written
  std::unordered_map<ExampleId, int64_t, IdHash> index_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_FEATURE_FILE_H_
