// Re-trains the last layer from C++, pulling examples one by one, and runs the new model.
// Usage: train_head MODEL (float32 [1, 8, 8, 1])
#include <cstdio>
#include <topwork/topwork.hpp>

namespace {

constexpr int64_t kExamples = 60;

// Bright at the top: class 0; at the bottom: class 1.
int64_t Draw(int64_t index, float* image) {
  const int64_t label = index % 2;
  for (int k = 0; k < 64; ++k) {
    const bool top = k < 32;
    image[k] = top == (label == 0) ? 0.5f + static_cast<float>((index + k) % 8) / 16.0f : 0.0f;
  }
  return label;
}

tw::Status Train(const char* path) {
  tw::Result<tw::Model> model = tw::Model::OpenFile(path);
  if (!model) return model.status();
  tw::TrainerOptions options;
  options.n_classes = 2;
  options.optimizer.learning_rate = 0.02f;
  tw::Result<tw::Trainer> trainer = tw::Trainer::Create(*model, options);
  if (!trainer) return trainer.status();

  const tw::Examples examples(kExamples, [](int64_t index, void* const* inputs, size_t) {
    return Draw(index, static_cast<float*>(inputs[0]));
  });
  if (tw::Status status = trainer->AddExamples(examples); !status) return status;
  const auto print = [](const tw_trainer_progress& p) {
    std::printf("epoch %d: loss %.4f\n", static_cast<int>(p.epoch), p.train_loss);
    return p.train_loss > 0.05;  // stop when it is good enough
  };
  if (tw::Status status = trainer->Fit(15, print); !status) return status;
  tw::Result<tw::Evaluation> judged = trainer->Evaluate();
  if (!judged) return judged.status();
  std::printf("accuracy on the validation set: %.3f\n", judged->top1);

  tw::Result<tw::Model> fresh = trainer->Export();  // fresh->Save("new.tflite") writes it
  if (!fresh) return fresh.status();
  tw::Result<tw::Session> session = tw::Session::Create(*fresh);
  if (!session) return session.status();
  std::vector<float> image(64);
  Draw(1, image.data());
  if (tw::Status status = session->WriteInput(0, image); !status) return status;
  if (tw::Status status = session->Run(); !status) return status;
  const tw::Result<std::vector<float>> scores = session->ReadOutput<float>(0);
  if (!scores) return scores.status();
  std::printf("an image of class 1: %.3f %.3f\n", static_cast<double>((*scores)[0]),
              static_cast<double>((*scores)[1]));
  return tw::Status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tw::Status status = Train(argv[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status ? 0 : 1;
}
