// C API: session options, and the way from a model and a signature to a session.
#include <algorithm>
#include <new>

#include "runtime/api/device_policy.h"
#include "runtime/api/handles.h"
#include "runtime/api/session_device.h"

using topwork::InvalidArgument;
using topwork::Status;
using topwork::api::Report;

namespace {

using Port = tw_session::Port;

// entries null: every value under its own name.
Status MakePorts(const topwork::Graph& graph, const std::vector<int>& values,
                 const std::vector<topwork::Signature::Entry>* entries, std::vector<Port>* ports) {
  const size_t n = entries == nullptr ? values.size() : entries->size();
  for (size_t i = 0; i < n; ++i) {
    const int v = entries == nullptr ? values[i] : (*entries)[i].value;
    const auto at = std::find(values.begin(), values.end(), v);
    if (at == values.end()) {
      return topwork::InvalidModel(
          "the signature's '{}' is tensor {}, which is no input or output of its subgraph",
          (*entries)[i].name,
          v < 0 ? std::string("of none") : "'" + graph.values[static_cast<size_t>(v)].name + "'");
    }
    const topwork::Value& value = graph.values[static_cast<size_t>(v)];
    const int index =
        entries == nullptr ? static_cast<int>(i) : static_cast<int>(at - values.begin());
    ports->push_back(
        {index, entries == nullptr ? value.name : (*entries)[i].name, value.signature});
  }
  return Status::Ok();
}

Status ReadOptions(const tw_session_options* in, tw_session_options* options) {
  if (in != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_session_options", in, options));
  }
  TW_RETURN_IF_ERROR(topwork::api::CheckReserved("tw_session_options.opencl", options->opencl));
  if (options->opencl.tune_ms < 0) {
    return InvalidArgument("tw_session_options.opencl.tune_ms is {}; it must not be negative",
                           options->opencl.tune_ms);
  }
  if (options->n_threads >= 0 && options->n_threads <= 1024) return Status::Ok();
  return InvalidArgument(
      "tw_session_options.n_threads is {}; 0 (as many as pay) to 1024 are allowed",
      options->n_threads);
}

// The pieces between commas, without spaces around them.
std::vector<std::string> SplitNames(const char* list) {
  std::vector<std::string> names;
  std::string name;
  for (const char* at = list != nullptr ? list : "";; ++at) {
    if (*at != ',' && *at != '\0') {
      if (*at != ' ' || !name.empty()) name += *at;
      continue;
    }
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
    name.clear();
    if (*at == '\0') return names;
  }
}

// The caller's shapes in the subgraph's order; those that are left out are the file's.
Status ReadInputShapes(const tw_session_options& options, const topwork::Graph& graph,
                       const std::vector<Port>& inputs, std::vector<topwork::Shape>* shapes) {
  const size_t n = options.n_input_shapes;
  if (n == 0) return Status::Ok();
  if (options.input_shapes == nullptr || n != inputs.size()) {
    return InvalidArgument(
        "tw_session_options.input_shapes is {} with n_input_shapes {}; the session has {} inputs",
        options.input_shapes == nullptr ? "NULL" : "set", n, inputs.size());
  }
  for (const int v : graph.inputs) shapes->push_back(graph.values[static_cast<size_t>(v)].shape);
  for (size_t i = 0; i < n; ++i) {
    const tw_shape& shape = options.input_shapes[i];
    if (shape.rank == -1) continue;
    if (shape.rank < 0 || shape.rank > topwork::kMaxRank) {
      return InvalidArgument("tw_session_options.input_shapes[{}].rank is {}; -1 to {} are allowed",
                             i, shape.rank, topwork::kMaxRank);
    }
    (*shapes)[static_cast<size_t>(inputs[i].index)] = topwork::Shape(shape.dims, shape.rank);
  }
  return Status::Ok();
}

// A model whose own shapes do not fit it and whose inputs have open sizes wants to be told them.
Status ExplainShapes(const Status& status, const topwork::Graph& graph, bool given) {
  const bool open = std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](int v) {
    const topwork::Value& value = graph.values[static_cast<size_t>(v)];
    for (int i = 0; i < value.signature.rank(); ++i) {
      if (value.signature[i] < 0) return true;
    }
    return false;
  });
  if (given || !open || status.code() != topwork::StatusCode::kInvalidModel) return status;
  return topwork::InvalidModel(
      "{}. (This is with the input sizes written in the file, which its author left open: give "
      "those of your data, tw_session_options.input_shapes)",
      status.message());
}

