// tw::Learner over learn.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_LEARN_HPP_
#define TOPWORK_LEARN_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/examples.hpp"
#include "topwork/learn.h"
#include "topwork/model.hpp"

namespace tw {

// Some of a learner's examples. See tw_selection.
struct Selection {
  std::vector<std::string> ids;
  std::vector<int32_t> groups;
  const tw_examples* examples = nullptr;
};

struct LearnerOptions : tw_learner_options {
  LearnerOptions() : tw_learner_options{} { struct_size = sizeof(tw_learner_options); }
};

// A tw_learner: one thread at a time.
class Learner {
 public:
  static Result<Learner> Create(const Model& model,
                                const LearnerOptions& options = LearnerOptions()) {
    tw_learner* handle = nullptr;
    const tw_status status = tw_learner_create(model.get(), &options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Learner(handle);
  }

  Result<Tensor> Input(size_t index) const {
    Tensor tensor;
    const tw_status status = tw_learner_get_input(get(), index, &tensor);
    if (status != TW_STATUS_OK) return Status(status);
    return tensor;
  }
  Status Save(const std::string& path, bool statistics_only = false) {
    return Status(tw_learner_save(get(), path.c_str(), statistics_only ? 1 : 0));
  }

  // Names that exist already keep their examples.
  Status SetClasses(const std::vector<std::string>& names) { return SetClasses(names, {}); }
  // Class c becomes the new class becomes[c]; -1: none.
  Status SetClasses(const std::vector<std::string>& names, const std::vector<int64_t>& becomes) {
    return Status(tw_learner_set_classes(get(), internal::Pointers(names).data(),
                                         becomes.empty() ? nullptr : becomes.data(), names.size()));
  }
  // The index of the class of that name, which is added where it is new.
  Result<int64_t> AddClass(const std::string& name) {
    std::vector<std::string> names = class_names();
    for (size_t c = 0; c < names.size(); ++c) {
      if (names[c] == name) return static_cast<int64_t>(c);
    }
    names.push_back(name);
    const Status status = SetClasses(names);
    if (!status.ok()) return status;
    return static_cast<int64_t>(names.size() - 1);
  }
  // Each needs an id (Examples::SetIds), but not with statistics_only.
  Status Add(const tw_examples& examples) { return Status(tw_learner_add(get(), &examples)); }
  Status Remove(const Selection& selection) {
    return With(selection, [&](const tw_selection* s) { return tw_learner_remove(get(), s); });
  }
  Status Relabel(const Selection& selection, int64_t label) {
    return With(selection,
                [&](const tw_selection* s) { return tw_learner_relabel(get(), s, label); });
  }
  // How many examples were here already.
  Result<int64_t> Merge(const std::string& path) {
    int64_t n_same = 0;
    const tw_status status = tw_learner_merge(get(), path.c_str(), &n_same);
    if (status != TW_STATUS_OK) return Status(status);
    return n_same;
  }
  // n_examples x n_classes probabilities.
  Result<std::vector<float>> Predict(const tw_examples& examples) {
    const Result<tw_learner_info> info = Info();
    if (!info.ok()) return info.status();
    std::vector<float> scores(static_cast<size_t>(examples.n_examples * info->n_classes));
    const tw_status status = tw_learner_predict(get(), &examples, scores.data(), scores.size());
    if (status != TW_STATUS_OK) return Status(status);
    return scores;
  }
  Status Cancel() { return Status(tw_learner_cancel(get())); }
  Result<Model> Export() {
    tw_model* handle = nullptr;
    const tw_status status = tw_learner_export(get(), &handle);
    return Model::Take(status, handle);
  }
  // What it points to is borrowed from the learner.
  Result<tw_learner_info> Info() const {
    return internal::GetStruct<tw_learner_info>(
        [&](tw_learner_info* info) { return tw_learner_get_info(get(), info); });
  }
  std::vector<std::string> class_names() const {
    const Result<tw_learner_info> info = Info();
    if (!info.ok()) return {};
    return std::vector<std::string>(info->class_names, info->class_names + info->n_classes);
  }
  tw_learner* get() const { return handle_.get(); }

 private:
  explicit Learner(tw_learner* handle) : handle_(handle) {}
  template <typename F>
  static Status With(const Selection& from, F function) {
    const std::vector<const char*> ids = internal::Pointers(from.ids);
    const tw_selection selection = {sizeof(selection),  ids.data(),         ids.size(),
                                    from.groups.data(), from.groups.size(), from.examples};
    return Status(function(&selection));
  }
  std::unique_ptr<tw_learner, internal::Deleter<tw_learner, tw_learner_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_LEARN_HPP_
