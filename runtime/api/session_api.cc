// C API: planning and running. Inputs and outputs are counted and named as the signature chosen
// says, or as the main subgraph does.
#include <algorithm>
#include <cstddef>
#include <new>

#include "runtime/api/handles.h"
#include "runtime/session/verify.h"

using topwork::InvalidArgument;
using topwork::Shape;
using topwork::Status;
using topwork::api::Report;

namespace {

using Port = tw_session::Port;

// The port, or null with the failure reported in *out_status.
const Port* PortAt(const std::vector<Port>& ports, const char* what, size_t index,
                   tw_status* out_status) {
  if (index < ports.size()) return &ports[index];
  *out_status =
      Report(InvalidArgument("{} {} does not exist: the model has {}", what, index, ports.size()));
  return nullptr;
}

tw_status FindPort(const std::vector<Port>& ports, const char* what, const char* name,
                   size_t* out_index) {
  std::string names;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) {
      *out_index = i;
      return TW_STATUS_OK;
    }
    if (i == 20) names += ", ...";
    if (i < 20) names += (i == 0 ? "'" : ", '") + ports[i].name + "'";
  }
  return Report(topwork::NotFound("there is no {} '{}'; there are {}", what, name,
                                  names.empty() ? "none" : names.c_str()));
}

Status CheckCopy(const char* what, const Port& port, const topwork::TensorView& view,
                 const void* data, size_t data_bytes) {
  if (view.dtype == topwork::DType::kString) {
    return topwork::Unsupported(
        "{} '{}' holds strings: write them by tw_session_write_strings, read them through "
        "tw_session_get_output",
        what, port.name);
  }
  if (data_bytes != view.bytes()) {
    return InvalidArgument(
        "{} '{}' is {} {} of {} bytes, not {} (after resizing an input, prepare comes first)", what,
        port.name, topwork::DTypeName(view.dtype), view.shape.ToString(), view.bytes(), data_bytes);
  }
  if (data == nullptr && data_bytes != 0) return InvalidArgument("{}: data is NULL", what);
  if (view.data == nullptr && data_bytes != 0) {
    return topwork::FailedPrecondition("{} '{}' has no memory before the first run", what,
                                       port.name);
  }
  return Status::Ok();
}

Status CheckAlignment(const char* what, const Port& port, const topwork::TensorView& view,
                      const void* data) {
  // Strings cannot be bound at all, which the session says better.
  if (view.dtype == topwork::DType::kString) return Status::Ok();
  const size_t element = static_cast<size_t>(topwork::DTypeBits(view.dtype)) / 8;
  if (element < 2 || reinterpret_cast<uintptr_t>(data) % element == 0) return Status::Ok();
  return InvalidArgument("the buffer for {} '{}' is not aligned to {} bytes, the size of a {}",
                         what, port.name, element, topwork::DTypeName(view.dtype));
}

void Profile(void* user_data, const topwork::StepProfile& step) {
  const tw_session& session = *static_cast<const tw_session*>(user_data);
  const tw_profile_entry entry = {
      sizeof(tw_profile_entry), step.step,  step.op,  step.variant, step.backend,
      step.output_name,         step.nanos, step.part};
  session.profile(session.profile_user_data, &entry);
}

}  // namespace

tw_status tw_session_find_input(const tw_session* session, const char* name, size_t* out_index) {
  TW_REQUIRE(session);
  TW_REQUIRE(name);
  TW_REQUIRE(out_index);
  return FindPort(session->inputs, "input", name, out_index);
}

tw_status tw_session_find_output(const tw_session* session, const char* name, size_t* out_index) {
  TW_REQUIRE(session);
  TW_REQUIRE(name);
  TW_REQUIRE(out_index);
  return FindPort(session->outputs, "output", name, out_index);
}

tw_status tw_session_get_input(const tw_session* session, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(session);
  TW_REQUIRE(info);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->inputs, "input", index, &status);
  if (port == nullptr) return status;
  const topwork::TensorView& view = session->session->input(port->index);
  return Report(topwork::api::WriteStruct(
      "tw_tensor_info", topwork::api::TensorInfo(view, port->name.c_str(), &port->open), info));
}

