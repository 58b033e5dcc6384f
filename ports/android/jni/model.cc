// org.topwork.Model and ModelInfo.
#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

Class g_model_info;

jlong JNICALL OpenFile(JNIEnv* env, jclass, jbyteArray path) {
  tw_model* model = nullptr;
  Succeeded(env, tw_model_open_file(Text(env, path).get(), &model));
  return Address(model);
}

jlong JNICALL OpenMemory(JNIEnv* env, jclass, jobject data) {
  tw_model* model = nullptr;
  const size_t bytes = static_cast<size_t>(env->GetDirectBufferCapacity(data));
  Succeeded(env, tw_model_open_memory(env->GetDirectBufferAddress(data), bytes, 0, &model));
  return Address(model);
}

jlong JNICALL OpenFd(JNIEnv* env, jclass, jint fd, jlong offset, jlong length) {
  tw_model* model = nullptr;
  Succeeded(env, tw_model_open_fd(fd, offset, length, &model));
  return Address(model);
}

void JNICALL Free(JNIEnv*, jclass, jlong model) { tw_model_free(Pointer<tw_model>(model)); }

void JNICALL Save(JNIEnv* env, jclass, jlong model, jbyteArray path) {
  Succeeded(env, tw_model_save(Pointer<tw_model>(model), Text(env, path).get()));
}

jbyteArray JNICALL Describe(JNIEnv* env, jclass, jlong model) {
  char* json = nullptr;
  if (!Succeeded(env, tw_model_describe(Pointer<tw_model>(model), &json))) return nullptr;
  return TakeText(env, json);
}

jbyteArray JNICALL File(JNIEnv* env, jclass, jlong model, jbyteArray name) {
  const void* data = nullptr;
  size_t bytes = 0;
  const tw_status status =
      tw_model_get_file(Pointer<tw_model>(model), Text(env, name).get(), &data, &bytes);
  return Succeeded(env, status) ? NewBytes(env, data, bytes) : nullptr;
}

jobject JNICALL Info(JNIEnv* env, jclass, jlong model) {
  tw_model_info info = {};
  info.struct_size = sizeof(info);
  if (!Succeeded(env, tw_model_get_info(Pointer<tw_model>(model), &info))) return nullptr;
  const jbyteArray description = NewText(env, info.description);
  if (description == nullptr) return nullptr;
  const jobjectArray labels = NewTexts(env, info.labels, info.n_labels);
  if (labels == nullptr) return nullptr;
  const jobjectArray signatures = NewTexts(env, info.signatures, info.n_signatures);
  if (signatures == nullptr) return nullptr;
  const jfloatArray mean = NewFloats(env, info.input_mean, info.n_input_scales);
  if (mean == nullptr) return nullptr;
  const jfloatArray std = NewFloats(env, info.input_std, info.n_input_scales);
  if (std == nullptr) return nullptr;
  return env->NewObject(g_model_info.object, g_model_info.constructor, description, labels,
                        signatures, mean, std, static_cast<jint>(info.n_inputs),
                        static_cast<jint>(info.n_outputs));
}

jobject JNICALL Tensor(JNIEnv* env, jclass, jlong model, jint index, jboolean is_input) {
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  const auto get = is_input == JNI_TRUE ? tw_model_get_input : tw_model_get_output;
  const tw_status status = get(Pointer<tw_model>(model), static_cast<size_t>(index), &info);
  return Succeeded(env, status) ? NewTensorInfo(env, info) : nullptr;
}

}  // namespace

bool RegisterModel(JNIEnv* env) {
  const Method methods[] = {
      {"nativeOpenFile", "([B)J", reinterpret_cast<void*>(OpenFile)},
      {"nativeOpenMemory", "(Ljava/nio/ByteBuffer;)J", reinterpret_cast<void*>(OpenMemory)},
      {"nativeOpenFd", "(IJJ)J", reinterpret_cast<void*>(OpenFd)},
      {"nativeFree", "(J)V", reinterpret_cast<void*>(Free)},
      {"nativeSave", "(J[B)V", reinterpret_cast<void*>(Save)},
      {"nativeDescribe", "(J)[B", reinterpret_cast<void*>(Describe)},
      {"nativeFile", "(J[B)[B", reinterpret_cast<void*>(File)},
      {"nativeInfo", "(J)Lorg/topwork/ModelInfo;", reinterpret_cast<void*>(Info)},
      {"nativeTensor", "(JIZ)Lorg/topwork/TensorInfo;", reinterpret_cast<void*>(Tensor)},
  };
  return FindClass(env, "org/topwork/ModelInfo", "([B[[B[[B[F[FII)V", &g_model_info) &&
         RegisterMethods(env, "org/topwork/Model", methods, sizeof(methods) / sizeof(Method));
}

}  // namespace topwork_jni
