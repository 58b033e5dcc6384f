// Labelled examples as Python has them: arrays, given to trainers and learners as tw_examples.
#ifndef TOPWORK_PORTS_PYTHON_EXAMPLES_H_
#define TOPWORK_PORTS_PYTHON_EXAMPLES_H_

#include "ports/python/src/common.h"

namespace topwork_python {

using Labels =
    std::optional<nb::ndarray<const int64_t, nb::c_contig, nb::ndim<1>, nb::device::cpu>>;
using Targets = std::optional<nb::ndarray<const float, nb::c_contig, nb::ndim<2>, nb::device::cpu>>;
using Groups =
    std::optional<nb::ndarray<const int32_t, nb::c_contig, nb::ndim<1>, nb::device::cpu>>;

// Tells of model input `index` for one example, as tw_trainer_get_input does.
using GetInput = std::function<tw_status(size_t index, tw_tensor_info* info)>;

// Examples as arrays: one array [n, ...] for each model input, the elements as the input's are. The
// arrays are borrowed. Raises ValueError where sizes do not fit.
class Examples {
 public:
  Examples(const GetInput& get_input, const std::vector<ConstArray>& arrays);
  Examples(const Examples&) = delete;

  void SetLabels(const Labels& labels, const Targets& targets, const Groups& groups);
  void SetIds(const std::vector<std::string>& ids);
  // progress(done, total) is called after each batch; False ends the call.
  void SetProgress(nb::object progress);

  tw_examples c = {};

 private:
  static tw_status Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                        int64_t* label);
  static int32_t OnBatch(void* user_data, int64_t n_done, int64_t n_total);

  std::vector<const char*> data_;
  std::vector<size_t> bytes_;  // of one example
  std::vector<const char*> ids_;
  std::vector<int64_t> no_labels_;
  nb::object progress_;
};

}  // namespace topwork_python

#endif  // TOPWORK_PORTS_PYTHON_EXAMPLES_H_
