// The table of custom operators: a map behind a mutex. Each entry has an OpDef of its own, whose
// functions find their way back to the entry by name (prepare) and through the state (run).
#include "kernels/contract/custom_ops.h"

#include <climits>
#include <map>
#include <mutex>
#include <utility>

namespace topwork {

extern const OpDef kCustomAudioSpectrogram;
extern const OpDef kCustomConv2dTransposeBias;
extern const OpDef kCustomDetectionPostProcess;
extern const OpDef kCustomHadamardRotation;
extern const OpDef kCustomMaxPoolWithArgmax;
extern const OpDef kCustomMaxUnpooling;
extern const OpDef kCustomMfcc;
extern const OpDef kCustomNumericVerify;

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

// The custom operators that come with the library.
const OpDef* const kOwnOps[] = {&kCustomConv2dTransposeBias, &kCustomDetectionPostProcess,
                                &kCustomMaxPoolWithArgmax,   &kCustomMaxUnpooling,
                                &kCustomAudioSpectrogram,    &kCustomMfcc,
                                &kCustomHadamardRotation,    &kCustomNumericVerify};

const CustomOp* FindEntry(const char* name) {
  Table& table = TheTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.entries.find(name == nullptr ? "" : name);
  return found == table.entries.end() ? nullptr : found->second.op.get();
}

Status PrepareCustom(PrepareContext& context) {
  const CustomOp* op = FindEntry(context.params().custom_name);
  if (op == nullptr) {
    return InternalError("%s is prepared as a custom operator, but has no registered name",
                         context.Where().c_str());
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
    entry.def = {OpCode::kCustom, place->first.c_str(), 0,        INT_MAX,
                 nullptr,         PrepareCustom,        RunCustom};
    return Status::Ok();
  }
  if (entry.op->SameAs(*op)) return Status::Ok();
  return FailedPrecondition("another custom operator '%s' is registered already", name.c_str());
}

const OpDef* FindCustomOp(const std::string& name) {
  Table& table = TheTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.entries.find(name);
  if (found != table.entries.end()) return &found->second.def;
  for (const OpDef* op : kOwnOps) {
    if (name == op->name) return op;
  }
  return nullptr;
}

Span<const OpDef* const> OwnCustomOps() { return {kOwnOps, sizeof(kOwnOps) / sizeof(kOwnOps[0])}; }

}  // namespace topwork
