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
// *out and *out_progress borrow what the caller's struct points to. targets_needed false: labels
// and targets may be missing.
Status ConvertExamples(const Trainer& trainer, const tw_examples* c_examples, bool targets_needed,
                       Examples* out, FeatureProgress* out_progress);
// Examples without targets, and room for a number of each output: n_values, which the caller calls
// `name`.
Status ConvertUnlabelled(const Trainer& trainer, const tw_examples* examples, const char* name,
                         size_t n_values, Examples* out);
// Examples of a quantizer have neither labels nor targets.
Status ConvertExamples(const Quantizer& quantizer, const tw_examples* c_examples, Examples* out,
                       FeatureProgress* out_progress);

}  // namespace api
}  // namespace topwork

#endif  // TOPWORK_RUNTIME_API_TRAINER_CONVERT_H_
