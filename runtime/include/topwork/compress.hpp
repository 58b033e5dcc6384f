// tw::Prune and tw::Quantizer over compress.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_COMPRESS_HPP_
#define TOPWORK_COMPRESS_HPP_

#include <memory>

#include "topwork/base.hpp"
#include "topwork/compress.h"
#include "topwork/examples.hpp"
#include "topwork/model.hpp"

namespace tw {

struct PruneOptions : tw_prune_options {
  PruneOptions() : tw_prune_options{} { struct_size = sizeof(tw_prune_options); }
};

// The model with its smallest weights set to 0; `report` may be null.
inline Result<Model> Prune(const Model& model, const PruneOptions& options = PruneOptions(),
                           tw_prune_report* report = nullptr) {
  if (report != nullptr) report->struct_size = sizeof(*report);
  tw_model* handle = nullptr;
  const tw_status status = tw_model_prune(model.get(), &options, &handle, report);
  return Model::Take(status, handle);
}

struct QuantizerOptions : tw_quantizer_options {
  QuantizerOptions() : tw_quantizer_options{} { struct_size = sizeof(tw_quantizer_options); }
};

// A tw_quantizer: one thread at a time, except Cancel.
class Quantizer {
 public:
  static Result<Quantizer> Create(const Model& model,
                                  const QuantizerOptions& options = QuantizerOptions()) {
    tw_quantizer* handle = nullptr;
    const tw_status status = tw_quantizer_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Quantizer(handle);
  }

  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_quantizer_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Status AddExamples(const tw_examples& examples) {
    return Status(tw_quantizer_add_examples(get(), &examples));
  }
  Status Cancel() { return Status(tw_quantizer_cancel(get())); }
  // `report` may be null; what it points to is borrowed from the quantizer.
  Result<Model> Export(tw_quantize_report* report = nullptr) {
    if (report != nullptr) report->struct_size = sizeof(*report);
    tw_model* handle = nullptr;
    const tw_status status = tw_quantizer_export(get(), &handle, report);
    return Model::Take(status, handle);
  }
  tw_quantizer* get() const { return handle_.get(); }

 private:
  explicit Quantizer(tw_quantizer* handle) : handle_(handle) {}
  std::unique_ptr<tw_quantizer, internal::Deleter<tw_quantizer, tw_quantizer_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_COMPRESS_HPP_
