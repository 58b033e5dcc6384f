// PinToCpu: names are compared with the operators of the file, before any is folded or fused.
#include "runtime/plan/pin.h"

#include <algorithm>
#include <cctype>

namespace topwork {
namespace {

constexpr size_t kMaxSuggestions = 6;

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool Means(const WorkGraph& graph, const std::string& name, const Op& op) {
  if (name == StrFormat("#{}", op.file_index) || Lower(name) == Lower(op.name())) return true;
  // Operators that replaced a call go with the call.
  if (!op.inside.empty() && Lower(name) == Lower(op.inside.substr(0, op.inside.find(' ')))) {
    return true;
  }
  return std::any_of(op.outputs.begin(), op.outputs.end(), [&](int v) {
    return v >= 0 && graph.values[static_cast<size_t>(v)].name == name;
  });
}

// Changes of one character that turn a into b (Levenshtein's distance).
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

bool LooksLike(const std::string& wanted, const std::string& name) {
  const std::string a = Lower(wanted), b = Lower(name);
  if (a.empty() || b.empty()) return false;
  if (b.find(a) != std::string::npos || a.find(b) != std::string::npos) return true;
  return EditDistance(a, b) <= 1 + a.size() / 4;
}

void Suggest(const std::string& wanted, const std::string& name, std::vector<std::string>* names) {
  if (names->size() >= kMaxSuggestions || !LooksLike(wanted, name)) return;
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

Status NoSuchOp(const WorkGraph& graph, const std::string& name, const char* purpose) {
  std::vector<std::string> near;
  int last = -1;
  for (const WorkOp& work : graph.ops) {
    last = std::max(last, work.op.file_index);
    Suggest(name, work.op.name(), &near);
  }
  for (const WorkOp& work : graph.ops) {
    for (int v : work.op.outputs) {
      if (v >= 0) Suggest(name, graph.values[static_cast<size_t>(v)].name, &near);
    }
  }
  std::string list;
  for (const std::string& one : near) list += (list.empty() ? "; near it: '" : ", '") + one + "'";
  return InvalidArgument(
      "no operator to {} is called '{}'{}; give an operator's name as in SOFTMAX, the "
      "name of a tensor that it makes, or its number, #0 to #{}",
      purpose, name, list, last);
}

Status Mark(const std::vector<std::string>& names, bool WorkOp::*mark, const char* purpose,
            WorkGraph* graph) {
  for (const std::string& name : names) {
    bool found = false;
    for (WorkOp& work : graph->ops) {
      if (!Means(*graph, name, work.op)) continue;
      work.*mark = found = true;
    }
    if (!found) return NoSuchOp(*graph, name, purpose);
  }
  return Status::Ok();
}

}  // namespace

Status PinToCpu(const std::vector<std::string>& names, WorkGraph* graph) {
  return Mark(names, &WorkOp::pinned, "keep on the CPU", graph);
}

Status PinToFloat32(const std::vector<std::string>& names, WorkGraph* graph) {
  return Mark(names, &WorkOp::pinned_to_float32, "compute in float32", graph);
}

}  // namespace topwork