tw_status tw_session_get_output(const tw_session* session, size_t index, tw_tensor_info* info) {
  TW_REQUIRE(session);
  TW_REQUIRE(info);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->outputs, "output", index, &status);
  if (port == nullptr) return status;
  const topwork::TensorView& view = session->session->output(port->index);
  return Report(topwork::api::WriteStruct(
      "tw_tensor_info", topwork::api::TensorInfo(view, port->name.c_str(), &port->open), info));
}

tw_status tw_session_write_input(tw_session* session, size_t index, const void* data,
                                 size_t data_bytes) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->inputs, "input", index, &status);
  if (port == nullptr) return status;
  const topwork::TensorView& view = session->session->input(port->index);
  TW_REPORT_IF_ERROR(CheckCopy("input", *port, view, data, data_bytes));
  if (data_bytes != 0) std::memcpy(view.data, data, data_bytes);
  return TW_STATUS_OK;
}

tw_status tw_session_read_output(const tw_session* session, size_t index, void* data,
                                 size_t data_bytes) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->outputs, "output", index, &status);
  if (port == nullptr) return status;
  const topwork::TensorView& view = session->session->output(port->index);
  TW_REPORT_IF_ERROR(CheckCopy("output", *port, view, data, data_bytes));
  if (data_bytes != 0) std::memcpy(data, view.data, data_bytes);
  return TW_STATUS_OK;
}

tw_status tw_session_write_strings(tw_session* session, size_t index, const tw_string* strings,
                                   size_t n_strings) {
  static_assert(sizeof(tw_string) == sizeof(topwork::StringRef) &&
                    offsetof(tw_string, bytes) == offsetof(topwork::StringRef, size),
                "one layout");
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  if (n_strings != 0) TW_REQUIRE(strings);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->inputs, "input", index, &status);
  if (port == nullptr) return status;
  for (size_t i = 0; i < n_strings; ++i) {
    if (strings[i].data != nullptr || strings[i].bytes == 0) continue;
    return Report(
        InvalidArgument("strings[{}].data is NULL, its bytes are {}", i, strings[i].bytes));
  }
  const auto* references = reinterpret_cast<const topwork::StringRef*>(strings);
  return Report(session->session->WriteStrings(port->index, {references, n_strings}));
}

tw_status tw_session_bind_input(tw_session* session, size_t index, void* data, size_t data_bytes) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->inputs, "input", index, &status);
  if (port == nullptr) return status;
  TW_REPORT_IF_ERROR(CheckAlignment("input", *port, session->session->input(port->index), data));
  return Report(session->session->BindInput(port->index, data, data_bytes));
}

tw_status tw_session_bind_output(tw_session* session, size_t index, void* data, size_t data_bytes) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->outputs, "output", index, &status);
  if (port == nullptr) return status;
  TW_REPORT_IF_ERROR(CheckAlignment("output", *port, session->session->output(port->index), data));
  return Report(session->session->BindOutput(port->index, data, data_bytes));
}

tw_status tw_session_resize_input(tw_session* session, size_t index, const int32_t* dims,
                                  size_t rank) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  tw_status status = TW_STATUS_OK;
  const Port* port = PortAt(session->inputs, "input", index, &status);
  if (port == nullptr) return status;
  if (rank > static_cast<size_t>(topwork::kMaxRank)) {
    return Report(
        InvalidArgument("input '{}': rank {} is above {}", port->name, rank, topwork::kMaxRank));
  }
  if (rank != 0) TW_REQUIRE(dims);
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] >= 0) continue;
    return Report(
        InvalidArgument("input '{}': dims[{}] is {}, which is negative", port->name, i, dims[i]));
  }
  return Report(session->session->ResizeInput(port->index, Shape(dims, static_cast<int>(rank))));
}

tw_status tw_session_prepare(tw_session* session) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  return Report(session->session->Prepare());
}

