// What files that are locked by flock() have in common.
#ifndef TOPWORK_PORTS_LINUX_FLOCK_H_
#define TOPWORK_PORTS_LINUX_FLOCK_H_

#include <errno.h>
#include <sys/stat.h>

#include <string>

namespace topwork {
namespace port {

// Whether an error of flock() says that the file system has no locks.
inline bool MeansNoLocks(int error) {
  return error == ENOLCK || error == ENOSYS || error == ENOTSUP || error == EINVAL;
}

// Whether the open file is the one that the path names; a link is none.
inline bool IsAt(int fd, const std::string& path) {
  struct stat here, there;
  return fstat(fd, &here) == 0 && lstat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

}  // namespace port
}  // namespace topwork

#endif  // TOPWORK_PORTS_LINUX_FLOCK_H_
