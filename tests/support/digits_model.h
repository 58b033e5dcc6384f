// The digits' network of the zoo (models/zoo/digits_cnn_f32.tflite), out of the test binary.
#ifndef TOPWORK_TESTS_SUPPORT_DIGITS_MODEL_H_
#define TOPWORK_TESTS_SUPPORT_DIGITS_MODEL_H_

#include <catch2/catch.hpp>
#include <memory>

#include "models/format/model.h"
#include "tests/support/embedded.h"

namespace topwork {
namespace test {

inline std::shared_ptr<const Model> DigitsModel() {
  const EmbeddedFile* file = FindEmbedded("models/zoo/digits_cnn_f32.tflite");
  REQUIRE(file != nullptr);
  const auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_DIGITS_MODEL_H_
