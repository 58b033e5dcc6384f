// Sparse constants: a storage tree with one level per dimension (then one per block dimension).
//
// A dense level multiplies the number of nodes by its size; a CSR level has for each node above a
// segment [segments[k], segments[k+1]) of its indices. The leaves are the stored elements. Every
// number here is used as an index when the tensor is expanded, so all of them are checked.
#include <vector>

#include "models/format/sparse_index.h"
#include "models/format/verify_context.h"
#include "runtime/base/buffer.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

bool IsPermutation(const flatbuffers::Vector<int32_t>& order) {
  std::vector<uint8_t> seen(order.size(), false);
  for (const int32_t value : order) {
    if (value < 0 || static_cast<uint32_t>(value) >= order.size()) return false;
    if (seen[static_cast<size_t>(value)]) return false;
    seen[static_cast<size_t>(value)] = true;
  }
  return true;
}

Shape ShapeOf(const schema::Tensor& tensor) {
  Shape shape;
  for (uint32_t i = 0; tensor.shape() != nullptr && i < tensor.shape()->size(); ++i) {
    shape.Append(tensor.shape()->Get(i));
  }
  return shape;
}

// Sizes of the dimensions without their blocks, then the blocks' own sizes.
Status ExpandedDims(const schema::Tensor& tensor, const std::string& where,
                    std::vector<int64_t>* dims) {
  const schema::SparsityParameters& sparsity = *tensor.sparsity();
  const uint32_t rank = tensor.shape() == nullptr ? 0 : tensor.shape()->size();
  const uint32_t n_blocks = sparsity.block_map() == nullptr ? 0 : sparsity.block_map()->size();
  const auto* order = sparsity.traversal_order();
  const auto* levels = sparsity.dim_metadata();
  const uint32_t n_levels = rank + n_blocks;
  if (n_blocks > static_cast<uint32_t>(kMaxRank) || order == nullptr || levels == nullptr ||
      order->size() != n_levels || levels->size() != n_levels || !IsPermutation(*order)) {
    return InvalidModel(
        "{}: its sparsity needs a traversal_order that is a permutation of its {} "
        "dimensions and blocks, and a dim_metadata for each",
        where, n_levels);
  }
  for (uint32_t i = 0; i < rank; ++i) dims->push_back(tensor.shape()->Get(i));
  for (uint32_t i = 0; i < n_blocks; ++i) {
    const int32_t blocked = sparsity.block_map()->Get(i);
    const int32_t size = levels->Get(rank + i)->dense_size();
    if (blocked < 0 || static_cast<uint32_t>(blocked) >= rank || size <= 0 ||
        (*dims)[static_cast<size_t>(blocked)] % size != 0) {
      return InvalidModel(
          "{}: block {} of its sparsity has size {} on dimension {}, which does "
          "not divide its shape",
          where, i, size, blocked);
    }
    (*dims)[static_cast<size_t>(blocked)] /= size;
    dims->push_back(size);
  }
  return Status::Ok();
}

// Checks a CSR level below n_nodes nodes; *n_nodes becomes the number of its indices.
Status VerifyCsrLevel(VerifyContext* context, const schema::DimensionMetadata& level, int64_t dim,
                      const std::string& where, int64_t* n_nodes) {
  const IndexVector segments(static_cast<uint8_t>(level.array_segments_type()),
                             level.array_segments());
  const IndexVector indices(static_cast<uint8_t>(level.array_indices_type()),
                            level.array_indices());
  if (!segments.present() || !indices.present()) {
    return InvalidModel("{} lacks its array_segments or array_indices", where);
  }
  TW_RETURN_IF_ERROR(context->Charge(static_cast<uint64_t>(segments.size()) + indices.size()));
  if (static_cast<int64_t>(segments.size()) != *n_nodes + 1 || segments[0] != 0 ||
      segments[segments.size() - 1] != static_cast<int64_t>(indices.size())) {
    return InvalidModel(
        "{}: its {} array_segments do not run from 0 to its {} array_indices over {} nodes", where,
        segments.size(), indices.size(), *n_nodes);
  }
  for (uint32_t k = 0; k + 1 < segments.size(); ++k) {
    if (segments[k] > segments[k + 1]) {
      return InvalidModel("{}: array_segments decrease at {}", where, k + 1);
    }
  }
  // Segments start at 0, never decrease and end at indices.size(): all lie inside.
  for (uint32_t k = 0; k + 1 < segments.size(); ++k) {
    for (int64_t j = segments[k]; j < segments[k + 1]; ++j) {
      const int64_t index = indices[static_cast<uint32_t>(j)];
      const bool increases = j == segments[k] || index > indices[static_cast<uint32_t>(j - 1)];
      if (index >= 0 && index < dim && increases) continue;
      return InvalidModel("{}: array_indices #{} is {}; they increase below {}", where, j, index,
                          dim);
    }
  }
  *n_nodes = indices.size();
  return Status::Ok();
}

