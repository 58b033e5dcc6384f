// JoinLaunches: launches of a segment that can be one. What computes element by element becomes a
// stage of the launch whose result it reads, so that no value between them is stored: x · sigmoid(x), a
// convolution and what follows it. Small dense layers become a squeeze. What CONCATENATION and PACK
// join is stored in its place by the launches that make it.
#ifndef TOPWORK_RUNTIME_PLAN_JOIN_LAUNCHES_H_
#define TOPWORK_RUNTIME_PLAN_JOIN_LAUNCHES_H_

#include <vector>

#include "kernels/gpu/gpu_program.h"

namespace topwork {

// What became of a part (the launches of one operator).
struct JoinedPart {
  int into = 0;       // the part that computes it now: itself, or another
  bool leads = true;  // false: it became a stage
  // The part whose output this one's last launch writes a piece of; −1: none.
  int place = -1;
  bool is_placed = false;  // others write all of its output
};

// One for each part that the program had; `part_ends` keeps its size. A part that is `apart` (one for
// each) stays as it is.
//
// A launch becomes a stage where it alone reads the other's result, which is no output of the program.
// Where what else it reads is made later than the other's launches, these move behind it; that
// changes no answer, because every block is written by one operator and read after it. A product with
// a row that cannot be a stage becomes part of the matrix product that alone reads it; a small dense
// layer joins the one before it, or the means of an image (squeeze_gpu.h). A tensor that is joined
// with others, and read by nothing else, is not made: its last launch writes into the joined one
// where it takes stages and rows allow (stages.h); else it is copied. Lifetimes of the program's
// blocks are found anew; its outputs and its error block must be known.
std::vector<JoinedPart> JoinLaunches(GpuProgram* program, const std::vector<uint8_t>& apart);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_PLAN_JOIN_LAUNCHES_H_
