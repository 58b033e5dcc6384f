// org.topwork.SessionOptions as tw_session_options.
#ifndef PORTS_ANDROID_JNI_SESSION_OPTIONS_H_
#define PORTS_ANDROID_JNI_SESSION_OPTIONS_H_

#include <vector>

#include "ports/android/jni/jni_support.h"

namespace topwork_jni {

// The options with the memory that they point to.
class SessionOptions {
 public:
  // `state`: the session whose variables are shared, or NULL.
  SessionOptions(JNIEnv* env, jobject options, const tw_session* state);
  SessionOptions(const SessionOptions&) = delete;
  SessionOptions& operator=(const SessionOptions&) = delete;
  const tw_session_options* get() const { return &options_; }

 private:
  void ReadShapes(JNIEnv* env, jobjectArray shapes);

  Text device_;
  Text signature_;
  Text cache_dir_;
  std::vector<tw_shape> shapes_;
  tw_session_options options_ = {};
};

}  // namespace topwork_jni

#endif  // PORTS_ANDROID_JNI_SESSION_OPTIONS_H_