// The vector's elements and their number, where it exists.
template <typename Table, typename T>
void Take(const void* table, const T** values, uint32_t* size) {
  const auto* vector = static_cast<const Table*>(table)->values();
  if (vector == nullptr) return;
  *values = vector->data();
  *size = vector->size();
}

}  // namespace

IndexVector::IndexVector(uint8_t type, const void* table) {
  if (table == nullptr) return;
  if (type == static_cast<uint8_t>(schema::SparseIndexVector::Int32Vector)) {
    Take<schema::Int32Vector>(table, &i32_, &size_);
  } else if (type == static_cast<uint8_t>(schema::SparseIndexVector::Uint16Vector)) {
    Take<schema::Uint16Vector>(table, &u16_, &size_);
  } else if (type == static_cast<uint8_t>(schema::SparseIndexVector::Uint8Vector)) {
    Take<schema::Uint8Vector>(table, &u8_, &size_);
  }
}

Status VerifySparsity(VerifyContext* context, int subgraph, int index) {
  const schema::Tensor& tensor = *context->model->subgraphs()
                                      ->Get(static_cast<uint32_t>(subgraph))
                                      ->tensors()
                                      ->Get(static_cast<uint32_t>(index));
  const std::string where = TensorName(*context->model, subgraph, index);
  std::vector<int64_t> dims;
  TW_RETURN_IF_ERROR(ExpandedDims(tensor, where, &dims));
  const schema::SparsityParameters& sparsity = *tensor.sparsity();
  int64_t n_nodes = 1;
  for (uint32_t i = 0; i < dims.size(); ++i) {
    const schema::DimensionMetadata& level = *sparsity.dim_metadata()->Get(i);
    const int64_t dim = dims[static_cast<size_t>(sparsity.traversal_order()->Get(i))];
    const std::string at = where + ": level " + std::to_string(i) + " of its sparsity";
    if (level.format() == schema::DimensionType::SPARSE_CSR) {
      TW_RETURN_IF_ERROR(VerifyCsrLevel(context, level, dim, at, &n_nodes));
    } else if (level.format() != schema::DimensionType::DENSE) {
      return InvalidModel("{} has format {}, which does not exist", at,
                          static_cast<int>(level.format()));
    } else if (level.dense_size() != dim || MulOverflow(n_nodes, dim, &n_nodes)) {
      return InvalidModel("{} has dense_size {}, expected {}", at, level.dense_size(), dim);
    }
  }
  const Span<const uint8_t> data = BufferBytes(*context->model, context->bytes, tensor.buffer());
  const bool strings = tensor.type() == schema::TensorType::STRING;
  const int bits = strings ? 0 : DTypeBits(static_cast<DType>(tensor.type()));
  int64_t want_bits = 0;
  if (bits == 0 || MulOverflow(n_nodes, static_cast<int64_t>(bits), &want_bits) ||
      (static_cast<uint64_t>(want_bits) + 7) / 8 != data.size()) {
    return InvalidModel("{}: buffer {} has {} bytes, but its sparsity stores {} elements of {}",
                        where, tensor.buffer(), data.size(), n_nodes,
                        DTypeName(static_cast<DType>(tensor.type())));
  }
  // VerifyShape has ruled out an overflow.
  const Status charged =
      context->ChargeDense(ByteSize(static_cast<DType>(tensor.type()), ShapeOf(tensor)));
  return charged.ok() ? charged : charged.WithPrefix(where);
}

}  // namespace topwork
