#include "ports/python/src/examples.h"

#include <cstring>

namespace topwork_python {

Examples::Examples(const GetInput& get_input, const Sources& sources) : sources_(sources) {
  c.struct_size = sizeof(c);
  c.user_data = this;
  c.n_examples = sources.empty() ? 0 : static_cast<int64_t>(nb::len(sources[0]));
  for (size_t i = 0; i < sources.size(); ++i) {
    tw_tensor_info input = {};
    input.struct_size = sizeof(input);
    Check(get_input(i, &input));
    AddSource(input, sources[i]);
  }
  if (data_.size() == 1 && data_[0] != nullptr) {
    c.data = data_[0];
    c.data_bytes = arrays_[0].nbytes();
  } else {
    c.read = Read;
  }
  no_labels_.resize(c.n_examples);  // where labels are not looked at
  c.labels = no_labels_.data();
}

void Examples::AddSource(const tw_tensor_info& input, const nb::object& source) {
  ConstArray array;
  bool is_array = nb::try_cast<ConstArray>(source, array);
  if (is_array ? array.nbytes() != input.bytes * c.n_examples
               : nb::len(source) != static_cast<size_t>(c.n_examples)) {
    throw nb::value_error("an example has another size than the model's input");
  }
  data_.push_back(is_array ? static_cast<const char*>(array.data()) : nullptr);
  arrays_.push_back(array);
  bytes_.push_back(input.bytes);
  c.dtype = input.dtype;
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

void Examples::During(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    if (error_) std::rethrow_exception(error_);
    throw;
  }
}

void Examples::Make(size_t input, int64_t index, void* to) {
  nb::object example = sources_[input][nb::int_(index)];
  ConstArray made = nb::cast<ConstArray>(example);
  if (made.nbytes() != bytes_[input]) {
    throw nb::value_error("an example has another size than the model's input");
  }
  std::memcpy(to, made.data(), made.nbytes());
}

tw_status Examples::Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                         int64_t* label) {
  auto& self = *static_cast<Examples*>(user_data);
  for (size_t i = 0; i < n_inputs; ++i) {
    if (self.data_[i] != nullptr) {
      std::memcpy(inputs[i], self.data_[i] + self.bytes_[i] * index, self.bytes_[i]);
      continue;
    }
    nb::gil_scoped_acquire acquire;
    try {
      self.Make(i, index, inputs[i]);
    } catch (...) {
      self.error_ = std::current_exception();
      return TW_STATUS_INVALID_ARGUMENT;
    }
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
