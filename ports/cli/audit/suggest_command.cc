// topwork suggest: which unlabelled examples to label next.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "ports/cli/audit/flags.h"
#include "ports/cli/audit/labels_page.h"
#include "ports/cli/data/csv.h"
#include "ports/cli/data/thumbnail.h"
#include "ports/cli/files.h"
#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "ports/cli/train/data.h"

namespace topwork {
namespace cli {
namespace {

struct SuggestOptions {
  TrainOptions train;
  std::string known;
  std::string list;
  int64_t count = 20;
};

struct Suggestions {
  std::vector<tw_suggestion> chosen;
  std::vector<std::string> class_names;  // empty: the model has none

  std::string Predicted(const tw_suggestion& one) const {
    const bool named =
        one.predicted >= 0 && one.predicted < static_cast<int64_t>(class_names.size());
    return named ? class_names[static_cast<size_t>(one.predicted)] : "";
  }
};

std::string ThreeDigits(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f", value);
  return buffer;
}

// The model's own head answers; its classes are the model's labels.
Suggestions Choose(const SuggestOptions& options, const tw::Model& model, const tw::Tensor& input,
                   const Reading& reading, const Dataset& data) {
  TrainOptions train = options.train;
  train.init = "shipped";
  std::vector<std::string> names = model.labels();
  const tw::Result<tw_head_info> head = model.Head();
  if (head.ok() && head->n_classes != static_cast<int64_t>(names.size())) names.clear();
  TrainerSettings settings(train, train.loss, names);
  if (data.has_images()) settings.RecordPixels(reading.pixels, false);
  tw::Trainer trainer = CheckValue(tw::Trainer::Create(model, settings.get()), train.common.model);
  const CancelOnStop cancel([&] { (void)trainer.Cancel(); });
  const bool shown = ShowProgress(train.common.json);
  if (!options.known.empty()) {
    const Dataset known = Dataset::OpenUnlabelled(options.known, input, reading);
    Feeder feeder(known, "known", shown);
    feeder.Finish(trainer.AddExamples(feeder.get()));
  }
  Feeder feeder(data, "features", shown);
  auto chosen = trainer.Suggest(feeder.get(), options.count);
  feeder.Finish(chosen.status());
  return {*chosen, trainer.class_names()};
}

Json RowJson(const Dataset& data, const Suggestions& found, const tw_suggestion& one) {
  Json row = {{"file", data.Name(one.index)}};
  if (!found.Predicted(one).empty()) row["predicted"] = found.Predicted(one);
  row["doubt"] = one.doubt;
  row["distance"] = one.distance;
  return row;
}

Json SuggestionsJson(const SuggestOptions& options, const Dataset& data, const Suggestions& found) {
  Json json = {{"model", options.train.common.model},
               {"data", options.train.data},
               {"n_examples", data.size()}};
  json["suggestions"] = Json::array();
  for (const tw_suggestion& one : found.chosen) {
    json["suggestions"].push_back(RowJson(data, found, one));
  }
  return json;
}

std::string ListCsv(const Dataset& data, const Suggestions& found) {
  std::string csv = "file,predicted,doubt,distance\n";
  for (const tw_suggestion& one : found.chosen) {
    csv += CsvLine({data.Name(one.index), found.Predicted(one), ThreeDigits(one.doubt),
                    ThreeDigits(one.distance)});
  }
  return csv;
}

LabelsPage ContactSheet(const SuggestOptions& options, const Dataset& data,
                        const Suggestions& found) {
  LabelsPage page;
  page.title = "Topwork: what to label next";
  page.about = std::to_string(found.chosen.size()) + " of " + std::to_string(data.size()) +
               " examples in " + options.train.data + ", chosen with " +
               options.train.common.model + ".";
  page.class_names = found.class_names;
  page.folder = options.train.data;
  LabelSection section = {"suggested", "Label these first",
                          "The first ones matter most: they differ from the known ones and from "
                          "each other, and the model is in doubt."};
  for (const tw_suggestion& one : found.chosen) {
    Json row;
    row["index"] = page.files.size();
    if (!found.Predicted(one).empty()) row["suggested"] = found.Predicted(one);
    row["facts"] = Json::array(
        {"doubt " + ThreeDigits(one.doubt) + ", distance " + ThreeDigits(one.distance)});
    if (data.has_images()) row["image"] = ThumbnailOfFile(data.path(one.index));
    section.rows.push_back(row);
    page.files.push_back(data.Name(one.index));
    page.labels.push_back("");
  }
  if (!data.has_images()) {
    page.files.clear();
    page.labels.clear();
  }
  page.sections = {section};
  page.document = SuggestionsJson(options, data, found);
  return page;
}

void PrintSuggestions(const Dataset& data, const Suggestions& found) {
  Table table({"file", "the model says", ">doubt", ">distance"});
  for (const tw_suggestion& one : found.chosen) {
    table.Row({Shorten(data.Name(one.index), 48), Shorten(found.Predicted(one), 24),
               ThreeDigits(one.doubt), ThreeDigits(one.distance)});
  }
  table.Print(2);
}

void RunSuggest(const SuggestOptions& options) {
  const CommonOptions& common = options.train.common;
  CheckOutputs({{"--report", options.train.report},
                {"--output", options.list},
                {"--cache", options.train.cache}},
               common.model, {options.train.data, options.known});
  const tw::Model model = OpenModel(common.model);
  if (CheckValue(model.Info()).n_inputs != 1) {
    throw CliError(kExitUnsupported,
                   common.model + ": has several inputs; suggest needs a model of one");
  }
  const tw::Tensor input = CheckValue(model.Input(0));
  const Reading reading = ReadingFor(common, model, input);
  const Dataset data = Dataset::OpenUnlabelled(options.train.data, input, reading);
  if (!common.json) PrintNote(data.note());
  const Suggestions found = Choose(options, model, input, reading, data);
  const auto write = [](const std::string& path, const std::string& text) {
    if (!path.empty()) WriteWholeFile(path, text.data(), text.size());
  };
  write(options.list, ListCsv(data, found));
  if (!options.train.report.empty()) {
    write(options.train.report, RenderLabelsPage(ContactSheet(options, data, found)));
  }
  if (common.json) {
    PrintJson(SuggestionsJson(options, data, found));
    return;
  }
  PrintSuggestions(data, found);
  for (const std::string* path : {&options.list, &options.train.report}) {
    if (!path->empty()) std::printf("  %s\n", Paint(1, "1", *path).c_str());
  }
}

const char kSuggestFooter[] =
    "Each suggestion is the example of the largest distance x doubt: the distance of its features to\n"
    "the nearest known example or earlier suggestion (1 - cosine), and the doubt of the model's own\n"
    "last layer, 1 less the distance of its two largest probabilities.\n\n"
    "The page shows the pictures, takes a label for each, and saves labels.csv. Put it into DIR:\n"
    "train then learns from the pictures that have a label.\n\n"
    "Examples:\n"
    "  topwork suggest mine.tflite --data camera/ --count 20 --report next.html\n"
    "  topwork suggest mine.tflite --data camera/ --known photos/ --output next.csv";

}  // namespace

void AddSuggestCommand(CLI::App* app) {
  auto options = std::make_shared<SuggestOptions>();
  TrainOptions* train = &options->train;
  CLI::App* command = app->add_subcommand("suggest", "Choose which examples to label next");
  AddListFlags(command, "unlabelled examples: all images or sounds in it and its folders, or x.npy",
               "examples that are chosen", 1000000, train, &options->count);
  command
      ->add_option("--known", options->known,
                   "examples that have a label already: suggestions differ from them, too")
      ->type_name("DIR");
  command->add_option("--output", options->list, "write the list as CSV")->type_name("LIST.csv");
  command
      ->add_option("--report", train->report,
                   "write a page with pictures, on which labels are given and saved")
      ->type_name("FILE.html");
  train->loss = "softmax";
  command
      ->add_option("--loss", train->loss,
                   "what the model's last layer tells: softmax: one class; sigmoid: any number")
      ->check(CLI::IsMember({"softmax", "sigmoid"}))
      ->capture_default_str();
  AddFeatureFlags(command, train);
  command->footer(kSuggestFooter);
  command->callback([options] { RunSuggest(*options); });
}

}  // namespace cli
}  // namespace topwork
