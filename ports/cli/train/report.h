// What `topwork train` tells after training: the library's judgement and numbers as a report.
#ifndef TOPWORK_PORTS_CLI_TRAIN_REPORT_H_
#define TOPWORK_PORTS_CLI_TRAIN_REPORT_H_

#include <string>
#include <vector>

#include "ports/cli/report.h"
#include "ports/cli/train/options.h"

namespace topwork {
namespace cli {

// The trainer's judgement on the validation set, with its worst examples; nothing is filled when
// there is none. `data` (may be null) names the examples and shows their images.
void JudgeValidation(const Dataset* data, tw::Trainer* trainer, TrainingReport* report);

// Audits the labels of `data`, which are the trainer's examples; see tw_trainer_audit. Nothing is
// filled for other losses than softmax.
void AuditLabels(const Dataset& data, tw::Trainer* trainer, TrainingReport* report);

// The flags in words, the layers found, and memory.
void DescribeRun(const TrainOptions& options, const std::string& loss, const tw::Trainer& trainer,
                 TrainingReport* report);

// The table of epochs in the terminal.
// What was tried by --optimizer auto, and why one was taken.
void NoteCandidates(const tw::Trainer& trainer, TrainingReport* report);
void PrintCandidates(const TrainingReport& report);

void PrintEpoch(const EpochRow& row, int64_t n_epochs, bool is_first, bool has_accuracy);
// What is printed last.
void PrintEnd(const TrainOptions& options, const TrainingReport& report);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_TRAIN_REPORT_H_
