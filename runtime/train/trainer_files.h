// TrainerFiles: the checkpoints and heads that a trainer reads and writes, so that no two runs lose
// each other's work.
//
// A file that is held belongs to the trainer until it is destroyed: nobody else can hold or save to
// it. A file that this trainer has read is only written over while it still is what was read.
// Reading needs no lock, since files are replaced whole.
#ifndef TOPWORK_RUNTIME_TRAIN_TRAINER_FILES_H_
#define TOPWORK_RUNTIME_TRAIN_TRAINER_FILES_H_

#include <map>
#include <string>

#include "runtime/base/held_file.h"
#include "runtime/base/span.h"
#include "runtime/base/status.h"

namespace topwork {

class TrainerFiles {
 public:
  // FAILED_PRECONDITION while somebody else holds the file; it need not exist. `what`: "the
  // checkpoint", for messages.
  Status Hold(const std::string& path, const char* what);
  // Remembers the bytes that the trainer's state now comes from.
  void NoteRead(const std::string& path, Span<const uint8_t> bytes);
  // Runs `write`, which replaces the file. FAILED_PRECONDITION while somebody else holds it, and
  // when somebody has written it since NoteRead or the last Write.
  Status Write(const std::string& path, const char* what, FunctionRef<Status()> write);

 private:
  struct File {
    HeldFile held;
    bool is_held = false;
    uint64_t generation = 0;  // of what was read or written last; 0: neither
  };
  std::map<std::string, File> files_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_TRAINER_FILES_H_
