// The training run that the crash tests interrupt: a small model, few examples, several kinds of
// state (moments, a solver's history, a bounded memory). The same every time.
//
// Whatever fails ends the program with a message: these are programs, not Catch tests.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_CRASH_RUN_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_CRASH_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/trainer.h"

namespace topwork {
namespace test {

// Adam; momentum and fp16 features; L-BFGS; a bounded memory; features in a file
constexpr int kNumCrashRuns = 5;

// Prints the message and ends the program with 1 unless `ok`.
void Require(bool ok, const std::string& message);

// A trainer at the beginning of run `kind`, with its examples. Run 4 keeps a file in `folder`.
std::unique_ptr<Trainer> NewCrashRun(int kind, const std::string& folder);
// One step, or one iteration of a solver; with the last one, the fit on all examples.
void StepOnce(Trainer* trainer);
// Run 3 keeps its examples in the checkpoint.
inline bool KeepsExamples(int kind) { return kind == 3; }

// What the file says, without measured times, as bytes that can be compared; *out_step (may be
// null) is its step. Empty when the file is missing; `name` for messages when it is not sound.
std::string CheckpointState(const std::string& path, int64_t* out_step);

bool Exists(const std::string& path);
std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);
// A new folder in TMPDIR, /dev/shm or /tmp; RemoveFolder removes it with its files.
std::string NewFolder();
void RemoveFolder(const std::string& path);
std::vector<std::string> FilesIn(const std::string& folder);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_CRASH_CRASH_RUN_H_
