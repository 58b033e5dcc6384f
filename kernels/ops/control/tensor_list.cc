// Operators on lists of tensors, as Keras' recurrent layers leave them in a converted model. Files
// with Select TF operators put "Flex" before their names (FindOwnCustomOp).
//
// A list of n elements is a tensor of shape [n, element...], of the elements' type; ResolveLists
// (models/format/read.h) finds the type. An element that was never set is zeros, as in TensorFlow.
// Where no element has told its shape yet, the dimensions that are not known are 0, and [n, 0] says
// that nothing is known: such a list takes no memory. Setting an element of a list that nobody
// reads later copies that element only. Refused: elements of different shapes, lists of lists.
#include <algorithm>
#include <cstring>

#include "kernels/contract/flex_map.h"
#include "kernels/ops/shared/indexing.h"

namespace topwork {
namespace {

Shape ElementOf(const Shape& list) { return Shape(list.dims() + 1, list.rank() - 1); }

// Sets output i: `leading` and then the element's dimensions. Elements begin at a byte.
Status SetRows(PrepareContext& context, int i, DType dtype, Shape leading, const Shape& element) {
  if (DTypeBits(dtype) < 8) {
    return context.Unsupported("lists of {} are not supported", DTypeName(dtype));
  }
  TW_RETURN_IF_ERROR(CheckOutputRank(context, leading.rank() + element.rank()));
  for (int d = 0; d < element.rank(); ++d) leading.Append(element[d]);
  return context.SetOutput(i, dtype, leading);
}

// Sets output i, a list of n such elements.
Status SetList(PrepareContext& context, int i, DType dtype, int64_t n, const Shape& element) {
  TW_RETURN_IF_ERROR(CheckDim(context, n, "its number of elements"));
  return SetRows(context, i, dtype, Shape({static_cast<int32_t>(n)}), element);
}

// Input 0 is a list (or the rows of one), and there are so many inputs and outputs.
Status CheckList(PrepareContext& context, int n_inputs, int n_outputs = 1) {
  TW_RETURN_IF_ERROR(context.CheckInputs(n_inputs, INT32_MAX));
  TW_RETURN_IF_ERROR(context.CheckOutputs(n_outputs));
  TW_RETURN_IF_ERROR(CheckSized(context, 0));
  return context.CheckRank(0, 1, kMaxRank);
}

// What two shapes of an element say together: *element becomes that.
Status Merge(const PrepareContext& context, const Shape& given, Shape* element) {
  const Shape nothing({0});
  if (given == nothing) return Status::Ok();
  const Shape known = *element;
  bool fits = known == nothing || known.rank() == given.rank();
  *element = given;
  for (int d = 0; fits && known != nothing && d < known.rank(); ++d) {
    fits = given[d] == known[d] || given[d] == 0 || known[d] == 0;
    element->set_dim(d, std::max(given[d], known[d]));
  }
  if (fits) return Status::Ok();
  return context.Unsupported(
      "an element of shape {} in a list of {}: lists hold elements of one shape", given.ToString(),
      known.ToString());
}

// Input i is the shape of an element: −1 stands for a dimension, or the rank, that is not known.
Status ReadElement(PrepareContext& context, int i, Shape* element) {
  std::vector<int64_t> dims;
  TW_RETURN_IF_ERROR(ReadInts(context, i, &dims));
  TW_RETURN_IF_ERROR(CheckOutputRank(context, static_cast<int>(dims.size())));
  *element = Shape();
  for (const int64_t dim : dims) {
    if (dim != -1) TW_RETURN_IF_ERROR(CheckDim(context, dim, "a dimension of its elements"));
    element->Append(static_cast<int32_t>(std::max<int64_t>(dim, 0)));
  }
  return Status::Ok();
}

// The shape of what is read from the list. Input i, where it is there, tells what the list does not.
Status ElementToRead(PrepareContext& context, int i, Shape* element) {
  const Shape& list = context.input(0)->shape;
  *element = ElementOf(list);
  if (context.input(i) != nullptr) {
    Shape given;
    TW_RETURN_IF_ERROR(ReadElement(context, i, &given));
    TW_RETURN_IF_ERROR(Merge(context, given, element));
  }
  if (list[0] == 0 || element->NumElements() > 0) return Status::Ok();
  return context.Unsupported("no element of {} was set, so their shape {} is not known",
                             context.InputName(0), element->ToString());
}

uint8_t* RowAt(const TensorView& rows, int64_t i, size_t row_bytes) {
  return rows.as<uint8_t>() + static_cast<size_t>(i) * row_bytes;
}

// Output 0 becomes list 0 as far as both go, then zeros.
void CopyList(const RunContext& context, size_t in_bytes) {
  const TensorView& out = context.out(0);
  const size_t same = std::min(out.bytes(), in_bytes);
  if (same > 0) {
    ParallelCopy(context.pool, out.data, context.in(0).data, static_cast<int64_t>(same));
  }
  if (out.bytes() > same) std::memset(RowAt(out, 1, same), 0, out.bytes() - same);
}

// An element of list 0, or zeros where the list has no memory.
void ReadRow(const RunContext& context, int64_t i, size_t row_bytes, uint8_t* to) {
  const TensorView& list = context.in(0);
  if (list.bytes() == 0) {
    std::memset(to, 0, row_bytes);
  } else if (row_bytes > 0) {
    std::memcpy(to, RowAt(list, i, row_bytes), row_bytes);
  }
}

// TensorListReserve (shape, n): n elements of that shape, none of them set.

Status PrepareReserve(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(2, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  Shape element;
  int64_t n = 0;
  TW_RETURN_IF_ERROR(ReadElement(context, 0, &element));
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &n));
  return SetList(context, 0, context.output(0).dtype, n, element);
}

// EmptyTensorList (shape, most elements): a list without elements.
Status PrepareEmpty(PrepareContext& context) {
  TW_RETURN_IF_ERROR(context.CheckInputs(1, 2));
  TW_RETURN_IF_ERROR(context.CheckOutputs(1));
  Shape element;
  TW_RETURN_IF_ERROR(ReadElement(context, 0, &element));
  return SetList(context, 0, context.output(0).dtype, 0, element);
}

Status RunZeros(const RunContext& context) {
  CopyList(context, 0);
  return Status::Ok();
}

// TensorListFromTensor (tensor, shape): the rows are the elements.
// TensorListStack (list, shape): the elements are the rows.
// TensorListResize (list, n): n elements; new ones are not set.

Status PrepareFromTensor(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1));
  context.AllowView(0, 0);
  return context.SetOutput(0, context.input(0)->dtype, context.input(0)->shape);
}

