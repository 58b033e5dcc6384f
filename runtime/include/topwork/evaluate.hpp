// tw::Evaluation and tw::Judge over evaluate.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_EVALUATE_HPP_
#define TOPWORK_EVALUATE_HPP_

#include <cstdint>
#include <memory>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/evaluate.h"

namespace tw {

// A tw_evaluation with arrays of its own: its pointers are null.
struct Evaluation : tw_evaluation {
  Evaluation() : tw_evaluation{} { struct_size = sizeof(tw_evaluation); }
  std::vector<tw_class_metrics> per_class;       // `classes`
  std::vector<int64_t> matrix;                   // `confusion`: n_classes x n_classes, row = label
  std::vector<int64_t> largest;                  // `n_largest`
  std::vector<tw_reliability_bin> bins;          // `reliability`
  std::vector<tw_worst_example> worst_examples;  // `worst`
  std::vector<tw_group_metrics> per_group;       // `groups`
};

namespace internal {

template <typename T>
std::vector<T> TakeArray(const T** from, size_t n) {
  std::vector<T> copy;
  if (*from != nullptr) copy.assign(*from, *from + n);
  *from = nullptr;
  return copy;
}

// Calls function(&evaluation) and copies what it borrows.
template <typename F>
Result<Evaluation> GetEvaluation(F function) {
  Evaluation e;
  const tw_status status = function(&e);
  if (status != TW_STATUS_OK) return Status(status);
  const size_t n = static_cast<size_t>(e.n_classes);
  e.per_class = TakeArray(&e.classes, n);
  e.matrix = TakeArray(&e.confusion, n * n);
  e.largest = TakeArray(&e.n_largest, e.n_scores);
  e.bins = TakeArray(&e.reliability, e.n_bins);
  e.worst_examples = TakeArray(&e.worst, e.n_worst);
  e.per_group = TakeArray(&e.groups, e.n_groups);
  return e;
}

}  // namespace internal

struct JudgeOptions : tw_judge_options {
  JudgeOptions() : tw_judge_options{} { struct_size = sizeof(tw_judge_options); }
};

// A tw_judge: one thread at a time.
class Judge {
 public:
  static Result<Judge> Create(const JudgeOptions& options) {
    tw_judge* handle = nullptr;
    const tw_status status = tw_judge_create(&options, &handle);
    if (status != TW_STATUS_OK) return Status(status);
    return Judge(handle);
  }
  // group below 0: none.
  Status Add(const std::vector<float>& scores, int64_t label, int32_t group = -1) {
    return Status(tw_judge_add(get(), scores.data(), scores.size(), label, nullptr, group));
  }
  // targets: n_classes numbers.
  Status AddTargets(const std::vector<float>& scores, const float* targets, int32_t group = -1) {
    return Status(tw_judge_add(get(), scores.data(), scores.size(), 0, targets, group));
  }
  Result<Evaluation> Read() const {
    return internal::GetEvaluation([&](tw_evaluation* e) { return tw_judge_read(get(), e); });
  }
  tw_judge* get() const { return handle_.get(); }

 private:
  explicit Judge(tw_judge* handle) : handle_(handle) {}
  std::unique_ptr<tw_judge, internal::Deleter<tw_judge, tw_judge_free>> handle_;
};

}  // namespace tw

#endif  // TOPWORK_EVALUATE_HPP_
