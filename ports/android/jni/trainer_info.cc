// org.topwork.TrainerInfo.
#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

Class g_trainer_info;

bool Get(JNIEnv* env, jlong trainer, tw_trainer_info* info) {
  info->struct_size = sizeof(*info);
  return Succeeded(env, tw_trainer_get_info(Pointer<tw_trainer>(trainer), info));
}

jlong JNICALL InputCount(JNIEnv* env, jclass, jlong trainer) {
  tw_trainer_info info = {};
  return Get(env, trainer, &info) ? info.n_inputs : 0;
}

// The order of numbers is that of TrainerInfo.java.
jobject JNICALL Info(JNIEnv* env, jclass, jlong trainer) {
  tw_trainer_info info = {};
  if (!Get(env, trainer, &info)) return nullptr;
  const bool is_named = info.class_names != nullptr;
  const jobjectArray names =
      NewTexts(env, info.class_names, is_named ? static_cast<size_t>(info.n_classes) : 0);
  if (names == nullptr) return nullptr;
  const jbyteArray head = NewText(env, info.head->op);
  if (head == nullptr) return nullptr;
  const jbyteArray device = NewText(env, info.device);
  if (device == nullptr) return nullptr;
  const int64_t numbers[] = {info.n_features,  info.n_classes,
                             info.n_examples,  info.n_validation,
                             info.n_cached,    info.n_epochs_done,
                             info.is_finished, static_cast<int64_t>(info.memory_bytes)};
  const jlongArray java_numbers = NewLongs(env, numbers, 8);
  if (java_numbers == nullptr) return nullptr;
  return env->NewObject(g_trainer_info.object, g_trainer_info.constructor, names, head, device,
                        java_numbers);
}

}  // namespace

bool RegisterTrainerInfo(JNIEnv* env) {
  const Method methods[] = {
      {"nativeInputCount", "(J)J", reinterpret_cast<void*>(InputCount)},
      {"nativeInfo", "(J)Lorg/topwork/TrainerInfo;", reinterpret_cast<void*>(Info)},
  };
  return FindClass(env, "org/topwork/TrainerInfo", "([[B[B[B[J)V", &g_trainer_info) &&
         RegisterMethods(env, "org/topwork/Trainer", methods, 2);
}

}  // namespace topwork_jni
