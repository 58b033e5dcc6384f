// Texts, arrays and exceptions between Java and C.
#include "ports/android/jni/jni_support.h"

#include <cstring>

namespace topwork_jni {
namespace {

Class g_exception;
jmethodID g_exception_of;
Class g_bytes;

}  // namespace

bool FindClass(JNIEnv* env, const char* name, const char* signature, Class* found) {
  const jclass local = env->FindClass(name);
  if (local == nullptr) return false;
  found->object = static_cast<jclass>(env->NewGlobalRef(local));
  env->DeleteLocalRef(local);
  if (found->object == nullptr) return false;
  if (signature == nullptr) return true;
  found->constructor = env->GetMethodID(found->object, "<init>", signature);
  return found->constructor != nullptr;
}

bool FindFields(JNIEnv* env, const char* name, Field* fields, size_t n_fields) {
  const jclass local = env->FindClass(name);
  if (local == nullptr) return false;
  for (size_t i = 0; i < n_fields; ++i) {
    fields[i].id = env->GetFieldID(local, fields[i].name, fields[i].signature);
    if (fields[i].id == nullptr) return false;
  }
  env->DeleteLocalRef(local);
  return true;
}

bool RegisterMethods(JNIEnv* env, const char* name, const Method* methods, size_t n_methods) {
  const jclass local = env->FindClass(name);
  if (local == nullptr) return false;
  std::vector<JNINativeMethod> table(n_methods);
  for (size_t i = 0; i < n_methods; ++i) {
    // A JDK's header has char* where Android's has const char*.
    table[i].name = const_cast<char*>(methods[i].name);
    table[i].signature = const_cast<char*>(methods[i].signature);
    table[i].fnPtr = methods[i].function;
  }
  const jint result = env->RegisterNatives(local, table.data(), static_cast<jint>(n_methods));
  env->DeleteLocalRef(local);
  return result == JNI_OK;
}

void UnregisterMethods(JNIEnv* env) {
  const jthrowable failure = env->ExceptionOccurred();
  env->ExceptionClear();
  for (const char* name : {"org/topwork/Topwork", "org/topwork/Device", "org/topwork/Model",
                           "org/topwork/Session", "org/topwork/Trainer"}) {
    const jclass local = env->FindClass(name);
    if (local != nullptr) env->UnregisterNatives(local);
    env->ExceptionClear();
    env->DeleteLocalRef(local);
  }
  if (failure != nullptr) env->Throw(failure);
}

bool RegisterSupport(JNIEnv* env) {
  if (!FindClass(env, "org/topwork/TopworkException", nullptr, &g_exception)) return false;
  if (!FindClass(env, "[B", nullptr, &g_bytes)) return false;
  g_exception_of =
      env->GetStaticMethodID(g_exception.object, "of", "(I[B)Lorg/topwork/TopworkException;");
  return g_exception_of != nullptr;
}

bool Succeeded(JNIEnv* env, tw_status status) {
  if (status == TW_STATUS_OK) return true;
  if (env->ExceptionCheck() == JNI_TRUE) return false;
  const jbyteArray text = NewText(env, tw_last_error());
  if (text == nullptr) return false;
  const jobject exception = env->CallStaticObjectMethod(g_exception.object, g_exception_of,
                                                        static_cast<jint>(status), text);
  if (env->ExceptionCheck() == JNI_FALSE) env->Throw(static_cast<jthrowable>(exception));
  return false;
}

Text::Text(JNIEnv* env, jbyteArray utf8) : is_null_(utf8 == nullptr) {
  if (is_null_) return;
  bytes_.resize(static_cast<size_t>(env->GetArrayLength(utf8)));
  env->GetByteArrayRegion(utf8, 0, static_cast<jsize>(bytes_.size()),
                          reinterpret_cast<jbyte*>(&bytes_[0]));
}

Texts::Texts(JNIEnv* env, jobjectArray utf8) : is_null_(utf8 == nullptr) {
  const jsize n = is_null_ ? 0 : env->GetArrayLength(utf8);
  texts_.reserve(static_cast<size_t>(n));
  for (jsize i = 0; i < n; ++i) {
    const jobject element = env->GetObjectArrayElement(utf8, i);
    texts_.emplace_back(env, static_cast<jbyteArray>(element));
    env->DeleteLocalRef(element);
  }
  for (const Text& text : texts_) pointers_.push_back(text.get());
}

std::vector<float> Fields::Floats(int i) const {
  const jfloatArray array = static_cast<jfloatArray>(Object(i));
  std::vector<float> values(static_cast<size_t>(env_->GetArrayLength(array)));
  env_->GetFloatArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  env_->DeleteLocalRef(array);
  return values;
}

jbyteArray NewBytes(JNIEnv* env, const void* data, size_t bytes) {
  const jbyteArray array = env->NewByteArray(static_cast<jsize>(bytes));
  if (array != nullptr && bytes > 0) {
    env->SetByteArrayRegion(array, 0, static_cast<jsize>(bytes), static_cast<const jbyte*>(data));
  }
  return array;
}

jbyteArray NewText(JNIEnv* env, const char* text) {
  return NewBytes(env, text, text == nullptr ? 0 : std::strlen(text));
}

jobjectArray NewTexts(JNIEnv* env, const char* const* texts, size_t n_texts) {
  const jobjectArray array =
      env->NewObjectArray(static_cast<jsize>(n_texts), g_bytes.object, nullptr);
  for (size_t i = 0; array != nullptr && i < n_texts; ++i) {
    const jbyteArray text = NewText(env, texts[i]);
    if (text == nullptr) return nullptr;
    env->SetObjectArrayElement(array, static_cast<jsize>(i), text);
    env->DeleteLocalRef(text);
  }
  return array;
}

jintArray NewInts(JNIEnv* env, const int32_t* values, size_t n_values) {
  const jintArray array = env->NewIntArray(static_cast<jsize>(n_values));
  if (array != nullptr) {
    env->SetIntArrayRegion(array, 0, static_cast<jsize>(n_values),
                           reinterpret_cast<const jint*>(values));
  }
  return array;
}

jlongArray NewLongs(JNIEnv* env, const int64_t* values, size_t n_values) {
  const jlongArray array = env->NewLongArray(static_cast<jsize>(n_values));
  if (array != nullptr && n_values > 0) {
    env->SetLongArrayRegion(array, 0, static_cast<jsize>(n_values),
                            reinterpret_cast<const jlong*>(values));
  }
  return array;
}

jfloatArray NewFloats(JNIEnv* env, const float* values, size_t n_values) {
  const jfloatArray array = env->NewFloatArray(static_cast<jsize>(n_values));
  if (array != nullptr && n_values > 0) {
    env->SetFloatArrayRegion(array, 0, static_cast<jsize>(n_values), values);
  }
  return array;
}

jdoubleArray NewDoubles(JNIEnv* env, const double* values, size_t n_values) {
  const jdoubleArray array = env->NewDoubleArray(static_cast<jsize>(n_values));
  if (array != nullptr && n_values > 0) {
    env->SetDoubleArrayRegion(array, 0, static_cast<jsize>(n_values), values);
  }
  return array;
}

jbyteArray TakeText(JNIEnv* env, char* owned) {
  const jbyteArray text = NewText(env, owned);
  tw_memory_free(owned);
  return text;
}

}  // namespace topwork_jni
