// org.topwork.Trainer: judging and predicting, with Evaluation.
#include "ports/android/jni/examples.h"

namespace topwork_jni {
namespace {

Class g_evaluation;

// The order of numbers is that of Evaluation.java.
jobject NewEvaluation(JNIEnv* env, const tw_evaluation& evaluation) {
  const size_t n_classes = static_cast<size_t>(evaluation.n_classes);
  std::vector<double> precision(n_classes);
  std::vector<double> recall(n_classes);
  for (size_t i = 0; i < n_classes; ++i) {
    precision[i] = evaluation.classes[i].precision;
    recall[i] = evaluation.classes[i].recall;
  }
  const double numbers[] = {evaluation.loss, evaluation.accuracy, evaluation.macro_f1,
                            evaluation.calibration_error};
  const jdoubleArray java_numbers = NewDoubles(env, numbers, 4);
  if (java_numbers == nullptr) return nullptr;
  const jdoubleArray java_precision = NewDoubles(env, precision.data(), n_classes);
  if (java_precision == nullptr) return nullptr;
  const jdoubleArray java_recall = NewDoubles(env, recall.data(), n_classes);
  if (java_recall == nullptr) return nullptr;
  jlongArray confusion = nullptr;
  if (evaluation.confusion != nullptr) {
    confusion = NewLongs(env, evaluation.confusion, n_classes * n_classes);
    if (confusion == nullptr) return nullptr;
  }
  return env->NewObject(g_evaluation.object, g_evaluation.constructor,
                        static_cast<jlong>(evaluation.n_examples), static_cast<jint>(n_classes),
                        java_numbers, java_precision, java_recall, confusion);
}

jobject JNICALL Evaluate(JNIEnv* env, jclass, jlong trainer, jobject examples) {
  const Examples read(env, Pointer<tw_trainer>(trainer), examples);
  tw_evaluation evaluation = {};
  evaluation.struct_size = sizeof(evaluation);
  const tw_status status =
      tw_trainer_evaluate(Pointer<tw_trainer>(trainer), read.get(), 0, &evaluation);
  return Succeeded(env, status) ? NewEvaluation(env, evaluation) : nullptr;
}

jfloatArray JNICALL Predict(JNIEnv* env, jclass, jlong trainer, jobject examples) {
  const Examples read(env, Pointer<tw_trainer>(trainer), examples);
  tw_trainer_info info = {};
  info.struct_size = sizeof(info);
  if (!Succeeded(env, tw_trainer_get_info(Pointer<tw_trainer>(trainer), &info))) return nullptr;
  const int64_t n_examples = read.get() == nullptr ? 0 : read.get()->n_examples;
  std::vector<float> scores(static_cast<size_t>(n_examples * info.n_classes));
  const tw_status status =
      tw_trainer_predict(Pointer<tw_trainer>(trainer), read.get(), scores.data(), scores.size());
  return Succeeded(env, status) ? NewFloats(env, scores.data(), scores.size()) : nullptr;
}

jdouble JNICALL Calibrate(JNIEnv* env, jclass, jlong trainer) {
  tw_calibration calibration = {};
  calibration.struct_size = sizeof(calibration);
  Succeeded(env, tw_trainer_calibrate(Pointer<tw_trainer>(trainer), &calibration));
  return calibration.temperature;
}

}  // namespace

bool RegisterEvaluation(JNIEnv* env) {
  const Method methods[] = {
      {"nativeEvaluate", "(JLorg/topwork/Examples;)Lorg/topwork/Evaluation;",
       reinterpret_cast<void*>(Evaluate)},
      {"nativePredict", "(JLorg/topwork/Examples;)[F", reinterpret_cast<void*>(Predict)},
      {"nativeCalibrate", "(J)D", reinterpret_cast<void*>(Calibrate)},
  };
  return FindClass(env, "org/topwork/Evaluation", "(JI[D[D[D[J)V", &g_evaluation) &&
         RegisterMethods(env, "org/topwork/Trainer", methods, 3);
}

}  // namespace topwork_jni
