// Kills training runs that write checkpoints, heads and models, at random moments with SIGKILL.
//
//   topwork_kill_test [kills]    500 where none are given, and more until every kind of run ended
// A run is a process of its own that goes on from the checkpoint and saves after every step.
// After each kill: the checkpoint and the generation before are bit for bit what an uninterrupted
// run has at that step, heads and models are whole, no step that was saved is lost, and resuming
// from there ends with the bits of the uninterrupted run. A power cut is torn_write_test.cc's.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "runtime/train/random.h"
#include "tests/runtime/train/crash/crash_run.h"

namespace topwork {
namespace test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDefaultKills = 500;
constexpr uint64_t kSeed = 20240607;

struct Paths {
  explicit Paths(const std::string& folder)
      : checkpoint(folder + "/run.twc"),
        previous(checkpoint + ".previous"),
        head(folder + "/head.twh"),
        model(folder + "/model.tflite") {}
  std::string checkpoint, previous, head, model;
};

void SaveAll(Trainer* trainer, int kind, const Paths& paths) {
  const Status saved = trainer->SaveCheckpoint(paths.checkpoint, KeepsExamples(kind));
  Require(saved.ok(), saved.ToString());
  const Status head = trainer->exchange().Save(paths.head);
  Require(head.ok(), head.ToString());
  const Status model = trainer->ExportFile(paths.model);
  Require(model.ok(), model.ToString());
}

void Restore(Trainer* trainer, const std::string& path) {
  const Status restored = trainer->RestoreCheckpoint(path);
  Require(restored.ok(), restored.ToString());
}

// What the uninterrupted run has at every step.
struct Reference {
  std::vector<std::string> states;  // by step
  std::set<std::string> heads, models;
  double start_seconds = 0.0;  // until training begins
  double seconds_per_save = 0.0;
};

Reference MakeReference(int kind, const std::string& folder) {
  Reference reference;
  const Paths paths(folder);
  const Clock::time_point begin = Clock::now();
  const auto trainer = NewCrashRun(kind, folder);
  reference.states.push_back(std::string());
  const Clock::time_point start = Clock::now();
  reference.start_seconds = std::chrono::duration<double>(start - begin).count();
  while (!trainer->finished()) {
    StepOnce(trainer.get());
    SaveAll(trainer.get(), kind, paths);
    int64_t step = 0;
    reference.states.push_back(CheckpointState(paths.checkpoint, &step));
    Require(step + 1 == static_cast<int64_t>(reference.states.size()), "steps are not counted");
    reference.heads.insert(ReadBytes(paths.head));
    reference.models.insert(ReadBytes(paths.model));
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  const double n = static_cast<double>(reference.states.size() - 1);
  reference.seconds_per_save = seconds.count() / n;
  for (const std::string& name : FilesIn(folder)) std::remove((folder + "/" + name).c_str());
  return reference;
}

// The killed process. Says through the pipe when it begins.
int Train(const std::string& folder, int kind, int pipe_end) {
  const Paths paths(folder);
  Require(write(pipe_end, "t", 1) == 1, "nobody listens");
  const auto trainer = NewCrashRun(kind, folder);
  if (Exists(paths.checkpoint)) Restore(trainer.get(), paths.checkpoint);
  while (!trainer->finished()) {
    StepOnce(trainer.get());
    SaveAll(trainer.get(), kind, paths);
  }
  return 0;
}

void SleepFor(double seconds) {
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  while (Clock::now() < end) usleep(20);
}

// Runs a child and kills it `delay` seconds after it began; false when it ended before.
bool RunAndKill(const std::string& folder, int kind, double delay) {
  int pipe_ends[2];
  Require(pipe(pipe_ends) == 0, "no pipe");
  const pid_t child = fork();
  Require(child >= 0, "no process");
  if (child == 0) {
    close(pipe_ends[0]);
    _exit(Train(folder, kind, pipe_ends[1]));
  }
  close(pipe_ends[1]);
  char byte = 0;
  const bool began = read(pipe_ends[0], &byte, 1) == 1;
  if (began) {
    SleepFor(delay);
    kill(child, SIGKILL);
  }
  int status = 0;
  Require(waitpid(child, &status, 0) == child, "the child is gone");
  close(pipe_ends[0]);
  if (WIFSIGNALED(status)) {
    Require(WTERMSIG(status) == SIGKILL, "the run crashed: " + std::to_string(WTERMSIG(status)));
    return true;
  }
  Require(WEXITSTATUS(status) == 0, "the run failed: " + std::to_string(WEXITSTATUS(status)));
  return false;
}

struct Counts {
  int kills = 0;
  int finished = 0;   // runs that were done before
  int in_a_save = 0;  // kills that left a temporary file behind
  int64_t steps = 0;  // resumed in all
};

// Everything in the folder is whole, and *last_step has not been lost.
void CheckFolder(const Reference& reference, const std::string& folder, int kind,
                 int64_t* last_step, Counts* counts) {
  const Paths paths(folder);
  int64_t step = 0;
  const std::string state = CheckpointState(paths.checkpoint, &step);
  Require(step >= *last_step, "a saved step was lost");
  Require(state == reference.states[static_cast<size_t>(step)],
          "the checkpoint of step " + std::to_string(step) + " is not that of the whole run");
  *last_step = step;
  int64_t before = 0;
  const std::string previous = CheckpointState(paths.previous, &before);
  Require(previous == reference.states[static_cast<size_t>(before)] && before <= step,
          "the generation before is not one of the run");
  Require(step < 2 || before >= step - 1, "the generation before is too old");
  if (Exists(paths.head)) {
    Require(reference.heads.count(ReadBytes(paths.head)) == 1, "the head file is torn");
  }
  if (Exists(paths.model)) {
    Require(reference.models.count(ReadBytes(paths.model)) == 1, "the exported model is torn");
  }
  const auto trainer = NewCrashRun(kind, folder);
  if (step > 0) Restore(trainer.get(), paths.checkpoint);
  const int64_t end = static_cast<int64_t>(reference.states.size()) - 1;
  while (!trainer->finished()) {
    StepOnce(trainer.get());
    ++counts->steps;
  }
  Require(trainer->state().progress.step == end, "the resumed run took another number of steps");
  const std::string resumed = paths.model + ".resumed";
  const Status saved = trainer->SaveCheckpoint(resumed, KeepsExamples(kind));
  Require(saved.ok(), saved.ToString());
  Require(CheckpointState(resumed, nullptr) == reference.states.back(),
          "the resumed run ended with other bits");
  std::remove(resumed.c_str());
}

bool IsTemporary(const std::string& name) { return name.find(".tmp") != std::string::npos; }

int Test(int n_kills) {
  const std::string folder = NewFolder();
  std::vector<Reference> references;
  for (int kind = 0; kind < kNumCrashRuns; ++kind) {
    references.push_back(MakeReference(kind, folder));
  }
  Random random(kSeed);
  Counts counts;
  int kind = 0;
  int64_t last_step = 0;
  int n_runs = 0;
  size_t most_temporaries = 0;
  while (counts.kills < n_kills || n_runs < kNumCrashRuns) {
    const Reference& reference = references[static_cast<size_t>(kind)];
    const double most = reference.start_seconds + 5.0 * reference.seconds_per_save;
    const double delay = static_cast<double>(random.Below(1000)) / 1000.0 * most;
    const bool killed = RunAndKill(folder, kind, delay);
    ++(killed ? counts.kills : counts.finished);
    const std::vector<std::string> files = FilesIn(folder);
    const size_t temporaries =
        static_cast<size_t>(std::count_if(files.begin(), files.end(), IsTemporary));
    most_temporaries = std::max(most_temporaries, temporaries);
    if (killed && temporaries > 0) ++counts.in_a_save;
    CheckFolder(reference, folder, kind, &last_step, &counts);
    // What killed runs leave behind does not pile up: a file a target at most.
    Require(temporaries <= 4, std::to_string(temporaries) + " temporary files");
    if (last_step + 1 < static_cast<int64_t>(reference.states.size())) continue;
    for (const std::string& name : files) std::remove((folder + "/" + name).c_str());
    last_step = 0;
    kind = (kind + 1) % kNumCrashRuns;
    ++n_runs;
  }
  RemoveFolder(folder);
  std::printf(
      "%d kills (seed %llu), %d runs ended by themselves; %d times a temporary file was there, at "
      "most %zu at once; %lld steps resumed, all ends bit for bit\n",
      counts.kills, static_cast<unsigned long long>(kSeed), counts.finished, counts.in_a_save,
      most_temporaries, static_cast<long long>(counts.steps));
  return 0;
}

}  // namespace
}  // namespace test
}  // namespace topwork

int main(int argc, char** argv) {
  const int n_kills = argc > 1 ? std::atoi(argv[1]) : topwork::test::kDefaultKills;
  return topwork::test::Test(n_kills);
}
