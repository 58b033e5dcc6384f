// RenderReport: HTML with inline SVG; colours follow the reader's light or dark setting.
#include "ports/cli/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr double kWidth = 640, kHeight = 240, kLeft = 64, kRight = 16, kTop = 14, kBottom = 34;

const char kStyle[] = R"css(
:root{color-scheme:light dark;--ink:#1b2733;--soft:#5d6b78;--line:#d8dee4;--paper:#ffffff;--card:#f6f8fa;
--train:#2f6fdb;--held:#d9822b;--good:47,133,90;--bad:197,48,48}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa7b4;--line:#30363d;--paper:#0d1117;
--card:#161b22;--train:#6ea8fe;--held:#f0a35e;--good:63,185,80;--bad:248,81,73}}
*{box-sizing:border-box}body{margin:0 auto;padding:24px 16px 48px;max-width:860px;background:var(--paper);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;margin:0 0 4px}h2{font-size:1.1rem;margin:32px 0 8px}
p.sub{margin:0;color:var(--soft);overflow-wrap:anywhere}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;margin-top:20px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px}
.card b{display:block;font-size:1.5rem;line-height:1.2}.card span{color:var(--soft);font-size:.85rem}
.scroll{overflow-x:auto}svg{width:100%;height:auto;display:block}
svg text{fill:var(--soft);font-size:12px}.grid{stroke:var(--line);stroke-width:1}
.train{stroke:var(--train);fill:none;stroke-width:2.5}.held{stroke:var(--held);fill:none;stroke-width:2.5}
.key{display:flex;gap:16px;font-size:.85rem;color:var(--soft)}
.key i{display:inline-block;width:18px;height:3px;vertical-align:middle;margin-right:6px}
table{border-collapse:collapse;font-size:.9rem}th,td{padding:4px 10px;text-align:right;
border-bottom:1px solid var(--line);white-space:nowrap}th:first-child,td:first-child{text-align:left}
th{color:var(--soft);font-weight:600}.matrix td,.matrix th{text-align:center;min-width:34px;padding:4px}
.matrix th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);padding-right:10px}
.end{fill:var(--ink);font-weight:600}
@media(max-width:600px){svg text{font-size:18px}.key{font-size:.8rem}}
)css";

std::string Escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Number(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Percent(double fraction) { return Number("%.1f&thinsp;%%", 100.0 * fraction); }

struct Series {
  const char* css_class;
  std::vector<double> values;  // one an epoch
};

// A step of 1, 2 or 5 times a power of ten that cuts the range into about five.
double GridStep(double range) {
  const double rough = range / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10.0 * power;
}

std::string Chart(const std::vector<EpochRow>& epochs, const std::vector<Series>& all, double low,
                  double high, bool percent) {
  const double x0 = static_cast<double>(epochs.front().epoch);
  const double x1 = std::max(x0 + 1.0, static_cast<double>(epochs.back().epoch));
  const auto x = [&](double epoch) {
    return kLeft + (epoch - x0) / (x1 - x0) * (kWidth - kLeft - kRight);
  };
  const auto y = [&](double value) {
    return kTop + (high - value) / (high - low) * (kHeight - kTop - kBottom);
  };
  std::string svg = "<svg viewBox=\"0 0 640 240\" role=\"img\">";
  const double step = GridStep(high - low);
  for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) {
    svg += Number("<line class=\"grid\" x1=\"64\" x2=\"624\" y1=\"%.1f\"", y(tick));
    svg += Number(" y2=\"%.1f\"/>", y(tick)) +
           Number("<text x=\"56\" text-anchor=\"end\" y=\"%.1f\">", y(tick) + 4);
    svg += (percent ? Number("%.0f %%", 100.0 * tick) : Number("%.3g", tick)) + "</text>";
  }
  // About eight labels, the last epoch always among them.
  const size_t n = epochs.size();
  const size_t every = std::max<size_t>(1, (n + 7) / 8);
  for (size_t i = (n - 1) % every; i < n; i += every) {
    svg += Number("<text text-anchor=\"middle\" y=\"234\" x=\"%.1f\">",
                  x(static_cast<double>(epochs[i].epoch))) +
           std::to_string(epochs[i].epoch) + "</text>";
  }
  for (const Series& series : all) {
    if (series.values.empty()) continue;
    svg += std::string("<polyline class=\"") + series.css_class + "\" points=\"";
    for (size_t i = 0; i < series.values.size(); ++i) {
      svg += Number("%.1f,", x(static_cast<double>(epochs[i].epoch))) +
             Number("%.1f ", y(std::min(high, std::max(low, series.values[i]))));
    }
    svg += "\"/>";
  }
  return svg + "</svg>";
}

