// What a POSIX file system may hold after a power cut in the middle of recorded calls.
//
//   data    what was written since the file's last fsync is there in any part: nothing, a prefix of
//           any length, whole with a tail or any block missing (zeros)
//   names   of the creations, renames and removals since the folder's last fsync any subset is
//           there; the fsync of a file does not make its name last
// Writes of one file and names are independent of each other: a rename may last while the data of
// the file that it moves does not. Blocks are 512 bytes.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_CRASH_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_CRASH_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/runtime/train/crash/fs_record.h"

namespace topwork {
namespace test {

using Files = std::map<std::string, std::string>;  // path → content

// Calls visit with every state of the files at `paths` (others do not count; missing ones are left
// out) that a power cut behind the first n_calls calls may leave. Equal states come up repeatedly.
void ForEachCrashState(const Files& before, const std::vector<FsCall>& calls, size_t n_calls,
                       const std::vector<std::string>& paths,
                       const std::function<void(const Files& state)>& visit);

// All that can be left of a file that held `synced` at its last fsync and `now` before the cut.
std::vector<std::string> PartsOnDisk(const std::string& synced, const std::string& now);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_FS_CRASH_H_