Status PrepareStack(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1));
  Shape element;
  TW_RETURN_IF_ERROR(ElementToRead(context, 1, &element));
  context.AllowView(0, 0);
  return SetList(context, 0, context.input(0)->dtype, context.input(0)->shape[0], element);
}

Status PrepareResize(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 2));
  int64_t n = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 1, &n));
  return SetList(context, 0, context.input(0)->dtype, n, ElementOf(context.input(0)->shape));
}

Status RunCopy(const RunContext& context) {
  CopyList(context, context.in(0).bytes());
  return Status::Ok();
}

// TensorListConcatV2 (list, shape, ...): the elements' rows as one tensor, and how many rows each
// element has, int64.

Status PrepareConcat(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1, 2));
  Shape element;
  TW_RETURN_IF_ERROR(ElementToRead(context, 1, &element));
  const int32_t n = context.input(0)->shape[0];
  if (element.rank() == 0) return context.Invalid("its elements are single values, without rows");
  context.AllowView(0, 0);
  TW_RETURN_IF_ERROR(context.SetOutput(1, DType::kInt64, Shape({n})));
  return SetList(context, 0, context.input(0)->dtype, int64_t{n} * element[0], ElementOf(element));
}

Status RunConcat(const RunContext& context) {
  const int64_t n = context.in(0).shape[0];
  int64_t* const lengths = context.output_data<int64_t>(1);
  for (int64_t i = 0; i < n; ++i) lengths[i] = context.out(0).shape[0] / n;
  return RunCopy(context);
}

// TensorListSetItem (list, i, element): the list with another element i. Beyond the end, the list
// grows where the options say so.
// TensorListPushBack (list, element): the list with one more element.
// TensorListScatterIntoExistingList (list, rows, indices): each row becomes the element of its index.

// Options are a map, or a vector of the operator's name and a NodeDef, a protocol buffer; there an
// attribute is its name's length, its name and, tagged (\x12 \x02 \x28), its value.
bool Grows(const OpParams& params) {
  constexpr char kName[] = "resize_if_index_out_of_bounds";
  constexpr char kTrue[] = "\x1dresize_if_index_out_of_bounds\x12\x02\x28\x01";
  const Span<const uint8_t> options = params.custom_options;
  return FlexMap(options).Bool(kName, false) ||
         std::search(options.begin(), options.end(), kTrue, kTrue + sizeof(kTrue) - 1) !=
             options.end();
}

