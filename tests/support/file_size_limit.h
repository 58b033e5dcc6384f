// While it lives, no file of this process may grow beyond n bytes: a full disk without a disk.
#ifndef TOPWORK_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_
#define TOPWORK_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_

#include <signal.h>
#include <sys/resource.h>

namespace topwork {
namespace test {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t n) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    struct rlimit limit = old_;
    limit.rlim_cur = n;
    set_ = setrlimit(RLIMIT_FSIZE, &limit) == 0;
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  bool set() const { return set_; }

 private:
  void (*handler_)(int);
  struct rlimit old_ = {};
  bool set_ = false;
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_
