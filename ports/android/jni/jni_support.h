// What all JNI files share: texts, exceptions, ids that are looked up once.
//
// Texts cross as byte[] of UTF-8, as JNI's own strings are a modified UTF-8. Every function that may
// leave a Java exception pending says so; callers then return at once.
#ifndef PORTS_ANDROID_JNI_JNI_SUPPORT_H_
#define PORTS_ANDROID_JNI_JNI_SUPPORT_H_

#include <jni.h>
#include <topwork/topwork.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topwork_jni {

// A native method: its name, its JNI signature, its function.
struct Method {
  const char* name;
  const char* signature;
  void* function;
};

// A field that native code reads; Register fills in its id.
struct Field {
  const char* name;
  const char* signature;
  jfieldID id;
};

// A class whose objects native code makes or calls, for as long as the process lives.
struct Class {
  jclass object;
  jmethodID constructor;
};

// Finds class `name`, and its constructor of `signature` unless that is NULL. False: an exception is
// pending.
bool FindClass(JNIEnv* env, const char* name, const char* signature, Class* found);

// Finds the fields' ids in the class `name`. False: an exception is pending.
bool FindFields(JNIEnv* env, const char* name, Field* fields, size_t n_fields);

// Makes `methods` those of the class `name`. False: an exception is pending.
bool RegisterMethods(JNIEnv* env, const char* name, const Method* methods, size_t n_methods);

// Takes the native methods of all classes away again, and keeps the pending exception: their code will be
// unloaded, and a class that was initialized by a lookup could still be called.
void UnregisterMethods(JNIEnv* env);

// Each looks up what its file needs, once, in JNI_OnLoad. False: an exception is pending.
bool RegisterSupport(JNIEnv* env);
bool RegisterTensorInfo(JNIEnv* env);
bool RegisterTopwork(JNIEnv* env);
bool RegisterDevice(JNIEnv* env);
bool RegisterModel(JNIEnv* env);
bool RegisterSession(JNIEnv* env);
bool RegisterSessionOptions(JNIEnv* env);
bool RegisterExamples(JNIEnv* env);
bool RegisterTrainer(JNIEnv* env);
bool RegisterTrainerOptions(JNIEnv* env);
bool RegisterTrainerFit(JNIEnv* env);
bool RegisterTrainerInfo(JNIEnv* env);
bool RegisterEvaluation(JNIEnv* env);

// Whether a call succeeded. If not, a TopworkException with the library's sentence is pending, or
// the exception that a callback left.
bool Succeeded(JNIEnv* env, tw_status status);

// Addresses cross as long.
template <class T>
T* Pointer(jlong address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}
inline jlong Address(const void* pointer) {
  return static_cast<jlong>(reinterpret_cast<uintptr_t>(pointer));
}

// A text from Java: UTF-8 with a NUL, or nothing.
class Text {
 public:
  Text(JNIEnv* env, jbyteArray utf8);
  // NULL if Java's array was null.
  const char* get() const { return is_null_ ? nullptr : bytes_.data(); }
  // Without the NUL.
  size_t bytes() const { return bytes_.empty() ? 0 : bytes_.size() - 1; }

 private:
  std::string bytes_;
  bool is_null_;
};

// Texts from Java's byte[][], or nothing.
class Texts {
 public:
  Texts(JNIEnv* env, jobjectArray utf8);
  // NULL if Java's array was null.
  const char* const* get() const { return is_null_ ? nullptr : pointers_.data(); }
  const std::vector<Text>& all() const { return texts_; }

 private:
  std::vector<Text> texts_;
  std::vector<const char*> pointers_;
  bool is_null_;
};

// Values of an object's fields, by their place in the table.
class Fields {
 public:
  Fields(JNIEnv* env, jobject object, const Field* fields)
      : env_(env), object_(object), fields_(fields) {}
  jint Int(int i) const { return env_->GetIntField(object_, fields_[i].id); }
  jlong Long(int i) const { return env_->GetLongField(object_, fields_[i].id); }
  float Float(int i) const { return env_->GetFloatField(object_, fields_[i].id); }
  double Double(int i) const { return env_->GetDoubleField(object_, fields_[i].id); }
  bool Bool(int i) const { return env_->GetBooleanField(object_, fields_[i].id) == JNI_TRUE; }
  jobject Object(int i) const { return env_->GetObjectField(object_, fields_[i].id); }
  Text TextOf(int i) const { return Text(env_, static_cast<jbyteArray>(Object(i))); }
  std::vector<float> Floats(int i) const;

 private:
  JNIEnv* env_;
  jobject object_;
  const Field* fields_;
};

// New Java objects. NULL: an exception is pending.
jbyteArray NewBytes(JNIEnv* env, const void* data, size_t bytes);
jbyteArray NewText(JNIEnv* env, const char* text);
jobjectArray NewTexts(JNIEnv* env, const char* const* texts, size_t n_texts);
jintArray NewInts(JNIEnv* env, const int32_t* values, size_t n_values);
jlongArray NewLongs(JNIEnv* env, const int64_t* values, size_t n_values);
jfloatArray NewFloats(JNIEnv* env, const float* values, size_t n_values);
jdoubleArray NewDoubles(JNIEnv* env, const double* values, size_t n_values);
// An org.topwork.TensorInfo.
jobject NewTensorInfo(JNIEnv* env, const tw_tensor_info& info);

// A text that the library gave to the caller, as byte[]; it is freed.
jbyteArray TakeText(JNIEnv* env, char* owned);

}  // namespace topwork_jni

#endif  // PORTS_ANDROID_JNI_JNI_SUPPORT_H_
