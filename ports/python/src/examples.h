// Labelled examples as Python has them: arrays, given to trainers and learners as tw_examples.
#ifndef TOPWORK_PORTS_PYTHON_EXAMPLES_H_
#define TOPWORK_PORTS_PYTHON_EXAMPLES_H_

#include <exception>

#include "ports/python/src/common.h"

namespace topwork_python {

using Labels =
    std::optional<nb::ndarray<const int64_t, nb::c_contig, nb::ndim<1>, nb::device::cpu>>;
using Targets = std::optional<nb::ndarray<const float, nb::c_contig, nb::ndim<2>, nb::device::cpu>>;
using Groups =
    std::optional<nb::ndarray<const int32_t, nb::c_contig, nb::ndim<1>, nb::device::cpu>>;

// Tells of model input `index` for one example, as tw_trainer_get_input does.
using GetInput = std::function<tw_status(size_t index, tw_tensor_info* info)>;

// For each model input an array [n, ...], or a sequence of n arrays that are made one by one as they
// are read; their elements are as the input's.
using Sources = std::vector<nb::object>;

// Examples as sources have them, which are kept until the end. Raises ValueError where sizes do not
// fit.
class Examples {
 public:
  Examples(const GetInput& get_input, const Sources& sources);
  Examples(const Examples&) = delete;

  void SetLabels(const Labels& labels, const Targets& targets, const Groups& groups);
  void SetIds(const std::vector<std::string>& ids);
  // progress(done, total) is called after each batch; False ends the call.
  void SetProgress(nb::object progress);

  // Calls `work`, which reads the examples. What a sequence has raised meanwhile is raised again.
  void During(const std::function<void()>& work);

  tw_examples c = {};

 private:
  static tw_status Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                        int64_t* label);
  static int32_t OnBatch(void* user_data, int64_t n_done, int64_t n_total);

  void AddSource(const tw_tensor_info& input, const nb::object& source);
  void Make(size_t input, int64_t index, void* to);

  Sources sources_;
  std::vector<ConstArray> arrays_;
  std::vector<const char*> data_;  // NULL: a sequence
  std::vector<size_t> bytes_;      // of one example
  std::exception_ptr error_;
  std::vector<const char*> ids_;
  std::vector<int64_t> no_labels_;
  nb::object progress_;
};

}  // namespace topwork_python

#endif  // TOPWORK_PORTS_PYTHON_EXAMPLES_H_
