// Backbone: batches of examples through the session, their elements at the cut as rows.
#include "runtime/train/features/backbone.h"

#include <cstring>
#include <utility>

#include "models/format/constants.h"

namespace topwork {
namespace {

Shape WithBatch(const Shape& shape, int batch) {
  Shape result = shape;
  if (result.rank() > 0) result.set_dim(0, batch);
  return result;
}

}  // namespace

Result<std::unique_ptr<Backbone>> Backbone::Create(std::shared_ptr<const Model> model,
                                                   const Cut& cut, SessionOptions session,
                                                   int batch) {
  std::unique_ptr<Backbone> backbone(new Backbone);
  backbone->cut_ = cut;
  session.outputs = {cut.value};
  TW_ASSIGN_OR_RETURN(backbone->session_, Session::Create(std::move(model), session));
  TW_RETURN_IF_ERROR(backbone->ChooseBatch(batch));
  const Session& s = *backbone->session_;
  for (int i = 0; i < s.n_inputs(); ++i) {
    TensorView view = s.input(i);
    if (view.dtype == DType::kString) {
      return Unsupported("input {} '{}' holds strings; examples for training are numbers", i,
                         s.input_name(i));
    }
    // A model without a batch dimension takes one example whole.
    if (backbone->batched_) view.shape = WithBatch(view.shape, 1);
    view.data = nullptr;
    backbone->inputs_.push_back(view);
  }
  backbone->map_.resize(static_cast<size_t>(cut.dim * cut.n_positions));
  return backbone;
}

Result<std::unique_ptr<Backbone>> Backbone::Clone() const {
  std::unique_ptr<Backbone> backbone(new Backbone);
  TW_ASSIGN_OR_RETURN(backbone->session_, session_->Clone());
  backbone->cut_ = cut_;
  backbone->inputs_ = inputs_;
  backbone->map_.resize(map_.size());
  backbone->batch_ = batch_;
  backbone->batched_ = batched_;
  return backbone;
}

Status Backbone::ChooseBatch(int wanted) {
  batch_ = cut_.batch;
  batched_ = session_->n_inputs() > 0;
  for (int i = 0; i < session_->n_inputs(); ++i) {
    const Shape& shape = session_->input(i).shape;
    batched_ = batched_ && shape.rank() > 0 && shape[0] == cut_.batch;
  }
  if (!batched_ || wanted == batch_) return Status::Ok();
  for (int batch : {wanted, 1}) {
    if (SetBatch(batch)) return Status::Ok();
  }
  // Back to the shapes that were in force, which are known to work.
  for (int i = 0; i < session_->n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(session_->ResizeInput(i, WithBatch(session_->input(i).shape, batch_)));
  }
  return session_->Prepare();
}

bool Backbone::SetBatch(int batch) {
  for (int i = 0; i < session_->n_inputs(); ++i) {
    if (!session_->ResizeInput(i, WithBatch(session_->input(i).shape, batch)).ok()) return false;
  }
  if (!session_->Prepare().ok()) return false;
  const Shape& shape = session_->output(0).shape;
  // The first dimension must count examples: a reshape that pulls the batch into another dimension
  // would mix them.
  const bool follows = shape.NumElements() == batch * cut_.dim * cut_.n_positions &&
                       shape.rank() > 0 && (shape[0] == batch || cut_.batch == shape[0]);
  if (follows) batch_ = batch;
  return follows;
}

Status Backbone::Run(int n, float* rows) {
  // A batch that is not full repeats its first example: every row must hold sound values.
  for (int k = 0; k < n_inputs(); ++k) {
    for (int b = n; b < batch_; ++b) std::memcpy(example(k, b), example(k, 0), input(k).bytes());
  }
  // The features of an example must not depend on those before it.
  if (session_->plan().keeps_state) session_->ResetState();
  TW_RETURN_IF_ERROR(session_->Run());
  const TensorView& output = session_->output(0);
  const int64_t elements = static_cast<int64_t>(map_.size());
  if (output.shape.NumElements() != elements * batch_) {
    return InternalError("the feature of {} examples has shape {}", batch_,
                         output.shape.ToString());
  }
  const size_t example_bytes = output.bytes() / static_cast<size_t>(batch_);
  for (int b = 0; b < n; ++b) {
    const uint8_t* data = output.as<uint8_t>() + static_cast<size_t>(b) * example_bytes;
    float* row = rows + b * cut_.dim;
    if (cut_.n_positions == 1) {
      TW_RETURN_IF_ERROR(ConvertToFloats(output, data, elements, row));
      continue;
    }
    TW_RETURN_IF_ERROR(ConvertToFloats(output, data, elements, map_.data()));
    for (int64_t d = 0; d < cut_.dim; ++d) {
      double sum = 0.0;
      for (int64_t i = d; i < elements; i += cut_.dim) {
        sum += static_cast<double>(map_[static_cast<size_t>(i)]);
      }
      row[d] = static_cast<float>(sum / cut_.n_positions);
    }
  }
  return Status::Ok();
}

}  // namespace topwork
