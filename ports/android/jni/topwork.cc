// org.topwork.Topwork.
#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

jbyteArray JNICALL Version(JNIEnv* env, jclass) { return NewText(env, tw_version()); }

jlong JNICALL AddressOf(JNIEnv* env, jclass, jobject buffer) {
  return Address(env->GetDirectBufferAddress(buffer));
}

}  // namespace

bool RegisterTopwork(JNIEnv* env) {
  const Method methods[] = {
      {"nativeVersion", "()[B", reinterpret_cast<void*>(Version)},
      {"nativeAddress", "(Ljava/nio/ByteBuffer;)J", reinterpret_cast<void*>(AddressOf)},
  };
  return RegisterMethods(env, "org/topwork/Topwork", methods, 2);
}

}  // namespace topwork_jni
