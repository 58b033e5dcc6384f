// GraphAddition: what is added, one function an operator, with the shape of its result.
#include <cstring>
#include <utility>

#include "models/format/append.h"

namespace topwork {
namespace {

constexpr DType kFloat = DType::kFloat32;

using Name = const std::string&;

}  // namespace

int GraphAddition::Add(AddedTensor tensor) {
  tensors.push_back(std::move(tensor));
  return n_before + static_cast<int>(tensors.size()) - 1;
}

int GraphAddition::Floats(Name name, const std::vector<int32_t>& shape, Span<const float> values) {
  return Add({name, kFloat, shape, StoreFloats(values)});
}

int GraphAddition::Ints(Name name, const std::vector<int32_t>& shape, Span<const int32_t> values) {
  StoredConstant constant;
  constant.dtype = DType::kInt32;
  constant.bytes.resize(values.size() * sizeof(int32_t));
  std::memcpy(constant.bytes.data(), values.data(), constant.bytes.size());
  return Add({name, DType::kInt32, shape, std::move(constant)});
}

int GraphAddition::Op(OpCode code, const std::vector<int>& inputs, Name name, DType dtype,
                      const std::vector<int32_t>& shape) {
  const int result = Add({name, dtype, shape, {}});
  AddedOp op;
  op.code = code;
  op.inputs = inputs;
  op.outputs = {result};
  ops.push_back(std::move(op));
  return result;
}

std::vector<int32_t> GraphAddition::ShapeOf(int v) const {
  if (v >= n_before) return tensors[static_cast<size_t>(v - n_before)].shape;
  const Shape& own = graph.values[static_cast<size_t>(v)].shape;
  std::vector<int32_t> shape = {-1};
  for (int i = 1; i < own.rank(); ++i) shape.push_back(own[i]);
  return shape;
}

int GraphAddition::Elementwise(OpCode code, const std::vector<int>& inputs, Name name,
                               DType dtype) {
  std::vector<int32_t> shape = ShapeOf(inputs[0]);
  const std::vector<int32_t> other = ShapeOf(inputs.back());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) shape[i] = other[i];
  }
  return Op(code, inputs, name, dtype, shape);
}

int GraphAddition::Reduced(OpCode code, int x, int axis, Name name) {
  const int result = Op(code, {x, axis}, name, kFloat, {-1, 1});
  ops.back().keep_dims = true;
  return result;
}

int GraphAddition::Plus(int a, int b, Name name) { return Elementwise(OpCode::kAdd, {a, b}, name); }
int GraphAddition::Minus(int a, int b, Name name) {
  return Elementwise(OpCode::kSub, {a, b}, name);
}
int GraphAddition::Times(int a, int b, Name name) {
  return Elementwise(OpCode::kMul, {a, b}, name);
}
int GraphAddition::Minimum(int a, int b, Name name) {
  return Elementwise(OpCode::kMinimum, {a, b}, name);
}
int GraphAddition::IsLess(int a, int b, Name name) {
  return Elementwise(OpCode::kLess, {a, b}, name, DType::kBool);
}
int GraphAddition::IsAtLeast(int a, int b, Name name) {
  return Elementwise(OpCode::kGreaterEqual, {a, b}, name, DType::kBool);
}
int GraphAddition::Exp(int x, Name name) { return Elementwise(OpCode::kExp, {x}, name); }
int GraphAddition::Log(int x, Name name) { return Elementwise(OpCode::kLog, {x}, name); }
int GraphAddition::Absolute(int x, Name name) { return Elementwise(OpCode::kAbs, {x}, name); }
int GraphAddition::InverseRoot(int x, Name name) { return Elementwise(OpCode::kRsqrt, {x}, name); }
int GraphAddition::UnitLength(int x, Name name) {
  return Elementwise(OpCode::kL2Normalization, {x}, name);
}
int GraphAddition::ToFloat(int x, Name name) { return Elementwise(OpCode::kCast, {x}, name); }
int GraphAddition::Dequantize(int x, Name name) {
  return Elementwise(OpCode::kDequantize, {x}, name);
}
int GraphAddition::MaxOver(int x, int axis, Name name) {
  return Reduced(OpCode::kReduceMax, x, axis, name);
}
int GraphAddition::MeanOver(int x, int axis, Name name) {
  return Reduced(OpCode::kMean, x, axis, name);
}
int GraphAddition::SumOver(int x, int axis, Name name) {
  return Reduced(OpCode::kSum, x, axis, name);
}
int GraphAddition::LargestAt(int x, int axis, Name name) {
  return Op(OpCode::kArgMax, {x, axis}, name, DType::kInt32, {-1});
}

int GraphAddition::Pooled(int map, Name name) {
  const int32_t axes[] = {1, 2};
  const int result = MeanOver(map, Ints(name + "/axes", {2}, Span<const int32_t>(axes, 2)), name);
  tensors.back().shape[1] = ShapeOf(map).back();
  ops.back().keep_dims = false;
  return result;
}

int GraphAddition::Rows(int x, int32_t n, Name name) {
  const std::vector<int32_t> shape = {-1, n};
  return Op(OpCode::kReshape, {x, Ints(name + "/shape", {2}, shape)}, name, kFloat, shape);
}

int GraphAddition::RealRows(int v, int32_t n, Name name) {
  const DType dtype = graph.values[static_cast<size_t>(v)].dtype;
  if (dtype != kFloat) v = Dequantize(v, name + "/real");
  const std::vector<int32_t> shape = ShapeOf(v);
  if (shape.size() == 4 && shape[1] * int64_t{shape[2]} > 1 && shape[3] == n)
    return Pooled(v, name);
  return Rows(v, n, name);
}

int GraphAddition::RowsAt(int table, int indices, Name name) {
  return Op(OpCode::kGather, {table, indices}, name, kFloat, {-1, ShapeOf(table).back()});
}

int GraphAddition::Joined(const std::vector<int>& columns, Name name) {
  int32_t n = 0;
  for (int v : columns) n += ShapeOf(v).back();
  const int result = Op(OpCode::kConcatenation, columns, name, kFloat, {-1, n});
  ops.back().axis = 1;
  return result;
}

int GraphAddition::Dense(int x, int weights, int bias, Name name, bool keep_dims) {
  std::vector<int32_t> shape = {-1, -1};
  if (keep_dims) shape = ShapeOf(x);
  shape.back() = ShapeOf(weights)[0];
  const int result = Op(OpCode::kFullyConnected, {x, weights, bias}, name, kFloat, shape);
  ops.back().keep_dims = keep_dims;
  return result;
}

int GraphAddition::Largest(int x, int32_t k, Name name) {
  const int n = Ints(name + "/k", {}, Span<const int32_t>(&k, 1));
  const int values = Op(OpCode::kTopkV2, {x, n}, name + "/nearest", kFloat, {-1, k});
  ops.back().outputs.push_back(Add({name + "/which", DType::kInt32, {-1, k}, {}}));
  return values;
}

}  // namespace topwork
