// Device policies: read line by line; every line must name an operator of the model.
#include "runtime/api/device_policy.h"

#include <algorithm>
#include <cstdlib>

#include "ports/port.h"

namespace topwork {
namespace api {
namespace {

constexpr const char kTitle[] = "topwork device policy 1";
constexpr size_t kMaxBytes = 1 << 20;

// The next word of the line from *at on; "" at its end.
std::string NextWord(const std::string& line, size_t* at) {
  while (*at < line.size() && line[*at] == ' ') ++*at;
  const size_t begin = *at;
  while (*at < line.size() && line[*at] != ' ') ++*at;
  return line.substr(begin, *at - begin);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

// "" or what is wrong with the line.
std::string ReadLine(const std::string& line, const Graph& graph, std::vector<std::string>* cpu_ops,
                     std::vector<std::string>* float32_ops) {
  size_t at = 0;
  const std::string where = NextWord(line, &at), number = NextWord(line, &at),
                    name = NextWord(line, &at), rest = NextWord(line, &at);
  if (where.empty()) return "";
  char* end = nullptr;
  const long index = number.size() > 1 ? std::strtol(number.c_str() + 1, &end, 10) : -1;
  if ((where != "cpu" && where != "float32") || number[0] != '#' || index < 0 || *end != '\0' ||
      name.empty() || !rest.empty()) {
    return "is not of the form 'cpu #12 CONV_2D' or 'float32 #12 CONV_2D'";
  }
  const auto op = std::find_if(graph.ops.begin(), graph.ops.end(),
                               [&](const Op& one) { return one.file_index == index; });
  if (op == graph.ops.end() || op->name() != name) {
    return StrFormat("is for another model: operator #{} of this one is {}", index,
                     op == graph.ops.end() ? "missing" : op->name());
  }
  (where == "cpu" ? cpu_ops : float32_ops)->push_back(number);
  return "";
}

}  // namespace

Status ParseDevicePolicy(const std::string& text, const std::string& path, const Graph& graph,
                         std::vector<std::string>* cpu_ops, std::vector<std::string>* float32_ops) {
  const std::vector<std::string> lines = Lines(text);
  if (lines.empty() || lines[0] != kTitle) {
    return InvalidArgument(
        "{}: is no device policy; 'topwork verify --policy' writes them, with '{}' as first line",
        path, kTitle);
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string wrong = ReadLine(lines[i], graph, cpu_ops, float32_ops);
    if (wrong.empty()) continue;
    return InvalidArgument("{}: line {} {}", path, i + 1, wrong);
  }
  return Status::Ok();
}

Status ReadDevicePolicy(const std::string& path, const Graph& graph,
                        std::vector<std::string>* cpu_ops, std::vector<std::string>* float32_ops) {
  port::MappedFile file;
  const int error = port::MapFile(path.c_str(), &file);
  if (error != 0) {
    return IoError("{}: cannot be read: {}", path, port::ErrorText(error));
  }
  const std::string text(reinterpret_cast<const char*>(file.data),
                         std::min<size_t>(file.size, file.data != nullptr ? kMaxBytes : 0));
  port::UnmapFile(&file);
  return ParseDevicePolicy(text, path, graph, cpu_ops, float32_ops);
}

}  // namespace api
}  // namespace topwork
