// Examples that lie in the caller's arrays.
#include "runtime/train/features/examples.h"

#include <algorithm>
#include <cstring>

namespace topwork {
namespace {

Status CopyExample(const void* data, size_t example_bytes, int64_t index,
                   Span<void* const> inputs) {
  if (inputs.size() != 1) {
    return InvalidArgument(
        "the model has {} inputs; examples in one array suit models of one input only",
        inputs.size());
  }
  std::memcpy(inputs[0],
              static_cast<const uint8_t*>(data) + static_cast<size_t>(index) * example_bytes,
              example_bytes);
  return Status::Ok();
}

}  // namespace

Examples Examples::FromArray(const void* data, size_t example_bytes, const int32_t* labels,
                             int64_t count) {
  Examples examples;
  examples.count = count;
  examples.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    out->label = labels[index];
    return CopyExample(data, example_bytes, index, inputs);
  };
  return examples;
}

Examples Examples::FromArray(const void* data, size_t example_bytes, const float* values,
                             int64_t n_outputs, int64_t count) {
  Examples examples;
  examples.count = count;
  examples.read = [=](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    if (out->values == nullptr) {
      return InvalidArgument("the examples have {} floats as targets, the loss uses labels",
                             n_outputs);
    }
    std::copy_n(values + index * n_outputs, n_outputs, out->values);
    return CopyExample(data, example_bytes, index, inputs);
  };
  return examples;
}

}  // namespace topwork
