// Options and examples of the C API's trainer in the library's own terms.
#ifndef TOPWORK_RUNTIME_API_TRAINER_CONVERT_H_
#define TOPWORK_RUNTIME_API_TRAINER_CONVERT_H_

#include "runtime/train/quantizer.h"
#include "runtime/train/trainer.h"
#include "topwork/topwork.h"

namespace topwork {
namespace api {

tw_trainer_options DefaultTrainerOptions();
// allocator: must outlive the trainer made from *out.
Status ConvertTrainerOptions(const tw_trainer_options& in, const Allocator* allocator,
                             TrainerOptions* out);

// What a tw_examples says; it borrows what the caller's struct points to.
struct GivenExamples {
  Examples examples;
  FeatureProgress progress;
  std::vector<std::string> ids;  // one for each; empty: none
  bool are_negatives = false;
};

enum class ExampleUse {
  kLabelled,  // labels or targets are needed
  kUnlabelled,
  kTaught,  // as labelled ones, or negatives, which have none
};

Result<GivenExamples> ReadExamples(const Trainer& trainer, const tw_examples* c_examples,
                                   ExampleUse use);
// Unlabelled ones, and room for a number of each output: n_values, which the caller calls `name`.
Result<GivenExamples> ReadExamplesToPredict(const Trainer& trainer, const tw_examples* c_examples,
                                            const char* name, size_t n_values);
// Examples of a quantizer have neither labels nor targets.
Result<GivenExamples> ReadExamples(const Quantizer& quantizer, const tw_examples* c_examples);

// The new classes, and which of them each of the n_classes present ones becomes; −1: none.
struct ClassChange {
  std::vector<std::string> names;
  std::vector<int32_t> becomes;  // empty where the caller gives none
};
Result<ClassChange> ReadClassChange(const char* const* names, size_t n_names,
                                    const int64_t* becomes, size_t n_classes);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_TRAINER_CONVERT_H_
