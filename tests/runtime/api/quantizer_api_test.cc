// C and C++ API: quantizing and pruning a model.
#include <cstring>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace quantizer_api_test {

using api_test::RequireError;

tw::Model Digits() {
  const api_test::ModelPtr model = api_test::OpenModel(api_test::kDigitsModel);
  REQUIRE(model != nullptr);
  tw::PruneOptions none;
  none.sparsity = 1e-9;  // a copy that tw::Model owns
  tw_model* copy = nullptr;
  REQUIRE(tw_model_prune(model.get(), &none, &copy, nullptr) == TW_STATUS_OK);
  tw::Result<tw::Model> taken = tw::Model::Take(TW_STATUS_OK, copy);
  REQUIRE(taken.ok());
  return std::move(*taken);
}

TEST_CASE("C API: pruning", "[api]") {
  const tw::Model model = Digits();
  tw_prune_report report = {};
  const tw::Result<tw::Model> pruned = tw::Prune(model, tw::PruneOptions(), &report);
  REQUIRE(pruned.ok());
  CHECK(pruned->bytes().size > 1000);
  CHECK(std::memcmp(static_cast<const char*>(pruned->bytes().data) + 4, "TFL3", 4) == 0);
  CHECK(report.n_layers > 0);
  CHECK(report.n_zeros >= report.n_weights / 2 - 1);  // half of the weights, unless asked otherwise
  CHECK(report.n_zeros < report.n_weights * 6 / 10);
  tw::PruneOptions options;
  options.sparsity = 2.0;
  tw_model* none = nullptr;
  RequireError(tw_model_prune(model.get(), &options, &none, nullptr), TW_STATUS_INVALID_ARGUMENT,
               "sparsity is 2");
  CHECK(none == nullptr);
}

#ifdef TW_HAVE_TRAIN
tw_examples Images(const std::vector<float>& pixels) {
  return api_test::ExamplesOf(pixels, static_cast<int64_t>(pixels.size() / 64), nullptr);
}

TEST_CASE("C++ API: quantizing to int8", "[api][train]") {
  tw::QuantizerOptions options;
  options.target = TW_QUANTIZE_INT8;
  options.integer_io = 1;
  options.n_threads = 1;
  auto quantizer = tw::Quantizer::Create(Digits(), options);
  REQUIRE(quantizer.status().ToString() == "OK");
  const auto input = quantizer->Input(0);
  REQUIRE(input.ok());
  CHECK(input->shape() == std::vector<int32_t>{1, 8, 8, 1});
  CHECK(quantizer->Input(1).status().code() == TW_STATUS_INVALID_ARGUMENT);
  CHECK(quantizer->Export().status().code() == TW_STATUS_FAILED_PRECONDITION);

  std::vector<float> pixels(10 * 64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 37 % 101) / 100.0f;
  REQUIRE(quantizer->AddExamples(Images(pixels)).ToString() == "OK");
  tw_quantize_report report = {};
  const auto small = quantizer->Export(&report);
  REQUIRE(small.status().ToString() == "OK");
  CHECK(report.n_examples == 10);
  CHECK(report.n_integer_operators > 3);
  CHECK(report.n_constants > 0);
  CHECK(report.n_float_operators == 0);
  const auto session = tw::Session::Create(*small);
  REQUIRE(session.ok());
  CHECK(session->Input(0)->dtype == TW_DTYPE_INT8);
  CHECK(session->Output(0)->dtype == TW_DTYPE_INT8);
  options.integer_io = 3;
  CHECK(tw::Quantizer::Create(Digits(), options).status().code() == TW_STATUS_INVALID_ARGUMENT);
}

// Cancels itself at the third of ten examples.
struct Reader {
  tw_quantizer* quantizer = nullptr;
  int n_read = 0;
};

TEST_CASE("C API: examples by callback, cancelled and refused", "[api][train]") {
  tw::QuantizerOptions options;
  options.target = TW_QUANTIZE_INT8;
  auto quantizer = tw::Quantizer::Create(Digits(), options);
  REQUIRE(quantizer.ok());
  Reader reader;
  reader.quantizer = quantizer->get();
  tw_examples examples = {};
  examples.struct_size = sizeof(examples);
  examples.n_examples = 10;
  examples.user_data = &reader;
  examples.read = [](void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                     int64_t*) {
    Reader* self = static_cast<Reader*>(user_data);
    CHECK(n_inputs == 1);
    std::memset(inputs[0], 0, 64 * sizeof(float));
    if (index == 2) CHECK(tw_quantizer_cancel(self->quantizer) == TW_STATUS_OK);
    ++self->n_read;
    return TW_STATUS_OK;
  };
  CHECK(quantizer->AddExamples(examples).code() == TW_STATUS_CANCELLED);
  CHECK(reader.n_read == 3);
  CHECK(tw_quantizer_cancel(quantizer->get()) == TW_STATUS_OK);  // nothing is in progress
  examples.n_examples = 2;
  CHECK(quantizer->AddExamples(examples).ok());
  CHECK(reader.n_read == 5);
  examples.read = nullptr;
  CHECK(quantizer->AddExamples(examples).code() == TW_STATUS_INVALID_ARGUMENT);

  tw_quantizer* q = quantizer->get();
  const tw_model* none = nullptr;
  tw_quantizer* out = nullptr;
  tw_model* exported = nullptr;
  RequireError(tw_quantizer_create(none, nullptr, &out), TW_STATUS_INVALID_ARGUMENT, "model");
  RequireError(tw_quantizer_get_input(q, 0, nullptr), TW_STATUS_INVALID_ARGUMENT, "info");
  RequireError(tw_quantizer_add_examples(q, nullptr), TW_STATUS_INVALID_ARGUMENT, "examples");
  RequireError(tw_quantizer_cancel(nullptr), TW_STATUS_INVALID_ARGUMENT, "quantizer");
  RequireError(tw_quantizer_export(q, nullptr, nullptr), TW_STATUS_INVALID_ARGUMENT, "out_model");
  RequireError(tw_quantizer_export(nullptr, &exported, nullptr), TW_STATUS_INVALID_ARGUMENT,
               "quantizer");
  CHECK(exported == nullptr);
  tw_quantizer_free(nullptr);
  options.target = static_cast<tw_quantize_target>(7);
  CHECK(tw::Quantizer::Create(Digits(), options).status().code() == TW_STATUS_INVALID_ARGUMENT);
}
#endif

}  // namespace quantizer_api_test
}  // namespace topwork
