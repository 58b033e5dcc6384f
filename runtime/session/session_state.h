// SessionState: what survives a run: variable tensors and resources of a graph and its subgraphs.
//
// A variable tensor (is_variable: the state of LSTM, RNN, SVDF) is one block of memory per tensor
// of the file, wherever its subgraph is called from. It starts as LiteRT's does: zeros, for int8
// the zero point. Sessions may share a state (as signatures of one LiteRT interpreter do); their
// runs then take turns, by `mutex`.
#ifndef TOPWORK_RUNTIME_SESSION_SESSION_STATE_H_
#define TOPWORK_RUNTIME_SESSION_SESSION_STATE_H_

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/state/resources.h"
#include "runtime/plan/plan.h"

namespace topwork {

class SessionState {
 public:
  // Takes all its memory from the allocator, whose table must outlive the state.
  explicit SessionState(const Allocator& allocator);

  // Held while a session whose plan keeps state runs, resets it or takes memory from it.
  std::recursive_mutex mutex;
  using Lock = std::lock_guard<std::recursive_mutex>;

  // The memory of that variable, in its initial state when it is new or has another size than
  // before; it stays in its place otherwise.
  Result<void*> Variable(const VariableKey& key, const TensorView& view);
  Resources& resources() { return *resources_; }
  size_t bytes() const;

  // Variables to their initial values, resources gone, CALL_ONCE to run again.
  void Reset();

  // What it was at a moment, to go back to: the same variables must exist then.
  struct Saved {
    std::vector<std::vector<uint8_t>> variables;
    std::unique_ptr<Resources> resources;
  };
  Result<Saved> Save() const;
  void Restore(Saved saved);

 private:
  struct VariableBlock {
    Buffer buffer;
    size_t bytes = 0;
    int initial = 0;  // of every byte
  };
  const Allocator allocator_;
  std::map<VariableKey, VariableBlock> variables_;
  std::unique_ptr<Resources> resources_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_SESSION_STATE_H_
