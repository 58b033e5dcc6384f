// tw::Examples over examples.h. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_EXAMPLES_HPP_
#define TOPWORK_EXAMPLES_HPP_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "topwork/base.hpp"
#include "topwork/examples.h"

namespace tw {

// Labelled examples for Trainer and Learner. Labels and data are borrowed for the call.
class Examples : public tw_examples {
 public:
  // Reads example `index` into inputs[k] and returns its class, or a negative number to give up.
  using Reader = std::function<int64_t(int64_t index, void* const* inputs, size_t n_inputs)>;

  // Borrows both: they must live as long as the examples are in use.
  template <typename T>
  Examples(const std::vector<T>& values, const std::vector<int64_t>& classes) : tw_examples{} {
    struct_size = sizeof(tw_examples);
    n_examples = static_cast<int64_t>(classes.size());
    data = values.data();
    data_bytes = values.size() * sizeof(T);
    dtype = DTypeOf<T>();
    labels = classes.data();
  }
  Examples(int64_t n, Reader reader) : tw_examples{}, reader_(std::move(reader)) {
    struct_size = sizeof(tw_examples);
    n_examples = n;
    read = &OnRead;
    user_data = &reader_;
  }
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;

  // A text for each, see tw_examples.ids.
  Examples& SetIds(std::vector<std::string> texts) {
    texts_ = std::move(texts);
    pointers_ = internal::Pointers(texts_);
    ids = pointers_.data();
    return *this;
  }

 private:
  static tw_status OnRead(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                          int64_t* out_label) noexcept {
    *out_label = (*static_cast<Reader*>(user_data))(index, inputs, n_inputs);
    return *out_label < 0 ? TW_STATUS_CANCELLED : TW_STATUS_OK;
  }
  Reader reader_;
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

}  // namespace tw

#endif  // TOPWORK_EXAMPLES_HPP_
