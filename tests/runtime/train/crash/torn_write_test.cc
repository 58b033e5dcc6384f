// Power cuts in the middle of a save: every state that a POSIX file system may be left in, of
// checkpoints, heads and exported models. The real calls are recorded (fs_record), the cuts are
// computed from them (fs_crash).
//
//   as it is       every state holds exactly the old or the new generation, the generation before
//                  is sound as well, and nothing is lost once the save has returned
//   without fsync  a disk that does not keep its promise tears files; the loader takes each of them
//                  for what it is: an old or new state whole, or a damaged file that it refuses
#include <cstdio>
#include <set>

#include "models/format/checkpoint_file.h"
#include "models/format/head_file.h"
#include "runtime/train/random.h"
#include "runtime/train/statistics/learner.h"
#include "tests/runtime/train/crash/crash_run.h"
#include "tests/runtime/train/crash/fs_crash.h"

namespace topwork {
namespace test {
namespace {

std::string Describe(const std::vector<FsCall>& calls) {
  std::string text;
  for (const FsCall& call : calls) {
    text += (text.empty() ? "" : ", ") + std::string(FsCallName(call.kind));
  }
  return text;
}

Files FilesAt(const std::vector<std::string>& paths) {
  Files files;
  for (const std::string& path : paths) {
    if (Exists(path)) files[path] = ReadBytes(path);
  }
  return files;
}

// One save of one or two files.
struct Save {
  const char* name;
  std::vector<std::string> paths;  // the target first
  std::function<void()> work;
};

struct Result {
  std::vector<FsCall> calls;
  std::set<Files> states;  // distinct ones
  int64_t n_states = 0;
};

Result RunSave(const Save& save) {
  const Files before = FilesAt(save.paths);
  Result result;
  result.calls = RecordFsCalls(save.work);
  const Files after = FilesAt(save.paths);
  const std::string& target = save.paths[0];
  for (size_t n = 0; n <= result.calls.size(); ++n) {
    ForEachCrashState(before, result.calls, n, save.paths, [&](const Files& state) {
      ++result.n_states;
      result.states.insert(state);
      const auto is = [&](const Files& files, const std::string& path) {
        const auto here = state.find(path);
        const auto there = files.find(path);
        return (here == state.end()) == (there == files.end()) &&
               (here == state.end() || here->second == there->second);
      };
      const std::string where = std::string(save.name) + ", cut behind call " + std::to_string(n) +
                                " of " + Describe(result.calls) + ": ";
      for (const std::string& path : save.paths) {
        Require(is(before, path) || is(after, path), where + path + " is neither old nor new");
      }
      // The generation before is put away before the target changes.
      if (is(after, target) && !is(before, target) && save.paths.size() > 1) {
        Require(state.count(save.paths[1]) == before.count(target),
                where + "the generation before is missing");
      }
      Require(n < result.calls.size() || state == after, where + "the save returned too early");
    });
  }
  std::printf("%s: %s; %lld states, %zu different\n", save.name, Describe(result.calls).c_str(),
              static_cast<long long>(result.n_states), result.states.size());
  Require(result.states.size() >= 2, "old and new state must both come up");
  return result;
}

// The same calls without any fsync of a file: what the loader makes of all that can be left.
void CheckTorn(const Save& save, const Result& recorded, const Files& before,
               const std::function<bool(const std::string&)>& refuses) {
  std::vector<FsCall> calls;
  for (const FsCall& call : recorded.calls) {
    if (call.kind != FsCall::kSyncFile) calls.push_back(call);
  }
  const std::string& target = save.paths[0];
  const Files after = FilesAt(save.paths);
  std::set<std::string> contents;
  for (size_t n = 0; n <= calls.size(); ++n) {
    ForEachCrashState(before, calls, n, {target}, [&](const Files& state) {
      if (state.count(target) != 0) contents.insert(state.at(target));
    });
  }
  size_t n_torn = 0;
  for (const std::string& content : contents) {
    const bool whole =
        content == after.at(target) || (before.count(target) != 0 && content == before.at(target));
    n_torn += whole ? 0 : 1;
    Require(refuses(content) != whole, std::string(save.name) + ": a torn file is taken for whole");
  }
  std::printf("  without fsync: %zu torn files, all refused\n", n_torn);
  Require(n_torn > 100, "files should have been torn");
}

bool RefusesCheckpoint(const std::string& bytes) {
  const Span<const uint8_t> view(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return DecodeCheckpoint(view).status().code() == StatusCode::kCorrupt;
}

bool RefusesHead(const std::string& bytes) {
  const Span<const uint8_t> view(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return DecodeHead(view).status().code() == StatusCode::kCorrupt;
}

// Restores every state that came up and trains to the end.
void CheckResumes(const Result& result, int kind, const std::string& folder,
                  const std::string& checkpoint, const std::string& end) {
  for (const Files& state : result.states) {
    for (const char* suffix : {"", ".previous"}) std::remove((checkpoint + suffix).c_str());
    for (const auto& file : state) WriteBytes(file.first, file.second);
    const auto trainer = NewCrashRun(kind, folder);
    if (state.count(checkpoint) != 0) {
      const Status restored = trainer->RestoreCheckpoint(checkpoint);
      Require(restored.ok(), restored.ToString());
    }
    while (!trainer->finished()) StepOnce(trainer.get());
    const std::string resumed = checkpoint + ".resumed";
    Require(trainer->SaveCheckpoint(resumed, KeepsExamples(kind)).ok(), "cannot save");
    Require(CheckpointState(resumed, nullptr) == end, "resumed to other bits");
    std::remove(resumed.c_str());
  }
}

void TestCheckpoints(int kind, const std::string& folder) {
  const std::string path = folder + "/run.twc";
  auto whole = NewCrashRun(kind, folder);
  while (!whole->finished()) StepOnce(whole.get());
  Require(whole->SaveCheckpoint(path, KeepsExamples(kind)).ok(), "cannot save");
  const std::string end = CheckpointState(path, nullptr);
  std::remove(path.c_str());
  whole.reset();  // gives the file back

  const auto trainer = NewCrashRun(kind, folder);
  for (const char* name : {"first checkpoint", "second checkpoint", "third checkpoint"}) {
    StepOnce(trainer.get());
    const Save save = {name, {path, path + ".previous"}, [&] {
                         const Status saved = trainer->SaveCheckpoint(path, KeepsExamples(kind));
                         Require(saved.ok(), saved.ToString());
                       }};
    const Files before = FilesAt(save.paths);
    const Result result = RunSave(save);
    if (kind == 0) CheckTorn(save, result, before, RefusesCheckpoint);
    const Files after = FilesAt(save.paths);
    CheckResumes(result, kind, folder, path, end);
    for (const std::string& file : save.paths) std::remove(file.c_str());
    for (const auto& file : after) WriteBytes(file.first, file.second);
  }
  for (const std::string& name : FilesIn(folder)) std::remove((folder + "/" + name).c_str());
}

void TestHeadsAndModels(const std::string& folder) {
  const auto trainer = NewCrashRun(0, folder);
  const std::string head = folder + "/head.twh";
  const std::string model = folder + "/model.tflite";
  for (const char* generation : {"first", "second"}) {
    for (int i = 0; i < 3; ++i) StepOnce(trainer.get());
    const std::string head_name = std::string(generation) + " head";
    const Save save_head = {head_name.c_str(), {head}, [&] {
                              const Status saved = trainer->exchange().Save(head);
                              Require(saved.ok(), saved.ToString());
                            }};
    const Files before = FilesAt({head});
    CheckTorn(save_head, RunSave(save_head), before, RefusesHead);
    const std::string model_name = std::string(generation) + " model";
    RunSave({model_name.c_str(), {model}, [&] {
               const Status saved = trainer->ExportFile(model);
               Require(saved.ok(), saved.ToString());
             }});
  }
}

// A file that has its name is written, whatever its folder says: nobody else is blamed for it later.
void TestFolderSyncs(const std::string& folder) {
  const std::string path = folder + "/run.twc";
  const auto trainer = NewCrashRun(0, folder);
  FailFolderSyncs(true);
  for (int i = 0; i < 2; ++i) {
    StepOnce(trainer.get());
    RecordFsCalls([&] {
      const Status saved = trainer->SaveCheckpoint(path, false);
      Require(saved.ok(), "a folder that is not synced: " + saved.ToString());
    });
  }
  FailFolderSyncs(false);
  Require(NewCrashRun(0, folder)->RestoreCheckpoint(path).ok(), "it is the second save's");
  for (const std::string& name : FilesIn(folder)) std::remove((folder + "/" + name).c_str());
}

// A learner's memory that grows and shrinks.
void TestMemories(const std::string& folder) {
  const auto trainer = NewCrashRun(0, folder);
  auto created = Learner::Create(trainer.get(), {"a", "b"}, 1.0, true);
  Require(created.ok(), created.status().ToString());
  Learner& learner = **created;
  const std::string path = folder + "/mine.memory";
  const size_t n_floats = trainer->input(0).bytes() / sizeof(float);
  for (const char* generation : {"first memory", "second memory", "third memory"}) {
    Random random(static_cast<uint64_t>(generation[0]));
    std::vector<float> x;
    std::vector<std::string> ids;
    const std::vector<int32_t> labels = {0, 1, 0};
    for (size_t i = 0; i < 3 * n_floats; ++i) x.push_back(static_cast<float>(random.Gaussian()));
    for (int i = 0; i < 3; ++i) ids.push_back(std::string(generation) + std::to_string(i));
    const Status added = learner.Add(
        Examples::FromArray(x.data(), n_floats * sizeof(float), labels.data(), 3), ids, nullptr);
    Require(added.ok(), added.ToString());
    Require(learner.Remove({{ids[2]}, {}, nullptr, nullptr}).ok(), "cannot remove");
    const Save save = {generation, {path, path + ".previous"}, [&] {
                         const Status saved = learner.Save(path);
                         Require(saved.ok(), saved.ToString());
                       }};
    const Files before = FilesAt(save.paths);
    CheckTorn(save, RunSave(save), before, RefusesCheckpoint);
  }
}

}  // namespace
}  // namespace test
}  // namespace topwork

int main() {
  const std::string folder = topwork::test::NewFolder();
  // The file of run 4 belongs to one trainer at a time; its saves are those of run 0.
  for (int kind = 0; kind < 4; ++kind) {
    topwork::test::TestCheckpoints(kind, folder);
  }
  topwork::test::TestHeadsAndModels(folder);
  topwork::test::TestMemories(folder);
  topwork::test::TestFolderSyncs(folder);
  topwork::test::RemoveFolder(folder);
  return 0;
}
