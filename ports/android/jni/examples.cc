// org.topwork.Examples. Java's reader fills buffers that belong to Java, from where they are copied:
// a reader that keeps a buffer can never reach memory of the library.
#include "ports/android/jni/examples.h"

#include <cstring>

namespace topwork_jni {
namespace {

enum Place { kCount, kData, kLabels, kReader, kInputs, kPlaces };

Field g_fields[kPlaces] = {
    {"count", "J", nullptr},
    {"data", "Ljava/nio/ByteBuffer;", nullptr},
    {"labels", "[J", nullptr},
    {"reader", "Lorg/topwork/ExampleReader;", nullptr},
    {"inputs", "[Ljava/nio/ByteBuffer;", nullptr},
};
Class g_examples;
jmethodID g_read;
jmethodID g_goes_on;

}  // namespace

bool RegisterExamples(JNIEnv* env) {
  if (!FindFields(env, "org/topwork/Examples", g_fields, kPlaces)) return false;
  if (!FindClass(env, "org/topwork/Examples", nullptr, &g_examples)) return false;
  g_read = env->GetMethodID(g_examples.object, "readExample", "(J)J");
  if (g_read == nullptr) return false;
  g_goes_on = env->GetMethodID(g_examples.object, "goesOn", "(JJ)Z");
  return g_goes_on != nullptr;
}

Examples::Examples(JNIEnv* env, tw_trainer* trainer, jobject examples)
    : env_(env), object_(examples) {
  if (examples == nullptr) return;
  const Fields fields(env, examples, g_fields);
  examples_.struct_size = sizeof(examples_);
  examples_.n_examples = fields.Long(kCount);
  examples_.progress = Progress;
  examples_.user_data = this;
  const jobject data = fields.Object(kData);
  if (data == nullptr) {
    const jobjectArray inputs = static_cast<jobjectArray>(fields.Object(kInputs));
    for (jsize i = 0; i < env->GetArrayLength(inputs); ++i) {
      const jobject input = env->GetObjectArrayElement(inputs, i);
      inputs_.push_back({env->GetDirectBufferAddress(input),
                         static_cast<size_t>(env->GetDirectBufferCapacity(input))});
      env->DeleteLocalRef(input);
    }
    examples_.read = Read;
    return;
  }
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  tw_trainer_get_input(trainer, 0, &info);
  const jlongArray labels = static_cast<jlongArray>(fields.Object(kLabels));
  labels_.resize(static_cast<size_t>(env->GetArrayLength(labels)));
  env->GetLongArrayRegion(labels, 0, static_cast<jsize>(labels_.size()), labels_.data());
  examples_.data = env->GetDirectBufferAddress(data);
  examples_.data_bytes = static_cast<size_t>(env->GetDirectBufferCapacity(data));
  examples_.dtype = info.dtype;
  examples_.labels = reinterpret_cast<const int64_t*>(labels_.data());
}

tw_status Examples::Read(void* user_data, int64_t index, void* const* inputs, size_t n_inputs,
                         int64_t* out_label) {
  const Examples& self = *static_cast<Examples*>(user_data);
  if (self.env_->ExceptionCheck() == JNI_TRUE) return TW_STATUS_CANCELLED;
  *out_label = self.env_->CallLongMethod(self.object_, g_read, static_cast<jlong>(index));
  if (self.env_->ExceptionCheck() == JNI_TRUE) return TW_STATUS_CANCELLED;
  for (size_t i = 0; i < n_inputs; ++i) {
    std::memcpy(inputs[i], self.inputs_[i].data, self.inputs_[i].bytes);
  }
  return TW_STATUS_OK;
}

int32_t Examples::Progress(void* user_data, int64_t n_done, int64_t n_total) {
  const Examples& self = *static_cast<Examples*>(user_data);
  if (self.env_->ExceptionCheck() == JNI_TRUE) return 1;
  const jboolean goes_on = self.env_->CallBooleanMethod(
      self.object_, g_goes_on, static_cast<jlong>(n_done), static_cast<jlong>(n_total));
  return self.env_->ExceptionCheck() == JNI_TRUE || goes_on == JNI_FALSE ? 1 : 0;
}

}  // namespace topwork_jni
