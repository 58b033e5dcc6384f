// Learner: names what a frame shows, and learns new classes from single frames. All it knows is in one checkpoint.
#ifndef TOPWORK_PORTS_JETSON_SAMPLE_LEARNER_H_
#define TOPWORK_PORTS_JETSON_SAMPLE_LEARNER_H_

#include <memory>
#include <string>
#include <topwork/topwork.hpp>
#include <vector>

#include "frames.h"

namespace sample {

class Learner {
 public:
  // `model`: a .tflite that classifies pictures, with one float32 input [1, H, W, 1 or 3]. The checkpoint need not
  // exist; where it does, the learner goes on from it.
  static tw::Result<std::unique_ptr<Learner>> Create(const std::string& model,
                                                     const std::vector<std::string>& classes,
                                                     const std::string& checkpoint);

  // The class and its score; "" until two classes have examples.
  tw::Status Classify(const Frame& frame, std::string* name, float* score);
  // Adds the frame as an example of classes[number], trains, and saves the checkpoint.
  tw::Status Learn(const Frame& frame, size_t number);
  int64_t n_examples() const;

 private:
  Learner(tw::Model model, tw::Trainer trainer, std::vector<std::string> classes, std::string path)
      : model_(std::move(model)),
        trainer_(std::move(trainer)),
        classes_(std::move(classes)),
        checkpoint_(std::move(path)) {}
  tw::Status ReadInput();
  std::vector<float> Pixels(const Frame& frame) const;
  tw::Status Renew();

  tw::Model model_;
  tw::Trainer trainer_;
  std::vector<std::string> classes_;
  std::string checkpoint_;
  int height_ = 0;
  int width_ = 0;
  int channels_ = 0;
  float mean_ = 127.5f;
  float std_ = 127.5f;
  std::unique_ptr<tw::Session> session_;  // of the last trained model
};

}  // namespace sample

#endif  // TOPWORK_PORTS_JETSON_SAMPLE_LEARNER_H_
