// org.topwork.Examples as tw_examples.
#ifndef PORTS_ANDROID_JNI_EXAMPLES_H_
#define PORTS_ANDROID_JNI_EXAMPLES_H_

#include <vector>

#include "ports/android/jni/jni_support.h"

namespace topwork_jni {

// Labelled examples for one call on the present thread. An exception that Java's reader or listener
// leaves pending ends the call.
class Examples {
 public:
  // `examples` may be null.
  Examples(JNIEnv* env, tw_trainer* trainer, jobject examples);
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;
  // NULL for null.
  const tw_examples* get() const { return object_ == nullptr ? nullptr : &examples_; }

 private:
  static tw_status Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                        int64_t* out_label);
  static int32_t Progress(void* user_data, int64_t n_done, int64_t n_total);

  JNIEnv* env_;
  jobject object_;
  std::vector<jlong> labels_;
  struct Memory {
    const void* data;
    size_t bytes;
  };
  std::vector<Memory> inputs_;  // Java's buffers, which the reader fills
  tw_examples examples_ = {};
};

}  // namespace topwork_jni

#endif  // PORTS_ANDROID_JNI_EXAMPLES_H_
