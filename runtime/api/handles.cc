// The last error of each thread, memory given to callers, and conversions that several files use.
#include "runtime/api/handles.h"

#include <cstdlib>
#include <utility>

namespace topwork {
namespace api {
namespace {

// A public struct has at least its size and one more field, and none comes near the upper bound.
constexpr size_t kMinStructBytes = 2 * sizeof(size_t);
constexpr size_t kMaxStructBytes = 4096;

std::string& LastError() {
  thread_local std::string text;
  return text;
}

}  // namespace

tw_status Report(const Status& status) {
  if (status.ok()) return TW_STATUS_OK;
  LastError() = status.message();
  return static_cast<tw_status>(status.code());
}

tw_status ReportNull(const char* function, const char* argument) {
  return Report(InvalidArgument("{}: {} is NULL", function, argument));
}

tw_status GiveBytes(const void* data, size_t size, void** out) {
  void* copy = std::malloc(size == 0 ? 1 : size);
  if (copy == nullptr) return Report(OutOfMemory("could not allocate {} bytes for a result", size));
  if (size != 0) std::memcpy(copy, data, size);
  *out = copy;
  return TW_STATUS_OK;
}

tw_status GiveString(const std::string& text, char** out) {
  void* copy = nullptr;
  const tw_status status = GiveBytes(text.c_str(), text.size() + 1, &copy);
  if (status == TW_STATUS_OK) *out = static_cast<char*>(copy);
  return status;
}

Status CheckStructSize(const char* name, size_t struct_size) {
  if (struct_size >= kMinStructBytes && struct_size <= kMaxStructBytes) return Status::Ok();
  return InvalidArgument("{}.struct_size is {}; set it to sizeof({}) before the call", name,
                         struct_size, name);
}

Status CheckUnknownFields(const char* name, const void* fields, size_t known, size_t struct_size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(fields);
  for (size_t i = known; i < struct_size; ++i) {
    if (bytes[i] == 0) continue;
    return Unsupported(
        "{} has a field at byte {} that is not zero and that this library ({}) does "
        "not know; update the library or leave the field zero",
        name, i, tw_version());
  }
  return Status::Ok();
}

Status ReadAllocator(const tw_allocator* in, Allocator* out) {
  if (in == nullptr) {
    *out = DefaultAllocator();
    return Status::Ok();
  }
  tw_allocator table = {};
  TW_RETURN_IF_ERROR(ReadStruct("tw_allocator", in, &table));
  if (table.allocate == nullptr || table.deallocate == nullptr) {
    return InvalidArgument("tw_allocator.{} is NULL; both functions are needed",
                           table.allocate == nullptr ? "allocate" : "deallocate");
  }
  *out = {table.allocate, table.deallocate, table.user_data};
  return Status::Ok();
}

Status ReadDevice(const char* name, const char* device, DeviceName* out) {
  Result<DeviceName> parsed = ParseDeviceName(device != nullptr ? device : "auto");
  if (!parsed.ok()) return parsed.status().WithPrefix(std::string(name) + ": ");
  *out = std::move(parsed.value());
  return Status::Ok();
}

Status ReadPrecision(tw_precision precision, Storage* storage) {
  switch (static_cast<int>(precision)) {
    case TW_PRECISION_FLOAT32:
    case TW_PRECISION_FLOAT16:
      *storage = precision == TW_PRECISION_FLOAT16 ? Storage::kFloat16 : Storage::kFloat32;
      return Status::Ok();
    default:
      return InvalidArgument(
          "precision {} is none of 0 (float32), 1 (float16) and, for sessions, 2 (auto)",
          precision);
  }
}

tw_tensor_info TensorInfo(const TensorView& view, const char* name, const Shape* open) {
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  info.name = name;
  info.dtype = static_cast<tw_dtype>(view.dtype);
  info.rank = view.shape.rank();
  const bool has_open = open != nullptr && open->rank() == view.shape.rank();
  for (int i = 0; i < info.rank; ++i) {
    info.dims[i] = view.shape[i];
    info.open_dims[i] = has_open && (*open)[i] < 0 ? -1 : view.shape[i];
  }
  info.bytes = view.bytes();
  info.data = view.data;
  if (view.quantization != nullptr) {
    info.n_scales = view.quantization->scales.size();
    info.scales = view.quantization->scales.data();
    info.zero_points = view.quantization->zero_points.data();
    info.quantized_axis = view.quantization->axis;
  }
  return info;
}

}  // namespace api
}  // namespace topwork

const char* tw_last_error(void) { return topwork::api::LastError().c_str(); }

void tw_memory_free(void* memory) { std::free(memory); }
