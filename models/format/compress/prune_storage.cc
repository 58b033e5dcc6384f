// The public format's sparse storage: all dimensions but the last dense, the last compressed (CSR),
// then the dimensions inside a block. 1 × 1 blocks have none, 1 × c blocks one, r × c blocks two.
#include "models/format/compress/prune_storage.h"

#include <algorithm>

#include "tflite_generated.h"

namespace topwork {
namespace {

struct Layout {
  std::vector<int32_t> shape;
  int64_t rows = 0, middle = 1, last = 0;  // [rows, middle, last]
  int64_t block_rows = 1, block_columns = 1;
  size_t size = 0;  // of an element
};

struct Sparse {
  std::vector<int32_t> segments = {0}, indices;
  std::vector<uint8_t> bytes;
};

Sparse Compress(const Layout& l, Span<const uint8_t> dense) {
  Sparse sparse;
  for (int64_t r = 0; r < l.rows; r += l.block_rows) {
    for (int64_t m = 0; m < l.middle; ++m) {
      for (int64_t c = 0; c < l.last; c += l.block_columns) {
        std::vector<uint8_t> block;
        for (int64_t i = 0; i < l.block_rows; ++i) {
          const int64_t first = ((r + i) * l.middle + m) * l.last + c;
          const uint8_t* begin = dense.data() + static_cast<size_t>(first) * l.size;
          block.insert(block.end(), begin, begin + static_cast<size_t>(l.block_columns) * l.size);
        }
        if (std::all_of(block.begin(), block.end(), [](uint8_t b) { return b == 0; })) continue;
        sparse.indices.push_back(static_cast<int32_t>(c / l.block_columns));
        sparse.bytes.insert(sparse.bytes.end(), block.begin(), block.end());
      }
      sparse.segments.push_back(static_cast<int32_t>(sparse.indices.size()));
    }
  }
  return sparse;
}

template <typename T>
size_t SetNarrow(const std::vector<int32_t>& values, int vt, TableLayout layout,
                 EditedTable* level) {
  // The three kinds of vectors have their values in the same place.
  level->NewTable(vt, layout)
      ->SetList(schema::Uint8Vector::VT_VALUES, std::vector<T>(values.begin(), values.end()));
  return values.size() * sizeof(T);
}

// The narrowest vector that holds `values`; returns its bytes.
size_t SetVector(const std::vector<int32_t>& values, int vt, EditedTable* level) {
  const int32_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (most < 256) return SetNarrow<uint8_t>(values, vt, kUint8Vector, level);
  if (most < 65536) return SetNarrow<uint16_t>(values, vt, kUint16Vector, level);
  return SetNarrow<int32_t>(values, vt, kInt32Vector, level);
}

EditedTable Dense(int64_t size) {
  EditedTable level(kDimensionMetadata);
  level.Set<int32_t>(schema::DimensionMetadata::VT_DENSE_SIZE, static_cast<int32_t>(size), 0);
  return level;
}

}  // namespace

bool StoreSparse(int tensor, int block_rows, int block_columns, ModelTables* tables) {
  const EditedOperator* producer = tables->ProducerOf(tensor);
  if (producer != nullptr) tensor = producer->inputs[0];
  const std::vector<int32_t> shape = tables->tensor(tensor)->shape;
  const Span<const uint8_t> dense = tables->Data(tensor);
  Layout layout;
  layout.shape = shape;
  layout.rows = shape.front();
  layout.last = shape.back();
  for (size_t i = 1; i + 1 < shape.size(); ++i) layout.middle *= shape[i];
  if (layout.rows % block_rows == 0 && layout.last % block_columns == 0) {
    layout.block_rows = block_rows;
    layout.block_columns = block_columns;
  }
  layout.size = static_cast<size_t>(DTypeBits(tables->TypeOf(tensor)) / 8);
  const Sparse sparse = Compress(layout, dense);

  std::vector<int32_t> order, block_map;
  std::vector<EditedTable> levels;
  const int32_t rank = static_cast<int32_t>(shape.size());
  for (int32_t i = 0; i < rank; ++i) {
    order.push_back(i);
    if (i + 1 < rank) {
      levels.push_back(
          Dense(i == 0 ? layout.rows / layout.block_rows : shape[static_cast<size_t>(i)]));
    }
  }
  levels.emplace_back(kDimensionMetadata);
  levels.back().Set(schema::DimensionMetadata::VT_FORMAT,
                    static_cast<int8_t>(schema::DimensionType::SPARSE_CSR), int8_t{0});
  const size_t index_bytes =
      SetVector(sparse.segments, schema::DimensionMetadata::VT_ARRAY_SEGMENTS, &levels.back()) +
      SetVector(sparse.indices, schema::DimensionMetadata::VT_ARRAY_INDICES, &levels.back());
  const auto add_block = [&](int64_t size, int32_t dim) {
    block_map.push_back(dim);
    order.push_back(static_cast<int32_t>(order.size()));
    levels.push_back(Dense(size));
  };
  if (layout.block_rows > 1) add_block(layout.block_rows, 0);
  if (layout.block_rows > 1 || layout.block_columns > 1) add_block(layout.block_columns, rank - 1);
  // 256 bytes: the tables of one more tensor, its sparsity and a DENSIFY.
  if (sparse.bytes.empty() || sparse.bytes.size() + index_bytes + 256 >= dense.size()) return false;

  const int stored = tables->CopyTensor(tensor);
  StoredConstant constant;
  constant.dtype = tables->TypeOf(tensor);
  constant.bytes = sparse.bytes;
  if (const EditedTable* quantization = tables->tensor(tensor)->quantization()) {
    using Q = schema::QuantizationParameters;
    constant.scales = quantization->List<float>(Q::VT_SCALE);
    constant.zero_points = quantization->List<int64_t>(Q::VT_ZERO_POINT);
  }
  tables->SetConstant(stored, shape, constant);
  tables->tensor(stored)->name += "/sparse";
  using S = schema::SparsityParameters;
  EditedTable* sparsity =
      tables->tensor(stored)->table.NewTable(schema::Tensor::VT_SPARSITY, kSparsityParameters);
  sparsity->SetList(S::VT_TRAVERSAL_ORDER, order);
  sparsity->SetList(S::VT_BLOCK_MAP, block_map);
  sparsity->Tables(S::VT_DIM_METADATA) = std::move(levels);
  tables->tensor(tensor)->buffer = 0;
  tables->InsertOp(OpCode::kDensify, 1, {stored}, {tensor}, tables->main()->operators[0].get());
  return true;
}

}  // namespace topwork
