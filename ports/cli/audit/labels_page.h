// The page on which a person gives examples labels: thumbnails with buttons, and a button that saves
// labels.csv, which `train --data` takes.
#ifndef TOPWORK_PORTS_CLI_AUDIT_LABELS_PAGE_H_
#define TOPWORK_PORTS_CLI_AUDIT_LABELS_PAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ports/cli/common.h"
#include "ports/cli/data/dataset.h"

namespace topwork {
namespace cli {

// Examples that are shown together.
struct LabelSection {
  std::string id, title, about;
  // Objects with "index", a position among the page's files, and what is known of the example:
  // "label", "suggested", "image" (a data: URI), "facts" (lines of text).
  Json rows = Json::array();
};

struct LabelsPage {
  std::string title, about;
  std::vector<std::pair<std::string, std::string>> cards;  // numbers at its head, and of what
  std::vector<std::string> class_names;
  // What labels.csv may hold, with the label as it is; "" where there is none. With has_labels it
  // holds all that are not dropped, else those that were given one. Empty: there is none to save.
  std::vector<std::string> files, labels;
  std::vector<std::string> groups;  // the column of that name; empty: none
  bool has_labels = false;
  std::string folder;  // where labels.csv belongs
  std::vector<LabelSection> sections;
  Json document;  // shown as JSON at the end
};

std::string RenderLabelsPage(const LabelsPage& page);

// The file of the page's examples with these labels; those with none are left out.
std::string LabelsCsv(const LabelsPage& page, const std::vector<std::string>& labels);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_AUDIT_LABELS_PAGE_H_