Status CreateSession(const tw_model& model, const tw_session_options* in, tw_session* handle) {
  tw_session_options c_options = {};
  TW_RETURN_IF_ERROR(ReadOptions(in, &c_options));
  handle->opened = model.model;
  handle->allocator = std::make_shared<topwork::Allocator>();
  TW_RETURN_IF_ERROR(topwork::api::ReadAllocator(c_options.allocator, handle->allocator.get()));
  const topwork::Signature* signature = nullptr;
  if (c_options.signature != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::FindSignature(*model.model, c_options.signature, &signature));
  }
  topwork::SessionOptions options;
  options.n_threads = c_options.n_threads;
  options.subgraph = signature == nullptr ? 0 : signature->subgraph;
  options.memory_limit_bytes = c_options.memory_limit_bytes;
  options.device_memory_limit_bytes = c_options.opencl.memory_limit_bytes;
  options.allocator = handle->allocator.get();
  const topwork::Graph& graph = model.model->subgraphs()[static_cast<size_t>(options.subgraph)];
  options.cpu_ops = SplitNames(c_options.opencl.cpu_ops);
  options.float32_ops = SplitNames(c_options.float32_ops);
  if (c_options.policy_path != nullptr) {
    TW_RETURN_IF_ERROR(topwork::api::ReadDevicePolicy(c_options.policy_path, graph,
                                                      &options.cpu_ops, &options.float32_ops));
  }
  if (c_options.share_state_with != nullptr) {
    const tw_session& other = *c_options.share_state_with;
    if (other.opened != model.model) {
      return InvalidArgument(
          "tw_session_options.share_state_with is a session of another tw_model; sessions share "
          "state only if they were made from the same one");
    }
    options.state = other.session->state();
  }
  TW_RETURN_IF_ERROR(
      MakePorts(graph, graph.inputs, signature ? &signature->inputs : nullptr, &handle->inputs));
  TW_RETURN_IF_ERROR(
      MakePorts(graph, graph.outputs, signature ? &signature->outputs : nullptr, &handle->outputs));
  TW_RETURN_IF_ERROR(ReadInputShapes(c_options, graph, handle->inputs, &options.input_shapes));
  auto placed = topwork::api::CreateOnDevice(model.model, c_options, options);
  if (!placed.ok()) {
    return ExplainShapes(placed.status(), graph, c_options.n_input_shapes != 0);
  }
  handle->session = std::move(placed.value().session);
  handle->control = handle->session->control();
  handle->placement = std::move(placed.value().placement);
  return Status::Ok();
}

}  // namespace

tw_status tw_session_create(const tw_model* model, const tw_session_options* options,
                            tw_session** out_session) {
  TW_REQUIRE(model);
  TW_REQUIRE(out_session);
  std::unique_ptr<tw_session> handle(new (std::nothrow) tw_session());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_session"));
  TW_REPORT_IF_ERROR(CreateSession(*model, options, handle.get()));
  *out_session = handle.release();
  return TW_STATUS_OK;
}

tw_status tw_session_clone(const tw_session* session, tw_session** out_session) {
  TW_REQUIRE(session);
  TW_REQUIRE(out_session);
  TW_REQUIRE_IDLE(session);
  std::unique_ptr<tw_session> handle(new (std::nothrow) tw_session());
  if (handle == nullptr) return Report(topwork::OutOfMemory("could not allocate a tw_session"));
  handle->allocator = session->allocator;
  handle->inputs = session->inputs;
  handle->outputs = session->outputs;
  handle->placement = session->placement;
  handle->opened = session->opened;
  handle->heads = session->heads;
  handle->head_infos = session->head_infos;
  topwork::Result<std::unique_ptr<topwork::Session>> made = session->session->Clone();
  TW_REPORT_IF_ERROR(made.status());
  handle->session = std::move(made.value());
  handle->control = handle->session->control();
  *out_session = handle.release();
  return TW_STATUS_OK;
}

void tw_session_free(tw_session* session) {
  if (session == nullptr) return;
  session->control->Stop();  // its callback may still use the handle
  delete session;
}
