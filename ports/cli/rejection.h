// What a model that refuses unknown examples does, in numbers: as `run` tells it of one example and
// `evaluate` of many.
#ifndef TOPWORK_PORTS_CLI_REJECTION_H_
#define TOPWORK_PORTS_CLI_REJECTION_H_

#include <cstdint>
#include <vector>

#include "ports/cli/common.h"

namespace topwork {
namespace cli {

// The output that such a model has; see section 6 of topwork.h.
constexpr char kRejectionOutput[] = "rejection";

// The shares that are refused where the p-value is at most `rate`: what another promise would give.
struct RefusalPoint {
  double rate = 0.0, known = 0.0, unknown = 0.0;
};

struct RejectionResult {
  double promised = 0.0;
  int64_t n_known = 0, n_unknown = 0;
  // Shares; the unknown ones' and the two after them only with n_unknown > 0.
  double known_refused = 0.0, unknown_refused = 0.0;
  double auroc = 0.0;  // how often a known example has a larger p-value than an unknown one
  double fpr95 = 0.0;  // unknown ones that pass where at least 95 % of the known ones do
  std::vector<RefusalPoint> curve;  // for rates from 0 to 0.5, with known and unknown examples
};

RejectionResult JudgeRejection(const std::vector<tw_rejection>& known,
                               const std::vector<tw_rejection>& unknown);

// With `with_curve`, as a page draws it.
Json RejectionJson(const RejectionResult& result, bool with_curve = false);
void PrintRejection(const RejectionResult& result);

// Of one example.
Json VerdictJson(const tw_rejection& verdict);
void PrintVerdict(const tw_rejection& verdict);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_REJECTION_H_
