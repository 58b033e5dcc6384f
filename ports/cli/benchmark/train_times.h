// Timing the training of a new head.
#ifndef TOPWORK_PORTS_CLI_BENCHMARK_TRAIN_TIMES_H_
#define TOPWORK_PORTS_CLI_BENCHMARK_TRAIN_TIMES_H_

#include "ports/cli/benchmark/options.h"

namespace topwork {
namespace cli {

// Personalises the model three times, each time anew, from an open model to an exported one, with the
// library's defaults on random examples of evenly shared classes. The result has n_classes,
// n_examples, n_features and features_per_s (examples through the backbone) from the median of the
// times; optimizer, what TW_OPTIMIZER_AUTO stands for; n_steps and steps_per_s (mini-batches, without
// the last fit on all examples), null where the optimizer takes none: there fit_ms tells its speed;
// personalise_ms and its parts create_ms, features_ms, fit_ms, export_ms, each with a summary; and
// the bytes of tw_trainer_info: memory_bytes and its parts. Throws kExitUnsupported for a model
// whose last layer cannot be trained.
Json MeasureTraining(const BenchmarkOptions& options, const Setting& setting);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_BENCHMARK_TRAIN_TIMES_H_
