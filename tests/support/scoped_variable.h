// An environment variable that has another value as long as this lives.
#ifndef TOPWORK_TESTS_SUPPORT_SCOPED_VARIABLE_H_
#define TOPWORK_TESTS_SUPPORT_SCOPED_VARIABLE_H_

#include <cstdlib>
#include <string>

namespace topwork {
namespace test {

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    was_set_ = old != nullptr;
    if (was_set_) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (was_set_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  bool was_set_ = false;
  std::string old_;
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_SCOPED_VARIABLE_H_
