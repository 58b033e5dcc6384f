// What all files of the C API share: the handles' insides, the last error, and the structs' sizes.
//
// A public struct begins with struct_size, the size that the caller's header gave it. It is read
// through ReadStruct and written through WriteStruct, never directly.
#ifndef TOPWORK_RUNTIME_API_HANDLES_H_
#define TOPWORK_RUNTIME_API_HANDLES_H_

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/format/model.h"
#include "runtime/backend/device_name.h"
#include "runtime/backend/placement.h"
#include "runtime/base/buffer.h"
#include "runtime/base/status.h"
#include "runtime/session/session.h"
#include "runtime/train/head/attach_heads.h"
#include "topwork/topwork.h"

struct tw_model {
  explicit tw_model(std::shared_ptr<const topwork::Model> opened);

  std::shared_ptr<const topwork::Model> model;
  std::vector<const char*> labels, signatures;  // what tw_model_info points to
};

struct tw_session {
  // An input or output as the caller counts and names them.
  struct Port {
    int index = 0;  // of topwork::Session
    std::string name;
    topwork::Shape open;  // −1 where the model's author left the size open
  };
  // A head beside the model's own; clones share it.
  struct Head {
    topwork::NamedHead head;
    std::vector<const char*> class_names;
  };
  std::shared_ptr<topwork::Allocator> allocator;  // outlives `session`, which points to it
  std::shared_ptr<const topwork::Model> opened;   // that of the tw_model, without heads
  std::unique_ptr<topwork::Session> session;
  // Of `session`, also of one that takes its place: never replaced, for functions of [any].
  std::shared_ptr<topwork::RunControl> control;
  topwork::Placement placement;  // of the session: where it runs, and why
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  // Their outputs are the last ones.
  std::vector<std::shared_ptr<const Head>> heads;
  std::vector<tw_session_head> head_infos;
  std::vector<std::string> taught_names;  // lines that tw_rejection points to, once asked for
  tw_profile_function profile = nullptr;
  void* profile_user_data = nullptr;
};

namespace topwork {
namespace api {

// Keeps a failure's message for tw_last_error() and returns its code.
tw_status Report(const Status& status);
// The failure of a NULL argument of a function.
tw_status ReportNull(const char* function, const char* argument);

#define TW_REQUIRE(argument) \
  if ((argument) == nullptr) return ::topwork::api::ReportNull(__func__, #argument)
// The failure of a call while a run is in flight on another thread.
#define TW_REQUIRE_IDLE(handle)                                                         \
  do {                                                                                  \
    const ::topwork::Status tw_idle_ = (handle)->control->async.CheckIdle();            \
    if (!tw_idle_.ok())                                                                 \
      return ::topwork::api::Report(tw_idle_.WithPrefix(std::string(__func__) + ": ")); \
  } while (0)
// The failure of every call that makes text of models and plans, where the build has no such code.
#ifdef TW_NO_DESCRIBE
#define TW_REQUIRE_DESCRIPTIONS()                                                \
  return ::topwork::api::Report(                                                 \
      ::topwork::Unsupported("{}: this library was built without descriptions; " \
                             "build it with TOPWORK_DESCRIBE=ON",                \
                             __func__))
#else
#define TW_REQUIRE_DESCRIPTIONS() static_cast<void>(0)
#endif
#define TW_REPORT_IF_ERROR(expression)                                             \
  do {                                                                             \
    const ::topwork::Status tw_report_status_ = (expression);                      \
    if (!tw_report_status_.ok()) return ::topwork::api::Report(tw_report_status_); \
  } while (0)

// A copy for the caller, released by tw_memory_free().
tw_status GiveBytes(const void* data, size_t size, void** out);
tw_status GiveString(const std::string& text, char** out);

// Refuses sizes that no version of the struct had: forgotten and uninitialised ones.
Status CheckStructSize(const char* name, size_t struct_size);
// Fields beyond the library's own struct must be zero: otherwise the caller asks for something that
// this library does not know.
Status CheckUnknownFields(const char* name, const void* fields, size_t known, size_t struct_size);

// Copies the caller's struct over *inout, which holds the values of fields that the caller's header
// did not have yet.
template <typename T>
Status ReadStruct(const char* name, const T* in, T* inout) {
  TW_RETURN_IF_ERROR(CheckStructSize(name, in->struct_size));
  TW_RETURN_IF_ERROR(CheckUnknownFields(name, in, sizeof(T), in->struct_size));
  std::memcpy(inout, in, in->struct_size < sizeof(T) ? in->struct_size : sizeof(T));
  inout->struct_size = sizeof(T);
  return Status::Ok();
}

// Fills as much of the caller's struct as its struct_size says, and zeroes what the library does
// not know.
template <typename T>
Status WriteStruct(const char* name, const T& in, T* out) {
  const size_t size = out->struct_size;
  TW_RETURN_IF_ERROR(CheckStructSize(name, size));
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &in, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = size;
  return Status::Ok();
}

// Fills the caller's struct of `struct_size` bytes with defaults.
template <typename T>
tw_status InitStruct(const char* name, const T& defaults, T* out, size_t struct_size) {
  TW_REPORT_IF_ERROR(CheckStructSize(name, struct_size));
  std::memcpy(static_cast<void*>(out), &struct_size, sizeof(struct_size));
  return Report(WriteStruct(name, defaults, out));
}

// The library's form of the caller's allocator; null: the default one.
Status ReadAllocator(const tw_allocator* in, Allocator* out);
// The device that the field `name` of an options struct holds; NULL means "auto".
Status ReadDevice(const char* name, const char* device, DeviceName* out);
Status ReadPrecision(tw_precision precision, Storage* storage);

// Part of options: the bytes that later versions will use must be 0.
template <typename T>
Status CheckReserved(const char* name, const T& part) {
  for (const uint64_t bytes : part.reserved) {
    if (bytes == 0) continue;
    return Unsupported(
        "{}.reserved is not zero: it holds an option that this library ({}) does not know, or was "
        "never initialized",
        name, tw_version());
  }
  return Status::Ok();
}

// Makes the handle of a model that was written to memory.
tw_status GiveModel(Result<std::vector<uint8_t>> bytes, tw_model** out_model);
tw_status GiveModel(const Result<std::shared_ptr<const Model>>& opened, tw_model** out_model);

// NOT_FOUND lists the signatures.
Status FindSignature(const Model& model, const char* key, const Signature** out_signature);

// Where the signature's first output stands among its subgraph's; UNSUPPORTED without one.
Result<int> FirstOutput(const Model& model, const Signature& signature);

// Describes a tensor. open: its shape with −1 for open sizes, or null.
tw_tensor_info TensorInfo(const TensorView& view, const char* name, const Shape* open);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_HANDLES_H_
