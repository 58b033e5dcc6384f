// The parameters that a tail is shipped with.
#include <algorithm>

#include "runtime/train/constants.h"
#include "runtime/train/tail_graph.h"

namespace topwork {

Status ReadShippedParameters(const Graph& graph, const Head& head, const Tail& tail,
                             const TailGraph& network, Span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  if (network.n_outputs == head.n_classes) {
    std::copy(head.shipped_weights.begin(), head.shipped_weights.end(), out.begin());
    std::copy(head.shipped_bias.begin(), head.shipped_bias.end(),
              out.begin() + network.parameters[1].offset);
  }
  for (size_t i = 0; i < tail.constants.size(); ++i) {
    std::vector<float> values;
    TW_RETURN_IF_ERROR(ReadFloats(graph, tail.constants[i].value, &values));
    const ParameterInfo& info = network.parameters[i + 2];
    if (static_cast<int64_t>(values.size()) != info.size) {
      return InternalError("'%s' has %zu values", info.name.c_str(), values.size());
    }
    std::copy(values.begin(), values.end(), out.begin() + info.offset);
  }
  return Status::Ok();
}

}  // namespace topwork
