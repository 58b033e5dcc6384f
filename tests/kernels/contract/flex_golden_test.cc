// Models of TensorFlow's operators alone, as its converter leaves them, and TensorFlow's answers
// (make_flex_golden.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace test {
namespace flex_golden_test {

// Real numbers of the types that have a tolerance; empty: equal bytes are expected.
std::vector<double> Reals(const std::string& descr, const uint8_t* data, size_t bytes) {
  std::vector<double> out;
  const auto add = [&](auto type, auto convert) {
    for (size_t at = 0; at + sizeof(type) <= bytes; at += sizeof(type)) {
      std::memcpy(&type, data + at, sizeof(type));
      out.push_back(convert(type));
    }
  };
  if (descr == "<f4" || descr == "<c8") add(0.0f, [](float x) { return static_cast<double>(x); });
  if (descr == "<f8") add(0.0, [](double x) { return x; });
  if (descr == "<f2") {
    add(uint16_t{0}, [](uint16_t x) { return static_cast<double>(HalfToFloat(x)); });
  }
  return out;
}

void CheckOutput(const TensorView& got, const NpyArray& want) {
  Shape shape;
  for (const int64_t dim : want.shape) shape.Append(static_cast<int32_t>(dim));
  CHECK(got.shape == shape);
  REQUIRE(got.bytes() == want.data.size());
  const uint8_t* const expected = reinterpret_cast<const uint8_t*>(want.data.data());
  const std::vector<double> a = Reals(want.descr, got.as<uint8_t>(), got.bytes());
  const std::vector<double> b = Reals(want.descr, expected, got.bytes());
  if (b.empty()) CHECK(std::memcmp(got.data, expected, got.bytes()) == 0);
  const double relative = want.descr == "<f2" ? 1e-3 : 2e-5;
  for (size_t i = 0; i < b.size(); ++i) {
    CHECK((std::isnan(b[i]) ? std::isnan(a[i])
                            : a[i] == Approx(b[i]).epsilon(relative).margin(1e-5)));
  }
}

TEST_CASE("flex: more than 100 of TensorFlow's operators give its answers", "[ops]") {
  std::set<std::string> names;
  for (const std::string name :
       {"casts", "functions", "movement", "pairs", "products", "reductions"}) {
    const EmbeddedFile* file = FindEmbedded(("tests/data/flex/" + name + ".tflite").c_str());
    const EmbeddedFile* data = FindEmbedded(("tests/data/flex/" + name + ".npz").c_str());
    REQUIRE((file != nullptr && data != nullptr));
    const Npz arrays = ReadNpz(data->data, data->size);
    auto model = Model::OpenMemory(file->data, file->size, false);
    REQUIRE(model.ok());
    for (const Op& op : model.value()->main().ops) {
      if (op.custom_name.rfind("Flex", 0) == 0) names.insert(op.custom_name);
    }
    const auto session = OpenSession(model.value());
    for (int i = 0; i < session->n_inputs(); ++i) {
      const NpyArray& array = arrays.at("in_" + std::to_string(i));
      REQUIRE(session->input(i).bytes() == array.data.size());
      std::memcpy(session->input(i).data, array.data.data(), array.data.size());
    }
    REQUIRE(session->Run().ToString() == "OK");
    for (int o = 0; o < session->n_outputs(); ++o) {
      INFO(name << ", output " << o);
      CheckOutput(session->output(o), arrays.at("ref_" + std::to_string(o)));
    }
  }
  CHECK(names.size() > 110);
}

}  // namespace flex_golden_test
}  // namespace test
}  // namespace topwork
