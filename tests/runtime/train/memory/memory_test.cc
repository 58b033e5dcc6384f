// The memory of training runs on a real model: what the trainer says it needs is what it takes.
//
//   topwork_memory_test MODEL    an image model with float inputs
// The heap's highest mark of each run, over what was there before, is the trainer's own figure up
// to a small constant. Features beyond the limit lie in a file, whose mapped pages do not count.
// A head of many classes that finds no memory says so, and is trained once there is some.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ports/port.h"
#include "runtime/train/random.h"
#include "runtime/train/trainer.h"
#include "tests/runtime/train/memory/heap_count.h"

namespace topwork {
namespace test {
namespace {

// Beside the trainer's figure: plans, names, threads, histories and growing vectors; and the 1 MiB
// more that CheckRoom asks for and gives back untouched.
constexpr size_t kSlack = (size_t{768} << 10) + (size_t{1} << 20);
constexpr int kExamples = 64;
constexpr int kClasses = 8;

void Require(bool ok, const std::string& message) {
  if (ok) return;
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  std::exit(1);
}

struct Run {
  const char* name;
  TrainerOptions options;
};

// Images are made on demand: none are held.
Examples MakeExamples(size_t n_floats, int64_t count = kExamples) {
  Examples examples;
  examples.count = count;
  examples.read = [n_floats](int64_t index, Span<void* const> inputs, ExampleTarget* target) {
    Random random(static_cast<uint64_t>(index) + 1);
    float* to = static_cast<float*>(inputs[0]);
    const float level = static_cast<float>(index % kClasses) / static_cast<float>(kClasses);
    for (size_t i = 0; i < n_floats; ++i) {
      to[i] = level + static_cast<float>(random.Next() % 1000) * 1e-3f - 0.5f;
    }
    target->label = static_cast<int32_t>(index % kClasses);
    return Status::Ok();
  };
  return examples;
}

double Mb(size_t bytes) { return static_cast<double>(bytes) / 1e6; }

// The heap's highest mark while the run lasts.
size_t Peak(const Run& run, const std::shared_ptr<const Model>& model, TrainerMemory* out_memory) {
  const size_t before = HeapBytes();
  ResetHeapPeak();
  auto created = Trainer::Create(model, run.options);
  Require(created.ok(), std::string(run.name) + ": " + created.status().ToString());
  Trainer* trainer = created->get();
  const Examples examples =
      MakeExamples(static_cast<size_t>(trainer->input(0).shape.NumElements()));
  const Status added = trainer->AddExamples(examples);
  Require(added.ok(), added.ToString());
  const Status trained = trainer->Train();
  Require(trained.ok(), trained.ToString());
  Require(trainer->judge().Evaluate(ExampleSet::kAll).ok(), "no evaluation");
  *out_memory = trainer->memory();
  return HeapPeak() - before;
}

void Measure(const Run& run, const std::shared_ptr<const Model>& model) {
  const std::string& file = run.options.cache_path;
  if (!file.empty()) std::remove(file.c_str());
  TrainerMemory memory;
  const size_t peak = Peak(run, model, &memory);
  std::printf(
      "%-22s %7.3f MB at most, stated %7.3f (backbone %.3f, cache %.3f, head %.3f, working %.3f), "
      "on disk %.3f\n",
      run.name, Mb(peak), Mb(memory.total_bytes), Mb(memory.backbone_bytes), Mb(memory.cache_bytes),
      Mb(memory.head_bytes), Mb(memory.working_bytes), Mb(memory.cache_file_bytes));
  Require(memory.total_bytes ==
              memory.backbone_bytes + memory.cache_bytes + memory.head_bytes + memory.working_bytes,
          "the parts are not the total");
  Require(peak <= memory.total_bytes + kSlack, "the run took more than it says");
  Require(static_cast<double>(peak) >= 0.95 * static_cast<double>(memory.total_bytes),
          "the run took much less than it says");
  if (file.empty()) return;
  Require(memory.cache_bytes <= run.options.cache_limit_bytes, "the cache exceeds its limit");
  Require(memory.cache_file_bytes > memory.cache_bytes, "nothing was put into the file");
  std::remove(file.c_str());
}

// Scores of all classes for all examples are 1 MB, of which the choice of a head holds many. Little by
// little there is more memory.
void RefuseWithoutMemory(Optimizer optimizer, const std::shared_ptr<const Model>& model) {
  constexpr int64_t kMany = 448;
  constexpr size_t kLeast = size_t{2} << 20;  // for what ends the process without memory
  constexpr size_t kStep = size_t{1} << 20;
  TrainerOptions options;
  options.n_classes = 768;
  options.optimizer = optimizer;
  options.epochs = 3;
  options.n_threads = 1;
  auto created = Trainer::Create(model, options);
  Require(created.ok(), created.status().ToString());
  Trainer* trainer = created->get();
  const size_t n_floats = static_cast<size_t>(trainer->input(0).shape.NumElements());
  Require(trainer->AddExamples(MakeExamples(n_floats, kMany)).ok(), "no examples");
  const size_t before = HeapBytes();
  int n_refused = 0;
  for (Status status = OutOfMemory("not tried"); !status.ok(); ++n_refused) {
    LimitHeap(before + kLeast + static_cast<size_t>(n_refused) * kStep);
    status = trainer->Train();
    LimitHeap(SIZE_MAX);
    Require(status.ok() || status.code() == StatusCode::kOutOfMemory, status.ToString());
  }
  std::printf("%s: %d times without memory\n", OptimizerName(optimizer), n_refused - 1);
  Require(n_refused > 1, "all was there");
}

int Test(const char* path) {
  auto opened = Model::OpenFile(path);
  Require(opened.ok(), opened.status().ToString());
  for (Optimizer optimizer :
       {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kLbfgs, Optimizer::kRidge,
        Optimizer::kImprint, Optimizer::kAuto, Optimizer::kKnn}) {
    RefuseWithoutMemory(optimizer, opened.value());
  }
  const char* folder = std::getenv("TMPDIR");
  TrainerOptions memory;
  memory.n_classes = kClasses;
  memory.n_threads = 2;
  memory.epochs = 3;
  memory.batch_size = 16;
  TrainerOptions spilled = memory;
  spilled.cache_path = std::string(folder != nullptr ? folder : "/tmp") + "/topwork_memory_test_" +
                       std::to_string(port::RandomSeed());
  spilled.cache_limit_bytes = size_t{100} << 10;
  TrainerOptions half = spilled;
  half.feature_type = FeatureType::kFloat16;
  TrainerOptions ridge = spilled;
  ridge.optimizer = Optimizer::kRidge;
  TrainerOptions lbfgs = spilled;
  lbfgs.optimizer = Optimizer::kLbfgs;
  TrainerOptions imprint = half;
  imprint.optimizer = Optimizer::kImprint;
  TrainerOptions deep = spilled;
  deep.n_layers = 2;
  deep.cache_limit_bytes = size_t{1} << 20;
  TrainerOptions replay = memory;
  replay.replay_capacity = 20;
  const Run runs[] = {{"in memory", memory},      {"file", spilled},
                      {"file, fp16", half},       {"file, ridge", ridge},
                      {"file, L-BFGS", lbfgs},    {"file, fp16, imprinting", imprint},
                      {"file, two layers", deep}, {"bounded memory", replay}};
  for (const Run& run : runs) Measure(run, opened.value());
  return 0;
}

}  // namespace
}  // namespace test
}  // namespace topwork

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return topwork::test::Test(argv[1]);
}
