// The head of a model in the C API's terms.
#ifndef TOPWORK_RUNTIME_API_MODEL_HEAD_H_
#define TOPWORK_RUNTIME_API_MODEL_HEAD_H_

#include "models/format/model.h"
#include "topwork/topwork.h"

namespace topwork {

struct Head;

namespace api {

// Names are those of the graph, or static.
tw_head_info HeadInfo(const Graph& graph, const Head& head);
// The head in front of an output. UNSUPPORTED says why there is none.
Status DescribeHead(const Graph& graph, int output, tw_head_info* info);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_MODEL_HEAD_H_
