#include "ports/python/src/examples.h"

#include <cstring>

namespace topwork_python {

Examples::Examples(const GetInput& get_input, const std::vector<ConstArray>& arrays) {
  c.struct_size = sizeof(c);
  c.user_data = this;
  c.n_examples = arrays.empty() ? 0 : static_cast<int64_t>(arrays[0].shape(0));
  for (size_t i = 0; i < arrays.size(); ++i) {
    tw_tensor_info input = {};
    input.struct_size = sizeof(input);
    Check(get_input(i, &input));
    if (arrays[i].nbytes() != input.bytes * c.n_examples) {
      throw nb::value_error("an example has another size than the model's input");
    }
    data_.push_back(static_cast<const char*>(arrays[i].data()));
    bytes_.push_back(input.bytes);
    c.dtype = input.dtype;
  }
  if (arrays.size() == 1) {
    c.data = arrays[0].data();
    c.data_bytes = arrays[0].nbytes();
  } else {
    c.read = Read;
  }
  no_labels_.resize(c.n_examples);  // where labels are not looked at
  c.labels = no_labels_.data();
}

void Examples::SetLabels(const Labels& labels, const Targets& targets, const Groups& groups) {
  size_t n = static_cast<size_t>(c.n_examples);
  if ((labels && labels->shape(0) != n) || (targets && targets->shape(0) != n) ||
      (groups && groups->shape(0) != n)) {
    throw nb::value_error("X has another number of examples than y or groups");
  }
  c.labels = labels ? labels->data() : nullptr;
  c.targets = targets ? targets->data() : nullptr;
  c.groups = groups ? groups->data() : nullptr;
}

void Examples::SetIds(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  if (ids.size() != static_cast<size_t>(c.n_examples)) {
    throw nb::value_error("X has another number of examples than ids");
  }
  for (const std::string& id : ids) ids_.push_back(id.c_str());
  c.ids = ids_.data();
}

void Examples::SetProgress(nb::object progress) {
  if (progress.is_none()) return;
  progress_ = progress;
  c.progress = OnBatch;
}

tw_status Examples::Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                         int64_t* label) {
  const auto& self = *static_cast<const Examples*>(user_data);
  for (size_t i = 0; i < n_inputs; ++i) {
    std::memcpy(inputs[i], self.data_[i] + self.bytes_[i] * index, self.bytes_[i]);
  }
  if (label != nullptr) *label = self.c.labels == nullptr ? 0 : self.c.labels[index];
  return TW_STATUS_OK;
}

int32_t Examples::OnBatch(void* user_data, int64_t n_done, int64_t n_total) {
  nb::gil_scoped_acquire acquire;
  try {
    nb::object go_on = static_cast<Examples*>(user_data)->progress_(n_done, n_total);
    return go_on.ptr() == Py_False ? 1 : 0;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("topwork progress");
    return 1;
  }
}

}  // namespace topwork_python
