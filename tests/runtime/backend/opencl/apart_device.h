// A device that keeps every block of a program in a buffer of its own, exactly as large as the
// block: a kernel that reads or writes beyond a tensor is caught by oclgrind, which a common arena
// would hide. Otherwise as OpenDevice's.
//
// oclgrind 21.10 loses track of what is initialised where a part of a buffer is uploaded, or where
// a buffer gets the place of one that was released: uploads are whole, and nothing is released
// before the device.
#ifndef TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_APART_DEVICE_H_
#define TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_APART_DEVICE_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend/device.h"
#include "runtime/backend/opencl/context.h"

namespace topwork {
namespace test {

class ApartDevice final : public Device {
 public:
  ApartDevice(std::shared_ptr<opencl::Context> context, Storage storage)
      : context_(std::move(context)), storage_(storage) {}

  const char* name() const override { return "apart"; }
  Storage storage() const override { return storage_; }
  bool has_half_products() const override { return has_half_products_; }
  GpuTuner* tuner() const override { return tuner_; }
  // Null, or one that outlives the device.
  void SetTuner(GpuTuner* tuner) { tuner_ = tuner; }
  const GpuFamily& family() const override { return *family_; }
  // Takes the tiles of that family of GPUs.
  void SetFamily(const char* name) { family_ = &GpuFamilyOf(name, ""); }
  // Images of weights of the family may have so many pixels; 0: there are none.
  void SetImagePixels(size_t pixels) { limits_.image_pixels = pixels; }
  DeviceLimits limits() const override { return limits_; }
  // Every program is compiled with these, too; they begin with a space.
  void SetOptions(std::string options) { options_ = std::move(options); }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override;
  // A program's buffers are its own, so that one session at a time may run it.
  Result<std::unique_ptr<AttachedPrograms>> Attach(const LoadedPrograms& programs) const override;

  // Products in half on every device: on one without them each step is rounded to half.
  void EmulateHalfProducts() {
    has_half_products_ = true;
    if (!context_->info().fp16) options_ += " -DTW_EMULATED";
  }

  // Names of the kernels loaded so far.
  const std::set<std::string>& entries() const { return entries_; }
  // And how many of them were to read an image.
  int n_with_images() const { return n_with_images_; }

 private:
  const std::shared_ptr<opencl::Context> context_;
  const Storage storage_;
  GpuTuner* tuner_ = nullptr;
  const GpuFamily* family_ = &GpuFamilyOf("", "");
  bool has_half_products_ = false;
  std::string options_;
  DeviceLimits limits_;
  mutable std::set<std::string> entries_;
  mutable int n_with_images_ = 0;
  mutable LoadedPrograms kept_;
};

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_BACKEND_OPENCL_APART_DEVICE_H_
