// tw_trainer_options from a Python dictionary whose keys are its fields: "n_epochs", "head.n_layers".
#ifndef TOPWORK_PORTS_PYTHON_TRAINER_OPTIONS_H_
#define TOPWORK_PORTS_PYTHON_TRAINER_OPTIONS_H_

#include <list>

#include "ports/python/src/common.h"

namespace topwork_python {

// Its word among the options.
std::string OptimizerName(tw_optimizer optimizer);

struct TrainerOptions {
  TrainerOptions();
  TrainerOptions(const TrainerOptions&) = delete;

  // Raises TypeError for a key that is no option, or a value of another type.
  void Set(nb::dict values);
  void SetClassNames(const std::vector<std::string>& names);

  tw_trainer_options options;

 private:
  std::list<std::string> texts;  // what the options point at
  std::vector<float> class_weights, mean, std;
  std::vector<const char*> names;
};

}  // namespace topwork_python

#endif  // TOPWORK_PORTS_PYTHON_TRAINER_OPTIONS_H_
