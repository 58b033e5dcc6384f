// Models with tensors of int2, int4 and uint4: inputs and outputs of sessions, layers that are
// exchanged, constants that stay as they are.
#include <catch2/catch.hpp>

#include "runtime/tensor/packed.h"
#include "tests/support/classifiers.h"
#include "tests/support/new_head.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace packed_models_test {

using test::Bytes;
using test::ModelSpec;
using test::OptionsSpec;

Bytes Pack(DType dtype, const std::vector<int8_t>& values) {
  Bytes bytes(ByteSize(dtype, {static_cast<int32_t>(values.size())}));
  PackBytes(dtype, values.data(), static_cast<int64_t>(values.size()), 0,
            static_cast<int64_t>(bytes.size()), bytes.data());
  return bytes;
}

TEST_CASE("packed: inputs and outputs of a session are packed", "[format]") {
  for (const DType dtype : {DType::kInt2, DType::kInt4, DType::kUInt4}) {
    INFO(DTypeName(dtype));
    ModelSpec spec;
    const int x = spec.AddInput("x", dtype, {1, 5});
    const int real = spec.AddTensor("real", DType::kFloat32, {1, 5});
    const int y = spec.AddTensor("y", dtype, {1, 5});
    spec.AddOp(OpCode::kCast, {x}, {real});
    spec.AddOp(OpCode::kCast, {real}, {y});
    spec.main().outputs = {real, y};
    const auto session = test::OpenSession(spec);
    CHECK(session->input(0).bytes() == (dtype == DType::kInt2 ? 2 : 3));
    CHECK(session->output(1).bytes() == session->input(0).bytes());
    const Bytes packed = Pack(dtype, {1, 0, -2, -1, 1});
    test::SetInput(session.get(), 0, packed);
    REQUIRE(session->Run().ToString() == "OK");
    const float two = dtype == DType::kUInt4 ? 14.0f : -2.0f, one = two + 1.0f;
    CHECK(test::GetOutput<float>(*session, 0) == std::vector<float>{1.0f, 0.0f, two, one, 1.0f});
    const uint8_t* got = session->output(1).as<uint8_t>();
    CHECK(Bytes(got, got + packed.size()) == packed);
  }
}

// The classifier with another kind of weights in its last layer.
ModelSpec HeadOf(DType weights) {
  ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
  for (test::TensorSpec& t : spec.main().tensors) {
    if (t.name != "head/weights") continue;
    t.type = static_cast<int>(weights);
    t.scales.assign(static_cast<size_t>(t.shape[0]), 0.25f);
    t.zero_points.assign(t.scales.size(), 0);
    std::vector<int8_t> values;
    for (int i = 0; i < t.shape[0] * t.shape[1]; ++i) {
      values.push_back(static_cast<int8_t>(i * i % 4 - 2));
    }
    spec.buffers[t.buffer].data = Pack(weights, values);
  }
  return spec;
}

TEST_CASE("packed: a layer of few bits is read, and its successor has 8", "[format]") {
  for (const DType dtype : {DType::kInt2, DType::kInt4}) {
    INFO(DTypeName(dtype));
    const auto model = test::OpenSpec(HeadOf(dtype));
    const Head head = test::Found(*model);
    REQUIRE(head.shipped_weights.size() == 40);
    CHECK(head.shipped_weights[1] == -0.25f);
    CHECK(head.shipped_weights[2] == -0.5f);
    CHECK(head.format.storage == HeadStorage::kDynamicRange);
    CHECK(head.format.per_channel);
    const test::NewHead fresh = test::MakeHead(3, 8, 5);
    const auto exported =
        test::Export(*model, test::Replacement(*model, fresh, Loss::kSoftmaxCrossEntropy));
    const Head again = test::Found(*exported);
    CHECK(again.n_classes == 3);
    for (size_t i = 0; i < fresh.weights.size(); ++i) {
      CHECK(again.shipped_weights[i] == Approx(fresh.weights[i]).margin(0.005));
    }
    CHECK(test::RunModel(exported, std::vector<float>(test::kImageFloats, 0.5f)).size() == 3);
  }
  // Which no layer's weights are.
  const auto wrong = test::TryOpenSession(HeadOf(DType::kUInt4));
  CHECK(wrong.status().code() == StatusCode::kUnsupported);
  CHECK(wrong.status().message().find("uint4") != std::string::npos);
}

TEST_CASE("packed: constants outside the layer are written as they were", "[format]") {
  ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
  const Bytes packed = Pack(DType::kInt2, {1, -2, 0, -1, 1, 1, -1});
  const int twos = spec.AddConstant("twos", DType::kInt2, {7}, packed);
  const int real = spec.AddTensor("twos/real", DType::kFloat32, {7});
  spec.AddOp(OpCode::kCast, {twos}, {real});
  const auto model = test::OpenSpec(spec);
  const auto exported = test::Export(
      *model, test::Replacement(*model, test::MakeHead(3, 8, 5), Loss::kSoftmaxCrossEntropy));
  bool found = false;
  for (const Value& value : exported->main().values) {
    if (value.name != "twos") continue;
    found = true;
    CHECK(value.dtype == DType::kInt2);
    const uint8_t* data = static_cast<const uint8_t*>(value.data);
    CHECK(Bytes(data, data + packed.size()) == packed);
  }
  CHECK(found);
}

}  // namespace packed_models_test
}  // namespace topwork
