// RenderLabelsPage. The build embeds the page's script (toolchains/report_page.cmake).
#include "ports/cli/audit/labels_page.h"

#include "ports/cli/data/csv.h"
#include "ports/cli/html_page.h"

extern "C" {
extern const unsigned char topwork_labels_js[], topwork_labels_js_end[];
}

namespace topwork {
namespace cli {

std::string RenderLabelsPage(const LabelsPage& page) {
  Json json;
  json["title"] = page.title;
  json["about"] = page.about;
  json["cards"] = Json::array();
  for (const auto& [number, what] : page.cards) {
    json["cards"].push_back(Json::array({number, what}));
  }
  json["classes"] = page.class_names;
  json["files"] = page.files;
  json["labels"] = page.labels;
  if (!page.groups.empty()) json["groups"] = page.groups;
  json["has_labels"] = page.has_labels;
  json["folder"] = page.folder;
  json["sections"] = Json::array();
  for (const LabelSection& section : page.sections) {
    Json one;
    one["id"] = section.id;
    one["title"] = section.title;
    one["about"] = section.about;
    one["rows"] = section.rows;
    json["sections"].push_back(one);
  }
  json["document"] = page.document;
  json["made_by"] = std::string("topwork ") + tw_version();
  return RenderPage(page.title, json, EmbeddedText(topwork_labels_js, topwork_labels_js_end));
}

std::string LabelsCsv(const LabelsPage& page, const std::vector<std::string>& labels) {
  const bool grouped = !page.groups.empty();
  std::string csv = grouped ? "file,label,group\n" : "file,label\n";
  for (size_t i = 0; i < page.files.size(); ++i) {
    if (labels[i].empty()) continue;
    std::vector<std::string> fields = {page.files[i], labels[i]};
    if (grouped) fields.push_back(page.groups[i]);
    csv += CsvLine(fields);
  }
  return csv;
}

}  // namespace cli
}  // namespace topwork
