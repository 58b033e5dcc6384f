// Options and examples of the C API's trainer in the library's own terms.
#include "runtime/api/trainer_convert.h"

#include <limits>

#include "runtime/api/handles.h"

namespace topwork {
namespace api {
namespace {

static_assert(static_cast<int>(Optimizer::kSgd) == TW_OPTIMIZER_SGD, "");
static_assert(static_cast<int>(Optimizer::kAdam) == TW_OPTIMIZER_ADAM, "");
static_assert(static_cast<int>(HeadInit::kShipped) == TW_HEAD_INIT_SHIPPED, "");

Status CheckEnums(const tw_trainer_options& in) {
  const int optimizer = static_cast<int>(in.optimizer);
  if (optimizer != TW_OPTIMIZER_SGD && optimizer != TW_OPTIMIZER_ADAM) {
    return InvalidArgument("optimizer %d does not exist (0 SGD, 1 Adam)", optimizer);
  }
  const int init = static_cast<int>(in.head_init);
  if (init != TW_HEAD_INIT_ZEROS && init != TW_HEAD_INIT_SHIPPED) {
    return InvalidArgument("head_init %d does not exist (0 zeros, 1 shipped)", init);
  }
  if (in.n_classes < 0 || in.n_classes > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("n_classes is %lld", static_cast<long long>(in.n_classes));
  }
  if (in.class_names == nullptr) return Status::Ok();
  if (in.n_classes == 0) return InvalidArgument("class_names need n_classes, which is 0");
  for (int64_t i = 0; i < in.n_classes; ++i) {
    if (in.class_names[i] != nullptr) continue;
    return InvalidArgument("class_names[%lld] is NULL", static_cast<long long>(i));
  }
  return Status::Ok();
}

Status ToLabel(int64_t label, int64_t index, int32_t* out) {
  if (label < 0 || label > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("the label of example %lld is %lld", static_cast<long long>(index),
                           static_cast<long long>(label));
  }
  *out = static_cast<int32_t>(label);
  return Status::Ok();
}

Status FromArrays(const Trainer& trainer, const tw_examples& in, Examples* out) {
  if (trainer.n_inputs() != 1) {
    return InvalidArgument(
        "the model has %d inputs; examples in one array fit models of one input, "
        "set tw_examples.read instead",
        trainer.n_inputs());
  }
  const TensorView& view = trainer.input(0);
  const size_t bytes = view.bytes();
  size_t total = 0;
  if (static_cast<int>(in.dtype) != static_cast<int>(view.dtype)) {
    return InvalidArgument("tw_examples.dtype is %s, but the model's input '%s' is %s",
                           tw_dtype_name(in.dtype), trainer.input_name(0).c_str(),
                           DTypeName(view.dtype));
  }
  if (MulOverflow(bytes, static_cast<size_t>(in.n_examples), &total) || total != in.data_bytes) {
    return InvalidArgument(
        "tw_examples.data_bytes is %zu, but %lld examples of %s %s take %zu each", in.data_bytes,
        static_cast<long long>(in.n_examples), DTypeName(view.dtype), view.shape.ToString().c_str(),
        bytes);
  }
  if (in.labels == nullptr) return InvalidArgument("tw_examples.labels is NULL");
  const uint8_t* data = static_cast<const uint8_t*>(in.data);
  const int64_t* labels = in.labels;
  out->read = [data, labels, bytes](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    std::memcpy(inputs[0], data + static_cast<size_t>(index) * bytes, bytes);
    return ToLabel(labels[index], index, &out->label);
  };
  return Status::Ok();
}

}  // namespace

tw_trainer_options DefaultTrainerOptions() {
  const TrainerOptions defaults;
  tw_trainer_options options = {};
  options.head_init = static_cast<tw_head_init>(defaults.init);
  options.optimizer = static_cast<tw_optimizer>(defaults.optimizer);
  options.learning_rate = defaults.learning_rate;
  options.momentum = defaults.momentum;
  options.nesterov = defaults.nesterov ? 1 : 0;
  options.beta1 = defaults.beta1;
  options.beta2 = defaults.beta2;
  options.epsilon = defaults.epsilon;
  options.weight_decay = defaults.weight_decay;
  options.batch_size = defaults.batch_size;
  options.n_epochs = defaults.epochs;
  options.seed = defaults.seed;
  options.validation_fraction = defaults.validation_fraction;
  return options;
}

Status ConvertTrainerOptions(const tw_trainer_options& in, const Allocator* allocator,
                             TrainerOptions* out) {
  TW_RETURN_IF_ERROR(CheckDevice(in.device));
  TW_RETURN_IF_ERROR(CheckEnums(in));
  out->n_classes = static_cast<int>(in.n_classes);
  for (int64_t i = 0; in.class_names != nullptr && i < in.n_classes; ++i) {
    out->class_names.push_back(in.class_names[i]);
  }
  out->init = static_cast<HeadInit>(in.head_init);
  out->output = in.output;
  out->optimizer = static_cast<Optimizer>(in.optimizer);
  out->learning_rate = in.learning_rate;
  out->momentum = in.momentum;
  out->nesterov = in.nesterov != 0;
  out->beta1 = in.beta1;
  out->beta2 = in.beta2;
  out->epsilon = in.epsilon;
  out->weight_decay = in.weight_decay;
  out->batch_size = in.batch_size;
  out->epochs = in.n_epochs;
  out->seed = in.seed;
  out->validation_fraction = in.validation_fraction;
  out->feature_batch_size = in.extraction_batch;
  out->cache_limit_bytes = in.cache_limit_bytes;
  out->memory_limit_bytes = in.memory_limit_bytes;
  out->n_threads = in.n_threads;
  out->allocator = allocator;
  return Status::Ok();
}

Status ConvertExamples(const Trainer& trainer, const tw_examples* c_examples, Examples* out,
                       FeatureProgress* out_progress) {
  tw_examples in = {};
  TW_RETURN_IF_ERROR(ReadStruct("tw_examples", c_examples, &in));
  if (in.n_examples < 0) {
    return InvalidArgument("tw_examples.n_examples is %lld", static_cast<long long>(in.n_examples));
  }
  out->count = in.n_examples;
  if (in.progress != nullptr) {
    *out_progress = [in](int64_t n_done, int64_t n_total) {
      return in.progress(in.user_data, n_done, n_total) == 0;
    };
  }
  if (in.data != nullptr) return FromArrays(trainer, in, out);
  if (in.read == nullptr) {
    return InvalidArgument("tw_examples has neither data nor read; set one of them");
  }
  out->read = [in](int64_t index, Span<void* const> inputs, ExampleTarget* out) {
    int64_t label = 0;
    const tw_status status = in.read(in.user_data, index, inputs.data(), inputs.size(), &label);
    if (status == TW_STATUS_OK) return ToLabel(label, index, &out->label);
    const bool known = status > TW_STATUS_OK && status <= TW_STATUS_INTERNAL;
    return Status(known ? static_cast<StatusCode>(status) : StatusCode::kInternal,
                  StrFormat("tw_examples.read gave %s for example %lld", tw_status_name(status),
                            static_cast<long long>(index)));
  };
  return Status::Ok();
}

}  // namespace api
}  // namespace topwork
