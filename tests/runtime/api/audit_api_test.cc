// C API: the audit of labels, and what to label next.
#ifdef TW_HAVE_TRAIN
#include <algorithm>
#include <set>
#include <topwork/topwork.hpp>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {
namespace audit_test {

constexpr size_t kExamples = 40;
constexpr size_t kWrong[] = {6, 17};

// Images that are bright on the left (class 0) or on the right (class 1).
std::vector<float> Pictures() {
  std::vector<float> data;
  for (size_t i = 0; i < kExamples; ++i) {
    for (size_t k = 0; k < 64; ++k) {
      const bool bright = (k % 8 < 4) == (i % 2 == 0);
      data.push_back(bright ? 0.5f + static_cast<float>((i * 5 + k) % 8) / 16.0f : 0.0f);
    }
  }
  return data;
}

tw_examples Borrow(const std::vector<float>& data, const std::vector<int64_t>& labels) {
  return ExamplesOf(data, static_cast<int64_t>(data.size() / 64), labels.data());
}

tw::Trainer MakeTrainer(tw_loss loss = TW_LOSS_SOFTMAX) {
  static const tw::Model model = *tw::Model::Take(TW_STATUS_OK, OpenModel(kDigitsModel).release());
  tw::TrainerOptions options;
  options.n_classes = 2;
  options.n_epochs = 5;
  options.n_threads = 1;
  options.loss.kind = loss;
  return std::move(*tw::Trainer::Create(model, options));
}

TEST_CASE("an audit finds the labels that are wrong", "[api][train]") {
  const std::vector<float> data = Pictures();
  std::vector<int64_t> labels;
  for (size_t i = 0; i < kExamples; ++i) labels.push_back(static_cast<int64_t>(i % 2));
  for (size_t i : kWrong) labels[i] = 1 - labels[i];
  tw::Trainer trainer = MakeTrainer();
  tw_audit audit = {};
  audit.struct_size = sizeof(audit);
  RequireError(tw_trainer_audit(trainer.get(), nullptr, &audit), TW_STATUS_FAILED_PRECONDITION,
               "example");
  REQUIRE(trainer.AddExamples(Borrow(data, labels)).ok());
  REQUIRE(trainer.Fit().ok());
  REQUIRE(tw_trainer_audit(trainer.get(), nullptr, &audit) == TW_STATUS_OK);
  REQUIRE(audit.n_examples == kExamples);
  CHECK(audit.n_suspects == 2);
  CHECK(audit.noise == Approx(0.05).margin(0.03));
  std::set<int64_t> seen;
  double worst_value = -1.0,
         least_value = 1.0;  // of wrong labels the largest, of right ones the least
  for (size_t i = 0; i < kExamples; ++i) {
    const tw_audited_example& e = audit.examples[i];
    seen.insert(e.index);
    CHECK(e.label == labels[static_cast<size_t>(e.index)]);
    const bool wrong = e.index == 6 || e.index == 17;
    CHECK(wrong == (i < 2));
    CHECK(wrong == (e.is_suspect != 0));
    CHECK(wrong == (e.margin < 0.0));
    CHECK(wrong == (e.suggested != e.label));
    if (wrong) {
      worst_value = std::max(worst_value, e.value);
    } else {
      least_value = std::min(least_value, e.value);
    }
    CHECK(wrong == (e.probability < 0.5));
    if (i > 0) CHECK(e.probability >= audit.examples[i - 1].probability);
  }
  CHECK(seen.size() == kExamples);
  CHECK(worst_value < least_value);
  const int64_t worst = audit.examples[0].index;  // the array is the next audit's
  tw::AuditOptions options;
  options.n_neighbours = 1;
  const auto other = trainer.AuditExamples(options);
  REQUIRE(other.ok());
  CHECK(other->all.front().index == worst);
  CHECK(other->duplicates.has_value());
  options.duplicates_only = 1;
  const auto duplicates = trainer.AuditExamples(options);
  REQUIRE(duplicates.ok());
  CHECK(duplicates->all.empty());
  CHECK(duplicates->duplicates->n_found == other->duplicates->n_found);

  options.n_neighbours = -1;
  RequireError(tw_trainer_audit(trainer.get(), &options, &audit), TW_STATUS_INVALID_ARGUMENT,
               "n_neighbours is -1");
  tw::Trainer numbers = MakeTrainer(TW_LOSS_MSE);
  RequireError(tw_trainer_audit(numbers.get(), nullptr, &audit), TW_STATUS_UNSUPPORTED,
               "one class");
}

TEST_CASE("suggestions are far from what is known, and from each other", "[api][train]") {
  const std::vector<float> data = Pictures();
  const std::vector<int64_t> labels = {0, 1};
  const std::vector<float> known(data.begin(), data.begin() + 2 * 64);
  tw::Trainer trainer = MakeTrainer();
  const tw_examples pool = Borrow(data, {});
  const auto first = trainer.Suggest(pool, 3);
  REQUIRE(first.ok());
  REQUIRE(first->size() == 3);
  CHECK((*first)[0].distance == 2.0);
  CHECK((*first)[0].doubt == 1.0);  // a head of zeros knows nothing
  CHECK((*first)[0].index % 2 != (*first)[1].index % 2);
  REQUIRE(trainer.AddExamples(Borrow(known, labels)).ok());
  const auto next = trainer.Suggest(pool, 1000);
  REQUIRE(next.ok());
  REQUIRE(next->size() == kExamples);
  CHECK((*next)[0].distance < 2.0);
  std::set<int64_t> seen;
  for (const tw_suggestion& one : *next) seen.insert(one.index);
  CHECK(seen.size() == kExamples);
  // Pictures repeat every eighth: the two known ones and their copies have no distance left.
  CHECK(next->back().distance == Approx(0.0).margin(1e-6));

  tw_suggestion two[41];
  RequireError(tw_trainer_suggest(trainer.get(), &pool, two, 41), TW_STATUS_INVALID_ARGUMENT,
               "n_suggestions is 41, but there are 40 examples");
  tw::Trainer numbers = MakeTrainer(TW_LOSS_MSE);
  const auto of_numbers = numbers.Suggest(pool, 1);
  REQUIRE(of_numbers.ok());
  CHECK((*of_numbers)[0].predicted == -1);
  CHECK((*of_numbers)[0].doubt == 1.0);
}

}  // namespace audit_test
}  // namespace api_test
}  // namespace topwork
#endif