tw_status tw_session_run(tw_session* session) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  return Report(session->session->Run());
}

tw_status tw_session_reset_state(tw_session* session) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  session->session->ResetState();
  return TW_STATUS_OK;
}

tw_status tw_session_run_async(tw_session* session, tw_run_function function, void* user_data) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  return Report(session->session->RunAsync([session, function, user_data](const Status& status) {
    const tw_status code = Report(status);
    if (function != nullptr) function(user_data, session, code);
  }));
}

tw_status tw_session_wait(tw_session* session) {
  TW_REQUIRE(session);
  return Report(session->control->async.Wait());
}

tw_status tw_session_is_running(const tw_session* session, int32_t* out_is_running) {
  TW_REQUIRE(session);
  TW_REQUIRE(out_is_running);
  *out_is_running = session->control->async.is_running() ? 1 : 0;
  return TW_STATUS_OK;
}

tw_status tw_session_cancel(tw_session* session) {
  TW_REQUIRE(session);
  session->control->cancellation.Request();
  return TW_STATUS_OK;
}

tw_status tw_session_set_profile(tw_session* session, tw_profile_function function,
                                 void* user_data) {
  TW_REQUIRE(session);
  TW_REQUIRE_IDLE(session);
  session->profile = function;
  session->profile_user_data = user_data;
  session->session->SetProfile(function == nullptr ? nullptr : Profile, session);
  return TW_STATUS_OK;
}

tw_status tw_session_get_info(const tw_session* session, tw_session_info* info) {
  TW_REQUIRE(session);
  TW_REQUIRE(info);
  TW_REQUIRE_IDLE(session);
  const topwork::Plan& plan = session->session->plan();
  tw_session_info result = {};
  result.n_inputs = session->inputs.size();
  result.n_outputs = session->outputs.size();
  result.session_bytes = session->session->memory_bytes();
  result.arena_bytes = plan.arena_bytes;
  result.live_bytes = plan.live_bytes;
  result.scratch_bytes = plan.scratch_bytes;
  result.packed_bytes = plan.packed_bytes;
  result.folded_bytes = plan.owned_bytes;
  result.model_bytes = session->session->model().bytes().size();
  result.device_bytes = plan.gpu_bytes;
  result.n_threads = session->session->threads().n_threads;
  result.n_heads = session->head_infos.size();
  result.heads = session->head_infos.data();
  return Report(topwork::api::WriteStruct("tw_session_info", result, info));
}

tw_status tw_session_verify(tw_session* session, double tolerance, char** out_json) {
  TW_REQUIRE(session);
  TW_REQUIRE(out_json);
  TW_REQUIRE_DESCRIPTIONS();
  TW_REQUIRE_IDLE(session);
  if (!(tolerance >= 0.0)) {
    return Report(
        InvalidArgument("tolerance is {}; 0 (the default) or more is allowed", tolerance));
  }
  const topwork::Result<topwork::Verification> result =
      topwork::Verify(session->session.get(), tolerance);
  if (!result.ok()) return Report(result.status());
  return topwork::api::GiveString(topwork::VerificationToJson(*result), out_json);
}

tw_status tw_session_describe_plan(const tw_session* session, tw_plan_format format,
                                   char** out_text) {
  TW_REQUIRE(session);
  TW_REQUIRE(out_text);
  TW_REQUIRE_DESCRIPTIONS();
  TW_REQUIRE_IDLE(session);
  const topwork::Plan& plan = session->session->plan();
  const std::string note = session->placement.Note();
  const topwork::ThreadChoice& threads = session->session->threads();
  switch (static_cast<int>(format)) {
    case TW_PLAN_TEXT:
      return topwork::api::GiveString(topwork::PrintPlan(plan, note, &threads), out_text);
    case TW_PLAN_JSON:
      return topwork::api::GiveString(topwork::PlanToJson(plan, note, &threads), out_text);
    default:
      return Report(InvalidArgument("plan format {} does not exist (0 text, 1 JSON)", format));
  }
}
