// Backbone: one session of a model cut at a value, that gives rows of floats.
#ifndef TOPWORK_RUNTIME_TRAIN_FEATURES_BACKBONE_H_
#define TOPWORK_RUNTIME_TRAIN_FEATURES_BACKBONE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/session/session.h"

namespace topwork {

// Where a model is cut. The value holds, for each example, n_positions × dim elements.
struct Cut {
  int value = -1;       // index into the main graph's values
  int batch = 1;        // examples in one run of the model as it was shipped
  int64_t dim = 0;      // floats in a row
  int n_positions = 1;  // a row is the mean over this many; 1: the value is the row
};

// One thread at a time; Session::Cancel() alone may be called from any thread.
class Backbone {
 public:
  // Sets session.outputs to the cut. It tries `batch` examples a run, then 1; a model whose shapes
  // do not follow its first dimension keeps its own batch.
  static Result<std::unique_ptr<Backbone>> Create(std::shared_ptr<const Model> model,
                                                  const Cut& cut, SessionOptions session,
                                                  int batch);

  // Another backbone with the same batch that shares the plan; see Session::Clone.
  Result<std::unique_ptr<Backbone>> Clone() const;

  const Cut& cut() const { return cut_; }
  int n_inputs() const { return session_->n_inputs(); }
  // dtype, shape (with a batch of 1) and quantization of input k of one example; no data.
  const TensorView& input(int k) const { return inputs_[static_cast<size_t>(k)]; }
  const std::string& input_name(int k) const { return session_->input_name(k); }
  Session& session() { return *session_; }
  const Session& session() const { return *session_; }

  int batch() const { return batch_; }
  // False when the model does not run with this batch; then call it again with a batch that works.
  bool SetBatch(int batch);
  // Memory of example b < batch() of input k; moves when the batch changes.
  uint8_t* example(int k, int b) const {
    return session_->input(k).as<uint8_t>() + static_cast<size_t>(b) * input(k).bytes();
  }
  // Runs the first n ≤ batch() examples; rows: [n, dim].
  Status Run(int n, float* rows);

 private:
  Backbone() = default;
  Status ChooseBatch(int wanted);

  Cut cut_;
  std::unique_ptr<Session> session_;
  std::vector<TensorView> inputs_;
  std::vector<float> map_;  // one example's elements at the cut
  int batch_ = 1;
  bool batched_ = false;  // the first dimension of every input counts examples
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FEATURES_BACKBONE_H_
