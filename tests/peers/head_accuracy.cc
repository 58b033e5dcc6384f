// Trains a head on given features through the C++ API and says how good it is; the Topwork side of
// accuracy_sklearn.py and few_shot.py.
//
//   topwork_head_accuracy MODEL FILE [NAME=VALUE...]
//
// MODEL has one input, the features. FILE (little endian): int32 features, classes, training
// examples, test examples; then both examples' features f32, training first, and labels int64
// likewise. NAME: optimizer (sgd adam adamw lbfgs ridge imprint auto), init (zeros imprint), epochs, lr,
// weight_decay, batch, seed, patience, validation, schedule, threads; what is not named has the library's default,
// except that there is no validation set. Prints accuracy on the test examples, on the training examples,
// loss on the latter, epochs and milliseconds of training.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ports/port.h"
#include "tests/peers/steps_file.h"
#include "topwork/topwork.hpp"

namespace {

struct Examples {
  std::vector<float> x;
  std::vector<int64_t> labels;
};

struct Problem {
  int32_t dim = 0, n_classes = 0;
  Examples train, test;
};

bool ReadProblem(const char* path, Problem* p) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::vector<int32_t> head;
  bool ok = topwork::peers::ReadArray(file, 4, &head);
  if (ok) {
    p->dim = head[0];
    p->n_classes = head[1];
    const size_t dim = static_cast<size_t>(head[0]);
    const size_t n_train = static_cast<size_t>(head[2]);
    const size_t n_test = static_cast<size_t>(head[3]);
    ok = topwork::peers::ReadArray(file, n_train * dim, &p->train.x) &&
         topwork::peers::ReadArray(file, n_test * dim, &p->test.x) &&
         topwork::peers::ReadArray(file, n_train, &p->train.labels) &&
         topwork::peers::ReadArray(file, n_test, &p->test.labels);
  }
  std::fclose(file);
  return ok;
}

tw_examples Borrow(const Examples& from) {
  tw_examples examples{};
  examples.struct_size = sizeof(examples);
  examples.n_examples = static_cast<int64_t>(from.labels.size());
  examples.data = from.x.data();
  examples.data_bytes = from.x.size() * sizeof(float);
  examples.dtype = TW_DTYPE_FLOAT32;
  examples.labels = from.labels.data();
  return examples;
}

bool SetOptimizer(const std::string& name, tw::TrainerOptions* options) {
  const char* const names[] = {"sgd", "adam", "adamw", "lbfgs", "ridge", "imprint", "auto"};
  for (int i = 0; i < 7; ++i) {
    if (name != names[i]) continue;
    options->optimizer.kind = static_cast<tw_optimizer>(i);
    return true;
  }
  return false;
}

bool SetOption(const std::string& text, tw::TrainerOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  const double number = std::atof(value.c_str());
  if (name == "optimizer") return SetOptimizer(value, options);
  if (name == "init") {
    options->head.init = value == "imprint" ? TW_HEAD_INIT_IMPRINT : TW_HEAD_INIT_ZEROS;
    return value == "imprint" || value == "zeros";
  }
  struct Number {
    const char* name;
    std::function<void()> set;
  };
  const Number numbers[] = {
      {"schedule", [&] { options->schedule.kind = static_cast<tw_schedule>(number); }},
      {"epochs", [&] { options->n_epochs = static_cast<int32_t>(number); }},
      {"batch", [&] { options->batch_size = static_cast<int32_t>(number); }},
      {"patience", [&] { options->stopping.patience = static_cast<int32_t>(number); }},
      {"seed", [&] { options->seed = static_cast<uint64_t>(number); }},
      {"lr", [&] { options->optimizer.learning_rate = static_cast<float>(number); }},
      {"weight_decay", [&] { options->optimizer.weight_decay = static_cast<float>(number); }},
      {"validation", [&] { options->validation_fraction = static_cast<float>(number); }},
      {"threads", [&] { options->n_threads = static_cast<int32_t>(number); }},
  };
  for (const Number& option : numbers) {
    if (name != option.name) continue;
    option.set();
    return true;
  }
  return false;
}

tw::Status Run(const char* model_path, const tw::TrainerOptions& options, const Problem& problem) {
  const tw::Result<tw::Model> model = tw::Model::OpenFile(model_path);
  if (!model.ok()) return model.status();
  tw::Result<tw::Trainer> trainer = tw::Trainer::Create(model.value(), options);
  if (!trainer.ok()) return trainer.status();
  const tw_examples train = Borrow(problem.train);
  const tw_examples test = Borrow(problem.test);
  tw::Status status = trainer->AddExamples(train);
  if (!status.ok()) return status;
  const int64_t start = topwork::port::NowNanos();
  status = trainer->Fit();
  const double ms = static_cast<double>(topwork::port::NowNanos() - start) * 1e-6;
  if (!status.ok()) return status;
  const tw::Result<tw::Evaluation> on_test = trainer->Evaluate(test);
  if (!on_test.ok()) return on_test.status();
  const tw::Result<tw::Evaluation> on_train = trainer->Evaluate(train);
  if (!on_train.ok()) return on_train.status();
  const tw::Result<tw_trainer_info> info = trainer->Info();
  if (!info.ok()) return info.status();
  std::printf("%.6f %.6f %.6f %lld %.3f\n", on_test->top1, on_train->top1, on_train->loss,
              static_cast<long long>(info->n_epochs_done), ms);
  return tw::Status();
}

}  // namespace

int main(int argc, char** argv) {
  Problem problem;
  if (argc < 3 || !ReadProblem(argv[2], &problem)) {
    std::fprintf(stderr, "usage: topwork_head_accuracy MODEL FILE [NAME=VALUE...]\n");
    return 2;
  }
  tw::TrainerOptions options;
  options.n_classes = problem.n_classes;
  options.validation_fraction = 0.0f;
  for (int i = 3; i < argc; ++i) {
    if (SetOption(argv[i], &options)) continue;
    std::fprintf(stderr, "%s: not an option\n", argv[i]);
    return 2;
  }
  const tw::Status status = Run(argv[1], options, problem);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
