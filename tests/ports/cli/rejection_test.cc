// The figures of refusals, by counting pairs.
#include "ports/cli/rejection.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace topwork {
namespace cli {
namespace rejection_figures_test {

std::vector<tw_rejection> Verdicts(const std::vector<double>& p_values) {
  std::vector<tw_rejection> verdicts;
  for (double p : p_values) {
    tw_rejection verdict{};
    verdict.p_value = p;
    verdict.promised = 0.05;
    verdict.is_unknown = p <= 0.05 ? 1 : 0;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

TEST_CASE("cli rejection: shares, area and FPR95", "[cli]") {
  std::vector<double> known, unknown;
  for (int i = 0; i < 40; ++i) known.push_back(0.01 * ((i * 17) % 40 + 4));
  for (int i = 0; i < 30; ++i) unknown.push_back(0.01 * ((i * 7) % 20 + 1));
  const RejectionResult result = JudgeRejection(Verdicts(known), Verdicts(unknown));
  double wins = 0.0, refused = 0.0;
  for (double p : known) {
    for (double q : unknown) wins += p > q ? 1.0 : p < q ? 0.0 : 0.5;
  }
  for (double q : unknown) refused += q <= 0.05 ? 1.0 : 0.0;
  CHECK(result.auroc == Approx(wins / (40 * 30)));
  CHECK(result.unknown_refused == Approx(refused / 30));
  CHECK(result.known_refused == Approx(2.0 / 40));
  CHECK(result.promised == 0.05);
  // The largest threshold that 95 % of the known ones reach is the third smallest of theirs.
  std::sort(known.begin(), known.end());
  const auto passed =
      std::count_if(unknown.begin(), unknown.end(), [&](double q) { return q >= known[2]; });
  CHECK(result.fpr95 == Approx(static_cast<double>(passed) / 30));
  const Json json = RejectionJson(result);
  CHECK(json["n_known"] == 40);
  CHECK(json["auroc"].is_number());
  CHECK(json.count("curve") == 0);
  // The curve at the promise is what is refused there.
  const Json curve = RejectionJson(result, true)["curve"];
  CHECK(curve.size() == 51);
  CHECK(curve[5]["rate"].get<double>() == Approx(0.05));
  CHECK(curve[5]["known"].get<double>() == Approx(result.known_refused));
  CHECK(curve[5]["unknown"].get<double>() == Approx(result.unknown_refused));
  CHECK(curve[50]["known"].get<double>() == 1.0);
  CHECK(curve[0]["unknown"].get<double>() == 0.0);
}

TEST_CASE("cli rejection: one side alone has no area", "[cli]") {
  const RejectionResult result = JudgeRejection(Verdicts({0.5, 0.01}), {});
  CHECK(result.known_refused == Approx(0.5));
  CHECK(RejectionJson(result)["auroc"].is_null());
  CHECK(RejectionJson(result)["unknown_refused"].is_null());
  CHECK(RejectionJson(JudgeRejection({}, Verdicts({0.01})))["known_refused"].is_null());
}

}  // namespace rejection_figures_test
}  // namespace cli
}  // namespace topwork