// The inputs that hold the elements and their indices; −1: there is no index, the element comes last.
Status PrepareSetAt(PrepareContext& context, int item, int index) {
  TW_RETURN_IF_ERROR(CheckList(context, index < 0 ? 2 : 3));
  if (context.is_list(item)) return context.Unsupported("lists of lists are not supported");
  TW_RETURN_IF_ERROR(CheckSameDType(context, 0, item));
  const TensorView& list = *context.input(0);
  Shape given = context.input(item)->shape, element = ElementOf(list.shape);
  int64_t n_given = 1;
  if (index > item) {
    TW_RETURN_IF_ERROR(context.CheckRank(item, 1, kMaxRank));
    n_given = given[0];
    given = ElementOf(given);
  }
  if (index >= 0) {
    TW_RETURN_IF_ERROR(context.CheckDType(index, {DType::kInt32}));
    const Shape& indices = context.input(index)->shape;
    if (indices.NumElements() != n_given) {
      return context.Invalid("{} has shape {}, the number of indices is {}",
                             context.InputName(index), indices.ToString(), n_given);
    }
  }
  TW_RETURN_IF_ERROR(Merge(context, given, &element));
  context.AllowInPlace(0, 0);
  int64_t n = int64_t{list.shape[0]} + (index < 0 ? 1 : 0), last = 0;
  if (index >= 0 && Grows(context.params())) {
    TW_RETURN_IF_ERROR(ReadInt(context, index, &last));
    n = std::max(n, last + 1);
  }
  return SetList(context, 0, list.dtype, n, element);
}

// Output 0 gets the rows of `item`.
Status PutRows(const RunContext& context, int item, int index) {
  const TensorView &out = context.out(0), &given = context.in(item);
  const int64_t n = index < 0 ? 1 : context.in(index).shape.NumElements();
  for (int64_t k = 0; k < n; ++k) {
    const size_t row = given.bytes() / static_cast<size_t>(n);
    const int64_t i = index < 0 ? out.shape[0] - 1 : context.input_data<int32_t>(index)[k];
    TW_RETURN_IF_ERROR(CheckIndex(i, out.shape[0], k));
    if (row > 0) std::memcpy(RowAt(out, i, row), RowAt(given, k, row), row);
  }
  return Status::Ok();
}

Status RunSetAt(const RunContext& context, int item, int index) {
  CopyList(context, context.in(0).bytes());
  return PutRows(context, item, index);
}

template <int kItem, int kIndex>
Status PrepareSet(PrepareContext& context) {
  return PrepareSetAt(context, kItem, kIndex);
}

template <int kItem, int kIndex>
Status RunSet(const RunContext& context) {
  return RunSetAt(context, kItem, kIndex);
}

// TensorListScatterV2 (rows, indices, shape, n): a list of n elements, or as many as the indices need
// where n is -1; each row becomes the element of its index.

Status PrepareScatter(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 4));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  const Shape &rows = context.input(0)->shape, &indices = context.input(1)->shape;
  if (indices != Shape({rows[0]})) {
    return context.Invalid("{} has shape {}, the number of rows is {}", context.InputName(1),
                           indices.ToString(), rows[0]);
  }
  int64_t n = 0;
  TW_RETURN_IF_ERROR(ReadInt(context, 3, &n));
  if (n == -1) {
    TW_RETURN_IF_ERROR(context.NeedValue(1));
    const int32_t* const index = context.input(1)->as<int32_t>();
    n = rows[0] == 0 ? 0 : int64_t{*std::max_element(index, index + rows[0])} + 1;
  }
  return SetList(context, 0, context.input(0)->dtype, n, ElementOf(rows));
}

Status RunScatter(const RunContext& context) {
  CopyList(context, 0);
  return PutRows(context, 0, 1);
}

// TensorListSplit (rows, shape, lengths): a list of parts of so many rows each, int64.

Status PrepareSplit(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 3));
  TW_RETURN_IF_ERROR(context.CheckDType(2, {DType::kInt64}));
  TW_RETURN_IF_ERROR(context.NeedValue(2));
  const TensorView &rows = *context.input(0), &lengths = *context.input(2);
  const int64_t n = lengths.shape.NumElements();
  const int64_t* const length = lengths.as<int64_t>();
  const int64_t each = n == 0 ? 0 : length[0];
  for (int64_t i = 0; i < n; ++i) {
    TW_RETURN_IF_ERROR(CheckDim(context, length[i], "the length of an element"));
    if (length[i] == each) continue;
    return context.Unsupported("elements of {} and {} rows: lists hold elements of one shape", each,
                               length[i]);
  }
  if (n == 0 ? rows.shape[0] != 0 : rows.shape[0] % n != 0 || rows.shape[0] / n != each) {
    return context.Invalid("{} elements of {} rows do not make {}", n, each, rows.shape[0]);
  }
  context.AllowView(0, 0);
  Shape element({static_cast<int32_t>(each)});
  for (int d = 1; d < rows.shape.rank(); ++d) element.Append(rows.shape[d]);
  return SetList(context, 0, rows.dtype, n, element);
}

