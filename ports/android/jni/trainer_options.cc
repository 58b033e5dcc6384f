// org.topwork.TrainerOptions. A number below 0 was not set: the library's default stays.
#include "ports/android/jni/trainer_options.h"

namespace topwork_jni {
namespace {

enum Place {
  kClassCount,
  kClassNames,
  kOptimizer,
  kHeadInit,
  kLearningRate,
  kWeightDecay,
  kEpochs,
  kBatchSize,
  kPatience,
  kThreads,
  kSeed,
  kValidation,
  kVariants,
  kFlip,
  kCrop,
  kBrightness,
  kNoise,
  kKeepInFloat,
  kBalance,
  kReplay,
  kMemoryLimit,
  kDevice,
  kFeatureCache,
  kPreprocessing,
  kOutput,
  kMean,
  kStd,
  kPlaces
};

Field g_fields[kPlaces] = {
    {"classCount", "J", nullptr},
    {"classNames", "[[B", nullptr},
    {"optimizer", "I", nullptr},
    {"headInit", "I", nullptr},
    {"learningRate", "F", nullptr},
    {"weightDecay", "F", nullptr},
    {"epochs", "I", nullptr},
    {"batchSize", "I", nullptr},
    {"patience", "I", nullptr},
    {"threads", "I", nullptr},
    {"seed", "J", nullptr},
    {"validationFraction", "F", nullptr},
    {"variants", "I", nullptr},
    {"flip", "Z", nullptr},
    {"crop", "F", nullptr},
    {"brightness", "F", nullptr},
    {"noise", "F", nullptr},
    {"keepInFloat", "Z", nullptr},
    {"balanceClasses", "Z", nullptr},
    {"replayCapacity", "J", nullptr},
    {"memoryLimitBytes", "J", nullptr},
    {"device", "[B", nullptr},
    {"featureCache", "[B", nullptr},
    {"preprocessing", "[B", nullptr},
    {"output", "[B", nullptr},
    {"inputMean", "[F", nullptr},
    {"inputStd", "[F", nullptr},
};

template <class From, class To>
void SetIfGiven(From value, To* option) {
  if (value >= 0) *option = static_cast<To>(value);
}

}  // namespace

bool RegisterTrainerOptions(JNIEnv* env) {
  return FindFields(env, "org/topwork/TrainerOptions", g_fields, kPlaces);
}

TrainerOptions::TrainerOptions(JNIEnv* env, jobject options)
    : class_names_(env,
                   static_cast<jobjectArray>(Fields(env, options, g_fields).Object(kClassNames))),
      device_(Fields(env, options, g_fields).TextOf(kDevice)),
      feature_cache_(Fields(env, options, g_fields).TextOf(kFeatureCache)),
      preprocessing_(Fields(env, options, g_fields).TextOf(kPreprocessing)),
      output_(Fields(env, options, g_fields).TextOf(kOutput)),
      mean_(Fields(env, options, g_fields).Floats(kMean)),
      std_(Fields(env, options, g_fields).Floats(kStd)) {
  tw_trainer_options_init(&options_, sizeof(options_));
  const Fields fields(env, options, g_fields);
  ReadTraining(fields);
  ReadPlaces(fields);
}

void TrainerOptions::ReadTraining(const Fields& fields) {
  SetIfGiven(fields.Long(kClassCount), &options_.n_classes);
  options_.class_names = class_names_.get();
  SetIfGiven(fields.Int(kOptimizer), &options_.optimizer.kind);
  SetIfGiven(fields.Float(kLearningRate), &options_.optimizer.learning_rate);
  SetIfGiven(fields.Float(kWeightDecay), &options_.optimizer.weight_decay);
  SetIfGiven(fields.Int(kHeadInit), &options_.head.init);
  options_.head.keep_in_float = fields.Bool(kKeepInFloat) ? 1 : 0;
  options_.head.output = output_.get();
  options_.loss.balance_classes = fields.Bool(kBalance) ? TW_BALANCE_WEIGHTS : TW_BALANCE_NONE;
  SetIfGiven(fields.Int(kEpochs), &options_.n_epochs);
  SetIfGiven(fields.Int(kBatchSize), &options_.batch_size);
  SetIfGiven(fields.Int(kPatience), &options_.stopping.patience);
  SetIfGiven(fields.Long(kSeed), &options_.seed);
  SetIfGiven(fields.Float(kValidation), &options_.validation_fraction);
  SetIfGiven(fields.Int(kVariants), &options_.augmentation.n_variants);
  options_.augmentation.flip = fields.Bool(kFlip) ? 1 : 0;
  options_.augmentation.crop = fields.Float(kCrop);
  options_.augmentation.brightness = fields.Float(kBrightness);
  options_.augmentation.noise = fields.Float(kNoise);
}

void TrainerOptions::ReadPlaces(const Fields& fields) {
  SetIfGiven(fields.Int(kThreads), &options_.n_threads);
  SetIfGiven(fields.Long(kReplay), &options_.replay_capacity);
  SetIfGiven(fields.Long(kMemoryLimit), &options_.memory_limit_bytes);
  options_.device = device_.get();
  options_.features.cache_path = feature_cache_.get();
  options_.features.preprocessing = preprocessing_.get();
  options_.input_scale.n = static_cast<int32_t>(mean_.size());
  options_.input_scale.mean = mean_.empty() ? nullptr : mean_.data();
  options_.input_scale.std = std_.empty() ? nullptr : std_.data();
}

}  // namespace topwork_jni
