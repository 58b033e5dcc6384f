// org.topwork.Device.
#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

Class g_device;

// The order of texts and numbers is that of Device.java.
jobject NewDevice(JNIEnv* env, size_t index) {
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  if (!Succeeded(env, tw_device_get_info(index, &info))) return nullptr;
  const char* texts[] = {
      info.id, info.name, info.vendor, info.driver, info.type, info.instruction_set, info.reason};
  const int64_t numbers[] = {info.is_usable, info.has_fp16, info.n_compute_units,
                             static_cast<int64_t>(info.memory_bytes)};
  const jobjectArray java_texts = NewTexts(env, texts, 7);
  if (java_texts == nullptr) return nullptr;
  const jlongArray java_numbers = NewLongs(env, numbers, 4);
  if (java_numbers == nullptr) return nullptr;
  const jobject device =
      env->NewObject(g_device.object, g_device.constructor, java_texts, java_numbers);
  env->DeleteLocalRef(java_texts);
  env->DeleteLocalRef(java_numbers);
  return device;
}

jobjectArray JNICALL All(JNIEnv* env, jclass) {
  size_t n = 0;
  tw_device_info info = {};
  info.struct_size = sizeof(info);
  while (tw_device_get_info(n, &info) == TW_STATUS_OK) ++n;
  const jobjectArray devices = env->NewObjectArray(static_cast<jsize>(n), g_device.object, nullptr);
  for (size_t i = 0; devices != nullptr && i < n; ++i) {
    const jobject device = NewDevice(env, i);
    if (device == nullptr) return nullptr;
    env->SetObjectArrayElement(devices, static_cast<jsize>(i), device);
    env->DeleteLocalRef(device);
  }
  return devices;
}

}  // namespace

bool RegisterDevice(JNIEnv* env) {
  const Method methods[] = {
      {"nativeAll", "()[Lorg/topwork/Device;", reinterpret_cast<void*>(All)},
  };
  return FindClass(env, "org/topwork/Device", "([[B[J)V", &g_device) &&
         RegisterMethods(env, "org/topwork/Device", methods, 1);
}

}  // namespace topwork_jni