// TensorListGetItem (list, i, shape): element i.
// TensorListGather (list, indices, shape): these elements as rows.

Status PrepareGet(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 2));
  TW_RETURN_IF_ERROR(context.CheckDType(1, {DType::kInt32}));
  Shape element;
  TW_RETURN_IF_ERROR(ElementToRead(context, 2, &element));
  return SetRows(context, 0, context.input(0)->dtype, context.input(1)->shape, element);
}

Status RunGet(const RunContext& context) {
  const TensorView &list = context.in(0), &indices = context.in(1), &out = context.out(0);
  const int64_t n = indices.shape.NumElements();
  for (int64_t k = 0; k < n; ++k) {
    const size_t row = out.bytes() / static_cast<size_t>(n);
    const int32_t i = indices.as<const int32_t>()[k];
    TW_RETURN_IF_ERROR(CheckIndex(i, list.shape[0], k));
    ReadRow(context, i, row, RowAt(out, k, row));
  }
  return Status::Ok();
}

// TensorListPopBack (list, shape): the list without its last element, and that element.

Status PreparePop(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1, 2));
  Shape element;
  TW_RETURN_IF_ERROR(ElementToRead(context, 1, &element));
  const TensorView& list = *context.input(0);
  TW_RETURN_IF_ERROR(context.SetOutput(1, list.dtype, element));
  return SetList(context, 0, list.dtype, int64_t{list.shape[0]} - 1, ElementOf(list.shape));
}

Status RunPop(const RunContext& context) {
  const TensorView& last = context.out(1);
  ReadRow(context, context.out(0).shape[0], last.bytes(), last.as<uint8_t>());
  return RunCopy(context);
}

// TensorListLength (list): the number of elements.
// TensorListElementShape (list): their shape, −1 where it is not known.

Status PrepareLength(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1));
  return context.SetOutput(0, DType::kInt32, Shape());
}

Status RunLength(const RunContext& context) {
  *context.output_data<int32_t>(0) = context.in(0).shape[0];
  return Status::Ok();
}

Status PrepareElementShape(PrepareContext& context) {
  TW_RETURN_IF_ERROR(CheckList(context, 1));
  return context.SetOutput(0, DType::kInt32, Shape({context.input(0)->shape.rank() - 1}));
}

Status RunElementShape(const RunContext& context) {
  const Shape& list = context.in(0).shape;
  for (int d = 1; d < list.rank(); ++d) {
    context.output_data<int32_t>(0)[d - 1] = list[d] > 0 ? list[d] : -1;
  }
  return Status::Ok();
}

constexpr OpDef Row(const char* name) { return OpDef(OpCode::kCustom).Name(name); }

}  // namespace

constexpr OpDef kOps[] = {
    Row("TensorListReserve").DataInput(kNoData).Cpu(PrepareReserve, RunZeros),
    Row("EmptyTensorList").DataInput(kNoData).Cpu(PrepareEmpty, RunZeros),
    Row("TensorListFromTensor").Cpu(PrepareFromTensor, RunCopy),
    Row("TensorListStack").Cpu(PrepareStack, RunCopy),
    Row("TensorListResize").Cpu(PrepareResize, RunCopy),
    Row("TensorListConcatV2").Cpu(PrepareConcat, RunConcat),
    Row("TensorListSetItem").DataInput(2).Cpu(PrepareSet<2, 1>, RunSet<2, 1>),
    Row("TensorListPushBack").DataInput(1).Cpu(PrepareSet<1, -1>, RunSet<1, -1>),
    Row("TensorListScatterIntoExistingList").DataInput(1).Cpu(PrepareSet<1, 2>, RunSet<1, 2>),
    Row("TensorListScatterV2").Cpu(PrepareScatter, RunScatter),
    Row("TensorListSplit").Cpu(PrepareSplit, RunCopy),
    Row("TensorListGetItem").Cpu(PrepareGet, RunGet),
    Row("TensorListGather").Cpu(PrepareGet, RunGet),
    Row("TensorListPopBack").Cpu(PreparePop, RunPop),
    Row("TensorListLength").Cpu(PrepareLength, RunLength).ShapesOnly(),
    Row("TensorListElementShape").Cpu(PrepareElementShape, RunElementShape).ShapesOnly(),
};

Span<const OpDef> TensorListOps() { return Selected<kOps>(); }

}  // namespace topwork
