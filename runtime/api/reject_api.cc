// C API of models that refuse: what the output "rejection" says.
#include <algorithm>
#include <iterator>

#include "runtime/api/handles.h"
#include "runtime/train/reject/rejection.h"

using topwork::api::Report;

namespace {

// The lines of the model's file of taught examples.
void ReadNames(tw_session* session) {
  if (!session->taught_names.empty()) return;
  for (const topwork::AssociatedFile& file : session->session->model().associated_files()) {
    if (file.name != topwork::kStoredNames) continue;
    for (size_t begin = 0; begin < file.content.size();) {
      const size_t end = std::min(file.content.find('\n', begin), file.content.size());
      session->taught_names.push_back(file.content.substr(begin, end - begin));
      begin = end + 1;
    }
  }
}

// Of the first line: digits behind "0.".
double Promised(const std::vector<std::string>& lines) {
  const std::string begin = std::string(topwork::kPromised) + "\t0.";
  if (lines.empty() || lines[0].compare(0, begin.size(), begin) != 0) return 0.0;
  double value = 0.0, unit = 0.1;
  for (size_t i = begin.size(); i < lines[0].size(); ++i, unit /= 10.0) {
    if (lines[0][i] < '0' || lines[0][i] > '9') return 0.0;
    value += unit * (lines[0][i] - '0');
  }
  return value;
}

}  // namespace

tw_status tw_session_get_rejection(tw_session* session, size_t row, tw_rejection* rejection) {
  TW_REQUIRE(session);
  TW_REQUIRE(rejection);
  TW_REQUIRE_IDLE(session);
  const auto port =
      std::find_if(session->outputs.begin(), session->outputs.end(),
                   [](const auto& output) { return output.name == topwork::kRejectionOutput; });
  if (port == session->outputs.end()) {
    return Report(topwork::NotFound(
        "the model refuses nothing: it was exported without tw_trainer_options.reject_rate"));
  }
  const topwork::TensorView& view = session->session->output(port->index);
  const int n_columns = view.shape.rank() == 2 ? view.shape[1] : 0;
  if (view.dtype != topwork::DType::kFloat32 || view.data == nullptr || n_columns < 2 ||
      row >= static_cast<size_t>(view.shape[0])) {
    return Report(topwork::InvalidArgument("output '{}' {} has no row {} of a verdict", port->name,
                                           view.shape.ToString(), row));
  }
  const float* values = view.as<float>() + row * static_cast<size_t>(n_columns);
  ReadNames(session);
  tw_rejection result = {};
  result.p_value = static_cast<double>(values[0]);
  result.is_unknown = values[1] > 0.5f ? 1 : 0;
  const std::vector<std::string>& lines = session->taught_names;
  result.promised = Promised(lines);
  for (int k = 2; k < n_columns && result.n_nearest < std::size(result.nearest); ++k) {
    const float line = values[k] + 1.0f;
    if (!(line >= 1.0f && line < static_cast<float>(lines.size()))) continue;
    result.nearest[result.n_nearest++] = lines[static_cast<size_t>(line)].c_str();
  }
  return Report(topwork::api::WriteStruct("tw_rejection", result, rejection));
}
