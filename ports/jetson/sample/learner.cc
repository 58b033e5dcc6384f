#include "learner.h"

#include <algorithm>
#include <cstdio>

namespace sample {
namespace {

constexpr int32_t kMoreEpochs = 20;  // after each new example

tw::Result<tw::Trainer> MakeTrainer(const tw::Model& model,
                                    const std::vector<std::string>& classes) {
  std::vector<const char*> names;
  for (const std::string& name : classes) names.push_back(name.c_str());
  tw::TrainerOptions options;
  options.n_classes = static_cast<int64_t>(classes.size());
  options.class_names = names.data();
  options.optimizer.kind = TW_OPTIMIZER_LBFGS;  // few examples: whole-batch steps
  options.validation_fraction = 0.0f;           // all of them are needed to learn from
  return tw::Trainer::Create(model, options);
}

bool Exists(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file != nullptr) std::fclose(file);
  return file != nullptr;
}

}  // namespace

tw::Result<std::unique_ptr<Learner>> Learner::Create(const std::string& path,
                                                     const std::vector<std::string>& classes,
                                                     const std::string& checkpoint) {
  tw::Result<tw::Model> model = tw::Model::OpenFile(path);
  if (!model) return model.status();
  tw::Result<tw::Trainer> trainer = MakeTrainer(*model, classes);
  if (!trainer) return trainer.status();
  std::unique_ptr<Learner> learner(
      new Learner(std::move(*model), std::move(*trainer), classes, checkpoint));
  if (tw::Status status = learner->ReadInput(); !status) return status;
  // Held first: a second program with the same checkpoint is told that this one has it.
  if (tw::Status status = learner->trainer_.HoldFile(checkpoint); !status) return status;
  if (Exists(checkpoint)) {
    if (tw::Status status = learner->trainer_.Load(checkpoint); !status) return status;
    const tw::Result<tw_trainer_info> info = learner->trainer_.Info();
    if (!info) return info.status();
    if (info->n_epochs_done > 0) {
      if (tw::Status status = learner->Renew(); !status) return status;
    }
  }
  return learner;
}

// Shape of the input, and how the model's author makes numbers from pixels.
tw::Status Learner::ReadInput() {
  tw::Result<tw::Tensor> input = trainer_.Input(0);
  if (!input) return input.status();
  if (input->rank != 4 || input->dtype != TW_DTYPE_FLOAT32 ||
      (input->dims[3] != 1 && input->dims[3] != 3)) {
    std::fprintf(stderr, "the model's input is not a float32 picture\n");
    return tw::Status(TW_STATUS_UNSUPPORTED);
  }
  height_ = input->dims[1];
  width_ = input->dims[2];
  channels_ = input->dims[3];
  const tw::Result<tw_model_info> info = model_.Info();
  if (!info) return info.status();
  if (info->n_input_scales > 0) {
    mean_ = info->input_mean[0];
    std_ = info->input_std[0];
  }
  return tw::Status();
}

// Each of the model's pixels is the mean of those of the frame that it covers.
std::vector<float> Learner::Pixels(const Frame& frame) const {
  std::vector<float> pixels(static_cast<size_t>(height_) * static_cast<size_t>(width_) *
                            static_cast<size_t>(channels_));
  float* out = pixels.data();
  for (int y = 0; y < height_; ++y) {
    const int top = y * frame.height / height_;
    const int bottom = std::max(top + 1, (y + 1) * frame.height / height_);
    for (int x = 0; x < width_; ++x) {
      const int left = x * frame.width / width_;
      const int right = std::max(left + 1, (x + 1) * frame.width / width_);
      float sums[3] = {0.0f, 0.0f, 0.0f};
      for (int v = top; v < bottom; ++v) {
        const uint8_t* pixel = frame.rgb.data() + 3 * (static_cast<size_t>(v) * frame.width + left);
        for (int u = left; u < right; ++u, pixel += 3) {
          for (int c = 0; c < 3; ++c) sums[c] += pixel[c];
        }
      }
      const float n = static_cast<float>((bottom - top) * (right - left));
      const float grey = 0.299f * sums[0] + 0.587f * sums[1] + 0.114f * sums[2];
      for (int c = 0; c < channels_; ++c) {
        *out++ = ((channels_ == 1 ? grey : sums[c]) / n - mean_) / std_;
      }
    }
  }
  return pixels;
}

tw::Status Learner::Classify(const Frame& frame, std::string* name, float* score) {
  name->clear();
  *score = 0.0f;
  if (session_ == nullptr) return tw::Status();
  if (tw::Status status = session_->WriteInput(0, Pixels(frame)); !status) return status;
  if (tw::Status status = session_->Run(); !status) return status;
  const tw::Result<std::vector<float>> scores = session_->ReadOutput<float>(0);
  if (!scores) return scores.status();
  const auto best = std::max_element(scores->begin(), scores->end());
  *score = *best;
  *name = classes_[static_cast<size_t>(best - scores->begin())];
  return tw::Status();
}

tw::Status Learner::Learn(const Frame& frame, size_t number) {
  const std::vector<float> pixels = Pixels(frame);
  const std::vector<int64_t> label = {static_cast<int64_t>(number)};
  const tw::Examples example(pixels, label);  // borrows both
  if (tw::Status status = trainer_.AddExamples(example); !status) return status;
  const tw::Result<tw_trainer_info> info = trainer_.Info();
  if (!info) return info.status();
  tw::Status fitted = trainer_.Fit(static_cast<int32_t>(info->n_epochs_done) + kMoreEpochs);
  if (fitted.ok()) {
    if (tw::Status status = Renew(); !status) return status;
  } else if (fitted.code() != TW_STATUS_INVALID_ARGUMENT) {
    return fitted;
  }  // else: all examples are of one class so far
  return trainer_.SaveCheckpoint(checkpoint_, true);
}

tw::Status Learner::Renew() {
  tw::Result<tw::Model> trained = trainer_.Export();
  if (!trained) return trained.status();
  tw::Result<tw::Session> session = tw::Session::Create(*trained);
  if (!session) return session.status();
  session_ = std::make_unique<tw::Session>(std::move(*session));
  return tw::Status();
}

int64_t Learner::n_examples() const {
  const tw::Result<tw_trainer_info> info = trainer_.Info();
  return info ? info->n_examples : 0;
}

}  // namespace sample
