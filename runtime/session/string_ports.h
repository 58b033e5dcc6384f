// StringPorts: strings at a session's borders.
//
// An input's references lie in a block of the session's, zeroed when it is made, beside a copy of
// their bytes; an output's are copied once the run is done, so that they depend on neither inputs
// nor state. In between a run only moves references.
#ifndef TOPWORK_RUNTIME_SESSION_STRING_PORTS_H_
#define TOPWORK_RUNTIME_SESSION_STRING_PORTS_H_

#include <string>
#include <vector>

#include "runtime/base/buffer.h"
#include "runtime/session/plan_runner.h"
#include "runtime/session/run_memory.h"

namespace topwork {

class StringPorts {
 public:
  // Both must outlive the object.
  StringPorts(RunMemory* memory, const Allocator& allocator)
      : memory_(*memory),
        allocator_(allocator),
        outputs_(memory, allocator),
        run_text_(memory, allocator) {}

  // Blocks for the references of the plan's inputs that hold strings and have none of that size
  // yet; the others' are empty. SetInputs takes them over.
  Result<std::vector<Buffer>> NewInputs(const Plan& plan) const;
  void SetInputs(std::vector<Buffer> fresh);
  // Where input i's references lie; null for an input without strings.
  void* references(size_t i) const { return inputs_[i].references.data(); }
  size_t reference_bytes() const;

  // Copies the strings into input i, whose tensor is `view`.
  Status Write(size_t i, const TensorView& view, const std::string& name,
               Span<const StringRef> strings);

  // Text that operators make while a run goes on; forgotten before the next one.
  RunText* run_text() { return &run_text_; }
  // Outputs of strings show nothing until a run is done.
  void HideOutputs(PlanRunner* runner) const;
  // Copies the outputs' strings to where they stay until the next run.
  Status KeepOutputs(PlanRunner* runner);

 private:
  // References that the graph reads, and what they refer to.
  struct Input {
    Buffer references;
    Buffer text;
  };
  RunMemory& memory_;
  const Allocator& allocator_;
  std::vector<Input> inputs_;
  HeldBuffers outputs_;  // by output: references, then what they refer to
  RunText run_text_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_STRING_PORTS_H_