std::string Curves(const std::vector<EpochRow>& epochs) {
  if (epochs.empty()) return "";
  Series train_loss{"train", {}}, held_loss{"held", {}}, train{"train", {}}, held{"held", {}};
  double largest_loss = 1e-3, lowest = 1.0;
  for (const EpochRow& row : epochs) {
    train_loss.values.push_back(row.train_loss);
    train.values.push_back(row.train_accuracy);
    largest_loss = std::max(largest_loss, row.train_loss);
    lowest = std::min(lowest, row.train_accuracy);
    if (!row.has_validation) continue;
    held_loss.values.push_back(row.validation_loss);
    held.values.push_back(row.validation_accuracy);
    largest_loss = std::max(largest_loss, row.validation_loss);
    lowest = std::min(lowest, row.validation_accuracy);
  }
  const std::string key =
      std::string(
          "<div class=\"key\"><span><i style=\"background:var(--train)\"></i>training</span>") +
      (held.values.empty() ? ""
                           : "<span><i style=\"background:var(--held)\"></i>held back</span>") +
      "</div>";
  return "<h2>Accuracy by epoch</h2>" + key +
         Chart(epochs, {train, held}, std::floor(lowest * 10.0) / 10.0, 1.0, true) +
         "<h2>Loss by epoch</h2>" + key +
         Chart(epochs, {train_loss, held_loss}, 0.0, largest_loss, false);
}

std::string ClassTable(const Evaluation& evaluation) {
  std::string html =
      "<h2>Classes</h2><div class=\"scroll\"><table><tr><th>class</th><th>examples</th>"
      "<th>precision</th><th>recall</th></tr>";
  for (const ClassMetrics& metrics : evaluation.PerClass()) {
    html += "<tr><td>" + Escape(metrics.name) + "</td><td>" + std::to_string(metrics.n_examples) +
            "</td><td>" + Percent(metrics.precision) + "</td><td>" + Percent(metrics.recall) +
            "</td></tr>";
  }
  return html + "</table></div>";
}

std::string ConfusionTable(const Evaluation& evaluation) {
  const size_t n = evaluation.n_classes();
  std::string html =
      "<h2>Confusion matrix</h2><p class=\"sub\">Rows: true class. Columns: what the model "
      "said.</p>"
      "<div class=\"scroll\"><table class=\"matrix\"><tr><th></th>";
  for (size_t j = 0; j < n; ++j) html += "<th>" + Escape(evaluation.class_names[j]) + "</th>";
  html += "</tr>";
  const std::vector<ClassMetrics> classes = evaluation.PerClass();
  for (size_t i = 0; i < n; ++i) {
    html += "<tr><th>" + Escape(evaluation.class_names[i]) + "</th>";
    for (size_t j = 0; j < n; ++j) {
      const int64_t count = evaluation.Count(i, j);
      const double share =
          classes[i].n_examples == 0
              ? 0.0
              : static_cast<double>(count) / static_cast<double>(classes[i].n_examples);
      html += std::string("<td style=\"background:rgba(var(--") + (i == j ? "good" : "bad") +
              Number("),%.2f)\">", count == 0 ? 0.0 : 0.12 + 0.5 * share) +
              (count == 0 ? "·" : std::to_string(count)) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</table></div>";
}

std::string Pairs(const char* title, const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string html = std::string("<h2>") + title + "</h2><div class=\"scroll\"><table>";
  for (const auto& row : rows) {
    html += "<tr><td>" + Escape(row.first) + "</td><td>" + Escape(row.second) + "</td></tr>";
  }
  return html + "</table></div>";
}

std::string Card(const std::string& value, const std::string& what) {
  return "<div class=\"card\"><b>" + value + "</b><span>" + Escape(what) + "</span></div>";
}

}  // namespace

std::string RenderReport(const TrainingReport& report) {
  std::string html =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<title>Topwork training report</title><style>";
  html += kStyle;
  html += "</style></head><body><h1>A new last layer</h1><p class=\"sub\">" + Escape(report.model) +
          " trained on " + Escape(report.data) + ", written to " + Escape(report.output) +
          "</p><div class=\"cards\">";
  if (report.has_evaluation) {
    html += Card(Percent(report.evaluation.top1), "top-1 on the " + report.evaluated_on);
    html += Card(Number("%.3f", report.evaluation.loss), "loss");
  }
  for (const auto& timing : report.timings) {
    if (timing.first == "total")
      html += Card(Escape(HumanSeconds(timing.second)), "from start to file");
  }
  html += "</div>" + Curves(report.epochs);
  if (report.has_evaluation)
    html += ClassTable(report.evaluation) + ConfusionTable(report.evaluation);
  std::vector<std::pair<std::string, std::string>> timings;
  for (const auto& timing : report.timings) {
    timings.push_back({timing.first, HumanSeconds(timing.second)});
  }
  html += Pairs("Time", timings) + Pairs("Settings", report.settings);
  return html + "</body></html>\n";
}

}  // namespace cli
}  // namespace topwork
