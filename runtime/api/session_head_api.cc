// C API: heads beside a session's own.
#include <algorithm>

#include "runtime/api/handles.h"
#include "runtime/base/file.h"

using topwork::InvalidArgument;
using topwork::Result;
using topwork::Status;
using topwork::api::Report;

namespace {

using Head = tw_session::Head;
using Heads = std::vector<std::shared_ptr<const Head>>;

Result<topwork::HeadData> ReadHead(const tw_head_file& file) {
  if ((file.path == nullptr) == (file.data == nullptr)) {
    return InvalidArgument("tw_head_file needs either path or data");
  }
  if (file.path == nullptr) {
    return topwork::DecodeHead({static_cast<const uint8_t*>(file.data), file.data_bytes});
  }
  TW_ASSIGN_OR_RETURN(const topwork::MappedBytes bytes,
                      topwork::MappedBytes::Open(file.path, "the head"));
  Result<topwork::HeadData> data = topwork::DecodeHead(bytes.bytes());
  if (!data.ok()) return data.status().WithPrefix(std::string("'") + file.path + "': ");
  return data;
}

// The session with these heads; as it was after a failure.
Status Rebuild(tw_session* session, Heads heads) {
  const topwork::Session& old = *session->session;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const topwork::Model> base,
                      topwork::Model::WithMain(session->opened, old.options().subgraph));
  std::shared_ptr<const topwork::Model> model = session->opened;
  if (!heads.empty()) {
    std::vector<const topwork::NamedHead*> named;
    for (const auto& head : heads) named.push_back(&head->head);
    TW_ASSIGN_OR_RETURN(model, topwork::AttachHeads(base, named));
  }
  const size_t n_graph_outputs = base->main().outputs.size();
  size_t n_same = 0;
  while (n_same < std::min(heads.size(), session->heads.size()) &&
         heads[n_same] == session->heads[n_same]) {
    ++n_same;
  }
  TW_ASSIGN_OR_RETURN(session->session, old.WithModel(std::move(model), n_graph_outputs + n_same));
  session->outputs.resize(session->outputs.size() - session->heads.size());
  session->heads = std::move(heads);
  session->head_infos.clear();
  for (size_t k = 0; k < session->heads.size(); ++k) {
    const Head& head = *session->heads[k];
    const topwork::HeadData& data = head.head.data;
    session->head_infos.push_back({head.head.name.c_str(), session->outputs.size(),
                                   static_cast<size_t>(data.n_classes),
                                   head.class_names.empty() ? nullptr : head.class_names.data()});
    session->outputs.push_back({static_cast<int>(n_graph_outputs + k), head.head.name,
                                topwork::Shape{-1, static_cast<int32_t>(data.n_classes)}});
  }
  return Status::Ok();
}

Status Attach(tw_session* session, const tw_head_file* c_file) {
  tw_head_file file = {};
  TW_RETURN_IF_ERROR(topwork::api::ReadStruct("tw_head_file", c_file, &file));
  const std::string name = file.name != nullptr ? file.name : "";
  const bool taken = std::any_of(session->outputs.begin(), session->outputs.end(),
                                 [&](const auto& port) { return port.name == name; });
  if (name.empty() || taken) {
    return InvalidArgument(
        "a head needs a name of its own; {}",
        name.empty() ? "tw_head_file.name is empty" : "there is an output '" + name + "' already");
  }
  TW_ASSIGN_OR_RETURN(topwork::HeadData data, ReadHead(file));
  auto head = std::make_shared<Head>();
  head->head = {name, std::move(data)};
  for (const std::string& label : head->head.data.class_names) {
    head->class_names.push_back(label.c_str());
  }
  Heads heads = session->heads;
  heads.push_back(std::move(head));
  return Rebuild(session, std::move(heads));
}

}  // namespace

tw_status tw_session_attach_head(tw_session* session, const tw_head_file* file) {
  TW_REQUIRE(session);
  TW_REQUIRE(file);
  TW_REQUIRE_IDLE(session);
  return Report(Attach(session, file));
}

tw_status tw_session_detach_head(tw_session* session, const char* name) {
  TW_REQUIRE(session);
  TW_REQUIRE(name);
  TW_REQUIRE_IDLE(session);
  Heads heads;
  std::string names;
  for (const auto& head : session->heads) {
    if (head->head.name != name) heads.push_back(head);
    names += (names.empty() ? "'" : ", '") + head->head.name + "'";
  }
  if (heads.size() == session->heads.size()) {
    return Report(topwork::NotFound("there is no head '{}'; there are {}", name,
                                    names.empty() ? "none" : names.c_str()));
  }
  return Report(Rebuild(session, std::move(heads)));
}
