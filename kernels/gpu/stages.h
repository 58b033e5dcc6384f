// Stages of launches: what a kernel does to its results, element by element, before it stores them
// (gpu/stages.clh); and launches of nothing but stages (elementwise.cl).
#ifndef TOPWORK_KERNELS_GPU_STAGES_H_
#define TOPWORK_KERNELS_GPU_STAGES_H_

#include "kernels/gpu/launch.h"

namespace topwork {

// The most that a launch takes.
constexpr size_t kMostStages = 4;

// The block that a launch writes which may take stages; −1 of others.
int StagedOutput(const Launch& launch);
// Whether the stage's second operand has one element for each column.
bool IsByRow(const LaunchStage& stage);
// The place of the stage's first argument: its block, then its two numbers.
size_t StageArguments(const Launch& launch, size_t stage);

// The launch does `stage` after all else, with `other` (a block; −1: none) and two numbers.
void AddStage(const LaunchStage& stage, int other, float lo, float hi, Launch* launch);
// Sizes and work of a launch of elementwise.cl, after its stages were added.
void FitMap(Launch* launch);

// Whether the launch, which may take stages, can store its results there in place of a tensor of
// their own; and has it do so, in `block`.
bool CanPlace(const Launch& launch, const LaunchPlace& place);
void Place(int block, const LaunchPlace& place, Launch* launch);

// A launch of one stage and nothing else becomes one whose arguments name the stage, so that one
// program serves all of them (unary.cl, binary.cl); not for functions that some drivers lack.
void NameByArguments(Launch* launch);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_GPU_STAGES_H_
