// A model as JSON, for tw_model_describe; and the head as JSON, for tw_trainer_describe too.
#ifndef TOPWORK_RUNTIME_API_MODEL_JSON_H_
#define TOPWORK_RUNTIME_API_MODEL_JSON_H_

#include <string>

#include "models/format/model.h"
#include "runtime/base/json.h"

namespace topwork {

struct Head;

namespace api {

std::string ModelToJson(const Model& model);
// {"op", "file_index", "embedding", "logits", "n_features", "n_classes", "quantized", "tail"}; the
// object is left open, for more members.
void BeginHeadJson(const Graph& graph, const Head& head, JsonWriter* json);
// The members "head" (null where there is none) and "head_reason" of the model's first output.
void WriteHeadJson(const Model& model, JsonWriter* json);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_MODEL_JSON_H_
