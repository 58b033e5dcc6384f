// Expands sparse constants: walks down the storage tree level by level (verify_sparsity.cc). The
// dense position of a node is the sum of what each level adds. What is not stored is 0.
#include <cstring>
#include <vector>

#include "models/format/read.h"
#include "models/format/sparse_index.h"
#include "models/format/text.h"
#include "models/format/verify_context.h"
#include "tflite_generated.h"

namespace topwork {
namespace {

struct Level {
  int64_t stride = 0;      // of an index of this level, in elements
  int64_t dense_size = 0;  // 0: compressed
  IndexVector segments, indices;
};

class Expansion {
 public:
  Expansion(const schema::Tensor& tensor, Span<const uint8_t> stored, size_t element_bytes,
            uint8_t* dense)
      : stored_(stored.data()), element_bytes_(element_bytes), dense_(dense) {
    const schema::SparsityParameters& sparsity = *tensor.sparsity();
    const uint32_t rank = tensor.shape() == nullptr ? 0 : tensor.shape()->size();
    const uint32_t n_levels = sparsity.dim_metadata()->size();
    // Strides of the dimensions without their blocks, then of the blocks' own.
    std::vector<int64_t> strides(n_levels, 1);
    for (uint32_t d = rank; d > 1; --d) {
      strides[d - 2] = strides[d - 1] * tensor.shape()->Get(d - 1);
    }
    const std::vector<int64_t> own(strides.begin(), strides.begin() + rank);
    for (uint32_t i = n_levels; i > rank; --i) {
      const size_t blocked = static_cast<size_t>(sparsity.block_map()->Get(i - 1 - rank));
      strides[i - 1] = strides[blocked];
      strides[blocked] *= sparsity.dim_metadata()->Get(i - 1)->dense_size();
    }
    for (uint32_t i = 0; i < n_levels; ++i) {
      const schema::DimensionMetadata& from = *sparsity.dim_metadata()->Get(i);
      Level level;
      level.stride = strides[static_cast<size_t>(sparsity.traversal_order()->Get(i))];
      if (from.format() == schema::DimensionType::DENSE) {
        level.dense_size = from.dense_size();
      } else {
        level.segments =
            IndexVector(static_cast<uint8_t>(from.array_segments_type()), from.array_segments());
        level.indices =
            IndexVector(static_cast<uint8_t>(from.array_indices_type()), from.array_indices());
      }
      levels_.push_back(level);
    }
  }

  void Run() { Visit(0, 0, 0); }

 private:
  // `node`: which one of the level above; `position`: in elements.
  void Visit(size_t i, int64_t node, int64_t position) {
    if (i == levels_.size()) {
      std::memcpy(dense_ + static_cast<size_t>(position) * element_bytes_,
                  stored_ + static_cast<size_t>(node) * element_bytes_, element_bytes_);
      return;
    }
    const Level& level = levels_[i];
    if (!level.segments.present()) {
      for (int64_t k = 0; k < level.dense_size; ++k) {
        Visit(i + 1, node * level.dense_size + k, position + k * level.stride);
      }
      return;
    }
    const uint32_t at = static_cast<uint32_t>(node);
    for (int64_t k = level.segments[at]; k < level.segments[at + 1]; ++k) {
      Visit(i + 1, k, position + level.indices[static_cast<uint32_t>(k)] * level.stride);
    }
  }

  const uint8_t* stored_;
  size_t element_bytes_;
  uint8_t* dense_;
  std::vector<Level> levels_;
};

}  // namespace

Result<Buffer> ExpandSparse(const schema::Tensor& tensor, Span<const uint8_t> stored,
                            const Shape& shape) {
  const DType dtype = static_cast<DType>(tensor.type());
  const int bits = DTypeBits(dtype);
  if (bits % 8 != 0) {
    return Unsupported("'{}' is a sparse constant of {}", Text(tensor.name()), DTypeName(dtype));
  }
  const size_t bytes = ByteSize(dtype, shape);
  TW_ASSIGN_OR_RETURN(Buffer dense, Buffer::Allocate(bytes == 0 ? 1 : bytes, "a sparse constant"));
  std::memset(dense.data(), 0, bytes);
  if (stored.empty()) return dense;  // the levels above may still have nodes without number
  Expansion(tensor, stored, static_cast<size_t>(bits / 8), dense.as<uint8_t>()).Run();
  return dense;
}

}  // namespace topwork
