// Writes reports of made-up trainings into a folder, for report_test.py to open in a browser:
// full.html, many.html (80 classes), several.html (several classes an example), values.html
// (regression), bare.html (one epoch, nothing held back).
#include <cmath>
#include <cstdio>

#include "ports/cli/data/thumbnail.h"
#include "ports/cli/files.h"
#include "ports/cli/report.h"

namespace topwork {
namespace cli {
namespace {

// Names that would break a page or a layout that trusts them.
const char kMarkup[] = "</script><b>bold & \"quoted\"</b>";
const char kLong[] = "a_class_with_a_name_that_is_much_longer_than_any_column_of_a_phone_could_be";

TrainingReport Start(const char* name, size_t n_epochs, bool has_validation) {
  TrainingReport report;
  report.model = "models/zoo/efficientnet_lite0_fp16.tflite";
  report.data = "photos/";
  report.output = std::string(name) + ".tflite";
  report.settings = {{"optimizer", "adam"}, {"epochs", std::to_string(n_epochs)}, {"seed", "1"}};
  report.model_info = {{"head", "FULLY_CONNECTED, 1280 features"}, {"file", kLong}};
  report.timings = {{"open", 0.02}, {"features", 2.5}, {"training", 0.25}, {"total", 2.9}};
  report.memory = {{"backbone", 9e6}, {"features", 2e6}, {"peak", 4.5e7}};
  for (size_t e = 0; e < n_epochs; ++e) {
    const double t = static_cast<double>(e);
    EpochRow row;
    row.epoch = static_cast<int64_t>(e) + 1;
    row.train_loss = 2.3 * std::exp(-0.2 * t) + 0.1;
    row.train_accuracy = 1.0 - 0.9 * std::exp(-0.25 * t);
    row.has_validation = has_validation;
    row.validation_loss = row.train_loss + 0.1;
    row.validation_accuracy = 0.95 * row.train_accuracy;
    row.learning_rate = 0.01 * std::exp(-0.1 * t);
    row.seconds = 0.0125;
    report.epochs.push_back(row);
  }
  report.evaluated_on = "120 examples held back";
  return report;
}

// n classes of 12 examples each; every third class loses two examples to the next one.
Evaluation Confused(size_t n) {
  tw::JudgeOptions options;
  options.n_classes = static_cast<int64_t>(n);
  tw::Judge judge = CheckValue(tw::Judge::Create(options));
  for (size_t i = 0; i < 12 * n; ++i) {
    const size_t label = i / 12;
    const bool wrong = label % 3 == 0 && i % 12 < 2;
    std::vector<float> scores(n, 0.0f);
    scores[wrong ? (label + 1) % n : label] = i % 6 == 5 ? 2.0f : 8.0f;
    Check(judge.Add(scores, static_cast<int64_t>(label)));
  }
  Evaluation evaluation;
  static_cast<tw::Evaluation&>(evaluation) = CheckValue(judge.Read());
  for (size_t i = 0; i < n; ++i) {
    evaluation.class_names.push_back(i == 1   ? kMarkup
                                     : i == 2 ? kLong
                                              : "class " + std::to_string(i));
  }
  return evaluation;
}

TrainingReport Full(size_t n_classes) {
  TrainingReport report = Start("full", 20, true);
  report.has_evaluation = true;
  report.evaluation = Confused(n_classes);
  report.has_calibration = true;
  report.calibration = {1.75, false, report.evaluation.calibration_error, 0.021, 0.375, 0.31};
  for (int i = 0; i < 24; ++i) {
    const int width = i % 3 == 0 ? 28 : i % 3 == 1 ? 320 : 100;
    Image image = {width, 2 * width / (1 + i % 2), 3, {}};
    for (int p = 0; p < image.width * image.height * 3; ++p) {
      image.pixels.push_back(static_cast<uint8_t>(p * (i + 1) / 7));
    }
    report.worst.push_back({"photos/class 0/" + std::to_string(i) + ".jpg", "class 0",
                            i % 2 == 0 ? kMarkup : kLong, 9.5 - 0.25 * i, ThumbnailUri(image)});
  }
  report.promised = 0.05f;
  report.rejection.n_calibrated = 120;
  report.rejection.n_stored = 96;
  report.rejection.n_negatives = 40;
  report.rejection.known_refused = 0.05;
  report.rejection.negatives_refused = 0.925;
  report.has_audit = true;
  report.n_suspects = 30;
  for (int i = 0; i < 3; ++i) {
    report.suspects.push_back({"photos/class 0/" + std::to_string(i) + ".jpg", kMarkup, "class 2",
                               -3.5 + i, report.worst[static_cast<size_t>(i)].image});
  }
  return report;
}

TrainingReport Several() {
  TrainingReport report = Start("several", 8, true);
  report.has_evaluation = true;
  Evaluation& e = report.evaluation;
  e.kind = TW_LOSS_SIGMOID;
  e.n_examples = 120;
  e.loss = 0.21;
  e.accuracy = 0.925;
  e.exact_match = 0.75;
  e.macro_precision = 0.875;
  e.macro_recall = 0.74585;
  e.macro_f1 = 0.79285;
  e.mean_average_precision = 0.8125;
  e.class_names = {"beach", "sunset"};
  e.per_class = {{40, 44, 0, 0.75, 0.825, 0.7857, 0.875, 0.0, 0.0, 0.0},
                 {30, 20, 0, 1.0, 0.6667, 0.8, 0.75, 0.0, 0.0, 0.0}};
  return report;
}

TrainingReport Values() {
  TrainingReport report = Start("values", 8, true);
  report.has_evaluation = true;
  Evaluation& e = report.evaluation;
  e.kind = TW_LOSS_MSE;
  e.n_examples = 120;
  e.loss = 0.0625;
  e.mean_absolute_error = 0.2;
  e.root_mean_squared_error = 0.25;
  e.r2 = 0.875;
  e.class_names = {"x", "y"};
  e.per_class = {{0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.15, 0.9},
                 {0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.35, 0.85}};
  report.worst.push_back({"x.npy[12]", "3.5, 2", "1.25, 2", 2.5, ""});
  return report;
}

void Write(const std::string& folder, const char* name, const TrainingReport& report) {
  const std::string html = RenderReport(report);
  WriteWholeFile(folder + "/" + name, html.data(), html.size());
}

}  // namespace
}  // namespace cli
}  // namespace topwork

int main(int argc, char** argv) {
  using namespace topwork::cli;
  if (argc != 2) {
    std::fprintf(stderr, "usage: report_sample FOLDER\n");
    return 2;
  }
  Write(argv[1], "full.html", Full(10));
  Write(argv[1], "many.html", Full(80));
  Write(argv[1], "several.html", Several());
  Write(argv[1], "values.html", Values());
  Write(argv[1], "bare.html", Start("bare", 1, false));
  return 0;
}
