// Time of feature extraction, per example, beside plain runs of the same model.
//
//   topwork_extract_bench MODEL.tflite [EXAMPLES] [THREADS]
// Rows: runs of the whole model one by one; the backbone in one session of all threads; the
// extractor (one session of one thread per thread), for several batches. Rounds are interleaved and
// the least time of each is printed, because other programs share the machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ports/port.h"
#include "runtime/train/features/extractor.h"
#include "runtime/train/head/head.h"
#include "runtime/train/random.h"

namespace topwork {
namespace {

constexpr int kRounds = 5;

struct Row {
  std::string name;
  std::function<Status()> run;
  double best = 1e9;
};

class Bench {
 public:
  Status Open(const char* path, int64_t n, int n_threads) {
    n_ = n;
    n_threads_ = n_threads;
    TW_ASSIGN_OR_RETURN(model_, Model::OpenFile(path));
    TW_ASSIGN_OR_RETURN(const Head head, FindHead(model_->main(), 0));
    cut_.value = head.feature;
    cut_.batch = head.batch;
    cut_.dim = head.dim;
    cut_.n_positions = head.n_positions;
    SessionOptions session;
    session.n_threads = n_threads;
    TW_ASSIGN_OR_RETURN(whole_, Session::Create(model_, session));
    image_.resize(whole_->input(0).bytes());
    Random random(1);
    const size_t n_values = image_.size() / sizeof(float);
    for (size_t i = 0; i < n_values && whole_->input(0).dtype == DType::kFloat32; ++i) {
      const float x = static_cast<float>(random.Below(2001)) * 1e-3f - 1.0f;
      std::memcpy(image_.data() + i * sizeof(float), &x, sizeof(x));
    }
    rows_.push_back({"whole model, run by run", [this] { return RunWhole(); }});
    for (int batch : {1, 8}) TW_RETURN_IF_ERROR(AddOneSession(batch));
    for (int batch : {1, 2, 4, 8}) TW_RETURN_IF_ERROR(AddExtractor(batch));
    return Status::Ok();
  }

  Status Run() {
    for (int round = 0; round < kRounds; ++round) {
      for (Row& row : rows_) {
        const int64_t start = port::NowNanos();
        TW_RETURN_IF_ERROR(row.run());
        row.best = std::min(row.best, static_cast<double>(port::NowNanos() - start) * 1e-6);
      }
    }
    for (const Row& row : rows_) {
      std::printf("%-40s %8.2f ms an example\n", row.name.c_str(),
                  row.best / static_cast<double>(n_));
    }
    return Status::Ok();
  }

 private:
  Status RunWhole() {
    for (int64_t i = 0; i < n_; ++i) {
      std::memcpy(whole_->input(0).data, image_.data(), image_.size());
      TW_RETURN_IF_ERROR(whole_->Run());
    }
    return Status::Ok();
  }

  Status AddOneSession(int batch) {
    SessionOptions session;
    session.n_threads = n_threads_;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Backbone> made,
                        Backbone::Create(model_, cut_, session, batch));
    const std::shared_ptr<Backbone> backbone = std::move(made);
    const auto run = [this, backbone] {
      std::vector<float> rows(static_cast<size_t>(backbone->batch() * cut_.dim));
      for (int64_t i = 0; i < n_; i += backbone->batch()) {
        for (int b = 0; b < backbone->batch(); ++b) {
          std::memcpy(backbone->example(0, b), image_.data(), image_.size());
        }
        TW_RETURN_IF_ERROR(backbone->Run(backbone->batch(), rows.data()));
      }
      return Status::Ok();
    };
    rows_.push_back({StrFormat("backbone, one session, batch {}", backbone->batch()), run});
    return Status::Ok();
  }

  Status AddExtractor(int batch) {
    TrainerOptions options;
    options.n_threads = n_threads_;
    options.feature_batch_size = batch;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<FeatureExtractor> made,
                        FeatureExtractor::Create(model_, cut_, options));
    const std::shared_ptr<FeatureExtractor> extractor = std::move(made);
    const auto run = [this, extractor] {
      Examples examples;
      examples.count = n_;
      examples.read = [this](int64_t, Span<void* const> inputs, ExampleTarget* out) {
        std::memcpy(inputs[0], image_.data(), image_.size());
        out->label = 0;
        return Status::Ok();
      };
      const auto cache = extractor->NewCache(0);
      return extractor->Extract(examples, 2, nullptr, cache.get());
    };
    rows_.push_back({StrFormat("extractor, batch {}", batch), run});
    return Status::Ok();
  }

  std::shared_ptr<const Model> model_;
  Cut cut_;
  int64_t n_ = 0;
  int n_threads_ = 1;
  std::unique_ptr<Session> whole_;
  std::vector<uint8_t> image_;
  std::vector<Row> rows_;
};

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODEL.tflite [EXAMPLES] [THREADS]\n", argv[0]);
    return 2;
  }
  Bench bench;
  const int64_t n = argc > 2 ? std::atoll(argv[2]) : 200;
  Status status = bench.Open(argv[1], n, argc > 3 ? std::atoi(argv[3]) : 2);
  if (status.ok()) status = bench.Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) { return topwork::Main(argc, argv); }
