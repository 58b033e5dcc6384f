// DeviceProducts: XᵀX on an OpenCL device, for heads in closed form.
#ifndef TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_PRODUCTS_H_
#define TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_PRODUCTS_H_

#include <memory>
#include <string>

#include "runtime/backend/workspace.h"
#include "runtime/train/fit/products.h"

namespace topwork {

// One thread at a time. Closed at first.
class DeviceProducts {
 public:
  // Opens the device that `name` stands for. The errors are reasons to stay on the CPU: NOT_FOUND,
  // UNSUPPORTED, or the driver's.
  Status Open(const DeviceName& name);
  void Close() { workspace_.reset(); }
  bool is_open() const { return workspace_ != nullptr; }
  std::string name() const { return workspace_->info().name; }

  // As AddSquare of products.h, in pairs of float32, which have 48 bits (kernels/train/square.cl). On an error nothing is added, the device is closed, and failure() says why.
  Status AddSquare(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool,
                   TiledMatrix* out);
  const std::string& failure() const { return failure_; }

 private:
  Status Run(int64_t depth, int64_t n_rows, const RowPart& a, ThreadPool* pool, TiledMatrix* out);

  DeviceName name_;
  std::unique_ptr<Workspace> workspace_;
  std::string failure_;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_TRAIN_FIT_DEVICE_PRODUCTS_H_
