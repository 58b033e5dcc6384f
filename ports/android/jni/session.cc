// org.topwork.Session.
#include "ports/android/jni/session_options.h"

namespace topwork_jni {
namespace {

jlong JNICALL Create(JNIEnv* env, jclass, jlong model, jobject options, jlong state) {
  tw_session* session = nullptr;
  const SessionOptions read(env, options, Pointer<tw_session>(state));
  Succeeded(env, tw_session_create(Pointer<tw_model>(model), read.get(), &session));
  return Address(session);
}

jlong JNICALL Clone(JNIEnv* env, jclass, jlong session) {
  tw_session* clone = nullptr;
  Succeeded(env, tw_session_clone(Pointer<tw_session>(session), &clone));
  return Address(clone);
}

void JNICALL Free(JNIEnv*, jclass, jlong session) { tw_session_free(Pointer<tw_session>(session)); }

jintArray JNICALL Counts(JNIEnv* env, jclass, jlong session) {
  tw_session_info info = {};
  info.struct_size = sizeof(info);
  if (!Succeeded(env, tw_session_get_info(Pointer<tw_session>(session), &info))) return nullptr;
  const int32_t counts[] = {static_cast<int32_t>(info.n_inputs),
                            static_cast<int32_t>(info.n_outputs)};
  return NewInts(env, counts, 2);
}

bool Get(JNIEnv* env, jlong session, jint index, bool is_input, tw_tensor_info* info) {
  info->struct_size = sizeof(*info);
  const auto get = is_input ? tw_session_get_input : tw_session_get_output;
  return Succeeded(env, get(Pointer<tw_session>(session), static_cast<size_t>(index), info));
}

jobject JNICALL Tensor(JNIEnv* env, jclass, jlong session, jint index, jboolean is_input) {
  tw_tensor_info info = {};
  if (!Get(env, session, index, is_input == JNI_TRUE, &info)) return nullptr;
  return NewTensorInfo(env, info);
}

jint JNICALL Find(JNIEnv* env, jclass, jlong session, jbyteArray name, jboolean is_input) {
  size_t index = 0;
  const auto find = is_input == JNI_TRUE ? tw_session_find_input : tw_session_find_output;
  Succeeded(env, find(Pointer<tw_session>(session), Text(env, name).get(), &index));
  return static_cast<jint>(index);
}

void JNICALL Bind(JNIEnv* env, jclass, jlong session, jint index, jboolean is_input,
                  jobject memory) {
  void* data = memory == nullptr ? nullptr : env->GetDirectBufferAddress(memory);
  const size_t bytes =
      memory == nullptr ? 0 : static_cast<size_t>(env->GetDirectBufferCapacity(memory));
  const auto bind = is_input == JNI_TRUE ? tw_session_bind_input : tw_session_bind_output;
  Succeeded(env, bind(Pointer<tw_session>(session), static_cast<size_t>(index), data, bytes));
}

void JNICALL Read(JNIEnv* env, jclass, jlong session, jint index, jobject memory) {
  const size_t bytes = static_cast<size_t>(env->GetDirectBufferCapacity(memory));
  if (bytes == 0) return;
  Succeeded(env, tw_session_read_output(Pointer<tw_session>(session), static_cast<size_t>(index),
                                        env->GetDirectBufferAddress(memory), bytes));
}

void JNICALL WriteStrings(JNIEnv* env, jclass, jlong session, jint index, jobjectArray texts) {
  const Texts read(env, texts);
  std::vector<tw_string> strings;
  for (const Text& text : read.all()) strings.push_back({text.get(), text.bytes()});
  Succeeded(env, tw_session_write_strings(Pointer<tw_session>(session), static_cast<size_t>(index),
                                          strings.data(), strings.size()));
}

jobjectArray JNICALL ReadStrings(JNIEnv* env, jclass, jlong session, jint index) {
  tw_tensor_info info = {};
  if (!Get(env, session, index, false, &info)) return nullptr;
  size_t n = info.dtype == TW_DTYPE_STRING && info.data != nullptr ? 1 : 0;
  for (int32_t i = 0; i < info.rank; ++i) n *= static_cast<size_t>(info.dims[i]);
  std::vector<const char*> texts;
  for (size_t i = 0; i < n; ++i) texts.push_back(static_cast<tw_string*>(info.data)[i].data);
  return NewTexts(env, texts.data(), n);
}

void JNICALL Resize(JNIEnv* env, jclass, jlong session, jint index, jintArray shape) {
  std::vector<int32_t> dims(static_cast<size_t>(env->GetArrayLength(shape)));
  env->GetIntArrayRegion(shape, 0, static_cast<jsize>(dims.size()),
                         reinterpret_cast<jint*>(dims.data()));
  Succeeded(env, tw_session_resize_input(Pointer<tw_session>(session), static_cast<size_t>(index),
                                         dims.data(), dims.size()));
}

void JNICALL Prepare(JNIEnv* env, jclass, jlong session) {
  Succeeded(env, tw_session_prepare(Pointer<tw_session>(session)));
}

void JNICALL Run(JNIEnv* env, jclass, jlong session) {
  Succeeded(env, tw_session_run(Pointer<tw_session>(session)));
}

void JNICALL Cancel(JNIEnv* env, jclass, jlong session) {
  Succeeded(env, tw_session_cancel(Pointer<tw_session>(session)));
}

void JNICALL ResetState(JNIEnv* env, jclass, jlong session) {
  Succeeded(env, tw_session_reset_state(Pointer<tw_session>(session)));
}

jbyteArray JNICALL Plan(JNIEnv* env, jclass, jlong session) {
  char* text = nullptr;
  const tw_status status =
      tw_session_describe_plan(Pointer<tw_session>(session), TW_PLAN_TEXT, &text);
  return Succeeded(env, status) ? TakeText(env, text) : nullptr;
}

jlong JNICALL MemoryBytes(JNIEnv* env, jclass, jlong session) {
  tw_session_info info = {};
  info.struct_size = sizeof(info);
  Succeeded(env, tw_session_get_info(Pointer<tw_session>(session), &info));
  return static_cast<jlong>(info.session_bytes);
}

}  // namespace

bool RegisterSession(JNIEnv* env) {
  const Method methods[] = {
      {"nativeCreate", "(JLorg/topwork/SessionOptions;J)J", reinterpret_cast<void*>(Create)},
      {"nativeClone", "(J)J", reinterpret_cast<void*>(Clone)},
      {"nativeFree", "(J)V", reinterpret_cast<void*>(Free)},
      {"nativeCounts", "(J)[I", reinterpret_cast<void*>(Counts)},
      {"nativeTensor", "(JIZ)Lorg/topwork/TensorInfo;", reinterpret_cast<void*>(Tensor)},
      {"nativeFind", "(J[BZ)I", reinterpret_cast<void*>(Find)},
      {"nativeBind", "(JIZLjava/nio/ByteBuffer;)V", reinterpret_cast<void*>(Bind)},
      {"nativeRead", "(JILjava/nio/ByteBuffer;)V", reinterpret_cast<void*>(Read)},
      {"nativeWriteStrings", "(JI[[B)V", reinterpret_cast<void*>(WriteStrings)},
      {"nativeReadStrings", "(JI)[[B", reinterpret_cast<void*>(ReadStrings)},
      {"nativeResize", "(JI[I)V", reinterpret_cast<void*>(Resize)},
      {"nativePrepare", "(J)V", reinterpret_cast<void*>(Prepare)},
      {"nativeRun", "(J)V", reinterpret_cast<void*>(Run)},
      {"nativeCancel", "(J)V", reinterpret_cast<void*>(Cancel)},
      {"nativeResetState", "(J)V", reinterpret_cast<void*>(ResetState)},
      {"nativePlan", "(J)[B", reinterpret_cast<void*>(Plan)},
      {"nativeMemoryBytes", "(J)J", reinterpret_cast<void*>(MemoryBytes)},
  };
  return RegisterMethods(env, "org/topwork/Session", methods, sizeof(methods) / sizeof(Method));
}

}  // namespace topwork_jni
