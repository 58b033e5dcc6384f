// org.topwork.Trainer.fit with FitOptions and TrainerProgress.
#include <cmath>

#include "ports/android/jni/jni_support.h"

namespace topwork_jni {
namespace {

Class g_progress;
Class g_fit_options;
jmethodID g_goes_on;

enum Place { kEpochs, kMaxEpochs, kMaxSeconds, kPlaces };

Field g_fields[kPlaces] = {
    {"epochs", "I", nullptr}, {"maxEpochs", "I", nullptr}, {"maxSeconds", "D", nullptr}};

// What the progress callback needs, on the thread of the call.
struct Call {
  JNIEnv* env;
  jobject options;
};

int32_t Progress(void* user_data, const tw_trainer_progress* progress) {
  const Call& call = *static_cast<Call*>(user_data);
  const bool has_validation = progress->has_validation != 0;
  const jobject epoch = call.env->NewObject(
      g_progress.object, g_progress.constructor, static_cast<jlong>(progress->epoch),
      static_cast<jlong>(progress->n_epochs), progress->train_loss, progress->train_accuracy,
      has_validation ? progress->validation_loss : std::nan(""),
      has_validation ? progress->validation_accuracy : std::nan(""), progress->seconds);
  if (epoch == nullptr) return 1;
  const jboolean goes_on = call.env->CallBooleanMethod(call.options, g_goes_on, epoch);
  const bool has_thrown = call.env->ExceptionCheck() == JNI_TRUE;
  call.env->DeleteLocalRef(epoch);
  return has_thrown || goes_on == JNI_FALSE ? 1 : 0;
}

jboolean JNICALL Fit(JNIEnv* env, jclass, jlong trainer, jobject options) {
  Call call = {env, options};
  tw_fit_options fit = {};
  fit.struct_size = sizeof(fit);
  const Fields fields(env, options, g_fields);
  fit.n_epochs = fields.Int(kEpochs);
  fit.max_epochs = fields.Int(kMaxEpochs);
  fit.max_seconds = fields.Double(kMaxSeconds);
  fit.progress = Progress;
  fit.user_data = &call;
  int32_t is_finished = 0;
  Succeeded(env, tw_trainer_fit(Pointer<tw_trainer>(trainer), &fit, &is_finished));
  return is_finished != 0 ? JNI_TRUE : JNI_FALSE;
}

}  // namespace

bool RegisterTrainerFit(JNIEnv* env) {
  const Method methods[] = {
      {"nativeFit", "(JLorg/topwork/FitOptions;)Z", reinterpret_cast<void*>(Fit)},
  };
  if (!FindClass(env, "org/topwork/TrainerProgress", "(JJDDDDD)V", &g_progress)) return false;
  if (!FindFields(env, "org/topwork/FitOptions", g_fields, kPlaces)) return false;
  if (!FindClass(env, "org/topwork/FitOptions", nullptr, &g_fit_options)) return false;
  g_goes_on = env->GetMethodID(g_fit_options.object, "goesOn", "(Lorg/topwork/TrainerProgress;)Z");
  return g_goes_on != nullptr && RegisterMethods(env, "org/topwork/Trainer", methods, 1);
}

}  // namespace topwork_jni
