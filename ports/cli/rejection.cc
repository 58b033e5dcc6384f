// Shares, the area under the curve and FPR95 of p-values.
#include "ports/cli/rejection.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "ports/cli/table.h"
#include "ports/cli/terminal.h"
#include "runtime/base/printable.h"

namespace topwork {
namespace cli {
namespace {

double ShareRefused(const std::vector<tw_rejection>& verdicts) {
  const int64_t n = std::count_if(verdicts.begin(), verdicts.end(),
                                  [](const tw_rejection& v) { return v.is_unknown != 0; });
  return verdicts.empty() ? 0.0 : static_cast<double>(n) / static_cast<double>(verdicts.size());
}

std::vector<double> Sorted(const std::vector<tw_rejection>& verdicts) {
  std::vector<double> values;
  for (const tw_rejection& verdict : verdicts) values.push_back(verdict.p_value);
  std::sort(values.begin(), values.end());
  return values;
}

// Equal p-values count half.
double AreaUnderCurve(const std::vector<double>& known, const std::vector<double>& unknown) {
  double wins = 0.0;
  for (double p : known) {
    const auto equal = std::equal_range(unknown.begin(), unknown.end(), p);
    wins += static_cast<double>(equal.first - unknown.begin()) +
            0.5 * static_cast<double>(equal.second - equal.first);
  }
  return wins / (static_cast<double>(known.size()) * static_cast<double>(unknown.size()));
}

double Fpr95(const std::vector<double>& known, const std::vector<double>& unknown) {
  const double threshold = known[known.size() / 20];
  const auto passed = unknown.end() - std::lower_bound(unknown.begin(), unknown.end(), threshold);
  return static_cast<double>(passed) / static_cast<double>(unknown.size());
}

constexpr int kCurveSteps = 50;

std::vector<RefusalPoint> Curve(const std::vector<double>& known,
                                const std::vector<double>& unknown) {
  const auto refused = [](const std::vector<double>& sorted, double rate) {
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), rate);
    return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
  };
  std::vector<RefusalPoint> curve;
  for (int step = 0; step <= kCurveSteps; ++step) {
    const double rate = 0.5 * step / kCurveSteps;
    curve.push_back({rate, refused(known, rate + 1e-6), refused(unknown, rate + 1e-6)});
  }
  return curve;
}

// "cat/0012.png (cat)" of "cat\tcat/0012.png".
std::string NearestText(const char* line) {
  const std::string text = line;
  const size_t tab = text.find('\t');
  if (tab == std::string::npos) return Printable(text);
  return Printable(text.substr(tab + 1)) + " (" + Printable(text.substr(0, tab)) + ")";
}

}  // namespace

RejectionResult JudgeRejection(const std::vector<tw_rejection>& known,
                               const std::vector<tw_rejection>& unknown) {
  RejectionResult result;
  const std::vector<tw_rejection>& any = known.empty() ? unknown : known;
  if (any.empty()) return result;
  result.promised = any[0].promised;
  result.n_known = static_cast<int64_t>(known.size());
  result.n_unknown = static_cast<int64_t>(unknown.size());
  result.known_refused = ShareRefused(known);
  result.unknown_refused = ShareRefused(unknown);
  if (known.empty() || unknown.empty()) return result;
  const std::vector<double> known_values = Sorted(known), unknown_values = Sorted(unknown);
  result.auroc = AreaUnderCurve(known_values, unknown_values);
  result.fpr95 = Fpr95(known_values, unknown_values);
  result.curve = Curve(known_values, unknown_values);
  return result;
}

Json RejectionJson(const RejectionResult& result, bool with_curve) {
  const bool both = result.n_known > 0 && result.n_unknown > 0;
  Json json;
  json["promised"] = result.promised;
  json["n_known"] = result.n_known;
  json["n_unknown"] = result.n_unknown;
  json["known_refused"] = result.n_known > 0 ? Json(result.known_refused) : Json();
  json["unknown_refused"] = result.n_unknown > 0 ? Json(result.unknown_refused) : Json();
  json["auroc"] = both ? Json(result.auroc) : Json();
  json["fpr95"] = both ? Json(result.fpr95) : Json();
  for (size_t i = 0; with_curve && i < result.curve.size(); ++i) {
    const RefusalPoint& point = result.curve[i];
    json["curve"].push_back(
        {{"rate", point.rate}, {"known", point.known}, {"unknown", point.unknown}});
  }
  return json;
}

void PrintRejection(const RejectionResult& result) {
  std::printf("\n%s\n", Paint(1, "2", "refused as unknown").c_str());
  Table table({"", ">examples", ">refused", "", ""});
  if (result.n_known > 0) {
    table.Row({"known", std::to_string(result.n_known), PercentText(result.known_refused),
               "promised: at most " + PercentText(result.promised), ""});
  }
  if (result.n_unknown > 0) {
    char auroc[32];
    std::snprintf(auroc, sizeof(auroc), "AUROC %.3f", result.auroc);
    const bool both = result.n_known > 0;
    table.Row({"unknown", std::to_string(result.n_unknown), PercentText(result.unknown_refused),
               both ? auroc : "", both ? "FPR95 " + PercentText(result.fpr95) : ""});
  }
  table.Print(2);
}

Json VerdictJson(const tw_rejection& verdict) {
  Json json;
  json["unknown"] = verdict.is_unknown != 0;
  json["p_value"] = verdict.p_value;
  json["promised"] = verdict.promised;
  json["nearest"] = Json::array();
  for (size_t i = 0; i < verdict.n_nearest; ++i) {
    const std::string text = verdict.nearest[i];
    const size_t tab = std::min(text.find('\t'), text.size());
    Json entry;
    entry["class"] = Printable(text.substr(0, tab));
    entry["name"] = Printable(text.substr(std::min(tab + 1, text.size())));
    json["nearest"].push_back(entry);
  }
  return json;
}

void PrintVerdict(const tw_rejection& verdict) {
  const std::string word =
      verdict.is_unknown != 0 ? Paint(1, "1;33", "unknown") : Paint(1, "32", "known");
  std::printf("%s  p-value %.2f\n", word.c_str(), verdict.p_value);
  for (size_t i = 0; i < verdict.n_nearest; ++i) {
    std::printf("  %s %s\n", i == 0 ? "nearest" : "       ",
                NearestText(verdict.nearest[i]).c_str());
  }
}

}  // namespace cli
}  // namespace topwork
