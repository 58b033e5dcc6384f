// The calls that change files, as they are made: open, write, ftruncate, fsync, rename, unlink.
//
// The program is linked with --wrap for them, so that every call of the library is seen; they are
// carried out as well. Paths are those given to the calls. Other ways to change a file (pwrite,
// mmap, link) end the program while recording: nothing is missed in silence. One thread.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_RECORD_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_RECORD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace topwork {
namespace test {

struct FsCall {
  enum Kind { kCreate, kWrite, kTruncate, kSyncFile, kSyncFolder, kRename, kUnlink };
  Kind kind = kCreate;
  // kCreate, kUnlink, kSyncFolder: the path; kRename: from and to; others: that of the file when it
  // was opened.
  std::string path, to;
  int file = -1;        // number of the open file, in the order of opening
  uint64_t offset = 0;  // kWrite; kTruncate: the new size
  std::string data;     // kWrite
};

const char* FsCallName(FsCall::Kind kind);

// From now on, fsync of a folder fails with EIO while calls are recorded.
void FailFolderSyncs(bool fails);

// What `work` does to files, in order.
std::vector<FsCall> RecordFsCalls(const std::function<void()>& work);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_RECORD_H_
