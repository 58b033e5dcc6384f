// The run that the crash tests interrupt, and files.
#include "tests/runtime/train/crash/crash_run.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/format/checkpoint_file.h"
#include "runtime/train/random.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {
namespace {

constexpr int kInput = 16;
constexpr int kHidden = 12;
constexpr int kClasses = 4;
constexpr int kExamples = 48;

float Noise(Random* random) {
  return static_cast<float>(static_cast<double>(random->Next() >> 11) / 4503599627370496.0 - 1.0);
}

int AddNoise(ModelSpec* spec, const char* name, std::vector<int32_t> shape, Random* random) {
  size_t n = 1;
  for (int32_t dim : shape) n *= static_cast<size_t>(dim);
  std::vector<float> values(n);
  for (float& value : values) value = Noise(random);
  Bytes bytes(n * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return spec->AddConstant(name, DType::kFloat32, std::move(shape), std::move(bytes));
}

Bytes SmallModel() {
  Random random(11);
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, kInput});
  const int w1 = AddNoise(&spec, "w1", {kHidden, kInput}, &random);
  const int b1 = AddNoise(&spec, "b1", {kHidden}, &random);
  const int hidden = spec.AddTensor("hidden", DType::kFloat32, {1, kHidden});
  spec.AddOp(OpCode::kFullyConnected, {x, w1, b1}, {hidden},
             OptionsSpec(kFullyConnectedOptions).Byte(0, 1));
  const int w2 = AddNoise(&spec, "w2", {kClasses, kHidden}, &random);
  const int b2 = AddNoise(&spec, "b2", {kClasses}, &random);
  const int logits = spec.AddTensor("logits", DType::kFloat32, {1, kClasses});
  spec.AddOp(OpCode::kFullyConnected, {hidden, w2, b2}, {logits},
             OptionsSpec(kFullyConnectedOptions));
  const int scores = spec.AddTensor("scores", DType::kFloat32, {1, kClasses});
  spec.AddOp(OpCode::kSoftmax, {logits}, {scores}, OptionsSpec(kSoftmaxOptions).Float(0, 1.0f));
  spec.main().outputs = {scores};
  return BuildModel(spec);
}

TrainerOptions CrashOptions(int kind, const std::string& folder) {
  TrainerOptions options;
  options.n_classes = kClasses;
  options.n_threads = 1;
  options.batch_size = 7;
  options.epochs = 5;
  options.patience = 3;
  options.learning_rate = 0.02f;
  if (kind == 1) {
    options.optimizer = Optimizer::kSgd;
    options.momentum = 0.9f;
    options.nesterov = true;
    options.feature_type = FeatureType::kFloat16;
    options.schedule.schedule = Schedule::kCosine;
  } else if (kind == 2) {
    options.optimizer = Optimizer::kLbfgs;
    options.weight_decay = 1e-3f;
    options.epochs = 30;
    options.patience = 0;
  } else if (kind == 3) {
    options.optimizer = Optimizer::kAdamW;
    options.weight_decay = 0.01f;
    options.replay_capacity = 24;
  } else if (kind == 4) {
    options.cache_path = folder + "/features";
    options.cache_limit_bytes = 10 * kHidden * sizeof(float);
  }
  return options;
}

}  // namespace

void Require(bool ok, const std::string& message) {
  if (ok) return;
  std::fprintf(stderr, "FAILED: %s\n", message.c_str());
  std::exit(1);
}

std::unique_ptr<Trainer> NewCrashRun(int kind, const std::string& folder) {
  const Bytes bytes = SmallModel();
  auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  Require(model.ok(), model.status().ToString());
  auto trainer = Trainer::Create(model.value(), CrashOptions(kind, folder));
  Require(trainer.ok(), trainer.status().ToString());
  Random random(5);
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int i = 0; i < kExamples; ++i) {
    Random pattern(100 + static_cast<uint64_t>(i % kClasses));
    for (int d = 0; d < kInput; ++d) x.push_back(Noise(&pattern) + 0.7f * Noise(&random));
    y.push_back(i % kClasses);
  }
  const Status added = (*trainer)->AddExamples(
      Examples::FromArray(x.data(), kInput * sizeof(float), y.data(), kExamples));
  Require(added.ok(), added.ToString());
  return std::move(trainer.value());
}

void StepOnce(Trainer* trainer) {
  Status status = trainer->TrainFor({1e-9, 0}, nullptr, nullptr);
  const TrainingProgress& progress = trainer->state().progress;
  const bool has_all_epochs = progress.stopped_early || progress.epoch >= trainer->options().epochs;
  if (status.ok() && has_all_epochs) status = trainer->TrainFor({}, nullptr, nullptr);
  Require(status.ok(), status.ToString());
}

std::string CheckpointState(const std::string& path, int64_t* out_step) {
  if (!Exists(path)) return std::string();
  const std::string file = ReadBytes(path);
  auto data = DecodeCheckpoint({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  Require(data.ok(), path + ": " + data.status().ToString());
  TrainingProgress& progress = data->values.progress;
  progress.seconds = 0.0;
  for (EpochMetrics& epoch : progress.history) epoch.seconds = 0.0;
  if (out_step != nullptr) *out_step = progress.step;
  const auto bytes = EncodeCheckpoint(*data);
  Require(bytes.ok(), bytes.status().ToString());
  return std::string(bytes->begin(), bytes->end());
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Require(file.good(), "cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  Require(file.good(), "cannot write " + path);
}

std::string NewFolder() {
  const char* given = std::getenv("TMPDIR");
  const std::string base = given != nullptr                       ? given
                           : access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm"
                                                                  : "/tmp";
  std::string path = base + "/topwork_crash_XXXXXX";
  Require(mkdtemp(&path[0]) != nullptr, "cannot make a folder in " + base);
  return path;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = opendir(folder.c_str());
  Require(dir != nullptr, "cannot list " + folder);
  while (const dirent* entry = readdir(dir)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      names.push_back(entry->d_name);
    }
  }
  closedir(dir);
  return names;
}

void RemoveFolder(const std::string& path) {
  for (const std::string& name : FilesIn(path)) std::remove((path + "/" + name).c_str());
  rmdir(path.c_str());
}

}  // namespace test
}  // namespace topwork
