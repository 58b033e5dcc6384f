// Operators on lists, one by one; a list of n elements is a tensor [n, element...].
#include <catch2/catch.hpp>

#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/one_op.h"
#include "tests/support/open_session.h"

namespace topwork {
namespace test {
namespace tensor_list_test {

constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kL = DType::kInt64;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

OneOp ListOp(const char* name) {
  OneOp op(OpCode::kCustom);
  op.params.custom_name = name;
  return op;
}

OneOp Reserve(const Ints& shape, int32_t n) {
  return ListOp("TensorListReserve")
      .In<int32_t>({static_cast<int32_t>(shape.size())}, shape)
      .In<int32_t>({}, {n})
      .Out(kF);
}

const Floats kRows = {1, 2, 3, 4, 5, 6};

OneOp Stack(const Shape& list, const Floats& values, const Ints& shape) {
  return ListOp("TensorListStack")
      .In<float>(list, values)
      .In<int32_t>({static_cast<int32_t>(shape.size())}, shape)
      .Out(kF);
}

OneOp SetItem(const Shape& list, const Floats& values, int32_t i, const Shape& shape,
              const Floats& item) {
  return ListOp("TensorListSetItem")
      .In<float>(list, values)
      .In<int32_t>({}, {i})
      .In<float>(shape, item)
      .Out(kF);
}

OneOp GetItem(const char* name, const Shape& list, const Floats& values, const Shape& indices,
              const Ints& i, const Ints& shape) {
  return ListOp(name)
      .In<float>(list, values)
      .In<int32_t>(indices, i)
      .In<int32_t>({static_cast<int32_t>(shape.size())}, shape)
      .Out(kF);
}

OneOp Ran(OneOp op) {
  REQUIRE(op.Run().ToString() == "OK");
  return op;
}

struct Result {
  Shape shape;
  Floats values;
  bool operator==(const Result& other) const {
    return shape == other.shape && values == other.values;
  }
};

Result Get(OneOp op, int output = 0) {
  const Status status = op.Run();
  INFO(status.ToString());
  REQUIRE(status.ok());
  return {op.shape(output), op.Values<float>(output)};
}

TEST_CASE("lists: elements that were never set are zeros", "[ops]") {
  CHECK((Get(Reserve({2}, 3)) == Result{{3, 2}, Floats(6)}));
  CHECK((Get(Reserve({}, 3)) == Result{{3}, Floats(3)}));
  CHECK((Get(Reserve({-1, 2}, 3)) == Result{{3, 0, 2}, {}}));  // the shape comes with an element
  CHECK((Get(Reserve({-1}, 3)) == Result{{3, 0}, {}}));
  CHECK((Get(ListOp("EmptyTensorList").In<int32_t>({1}, {2}).In<int32_t>({}, {-1}).Out(kF)) ==
         Result{{0, 2}, {}}));
  CHECK((Get(Stack({3, 0, 2}, {}, {1, 2})) == Result{{3, 1, 2}, Floats(6)}));
  CHECK((Get(GetItem("TensorListGetItem", {3, 0, 2}, {}, {}, {1}, {1, 2})) ==
         Result{{1, 2}, Floats(2)}));
  CHECK((Get(SetItem({3, 0, 2}, {}, 1, {1, 2}, {7, 8})) == Result{{3, 1, 2}, {0, 0, 7, 8, 0, 0}}));
  CHECK((Get(SetItem({2, 0}, {}, 1, {1, 1, 2}, {7, 8})) == Result{{2, 1, 1, 2}, {0, 0, 7, 8}}));
  CHECK((Get(Stack({0, 0, 2}, {}, {-1, 2})) == Result{{0, 0, 2}, {}}));
}

TEST_CASE("lists: elements are read, set, added and taken", "[ops]") {
  CHECK((Get(SetItem({3, 2}, kRows, 2, {2}, {7, 8})) == Result{{3, 2}, {1, 2, 3, 4, 7, 8}}));
  CHECK((Get(GetItem("TensorListGetItem", {3, 2}, kRows, {}, {2}, {-1})) == Result{{2}, {5, 6}}));
  CHECK((Get(GetItem("TensorListGather", {3, 2}, kRows, {2}, {2, 0}, {2})) ==
         Result{{2, 2}, {5, 6, 1, 2}}));
  CHECK((Get(Stack({3, 2}, kRows, {2})) == Result{{3, 2}, kRows}));
  const OneOp rows = ListOp("TensorListFromTensor").In<float>({3, 2}, kRows).In<int32_t>({}, {-1});
  CHECK((Get(rows.With().Out(kF)) == Result{{3, 2}, kRows}));
  const OneOp resize = ListOp("TensorListResize").In<float>({3, 2}, kRows).Out(kF);
  CHECK((Get(resize.With().In<int32_t>({}, {4})) == Result{{4, 2}, {1, 2, 3, 4, 5, 6, 0, 0}}));
  CHECK((Get(resize.With().In<int32_t>({}, {1})) == Result{{1, 2}, {1, 2}}));
  const OneOp push = ListOp("TensorListPushBack").In<float>({1, 2}, {1, 2}).In<float>({2}, {3, 4});
  CHECK((Get(push.With().Out(kF)) == Result{{2, 2}, {1, 2, 3, 4}}));
  const OneOp scatter = ListOp("TensorListScatterIntoExistingList")
                            .In<float>({3, 2}, kRows)
                            .In<float>({2, 2}, {7, 8, 9, 10})
                            .In<int32_t>({2}, {2, 0})
                            .Out(kF);
  CHECK((Get(scatter) == Result{{3, 2}, {9, 10, 3, 4, 7, 8}}));
}

TEST_CASE("lists: operators with two results", "[ops]") {
  const OneOp pop = ListOp("TensorListPopBack").In<float>({3, 2}, kRows).In<int32_t>({1}, {2});
  CHECK((Get(pop.With().Out(kF).Out(kF)) == Result{{2, 2}, {1, 2, 3, 4}}));
  CHECK((Get(pop.With().Out(kF).Out(kF), 1) == Result{{2}, {5, 6}}));
  const OneOp concat = Ran(ListOp("TensorListConcatV2")
                               .In<float>({2, 3, 1}, kRows)
                               .In<int32_t>({2}, {-1, 1})
                               .Out(kF)
                               .Out(kL));
  CHECK(concat.shape(0) == Shape({6, 1}));
  CHECK(concat.Values<float>(0) == kRows);
  CHECK(concat.Values<int64_t>(1) == std::vector<int64_t>{3, 3});
}

OneOp Scatter(const Ints& indices, int32_t n = -1) {
  return ListOp("TensorListScatterV2")
      .In<float>({3, 2}, kRows)
      .In<int32_t>({static_cast<int32_t>(indices.size())}, indices)
      .In<int32_t>({1}, {2})
      .In<int32_t>({}, {n})
      .Out(kF);
}

TEST_CASE("lists: rows become elements at their indices", "[ops]") {
  const Floats spread = {5, 6, 0, 0, 1, 2, 3, 4};
  CHECK((Get(Scatter({2, 3, 0})) == Result{{4, 2}, spread}));
  CHECK((Get(Scatter({2, 3, 0}, 4)) == Result{{4, 2}, spread}));
  Floats longer = spread;
  longer.resize(10);
  CHECK((Get(Scatter({2, 3, 0}, 5)) == Result{{5, 2}, longer}));
  CHECK(DeferredFor(Scatter({2, 3, 0}).With(1).Unknown(kI, {3})) == 1);
  CheckRefusals({{Scatter({1, 0}), kInvalidModel, "the number of rows is 3"}});
  CheckRunRefusals({
      {Scatter({2, -1, 0}), StatusCode::kInvalidArgument, "index -1 at position 1"},
      {Scatter({2, 3, 0}, 3), StatusCode::kInvalidArgument, "index 3"},
  });
}

OneOp Split(const std::vector<int64_t>& lengths) {
  return ListOp("TensorListSplit")
      .In<float>({6, 1}, kRows)
      .In<int32_t>({2}, {-1, 1})
      .In<int64_t>({static_cast<int32_t>(lengths.size())}, lengths)
      .Out(kF);
}

TEST_CASE("lists: a tensor is split into parts of one length", "[ops]") {
  CHECK((Get(Split({2, 2, 2})) == Result{{3, 2, 1}, kRows}));
  CHECK((Get(Split({6})) == Result{{1, 6, 1}, kRows}));
  CHECK(DeferredFor(Split({3, 3}).With(2).Unknown(kL, {2})) == 2);
  CheckRefusals({
      {Split({2, 4}), kUnsupported, "elements of 2 and 4 rows: lists hold elements of one shape"},
      {Split({2, 2}), kInvalidModel, "2 elements of 2 rows do not make 6"},
      {Split({}), kInvalidModel, "0 elements"},
      {Split({-6}), kInvalidModel, "the length of an element is -6"},
  });
}

TEST_CASE("lists: their size and their elements' shape", "[ops]") {
  const OneOp length = Ran(ListOp("TensorListLength").In<float>({3, 2}, kRows).Out(kI));
  CHECK(length.Values<int32_t>(0) == Ints{3});
  const OneOp shape = Ran(ListOp("FlexTensorListElementShape").In<float>({3, 2}, kRows).Out(kI));
  CHECK(shape.Values<int32_t>(0) == Ints{2});
  const OneOp open = Ran(ListOp("FlexTensorListElementShape").In<float>({3, 0, 2}, {}).Out(kI));
  CHECK(open.Values<int32_t>(0) == Ints{-1, 2});
}

// A NodeDef's attribute, as Select TF operators have it, or a map with the same name.
TEST_CASE("lists: setting beyond the end lengthens a list that may grow", "[ops]") {
  const std::string node = "\x12\x11TensorListSetItem*#\n\x1dresize_if_index_out_of_bounds\x12\x02";
  const std::string grows = node + "(\x01", stays = node + std::string("(\0", 2);
  const auto options = [](const std::string& text) {
    return Span<const uint8_t>(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  OneOp set = SetItem({1, 2}, {1, 2}, 2, {2}, {7, 8});
  set.params.custom_options = options(grows);
  CHECK((Get(set) == Result{{3, 2}, {1, 2, 0, 0, 7, 8}}));
  CHECK(DeferredFor(set.With(1).Unknown(kI, {})) == 1);
  set.params.custom_options = options(stays);
  CheckRunRefusals({{set, StatusCode::kInvalidArgument, "index 2 at position 0"}});
}

TEST_CASE("lists: what is refused", "[ops]") {
  const OneOp set = Accepted(SetItem({3, 2}, kRows, 2, {2}, {7, 8}));
  const OneOp reserve = Accepted(Reserve({2}, 3));
  const OneOp stack = Accepted(Stack({3, 2}, kRows, {2}));
  CheckRefusals({
      {reserve.With(1).In<int32_t>({}, {-1}), kInvalidModel, "its number of elements is -1"},
      {reserve.With(1).In<int64_t>({}, {int64_t{1} << 31}), kInvalidModel, "is 2147483648"},
      {reserve.With(0).In<int32_t>({1}, {-2}), kInvalidModel, "a dimension of its elements is -2"},
      {reserve.With(0).In<int32_t>({8}, Ints(8, 1)), kUnsupported, "rank 9"},
      {reserve.With(0).In<int32_t>({4}, Ints(4, INT32_MAX)), kInvalidModel, "too large"},
      {reserve.With().Out(0, DType::kVariant), kUnsupported, "lists of variant"},
      {set.With(2).In<int32_t>({2}, {7, 8}), kInvalidModel, "int32"},
      {set.With(2).In<float>({3}, {7, 8, 9}), kUnsupported,
       "in a list of [2]: lists hold elements of one shape"},
      {set.With(2).In<float>({1, 2}, {7, 8}), kUnsupported,
       "in a list of [2]: lists hold elements of one shape"},
      {set.With(1).In<int32_t>({2}, {0, 1}), kInvalidModel, "the number of indices is 1"},
      {set.With(0).In<float>({}, {1}), kInvalidModel, "rank 1 to 8 expected"},
      {stack.With(1).In<int32_t>({1}, {3}), kUnsupported,
       "in a list of [2]: lists hold elements of one shape"},
      {stack.With().Out(0, kI), kInvalidModel, "declared int32"},
      {reserve.With().Out(0, DType::kInt4), kUnsupported, "lists of int4"},
      {Stack({3, 0, 2}, {}, {-1, 2}), kUnsupported, "no element of input 0"},
      {ListOp("TensorListPopBack").In<float>({0, 2}, {}).In<int32_t>({1}, {2}).Out(kF).Out(kF),
       kInvalidModel, "its number of elements is -1"},
  });
  CHECK(DeferredFor(reserve.With(1).Unknown(kI, {})) == 1);
  const StatusCode kArgument = StatusCode::kInvalidArgument;
  CheckRunRefusals({
      {set.With(1).In<int32_t>({}, {3}), kArgument, "index 3 at position 0"},
      {set.With(1).In<int32_t>({}, {-1}), kArgument, "outside [0, 3)"},
      {GetItem("TensorListGetItem", {3, 2}, kRows, {}, {3}, {2}), kArgument, "outside [0, 3)"},
      {GetItem("TensorListGather", {3, 2}, kRows, {2}, {0, -9}, {2}), kArgument, "position 1"},
  });
}

// TensorFlow's converter made the models and TensorFlow the answers (make_list_golden.py).
TEST_CASE("lists: converted models give TensorFlow's answers", "[ops]") {
  for (const std::string name : {"masked", "convolution", "functions", "parts"}) {
    INFO(name);
    const EmbeddedFile* file = FindEmbedded(("tests/data/lists/" + name + ".tflite").c_str());
    const EmbeddedFile* data = FindEmbedded(("tests/data/lists/" + name + ".npz").c_str());
    REQUIRE((file != nullptr && data != nullptr));
    const Npz arrays = ReadNpz(data->data, data->size);
    auto model = Model::OpenMemory(file->data, file->size, false);
    REQUIRE(model.ok());
    const auto session = OpenSession(model.value());
    for (int run = 0; run < 2; ++run) {
      const std::string in = "in_" + std::to_string(run) + "_";
      const std::string ref = "ref_" + std::to_string(run) + "_";
      for (int i = 0; i < session->n_inputs(); ++i) {
        const NpyArray& array = arrays.at(in + std::to_string(i));
        Shape shape;
        for (const int64_t dim : array.shape) shape.Append(static_cast<int32_t>(dim));
        REQUIRE(session->ResizeInput(i, shape).ok());
      }
      REQUIRE(session->Prepare().ToString() == "OK");
      for (int i = 0; i < session->n_inputs(); ++i) {
        const NpyArray& array = arrays.at(in + std::to_string(i));
        REQUIRE(session->input(i).bytes() == array.data.size());
        std::memcpy(session->input(i).data, array.data.data(), array.data.size());
      }
      REQUIRE(session->Run().ToString() == "OK");
      for (int o = 0; o < session->n_outputs(); ++o) {
        INFO("run " << run << ", output " << o);
        const Floats want = arrays.at(ref + std::to_string(o)).as<float>();
        const TensorView& got = session->output(o);
        REQUIRE(got.shape.NumElements() == static_cast<int64_t>(want.size()));
        for (size_t k = 0; k < want.size(); ++k) {
          const float value =
              got.dtype == kI ? static_cast<float>(got.as<int32_t>()[k]) : got.as<float>()[k];
          CHECK(value == Approx(want[k]).margin(1e-5));
        }
      }
    }
  }
}

}  // namespace tensor_list_test
}  // namespace test
}  // namespace topwork
