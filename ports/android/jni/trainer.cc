// org.topwork.Trainer, but for training, judging and information.
#include "ports/android/jni/examples.h"
#include "ports/android/jni/trainer_options.h"

namespace topwork_jni {
namespace {

jlong JNICALL Create(JNIEnv* env, jclass, jlong model, jobject options) {
  tw_trainer* trainer = nullptr;
  const TrainerOptions read(env, options);
  Succeeded(env, tw_trainer_create(Pointer<tw_model>(model), read.get(), &trainer));
  return Address(trainer);
}

void JNICALL Free(JNIEnv*, jclass, jlong trainer) { tw_trainer_free(Pointer<tw_trainer>(trainer)); }

void JNICALL Cancel(JNIEnv* env, jclass, jlong trainer) {
  Succeeded(env, tw_trainer_cancel(Pointer<tw_trainer>(trainer)));
}

jobject JNICALL Input(JNIEnv* env, jclass, jlong trainer, jint index) {
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  const tw_status status =
      tw_trainer_get_input(Pointer<tw_trainer>(trainer), static_cast<size_t>(index), &info);
  return Succeeded(env, status) ? NewTensorInfo(env, info) : nullptr;
}

void JNICALL Add(JNIEnv* env, jclass, jlong trainer, jobject examples) {
  const Examples read(env, Pointer<tw_trainer>(trainer), examples);
  Succeeded(env, tw_trainer_add_examples(Pointer<tw_trainer>(trainer), read.get()));
}

void JNICALL SetGolden(JNIEnv* env, jclass, jlong trainer, jobject examples) {
  const Examples read(env, Pointer<tw_trainer>(trainer), examples);
  Succeeded(env, tw_trainer_set_golden(Pointer<tw_trainer>(trainer), read.get()));
}

void JNICALL SetClasses(JNIEnv* env, jclass, jlong trainer, jobjectArray names) {
  const Texts read(env, names);
  Succeeded(env, tw_trainer_set_classes(Pointer<tw_trainer>(trainer), read.get(), nullptr,
                                        read.all().size()));
}

jlong JNICALL Export(JNIEnv* env, jclass, jlong trainer) {
  tw_model* model = nullptr;
  Succeeded(env, tw_trainer_export(Pointer<tw_trainer>(trainer), &model));
  return Address(model);
}

void JNICALL SaveHead(JNIEnv* env, jclass, jlong trainer, jbyteArray path) {
  Succeeded(env, tw_trainer_save_head(Pointer<tw_trainer>(trainer), Text(env, path).get()));
}

void JNICALL LoadHead(JNIEnv* env, jclass, jlong trainer, jbyteArray path) {
  Succeeded(env, tw_trainer_load(Pointer<tw_trainer>(trainer), Text(env, path).get()));
}

void JNICALL SaveCheckpoint(JNIEnv* env, jclass, jlong trainer, jbyteArray path) {
  Succeeded(env,
            tw_trainer_save_checkpoint(Pointer<tw_trainer>(trainer), Text(env, path).get(), 1));
}

void JNICALL LoadCheckpoint(JNIEnv* env, jclass, jlong trainer, jbyteArray path) {
  Succeeded(env, tw_trainer_load(Pointer<tw_trainer>(trainer), Text(env, path).get()));
}

}  // namespace

bool RegisterTrainer(JNIEnv* env) {
  const Method methods[] = {
      {"nativeCreate", "(JLorg/topwork/TrainerOptions;)J", reinterpret_cast<void*>(Create)},
      {"nativeFree", "(J)V", reinterpret_cast<void*>(Free)},
      {"nativeCancel", "(J)V", reinterpret_cast<void*>(Cancel)},
      {"nativeInput", "(JI)Lorg/topwork/TensorInfo;", reinterpret_cast<void*>(Input)},
      {"nativeAdd", "(JLorg/topwork/Examples;)V", reinterpret_cast<void*>(Add)},
      {"nativeSetGolden", "(JLorg/topwork/Examples;)V", reinterpret_cast<void*>(SetGolden)},
      {"nativeSetClasses", "(J[[B)V", reinterpret_cast<void*>(SetClasses)},
      {"nativeExport", "(J)J", reinterpret_cast<void*>(Export)},
      {"nativeSaveHead", "(J[B)V", reinterpret_cast<void*>(SaveHead)},
      {"nativeLoadHead", "(J[B)V", reinterpret_cast<void*>(LoadHead)},
      {"nativeSaveCheckpoint", "(J[B)V", reinterpret_cast<void*>(SaveCheckpoint)},
      {"nativeLoadCheckpoint", "(J[B)V", reinterpret_cast<void*>(LoadCheckpoint)},
  };
  return RegisterMethods(env, "org/topwork/Trainer", methods, sizeof(methods) / sizeof(Method));
}

}  // namespace topwork_jni
