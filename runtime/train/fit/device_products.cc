#include "runtime/train/fit/device_products.h"

#include <algorithm>

#include "kernels/train/head_gpu.h"
#include "runtime/train/blocks.h"

namespace topwork {
namespace {

// Of a launch, so that it is short on a small device, too.
constexpr int64_t kMostProducts = int64_t{1} << 28;
constexpr int64_t kMostRows = 1024;
// Above it an index does not fit into an int.
constexpr int64_t kMostColumns = 32768;

}  // namespace

Status DeviceProducts::Open(const DeviceName& name) {
  failure_.clear();
  name_ = name;
  TW_ASSIGN_OR_RETURN(workspace_, Workspace::Open(name));
  if (workspace_->info().max_work_group >= 64) return Status::Ok();
  Close();
  return Unsupported("the device allows no work-groups of 64 items");
}

Status DeviceProducts::AddSquare(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool,
                                 TiledMatrix* out) {
  if (n_rows > kMostColumns) return Unsupported("{} columns are too many", n_rows);
  const Status status = Run(depth, n_rows, a, pool, out);
  if (status.ok()) return status;
  failure_ = "the device failed: " + status.message();
  Close();
  return status;
}

Status DeviceProducts::Run(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool,
                           TiledMatrix* out) {
  // Its buffers go with it; workspace_ keeps the device and its programs.
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Workspace> workspace, Workspace::Open(name_));
  const int64_t pitch = NumBlocks(n_rows, kSquareTile) * kSquareTile;
  const int64_t most = std::max<int64_t>(16, kMostProducts / (pitch * pitch));
  const int64_t n = std::min({depth, most, kMostRows});
  TW_ASSIGN_OR_RETURN(Buffer rows,
                      AllocateZeroFloats(2 * n * pitch, "rows on their way", DefaultAllocator()));
  TW_ASSIGN_OR_RETURN(Buffer sums,
                      AllocateZeroFloats(2 * pitch * pitch, "sums", DefaultAllocator()));
  LaunchArgument arguments[3];
  const size_t half = sums.size() / 2;
  const size_t bytes[3] = {rows.size(), half, half};
  for (int i = 0; i < 3; ++i) {
    TW_ASSIGN_OR_RETURN(const int32_t buffer, workspace->AddBuffer(bytes[i], "sums of products"));
    arguments[i] = LaunchArgument::Buffer(buffer);
  }
  const Launch launch = MakeSquare(static_cast<int32_t>(n), static_cast<int32_t>(pitch),
                                   arguments[0], arguments[1], arguments[2]);
  TW_ASSIGN_OR_RETURN(const int recording, workspace->Record({&launch, 1}));
  for (int i = 1; i < 3; ++i) {
    TW_RETURN_IF_ERROR(workspace->Upload(arguments[i].buffer, 0, sums.data(), half));
  }
  for (int64_t first = 0; first < depth; first += n) {
    ForEachBlock(pool, n, 20 * n * n_rows, [&](int64_t r) {
      float* to = rows.as<float>() + 2 * r * pitch;
      if (first + r >= depth) {
        std::fill_n(to, 2 * pitch, 0.0f);
        return;
      }
      double part[kSquareTile];
      for (int64_t k = 0; k < n_rows; k += kSquareTile) {
        const int64_t count = std::min<int64_t>(kSquareTile, n_rows - k);
        a(first + r, k, count, part);
        for (int64_t i = 0; i < count; ++i) {
          const float high = static_cast<float>(part[i]);
          to[k + i] = high;
          to[pitch + k + i] = static_cast<float>(part[i] - static_cast<double>(high));
        }
      }
    });
    TW_RETURN_IF_ERROR(workspace->Upload(arguments[0].buffer, 0, rows.data(), rows.size()));
    TW_RETURN_IF_ERROR(workspace->Submit(recording));
  }
  float* const high = sums.as<float>();
  float* const low = high + pitch * pitch;
  TW_RETURN_IF_ERROR(workspace->Download(arguments[1].buffer, 0, high, half));
  TW_RETURN_IF_ERROR(workspace->Download(arguments[2].buffer, 0, low, half));
  for (int64_t i = 0; i < n_rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      *out->at(i, j) +=
          static_cast<double>(high[i * pitch + j]) + static_cast<double>(low[i * pitch + j]);
    }
  }
  return Status::Ok();
}

}  // namespace topwork
