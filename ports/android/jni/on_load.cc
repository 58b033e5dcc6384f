// What the virtual machine calls when it loads the library: all ids are looked up here, once. On
// Android the library's messages go to the system's log, as nobody sees standard error there.
#include "ports/android/jni/jni_support.h"
#ifdef __ANDROID__
#include <android/log.h>
#endif

namespace topwork_jni {
namespace {

bool RegisterAll(JNIEnv* env) {
  return RegisterSupport(env) && RegisterTensorInfo(env) && RegisterTopwork(env) &&
         RegisterDevice(env) && RegisterModel(env) && RegisterSessionOptions(env) &&
         RegisterSession(env) && RegisterExamples(env) && RegisterTrainerOptions(env) &&
         RegisterTrainerFit(env) && RegisterTrainerInfo(env) && RegisterEvaluation(env) &&
         RegisterTrainer(env);
}

#ifdef __ANDROID__
void LogToSystem(void* /*user_data*/, tw_log_level level, const char* message) {
  const int priority = level == TW_LOG_ERROR     ? ANDROID_LOG_ERROR
                       : level == TW_LOG_WARNING ? ANDROID_LOG_WARN
                       : level == TW_LOG_INFO    ? ANDROID_LOG_INFO
                                                 : ANDROID_LOG_DEBUG;
  __android_log_write(priority, "topwork", message);
}
#endif

}  // namespace
}  // namespace topwork_jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* /*reserved*/) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  if (!topwork_jni::RegisterAll(static_cast<JNIEnv*>(env))) {
    topwork_jni::UnregisterMethods(static_cast<JNIEnv*>(env));
    return JNI_ERR;
  }
#ifdef __ANDROID__
  tw_log_set(TW_LOG_WARNING, topwork_jni::LogToSystem, nullptr);
#endif
  return JNI_VERSION_1_6;
}
