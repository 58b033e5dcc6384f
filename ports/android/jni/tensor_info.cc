// org.topwork.TensorInfo.
#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

Class g_tensor_info;

}  // namespace

bool RegisterTensorInfo(JNIEnv* env) {
  return FindClass(env, "org/topwork/TensorInfo", "([BI[I[IJ[F[JIZ)V", &g_tensor_info);
}

jobject NewTensorInfo(JNIEnv* env, const tw_tensor_info& info) {
  const size_t rank = static_cast<size_t>(info.rank);
  const jbyteArray name = NewText(env, info.name);
  if (name == nullptr) return nullptr;
  const jintArray dims = NewInts(env, info.dims, rank);
  if (dims == nullptr) return nullptr;
  const jintArray open_dims = NewInts(env, info.open_dims, rank);
  if (open_dims == nullptr) return nullptr;
  const jfloatArray scales = NewFloats(env, info.scales, info.n_scales);
  if (scales == nullptr) return nullptr;
  const jlongArray zero_points = NewLongs(env, info.zero_points, info.n_scales);
  if (zero_points == nullptr) return nullptr;
  const bool is_text = info.dtype == TW_DTYPE_STRING;
  const jlong bytes = is_text ? 0 : static_cast<jlong>(info.bytes);
  const jobject made = env->NewObject(
      g_tensor_info.object, g_tensor_info.constructor, name, static_cast<jint>(info.dtype), dims,
      open_dims, bytes, scales, zero_points, static_cast<jint>(info.quantized_axis),
      static_cast<jboolean>(info.data != nullptr ? JNI_TRUE : JNI_FALSE));
  for (const jobject used :
       {jobject(name), jobject(dims), jobject(open_dims), jobject(scales), jobject(zero_points)}) {
    env->DeleteLocalRef(used);
  }
  return made;
}

}  // namespace topwork_jni
