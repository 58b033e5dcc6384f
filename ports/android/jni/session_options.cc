// org.topwork.SessionOptions.
#include "ports/android/jni/session_options.h"

namespace topwork_jni {
namespace {

enum Place {
  kThreads,
  kDevice,
  kSignature,
  kCacheDir,
  kMemoryLimit,
  kPrecision,
  kShapes,
  kTune,
  kLowPriority,
  kPlaces
};

Field g_fields[kPlaces] = {
    {"threads", "I", nullptr},          {"device", "[B", nullptr},
    {"signature", "[B", nullptr},       {"cacheDir", "[B", nullptr},
    {"memoryLimitBytes", "J", nullptr}, {"precision", "I", nullptr},
    {"inputShapes", "[[I", nullptr},    {"tuneMillis", "I", nullptr},
    {"lowPriority", "Z", nullptr},
};

}  // namespace

bool RegisterSessionOptions(JNIEnv* env) {
  return FindFields(env, "org/topwork/SessionOptions", g_fields, kPlaces);
}

SessionOptions::SessionOptions(JNIEnv* env, jobject options, const tw_session* state)
    : device_(Fields(env, options, g_fields).TextOf(kDevice)),
      signature_(Fields(env, options, g_fields).TextOf(kSignature)),
      cache_dir_(Fields(env, options, g_fields).TextOf(kCacheDir)) {
  const Fields fields(env, options, g_fields);
  ReadShapes(env, static_cast<jobjectArray>(fields.Object(kShapes)));
  options_.struct_size = sizeof(options_);
  options_.n_threads = fields.Int(kThreads);
  options_.device = device_.get();
  options_.signature = signature_.get();
  options_.cache_dir = cache_dir_.get();
  options_.memory_limit_bytes = static_cast<size_t>(fields.Long(kMemoryLimit));
  options_.share_state_with = state;
  options_.precision = static_cast<tw_precision>(fields.Int(kPrecision));
  options_.input_shapes = shapes_.empty() ? nullptr : shapes_.data();
  options_.n_input_shapes = shapes_.size();
  options_.opencl.tune_ms = fields.Int(kTune);
  options_.opencl.low_priority = fields.Bool(kLowPriority) ? 1 : 0;
}

void SessionOptions::ReadShapes(JNIEnv* env, jobjectArray shapes) {
  const jsize n = shapes == nullptr ? 0 : env->GetArrayLength(shapes);
  for (jsize i = 0; i < n; ++i) {
    const jintArray dims = static_cast<jintArray>(env->GetObjectArrayElement(shapes, i));
    tw_shape shape = {};
    shape.rank = dims == nullptr ? -1 : env->GetArrayLength(dims);
    if (shape.rank > 0 && shape.rank <= 8) {
      env->GetIntArrayRegion(dims, 0, shape.rank, reinterpret_cast<jint*>(shape.dims));
    }
    shapes_.push_back(shape);
    env->DeleteLocalRef(dims);
  }
}

}  // namespace topwork_jni
