// Ranges of the trainer's options.
#include "runtime/train/options.h"

#include <cmath>

namespace topwork {
namespace {

Status OutOfRange(const char* name, double value, const char* range) {
  return InvalidArgument("%s is %g; it must be %s", name, value, range);
}

}  // namespace

const char* OptimizerName(Optimizer optimizer) {
  return optimizer == Optimizer::kSgd ? "sgd" : "adam";
}

Status CheckOptions(const TrainerOptions& o) {
  if (o.optimizer != Optimizer::kSgd && o.optimizer != Optimizer::kAdam) {
    return OutOfRange("optimizer", static_cast<int>(o.optimizer), "0 (sgd) or 1 (adam)");
  }
  if (o.init != HeadInit::kZeros && o.init != HeadInit::kShipped) {
    return OutOfRange("init", static_cast<int>(o.init), "0 (zeros) or 1 (shipped)");
  }
  // Written so that NaN fails every test.
  if (!(o.learning_rate >= 0.0f && o.learning_rate <= 1e6f)) {
    return OutOfRange("learning_rate", o.learning_rate, "in [0, 1e6], 0 for a chosen one");
  }
  if (!(o.momentum >= 0.0f && o.momentum < 1.0f)) {
    return OutOfRange("momentum", o.momentum, "in [0, 1)");
  }
  if (o.momentum > 0.0f && o.optimizer != Optimizer::kSgd) {
    return InvalidArgument(
        "momentum is an option of the sgd optimizer; the optimizer is %s, whose "
        "option is beta1",
        OptimizerName(o.optimizer));
  }
  if (o.nesterov && !(o.momentum > 0.0f)) {
    return InvalidArgument("nesterov needs momentum above 0");
  }
  if (!(o.beta1 >= 0.0f && o.beta1 < 1.0f)) return OutOfRange("beta1", o.beta1, "in [0, 1)");
  if (!(o.beta2 >= 0.0f && o.beta2 < 1.0f)) return OutOfRange("beta2", o.beta2, "in [0, 1)");
  if (!(o.epsilon > 0.0f && o.epsilon <= 1.0f)) {
    return OutOfRange("epsilon", o.epsilon, "above 0 and at most 1");
  }
  if (!(o.weight_decay >= 0.0f && o.weight_decay <= 1e6f &&
        o.weight_decay * o.learning_rate <= 1.0f)) {
    return OutOfRange("weight_decay", o.weight_decay,
                      "at least 0 and at most 1e6 and 1 / learning_rate");
  }
  if (o.batch_size < 1) return OutOfRange("batch_size", o.batch_size, "at least 1");
  if (o.epochs < 0) return OutOfRange("epochs", o.epochs, "at least 0");
  if (!(o.validation_fraction >= 0.0f && o.validation_fraction < 1.0f)) {
    return OutOfRange("validation_fraction", o.validation_fraction, "in [0, 1)");
  }
  if (o.n_threads < 0) return OutOfRange("n_threads", o.n_threads, "at least 0");
  if (o.feature_batch_size < 0) {
    return OutOfRange("feature_batch_size", o.feature_batch_size, "at least 0");
  }
  return Status::Ok();
}

}  // namespace topwork
