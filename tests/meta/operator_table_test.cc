// kernels/OPERATORS.md is what the library's own tables say, and golden cases cover what it lists.
//
// Golden cases are counted by operator, type and version: every operator of every golden model is
// one case. (What versions are, and which cases stand for them: tests/support/golden/versions.py.)
// To write the file anew: TOPWORK_WRITE_OPERATORS=kernels/OPERATORS.md topwork_tests "[meta]"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/contract/custom_ops.h"
#include "kernels/contract/flex_ops.h"
#include "kernels/contract/kernel.h"
#include "kernels/gpu/gpu_context.h"
#include "models/format/model.h"
#include "tests/support/device_operators.h"
#include "tests/support/embedded.h"
#include "tests/support/op_cases.h"

namespace topwork {
namespace test {
namespace operator_table_test {

using Versions = std::map<int, int>;
using Counts = std::map<std::string, std::map<DType, Versions>>;  // by operator, type, version

// Versions without golden cases.
struct Exception {
  const char* op;
  int version;
  const char* why;
};
constexpr Exception kWithoutCases[] = {
    {"BROADCAST_TO", 1, "LiteRT refuses it: the number belonged to another operator"},
};

void CountModel(const Model& model, Counts* counts) {
  for (const Graph& graph : model.subgraphs()) {
    for (const Op& op : graph.ops) {
      const OpDef* def = FindOp(op.code);
      const size_t i = def == nullptr ? 0 : def->data_input;
      const int v = i < op.inputs.size() ? op.inputs[i] : op.outputs.empty() ? -1 : op.outputs[0];
      // CALL_ONCE has neither inputs nor outputs: it fills resources.
      const DType dtype = v >= 0 ? graph.values[static_cast<size_t>(v)].dtype : DType::kResource;
      ++(*counts)[op.name()][dtype][op.version];
    }
  }
}

// Counted once.
const Counts& CountGoldenCases() {
  static const Counts counts = [] {
    Counts all;
    ForEachCase(IsAccepted, [&](const OpCase& one) {
      auto model = Model::OpenMemory(one.model, one.model_bytes, false);
      REQUIRE(model.ok());
      CountModel(**model, &all);
    });
    return all;
  }();
  return counts;
}

// "float32 1, 3; int8 2"; without the versions where the operator has one only.
std::string Types(const Counts& counts, const std::string& name, int max_version) {
  std::string text;
  const auto found = counts.find(name);
  if (found == counts.end()) return text;
  for (const auto& [dtype, versions] : found->second) {
    if (!text.empty()) text += max_version > 1 ? "; " : ", ";
    text += DTypeName(dtype);
    if (max_version == 1) continue;
    for (const auto& [version, n] : versions) {
      text += (version == versions.begin()->first ? " " : ", ") + std::to_string(version);
    }
  }
  return text;
}

// "float32, int8".
std::string DeviceTypes(const OpDef& op) {
  const auto found = PlannedDeviceOperators().find(op.name());
  std::string text;
  if (found == PlannedDeviceOperators().end()) return text;
  for (const std::string& type : found->second) text += (text.empty() ? "" : ", ") + type;
  return text;
}

// TensorFlow's operators that are builtin ones (kernels/contract/flex_ops.h).
std::string FlexNames() {
  std::string text =
      "Operators that a converter left as TensorFlow's (`FlexMul`) are computed where they are one "
      "of these under TensorFlow's name\n(`SelectV2` for SELECT_V2):\n";
  for (int code = 0; code < kNumOpCodes; ++code) {
    std::string name = OpCodeName(static_cast<OpCode>(code)), flex = "Flex";
    for (const char c : name) {
      if (c != '_') flex += c;
    }
    if (FindFlexOp(flex.c_str()) == nullptr) continue;
    const size_t line = text.size() - (text.rfind('\n') + 1);
    text += (text.back() == '\n' ? "" : line + name.size() > 110 ? ",\n" : ", ") + name;
  }
  text += ";\nand under other names:";
  for (const char* name :
       {"AddV2",      "All",      "Any",         "AvgPool",  "BatchMatMulV2",   "BatchMatMulV3",
        "BiasAdd",    "ConcatV2", "EnsureShape", "GatherV2", "Identity",        "LRN",
        "MatMul",     "Max",      "MaxPool",     "Min",      "PreventGradient", "Prod",
        "RealDiv",    "Rint",     "Sigmoid",     "Snapshot", "StopGradient",    "SubV2",
        "TruncateDiv"}) {
    REQUIRE(FindFlexOp((std::string("Flex") + name).c_str()) != nullptr);
    text += std::string(" ") + name;
  }
  return text +
         ".\nMultinomial and the random operators draw TensorFlow's Philox numbers of their "
         "seeds.\n\n";
}

// What tests compare with TensorFlow's own answers, with the types of the first inputs.
std::string FlexAnswers() {
  std::map<std::string, std::set<std::string>> types;
  size_t n = 0;
  for (const EmbeddedFile *file = EmbeddedFiles(&n), *end = file + n; file != end; ++file) {
    const std::string name = file->name;
    const bool is_model =
        name.rfind("tests/data/flex/", 0) == 0 && name.find(".tflite") + 7 == name.size();
    if (!is_model) continue;
    auto model = Model::OpenMemory(file->data, file->size, false);
    REQUIRE(model.ok());
    for (const Op& op : (*model)->main().ops) {
      if (op.custom_name.rfind("Flex", 0) != 0 || op.inputs.empty()) continue;
      const Value& first = (*model)->main().values[static_cast<size_t>(op.inputs[0])];
      types[op.custom_name.substr(4)].insert(DTypeName(first.dtype));
    }
  }
  std::string text = std::to_string(types.size()) +
                     " of TensorFlow's names have its own answers in "
                     "tests/data/flex, by the type of the first input:\n";
  for (const auto& [name, dtypes] : types) {
    std::string entry = name;
    for (const std::string& dtype : dtypes) entry += " " + dtype;
    const size_t line = text.size() - (text.rfind('\n') + 1);
    text += (text.back() == '\n' ? "" : line + entry.size() > 110 ? ",\n" : ", ") + entry;
  }
  return text + ".\n\n";
}

std::string Table(const Counts& counts) {
  std::string text =
      "# Operators\n\n"
      "Written by `TOPWORK_WRITE_OPERATORS=kernels/OPERATORS.md topwork_tests \"[meta]\"` from the "
      "library's tables.\n"
      "OpenCL: the types of the data that device kernels take in golden cases (bytes: "
      "kernels/README.md).\nGradient: layers before the last can be trained through it. "
      "Types: of the data, as golden cases compare them\nwith LiteRT's reference kernels, each "
      "with its versions, at least 20 cases for each. LiteRT lacks STABLEHLO_CBRT: its cases "
      "answer by\nits definition in float64.\n\n"
      "| Operator | Versions | OpenCL | Gradient | Types compared with LiteRT "
      "|\n|---|---|---|---|---|\n";
  std::string missing;
  for (int code = 0; code < kNumOpCodes; ++code) {
    const OpCode op = static_cast<OpCode>(code);
    const std::string name = OpCodeName(op);
    if (op == OpCode::kCustom || name.empty() || name == "UNKNOWN_BUILTIN") continue;
    const OpDef* def = FindOp(op);
    if (def == nullptr) {
      const size_t line = missing.size() - (missing.rfind('\n') + 1);
      missing += (missing.empty() ? "" : line + name.size() > 110 ? ",\n" : ", ") + name;
      continue;
    }
    text += "| " + name + " | " + (def->max_version > 1 ? "1 to " : "") +
            std::to_string(def->max_version) + " | " + DeviceTypes(*def) + " | " +
            (def->gradient != nullptr ? "✓" : "") + " | " + Types(counts, name, def->max_version) +
            " |\n";
  }
  text +=
      "\nCustom operators of the library (`tw_op_register` adds others, or replaces one of "
      "these):\n";
  ForEachOp([&](const OpDef& op) {
    if (op.custom_name != nullptr) text += std::string("`") + op.custom_name + "`, ";
  });
  text.replace(text.size() - 2, 2, ".\n\n");
  text += FlexNames() + FlexAnswers();
  text +=
      "Lists of tensors hold any type of whole bytes; with Select TF operators their names begin "
      "with Flex (`FlexTensorListStack`).\n\n";
  text +=
      "## What is refused\n\nThese operators of the format are refused by name when a model "
      "that has them is planned:\n" +
      missing + ".\n";
  return text;
}

std::string Embedded(const char* name) {
  const EmbeddedFile* file = FindEmbedded(name);
  REQUIRE(file != nullptr);
  return std::string(reinterpret_cast<const char*>(file->data), file->size);
}

#ifdef TW_HAVE_TRAIN
// The lines of `text` that `other` lacks.
std::string LinesBeyond(const std::string& text, const std::string& other) {
  std::set<std::string> known;
  std::istringstream others(other), lines(text);
  for (std::string line; std::getline(others, line);) known.insert(line);
  std::string beyond;
  for (std::string line; std::getline(lines, line);) {
    if (known.count(line) == 0) beyond += line + "\n";
  }
  return beyond;
}

TEST_CASE("OPERATORS.md is up to date", "[meta]") {
  const std::string table = Table(CountGoldenCases());
  if (const char* path = std::getenv("TOPWORK_WRITE_OPERATORS")) {
    std::ofstream(path, std::ios::binary) << table;
  }
  INFO("run TOPWORK_WRITE_OPERATORS=kernels/OPERATORS.md topwork_tests \"[meta]\" and build again");
  const std::string page = Embedded("kernels/OPERATORS.md");
  CHECK(LinesBeyond(table, page) == "");
  CHECK(LinesBeyond(page, table) == "");
}
#endif

TEST_CASE("golden cases: each operator with device kernels is planned for a device", "[meta]") {
  const OperatorTypes& on_device = PlannedDeviceOperators();
  std::string absent;
  ForEachOp([&](const OpDef& op) {
    if (op.plan_gpu != nullptr && on_device.count(op.name()) == 0) {
      absent += std::string("\n") + op.name();
    }
  });
  INFO("no golden case of theirs goes to a device:" << absent);
  CHECK(absent.empty());
}

TEST_CASE("rows: an operator's types are those of its golden cases", "[meta]") {
  const Counts& counts = CountGoldenCases();
  ForEachOp([&](const OpDef& op) {
    if (op.code == OpCode::kCustom) return;
    uint32_t types = 0;
    const auto found = counts.find(op.name());
    if (found != counts.end()) {
      for (const auto& [dtype, versions] : found->second) types |= 1u << static_cast<int>(dtype);
    }
    INFO(op.name());
    CHECK(op.types == types);
  });
}

TEST_CASE("golden cases: 20 at least for each operator, type and version", "[meta]") {
  std::string few;
  for (const auto& [name, types] : CountGoldenCases()) {
    for (const auto& [dtype, versions] : types) {
      for (const auto& [version, n] : versions) {
        if (n >= 20) continue;
        few += "\n" + name + " " + DTypeName(dtype) + " " + std::to_string(version) + ": " +
               std::to_string(n);
      }
    }
  }
  INFO("fewer than 20 golden cases:" << few);
  CHECK(few.empty());
}

TEST_CASE("golden cases: every version of every operator", "[meta]") {
  std::set<std::pair<std::string, int>> absent;
  const Counts& counts = CountGoldenCases();
  for (int code = 0; code < kNumOpCodes; ++code) {
    const OpDef* def = FindOp(static_cast<OpCode>(code));
    if (def == nullptr || static_cast<OpCode>(code) == OpCode::kCustom) continue;
    for (int version = 1; version <= def->max_version; ++version)
      absent.insert({def->name(), version});
  }
  for (const auto& [name, types] : counts) {
    for (const auto& [dtype, versions] : types) {
      for (const auto& [version, n] : versions) absent.erase({name, version});
    }
  }
  for (const Exception& one : kWithoutCases) {
    INFO(one.op << " " << one.version << " has cases; take it from the list");
    CHECK(absent.erase({one.op, one.version}) == 1);
  }
  std::string text;
  for (const auto& [name, version] : absent) text += "\n" + name + " " + std::to_string(version);
  INFO("versions without a golden case:" << text);
  CHECK(text.empty());
}

}  // namespace operator_table_test
}  // namespace test
}  // namespace topwork
