// An audit of labels, for people and programs: what the audit command and the report of a training
// tell of tw_trainer_audit.
#ifndef TOPWORK_PORTS_CLI_AUDIT_REPORT_H_
#define TOPWORK_PORTS_CLI_AUDIT_REPORT_H_

#include <string>
#include <vector>

#include "ports/cli/audit/labels_page.h"
#include "ports/cli/common.h"
#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

// Indices are the data's.
struct NamedAudit : tw::Audit {
  std::vector<std::string> class_names;

  // The first `count` of them.
  std::vector<tw_audited_example> Worst(size_t count) const;
  // Those of the largest value; of the smallest.
  std::vector<tw_audited_example> Best(size_t count) const;
  std::vector<tw_audited_example> Least(size_t count) const;
};

// "file", "label", "suggested", "margin", "probability", "value", "is_suspect".
Json AuditRowJson(const NamedAudit& audit, const Dataset& data, const tw_audited_example& example);
// The counts, and `count` examples of each kind: "worst", "best", "least".
Json AuditJson(const NamedAudit& audit, const Dataset& data, size_t count);

// The table of the worst, and the files of the best.
void PrintAudit(const NamedAudit& audit, const Dataset& data, size_t count);

// The page that corrects labels, with `count` examples of each kind.
LabelsPage AuditPage(const NamedAudit& audit, const Dataset& data, const std::string& model,
                     const std::string& folder, size_t count);

// The data's labels with those of the suspects replaced by the suggested ones. Only for images.
std::string CorrectedCsv(const NamedAudit& audit, const Dataset& data);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_AUDIT_REPORT_H_
