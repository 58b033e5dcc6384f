// The table of custom operators: a map under a mutex. Each entry has an OpDef of its own, whose
// functions find the entry by name (prepare) or through the state (run).
#include "kernels/contract/custom_ops.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace topwork {
namespace {

struct Entry {
  std::unique_ptr<const CustomOp> op;
  OpDef def;
};

struct Table {
  std::mutex mutex;
  std::map<std::string, Entry> entries;  // nodes never move, so names and definitions stay put
};

Table& TheTable() {
  static Table* const table = new Table();
  return *table;
}

const CustomOp* FindEntry(const char* name) {
  Table& table = TheTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.entries.find(name == nullptr ? "" : name);
  return found == table.entries.end() ? nullptr : found->second.op.get();
}

Status PrepareCustom(PrepareContext& context) {
  const CustomOp* op = FindEntry(context.params().custom_name);
  if (op == nullptr) {
    return InternalError("{} is prepared as a custom operator, but has no registered name",
                         context.Where());
  }
  return op->Prepare(context);
}

Status RunCustom(const RunContext& context) {
  return context.get_state<CustomOpState>().op->Run(context);
}

}  // namespace

Status RegisterCustomOp(const std::string& name, std::unique_ptr<const CustomOp> op) {
  Table& table = TheTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto [place, is_new] = table.entries.try_emplace(name);
  Entry& entry = place->second;
  if (is_new) {
    entry.op = std::move(op);
    entry.def = OpDef(OpCode::kCustom)
                    .Name(place->first.c_str())
                    .Versions(UINT16_MAX)
                    .Cpu(PrepareCustom, RunCustom)
                    .Effects();
    return Status::Ok();
  }
  if (entry.op->SameAs(*op)) return Status::Ok();
  return FailedPrecondition("another custom operator '{}' is registered already", name);
}

const OpDef* FindCustomOp(const std::string& name) {
  if (!kHasCustomOps) return FindOwnCustomOp(name.c_str());
  Table& table = TheTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.entries.find(name);
  if (found != table.entries.end()) return &found->second.def;
  return FindOwnCustomOp(name.c_str());
}

}  // namespace topwork
