// org.topwork.TrainerOptions as tw_trainer_options.
#ifndef PORTS_ANDROID_JNI_TRAINER_OPTIONS_H_
#define PORTS_ANDROID_JNI_TRAINER_OPTIONS_H_

#include <vector>

#include "ports/android/jni/jni_support.h"

namespace topwork_jni {

// The options with the memory that they point to.
class TrainerOptions {
 public:
  TrainerOptions(JNIEnv* env, jobject options);
  TrainerOptions(const TrainerOptions&) = delete;
  TrainerOptions& operator=(const TrainerOptions&) = delete;
  const tw_trainer_options* get() const { return &options_; }

 private:
  void ReadTraining(const Fields& fields);
  void ReadPlaces(const Fields& fields);

  Texts class_names_;
  Text device_;
  Text feature_cache_;
  Text preprocessing_;
  Text output_;
  std::vector<float> mean_;
  std::vector<float> std_;
  tw_trainer_options options_;
};

}  // namespace topwork_jni

#endif  // PORTS_ANDROID_JNI_TRAINER_OPTIONS_H_
