// The last layer of a model as JSON, or why there is none that could be trained.
#include "runtime/api/model_json.h"

#ifdef TW_HAVE_TRAIN
#include "runtime/train/head/head.h"
#endif

namespace topwork {
namespace api {

#ifdef TW_HAVE_TRAIN
void BeginHeadJson(const Graph& graph, const Head& head, JsonWriter* json) {
  // A head that is to be appended is a FULLY_CONNECTED without a place in the file.
  const Op* op = head.appended() ? nullptr : &graph.ops[static_cast<size_t>(head.op)];
  json->BeginObject();
  json->Key("op");
  json->String(op == nullptr ? OpCodeName(OpCode::kFullyConnected) : op->name());
  json->Key("file_index");
  json->Int(op == nullptr ? -1 : op->file_index);
  json->Key("appended");
  json->Bool(head.appended());
  json->Key("output");
  json->Int(head.output);
  json->Key("embedding");
  json->String(graph.values[static_cast<size_t>(head.feature)].name);
  json->Key("logits");
  json->String(op == nullptr ? "" : graph.values[static_cast<size_t>(head.logits)].name);
  json->Key("n_features");
  json->Int(head.dim);
  json->Key("n_positions");
  json->Int(head.n_positions);
  json->Key("n_classes");
  json->Int(head.n_classes);
  json->Key("quantized");
  json->Bool(head.quantized);
  json->Key("storage");
  json->String(HeadStorageName(head.format.storage));
  json->Key("tail");
  json->BeginArray();
  for (int i : head.tail) json->String(graph.ops[static_cast<size_t>(i)].name());
  json->EndArray();
}
#endif

void WriteHeadJson(const Model& model, JsonWriter* json) {
  json->Key("head");
#ifdef TW_HAVE_TRAIN
  if (model.main().outputs.empty()) {
    json->Null();
    json->Key("head_reason");
    json->String("the model has no outputs");
    return;
  }
  const Result<Head> head = FindHead(model.main(), 0);
  if (head.ok()) {
    BeginHeadJson(model.main(), head.value(), json);
    json->EndObject();
  } else {
    json->Null();
  }
  json->Key("head_reason");
  json->String(head.ok() ? "" : head.status().message());
#else
  (void)model;
  json->Null();
  json->Key("head_reason");
  json->String("this library was built without training");
#endif
}

}  // namespace api
}  // namespace topwork
