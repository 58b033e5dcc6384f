// Precision float16 on the CPU: which operators have 16-bit products, what the plan says, what the
// answers and the memory are, and that sessions of both precisions share a model.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/cpu/gemm.h"
#include "runtime/session/verify.h"
#include "tests/support/embedded.h"
#include "tests/support/open_session.h"
#include "tests/support/random_floats.h"
#include "tests/support/skip.h"

namespace topwork {
namespace half_products_test {

std::shared_ptr<const Model> Digits(const char* name = "digits_cnn_f32") {
  const test::EmbeddedFile* file =
      test::FindEmbedded((std::string("models/zoo/") + name + ".tflite").c_str());
  REQUIRE(file != nullptr);
  auto model = Model::OpenMemory(file->data, file->size, false);
  REQUIRE(model.status().ToString() == "OK");
  return model.value();
}

bool HasHalf() { return HalfProductsOf(BestCpuKernels()) != nullptr; }

std::unique_ptr<Session> Open(const std::shared_ptr<const Model>& model, SessionOptions options,
                              int n_threads = 1) {
  options.n_threads = n_threads;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

SessionOptions InHalf() {
  SessionOptions options;
  options.half_products = true;
  return options;
}

std::vector<float> Answer(Session* session, float brightest = 1.0f) {
  const size_t n = static_cast<size_t>(session->input(0).shape.NumElements());
  std::vector<float> image = test::RandomFloats(n, 5);
  for (float& value : image) value = std::fabs(value) * brightest;
  test::SetInput(session, 0, image);
  REQUIRE(session->Run().ToString() == "OK");
  return test::GetOutput<float>(*session, 0);
}

// "CONV_2D", ...: operators whose products have that type.
std::vector<std::string> With(const Session& session, const std::string& products) {
  std::vector<std::string> names;
  for (const Step& step : session.plan().steps) {
    if (step.products == products) names.push_back(step.def->name());
  }
  return names;
}

TEST_CASE("16-bit products: a session has them where the processor has", "[session][half]") {
  const auto model = Digits();
  const auto plain = Open(model, SessionOptions()), half = Open(model, InHalf());
  const std::vector<float> expected = Answer(plain.get()), got = Answer(half.get());
  CHECK(With(*plain, "").size() == plain->plan().steps.size());
  CHECK(plain->plan().half_note.empty());
  if (!HasHalf()) {
    CHECK(half->plan().half_note.find("all is float32") != std::string::npos);
    CHECK(got == expected);
    TW_SKIP("this processor has no 16-bit products");
  }
  const std::string type = HalfProductsOf(BestCpuKernels())->half;
  CHECK(With(*half, type) ==
        std::vector<std::string>{"CONV_2D", "CONV_2D", "CONV_2D", "FULLY_CONNECTED"});
  const std::string text = PrintPlan(half->plan());
  CHECK(text.find("precision float16: " + type + " products in 4 of ") != std::string::npos);
  CHECK(text.find(" " + type + " products\n") != std::string::npos);
  CHECK(PlanToJson(half->plan()).find("\"products\":\"" + type + "\"") != std::string::npos);
  CHECK(got != expected);
  CHECK(test::LargestDifference(got, expected) < 2e-2);
}

TEST_CASE("16-bit products: other instruction sets compute in float32 and say so", "[session]") {
  const CpuKernels* const* tables = nullptr;
  const int n = RunnableCpuKernels(&tables);
  const CpuKernels* const* without = std::find_if(
      tables, tables + n, [](const CpuKernels* cpu) { return HalfProductsOf(*cpu) == nullptr; });
  if (without == tables + n) TW_SKIP("every instruction set here has 16-bit products");
  SessionOptions options = InHalf();
  options.cpu = *without;
  const auto model = Digits();
  const auto half = Open(model, options);
  options.half_products = false;
  const auto plain = Open(model, options);
  CHECK(half->plan().half_note == std::string("precision float16: no 16-bit products with ") +
                                      (*without)->isa + " here, so all is float32");
  CHECK(Answer(half.get()) == Answer(plain.get()));
}

TEST_CASE("16-bit products: pinned operators stay in float32", "[session][half]") {
  if (!HasHalf()) TW_SKIP("this processor has no 16-bit products");
  const auto model = Digits();
  SessionOptions options = InHalf();
  options.float32_ops = {"CONV_2D"};
  const auto some = Open(model, options);
  CHECK(With(*some, HalfProductsOf(BestCpuKernels())->half) ==
        std::vector<std::string>{"FULLY_CONNECTED"});
  options.float32_ops = {"CONV_2D", "FULLY_CONNECTED"};
  const auto none = Open(model, options), plain = Open(model, SessionOptions());
  CHECK(Answer(none.get()) == Answer(plain.get()));
}

TEST_CASE("16-bit products: sessions of both precisions share a model", "[session][half]") {
  if (!HasHalf()) TW_SKIP("this processor has no 16-bit products");
  const auto first = Open(Digits("efficientnet_lite0_fp16"), SessionOptions());
  const std::vector<float> expected = Answer(first.get());
  const auto model = Digits("efficientnet_lite0_fp16");
  const auto half = Open(model, InHalf());
  const std::vector<float> got = Answer(half.get());
  const auto plain = Open(model, SessionOptions());
  CHECK(Answer(plain.get()) == expected);
  CHECK(Answer(half.get()) == got);
  CHECK(got != expected);
  for (const int threads : {2, 3}) {
    const bool same_bytes = Answer(Open(model, InHalf(), threads).get()) == got;
    CHECK(same_bytes);
  }
  // Two bytes a weight; in float32 as well, because those of the file are float16.
  CHECK(half->plan().packed_bytes < model->bytes().size());
  CHECK(plain->plan().packed_bytes < model->bytes().size());
}

TEST_CASE("16-bit products: verify compares them with float32", "[session][half]") {
  if (!HasHalf()) TW_SKIP("this processor has no 16-bit products");
  const auto session = Open(Digits(), InHalf());
  (void)Answer(session.get());
  const auto result = Verify(session.get(), 0.0);
  REQUIRE(result.status().ToString() == "OK");
  CHECK(result->agrees);
  CHECK(result->tolerance == 5e-2);
  const std::string half = std::string("cpu ") + HalfProductsOf(BestCpuKernels())->half;
  const auto& layers = result->layers;
  const auto n_half = std::count_if(layers.begin(), layers.end(),
                                    [&](const ComparedValue& v) { return v.backend == half; });
  CHECK(n_half >= 3);
  REQUIRE(layers.size() >= 2);
  const auto strict = Verify(session.get(), 1e-7);
  REQUIRE(strict.status().ToString() == "OK");
  CHECK_FALSE(strict->agrees);
  REQUIRE(strict->first_divergence >= 0);
  CHECK(strict->layers[static_cast<size_t>(strict->first_divergence)].backend == half);
}

TEST_CASE("16-bit products: verify shows where numbers are too large for float16",
          "[session][half]") {
  const GemmKernels* half = HalfProductsOf(BestCpuKernels());
  if (half == nullptr) TW_SKIP("this processor has no 16-bit products");
  const auto session = Open(Digits(), InHalf());
  (void)Answer(session.get(), 1e6f);
  const auto result = Verify(session.get(), 0.0);
  REQUIRE(result.status().ToString() == "OK");
  const auto& layers = result->layers;
  const auto first = std::find_if(layers.begin(), layers.end(),
                                  [](const ComparedValue& v) { return std::isinf(v.difference); });
  CHECK((first != layers.end()) == (half->half == std::string("float16")));
  if (first == layers.end()) return;
  CHECK(first->backend == "cpu float16");
  CHECK_FALSE(result->agrees);
  SessionOptions options = InHalf();
  options.float32_ops = {"CONV_2D", "FULLY_CONNECTED"};
  const auto pinned = Open(Digits(), options);
  (void)Answer(pinned.get(), 1e6f);
  CHECK(Verify(pinned.get(), 0.0)->agrees);
}

}  // namespace half_products_test
}  // namespace topwork
