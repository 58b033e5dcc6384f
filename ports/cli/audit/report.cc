#include "ports/cli/audit/report.h"

#include <algorithm>
#include <cstdio>

#include "ports/cli/data/thumbnail.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

using Examples = std::vector<tw_audited_example>;

constexpr size_t kFileWidth = 44;
constexpr size_t kClassWidth = 24;
constexpr size_t kMostPrinted = 8;  // of those worth most

std::string Formatted(const char* format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

// Values are small, as a set's values together are at most 1 for each judged example.
std::string ValueText(const NamedAudit& audit, double value) {
  return Formatted("%+.2f", value * static_cast<double>(audit.all.size()));
}

const std::string& NameOf(const NamedAudit& audit, int64_t c) {
  return audit.class_names[static_cast<size_t>(c)];
}

Examples FirstBy(Examples examples, size_t count, double sign) {
  std::stable_sort(examples.begin(), examples.end(),
                   [sign](const tw_audited_example& a, const tw_audited_example& b) {
                     return sign * a.value < sign * b.value;
                   });
  examples.resize(std::min(count, examples.size()));
  return examples;
}

// A row of the page.
Json PageRow(const NamedAudit& audit, const Dataset& data, const tw_audited_example& example) {
  Json row;
  row["index"] = example.index;
  row["label"] = NameOf(audit, example.label);
  row["suggested"] = NameOf(audit, example.suggested);
  row["is_suspect"] = example.is_suspect != 0;
  row["facts"] = Json::array({"margin " + Formatted("%.2f", example.margin) + ", " +
                                  PercentText(example.probability) + " right",
                              "value " + ValueText(audit, example.value)});
  if (data.has_images()) row["image"] = ThumbnailOfFile(data.path(example.index));
  return row;
}

LabelSection Section(const NamedAudit& audit, const Dataset& data, const Examples& examples,
                     const char* id, const char* title, const char* about) {
  LabelSection section = {id, title, about};
  for (const tw_audited_example& example : examples) {
    section.rows.push_back(PageRow(audit, data, example));
  }
  return section;
}

// The page's files with their labels as they are.
void ListFiles(const NamedAudit& audit, const Dataset& data, LabelsPage* page) {
  if (!data.has_images()) return;
  for (int64_t i = 0; i < data.size(); ++i) {
    page->files.push_back(data.Name(i));
    page->labels.push_back(NameOf(audit, data.labels()[static_cast<size_t>(i)]));
    if (!data.has_groups()) continue;
    const auto name = data.group_names().find(data.group(i));
    page->groups.push_back(name == data.group_names().end() ? "" : name->second);
  }
}

}  // namespace

Examples NamedAudit::Worst(size_t count) const {
  return Examples(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(count, all.size())));
}

Examples NamedAudit::Best(size_t count) const { return FirstBy(all, count, -1.0); }

Examples NamedAudit::Least(size_t count) const { return FirstBy(all, count, 1.0); }

Json AuditRowJson(const NamedAudit& audit, const Dataset& data, const tw_audited_example& example) {
  return {{"file", data.Name(example.index)},
          {"label", NameOf(audit, example.label)},
          {"suggested", NameOf(audit, example.suggested)},
          {"margin", example.margin},
          {"probability", example.probability},
          {"value", example.value},
          {"is_suspect", example.is_suspect != 0}};
}

Json AuditJson(const NamedAudit& audit, const Dataset& data, size_t count) {
  Json json;
  json["n_examples"] = audit.all.size();
  json["n_suspects"] = audit.n_suspects;
  json["noise"] = audit.noise;
  const std::pair<const char*, Examples> kinds[] = {
      {"worst", audit.Worst(count)}, {"best", audit.Best(count)}, {"least", audit.Least(count)}};
  for (const auto& [name, examples] : kinds) {
    json[name] = Json::array();
    for (const tw_audited_example& example : examples) {
      json[name].push_back(AuditRowJson(audit, data, example));
    }
  }
  return json;
}

void PrintAudit(const NamedAudit& audit, const Dataset& data, size_t count) {
  const int64_t n = audit.n_suspects;
  const std::string title = CountText(n, "label") + " of " + std::to_string(audit.all.size()) +
                            (n == 1 ? " is" : " are") + " probably wrong";
  std::printf("%s (%s of all, estimated)\n", Paint(1, "1", title).c_str(),
              PercentText(audit.noise).c_str());
  Table table({"file", "label", "suggested", ">margin", ">value", ""});
  for (const tw_audited_example& example : audit.Worst(count)) {
    const bool differs = example.suggested != example.label;
    table.Row({Shorten(data.Name(example.index), kFileWidth),
               Shorten(NameOf(audit, example.label), kClassWidth),
               differs ? Shorten(NameOf(audit, example.suggested), kClassWidth) : "",
               Formatted("%.2f", example.margin), ValueText(audit, example.value),
               example.is_suspect != 0 ? Paint(1, "33", "probably wrong") : ""});
  }
  table.Print(2);
  std::printf("%s\n", Paint(1, "1", "worth most").c_str());
  Table best({"file", "label", ">value"});
  for (const tw_audited_example& example : audit.Best(std::min(count, kMostPrinted))) {
    best.Row({Shorten(data.Name(example.index), kFileWidth),
              Shorten(NameOf(audit, example.label), kClassWidth), ValueText(audit, example.value)});
  }
  best.Print(2);
}

LabelsPage AuditPage(const NamedAudit& audit, const Dataset& data, const std::string& model,
                     const std::string& folder, size_t count) {
  LabelsPage page;
  page.title = "Topwork label audit";
  page.about = folder + ", judged with the features of " + model +
               ". Every example was judged by a head that was fitted without it.";
  page.cards = {{std::to_string(audit.n_suspects), "labels probably wrong"},
                {PercentText(audit.noise), "of all labels wrong, estimated"},
                {std::to_string(audit.all.size()), "examples"},
                {std::to_string(audit.class_names.size()), "classes"}};
  page.class_names = audit.class_names;
  page.has_labels = true;
  page.folder = folder;
  ListFiles(audit, data, &page);
  page.sections = {
      Section(audit, data, audit.Worst(count), "worst", "Probably mislabelled",
              "The least probable label first. Its margin is its score less the largest other one: "
              "below 0 the others say another class."),
      Section(
          audit, data, audit.Best(count), "best", "Worth most",
          "These help their neighbours most (Shapley values for a nearest-neighbour classifier, "
          "times the number of examples)."),
      Section(audit, data, audit.Least(count), "least", "Worth least",
              "These mislead their neighbours: wrong labels, or pictures that stand alone.")};
  page.document = AuditJson(audit, data, count);
  return page;
}

std::string CorrectedCsv(const NamedAudit& audit, const Dataset& data) {
  LabelsPage page;
  ListFiles(audit, data, &page);
  std::vector<std::string> labels;
  for (int64_t label : data.labels()) labels.push_back(NameOf(audit, label));
  for (const tw_audited_example& example : audit.all) {
    if (example.is_suspect == 0) continue;
    labels[static_cast<size_t>(example.index)] = NameOf(audit, example.suggested);
  }
  return data.has_sounds() ? data.SoundsCsv(labels) : LabelsCsv(page, labels);
}

}  // namespace cli
}  // namespace topwork
