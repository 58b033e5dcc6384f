// Helpers of the C API's tests.
#include "tests/runtime/api/support.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/support/embedded.h"

namespace topwork {
namespace api_test {
namespace {

OpLog g_log;

tw_status ScaleInit(void* user_data, const void* options, size_t options_bytes,
                    void** out_instance) {
  static_cast<OpLog*>(user_data)->n_init++;
  if (options_bytes != sizeof(float)) return TW_STATUS_INVALID_MODEL;
  float* factor = new float;
  std::memcpy(factor, options, sizeof(float));
  *out_instance = factor;
  return TW_STATUS_OK;
}

void ScaleFree(void* user_data, void* instance) {
  static_cast<OpLog*>(user_data)->n_free++;
  delete static_cast<float*>(instance);
}

tw_status ScalePrepare(void* user_data, void*, tw_op_call* call) {
  OpLog* log = static_cast<OpLog*>(user_data);
  log->n_prepare++;
  if (log->fail_prepare) {
    std::snprintf(call->error, call->error_bytes, "told to fail");
    return TW_STATUS_UNSUPPORTED;
  }
  const tw_tensor_info& x = *call->inputs[0];
  call->outputs[0]->rank = x.rank;
  std::memcpy(call->outputs[0]->dims, x.dims, sizeof(x.dims));
  call->scratch_bytes = 100;
  return TW_STATUS_OK;
}

struct ScaleTask {
  const tw_op_call* call;
  float factor;
};

void ScaleElement(void* argument, int64_t i, int32_t thread) {
  const ScaleTask& task = *static_cast<ScaleTask*>(argument);
  const tw_tensor_info& x = *task.call->inputs[0];
  const tw_tensor_info& y = *task.call->outputs[0];
  if (thread < 0 || thread >= task.call->n_threads) return;
  if (x.dtype == TW_DTYPE_FLOAT32) {
    static_cast<float*>(y.data)[i] = task.factor * static_cast<const float*>(x.data)[i];
    return;
  }
  const int64_t stored = static_cast<const int8_t*>(x.data)[i];
  const float real = x.scales[0] * static_cast<float>(stored - x.zero_points[0]) * task.factor;
  const float scaled = std::round(real / y.scales[0]) + static_cast<float>(y.zero_points[0]);
  static_cast<int8_t*>(y.data)[i] =
      static_cast<int8_t>(std::fmax(-128.f, std::fmin(127.f, scaled)));
}

tw_status ScaleRun(void* user_data, void* instance, const tw_op_call* call) {
  OpLog* log = static_cast<OpLog*>(user_data);
  log->n_run++;
  if (log->fail_run) return TW_STATUS_NUMERIC;
  std::memset(call->scratch, 0xCD, call->scratch_bytes);
  ScaleTask task = {call, *static_cast<float*>(instance)};
  const tw_tensor_info& x = *call->inputs[0];
  const size_t element = x.dtype == TW_DTYPE_FLOAT32 ? 4 : 1;
  call->parallel_for(call, static_cast<int64_t>(x.bytes / element), ScaleElement, &task);
  return TW_STATUS_OK;
}

tw_status RepeatPrepare(void*, void*, tw_op_call* call) {
  const int32_t* n = static_cast<const int32_t*>(call->inputs[1]->data);
  if (n == nullptr) return TW_STATUS_FAILED_PRECONDITION;
  if (*n < 0) {
    std::snprintf(call->error, call->error_bytes, "n is %d", static_cast<int>(*n));
    return TW_STATUS_INVALID_ARGUMENT;
  }
  call->outputs[0]->rank = 1;
  call->outputs[0]->dims[0] = *n * call->inputs[0]->dims[0];
  return TW_STATUS_OK;
}

tw_status RepeatRun(void*, void*, const tw_op_call* call) {
  const tw_tensor_info& x = *call->inputs[0];
  char* y = static_cast<char*>(call->outputs[0]->data);
  for (size_t at = 0; at < call->outputs[0]->bytes; at += x.bytes) {
    std::memcpy(y + at, x.data, x.bytes);
  }
  return TW_STATUS_OK;
}

}  // namespace

ModelPtr OpenModel(const char* path) {
  const test::EmbeddedFile* file = test::FindEmbedded(path);
  REQUIRE(file != nullptr);
  tw_model* model = nullptr;
  const tw_status status = tw_model_open_memory(file->data, file->size, 0, &model);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return ModelPtr(model);
}

SessionPtr MakeSession(const tw_model* model, const tw_session_options* options) {
  tw_session* session = nullptr;
  const tw_status status = tw_session_create(model, options, &session);
  INFO(tw_last_error());
  REQUIRE(status == TW_STATUS_OK);
  return SessionPtr(session);
}

tw_session_options DefaultSessionOptions() {
  tw_session_options options = {};
  options.struct_size = sizeof(options);
  return options;
}

tw_model_info ModelInfo(const tw_model* model) {
  tw_model_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_model_get_info(model, &info) == TW_STATUS_OK);
  return info;
}

tw_session_info SessionInfo(const tw_session* session) {
  tw_session_info info = {};
  info.struct_size = sizeof(info);
  REQUIRE(tw_session_get_info(session, &info) == TW_STATUS_OK);
  return info;
}

tw_tensor_info InputInfo(const tw_session* session, size_t index) {
  tw_tensor_info info;
  info.struct_size = sizeof(info);
  REQUIRE(tw_session_get_input(session, index, &info) == TW_STATUS_OK);
  return info;
}

tw_tensor_info OutputInfo(const tw_session* session, size_t index) {
  tw_tensor_info info;
  info.struct_size = sizeof(info);
  REQUIRE(tw_session_get_output(session, index, &info) == TW_STATUS_OK);
  return info;
}

OpLog& RegisterTestOps() {
  tw_custom_op scale = {};
  scale.struct_size = sizeof(scale);
  scale.name = "TopworkScale";
  scale.user_data = &g_log;
  scale.init = ScaleInit;
  scale.free = ScaleFree;
  scale.prepare = ScalePrepare;
  scale.run = ScaleRun;
  REQUIRE(tw_op_register(&scale) == TW_STATUS_OK);
  tw_custom_op repeat = {};
  repeat.struct_size = sizeof(repeat);
  repeat.name = "TopworkRepeat";
  repeat.prepare = RepeatPrepare;
  repeat.run = RepeatRun;
  REQUIRE(tw_op_register(&repeat) == TW_STATUS_OK);
  return g_log;
}

void RequireError(tw_status got, tw_status want, const std::string& part) {
  const std::string text = tw_last_error();
  INFO(tw_status_name(got) << ": " << text);
  REQUIRE(got == want);
  REQUIRE(text.find(part) != std::string::npos);
}

}  // namespace api_test
}  // namespace topwork
