// The head of a model, as a struct and as JSON; or why there is none that could be trained.
#include "runtime/api/model_head.h"

#include "runtime/api/model_json.h"

#ifdef TW_HAVE_TRAIN
#include "runtime/train/head/head.h"
#endif

namespace topwork {
namespace api {

#ifdef TW_HAVE_TRAIN
tw_head_info HeadInfo(const Graph& graph, const Head& head) {
  // A head that is to be appended is a FULLY_CONNECTED without a place in the file.
  const Op* op = head.appended() ? nullptr : &graph.ops[static_cast<size_t>(head.op)];
  tw_head_info info = {};
  info.struct_size = sizeof(info);
  info.op = op == nullptr ? OpCodeName(OpCode::kFullyConnected) : op->name();
  info.op_index = op == nullptr ? -1 : op->file_index;
  info.is_appended = head.appended() ? 1 : 0;
  info.output = static_cast<size_t>(head.output);
  info.feature = graph.values[static_cast<size_t>(head.feature)].name.c_str();
  info.logits = op == nullptr ? "" : graph.values[static_cast<size_t>(head.logits)].name.c_str();
  info.n_features = head.dim;
  info.n_positions = head.n_positions;
  info.n_classes = head.n_classes;
  info.is_quantized = head.quantized ? 1 : 0;
  info.storage = HeadStorageName(head.format.storage);
  return info;
}

static void WriteHead(const Graph& graph, const Head& head, JsonWriter* json) {
  const tw_head_info info = HeadInfo(graph, head);
  json->BeginObject();
  json->Key("op");
  json->String(info.op);
  json->Key("file_index");
  json->Int(info.op_index);
  json->Key("appended");
  json->Bool(info.is_appended != 0);
  json->Key("output");
  json->Int(head.output);
  json->Key("feature");
  json->String(info.feature);
  json->Key("logits");
  json->String(info.logits);
  json->Key("n_features");
  json->Int(info.n_features);
  json->Key("n_positions");
  json->Int(info.n_positions);
  json->Key("n_classes");
  json->Int(info.n_classes);
  json->Key("quantized");
  json->Bool(info.is_quantized != 0);
  json->Key("storage");
  json->String(info.storage);
  json->Key("tail");
  json->BeginArray();
  for (int i : head.tail) json->String(graph.ops[static_cast<size_t>(i)].name());
  json->EndArray();
  json->EndObject();
}
#endif

Status DescribeHead(const Graph& graph, int output, tw_head_info* info) {
#ifdef TW_HAVE_TRAIN
  TW_ASSIGN_OR_RETURN(const Head head, FindHead(graph, output, false, false));
  *info = HeadInfo(graph, head);
  return Status::Ok();
#else
  (void)graph, (void)output, (void)info;
  return Unsupported("this library was built without training");
#endif
}

void WriteHeadJson(const Graph& graph, const Result<int>& output, JsonWriter* json) {
  std::string reason;
  json->Key("head");
#ifdef TW_HAVE_TRAIN
  if (graph.outputs.empty()) {
    reason = "the model has no outputs";
  } else if (!output.ok()) {
    reason = output.status().message();
  } else {
    const Result<Head> head = FindHead(graph, output.value(), false, false);
    if (head.ok()) {
      WriteHead(graph, head.value(), json);
    } else {
      reason = head.status().message();
    }
  }
#else
  (void)graph, (void)output;
  reason = "this library was built without training";
#endif
  if (!reason.empty()) json->Null();
  json->Key("head_reason");
  json->String(reason);
}

}  // namespace api
}  // namespace topwork
