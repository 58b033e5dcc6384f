// Exported models that refuse: handwritten digits, some of them never taught.
#include "runtime/train/reject/rejecter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "models/format/checkpoint_file.h"
#include "runtime/session/session.h"
#include "runtime/train/trainer.h"
#include "tests/support/classifiers.h"
#include "tests/support/digits_model.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace rejecter_test {

constexpr size_t kPixels = 64;

struct Data {
  std::vector<float> x;
  std::vector<int32_t> y;

  Examples examples() const {
    return Examples::FromArray(x.data(), kPixels * sizeof(float), y.data(),
                               static_cast<int64_t>(y.size()));
  }
};

// The digits from `first` to `last`, every `stride`-th.
Data Digits(const char* part, int32_t first, int32_t last, size_t stride = 1) {
  const auto read = [&](const char* name) {
    const std::string path = std::string("models/zoo/data/digits_8x8/") + part + "/" + name;
    const test::EmbeddedFile* file = test::FindEmbedded(path.c_str());
    REQUIRE(file != nullptr);
    return test::ReadNpy(file->data, file->size);
  };
  const std::vector<float> x = read("x.npy").as<float>();
  const std::vector<int32_t> y = read("y.npy").as<int32_t>();
  Data data;
  for (size_t i = 0; i < y.size(); i += stride) {
    if (y[i] < first || y[i] > last) continue;
    data.y.push_back(y[i] - first);
    data.x.insert(data.x.end(), &x[i * kPixels], &x[i * kPixels] + kPixels);
  }
  return data;
}

std::unique_ptr<Trainer> Taught(const std::shared_ptr<const Model>& model, const Data& data,
                                TrainerOptions options) {
  options.n_threads = 1;
  options.learning_rate = 0.01f;
  options.epochs = 10;
  auto trainer = Trainer::Create(model, options);
  REQUIRE(trainer.status().ToString() == "OK");
  REQUIRE((*trainer)->AddExamples(data.examples()).ToString() == "OK");
  REQUIRE((*trainer)->Train().ToString() == "OK");
  return std::move(trainer.value());
}

TrainerOptions Options(int n_classes, float rate) {
  TrainerOptions options;
  options.n_classes = n_classes;
  options.reject_rate = rate;
  return options;
}

std::shared_ptr<const Model> Exported(Trainer* trainer) {
  const auto bytes = trainer->Export();
  REQUIRE(bytes.status().ToString() == "OK");
  return test::OpenBytes(bytes.value());
}

// Share of the examples that the model refuses.
double Refused(const std::shared_ptr<const Model>& model, const Data& data, float rate = 0.05f) {
  const int output = FindRejection(*model);
  REQUIRE(output == 1);
  auto session = Session::Create(model, SessionOptions());
  REQUIRE(session.ok());
  double refused = 0.0;
  for (size_t i = 0; i < data.y.size(); ++i) {
    std::memcpy((*session)->input(0).data, &data.x[i * kPixels], kPixels * sizeof(float));
    REQUIRE((*session)->Run().ok());
    const float* verdict = (*session)->output(output).as<float>();
    CHECK((verdict[1] == 1.0f) == (verdict[0] < rate + 1e-4f));
    refused += static_cast<double>(verdict[1]);
  }
  return refused / static_cast<double>(data.y.size());
}

TEST_CASE("Rejecter: the promise holds for held-back digits, and others are refused", "[train]") {
  const Data known = Digits("test", 0, 6), unknown = Digits("test", 7, 9);
  for (size_t stride : {size_t{1}, size_t{3}}) {  // more and fewer than are stored
    INFO("every " << stride);
    const Data taught = Digits("train", 0, 6, stride);
    const auto trainer = Taught(test::DigitsModel(), taught, Options(7, 0.05f));
    const auto model = Exported(trainer.get());
    const RejectionSummary& summary = trainer->rejecter().summary();
    CHECK(summary.n_stored == std::min<int64_t>(kMaxStored, static_cast<int64_t>(taught.y.size())));
    CHECK(summary.known_refused <= 0.0501);
    CHECK(summary.n_negatives == 0);
    const double refused = Refused(model, known);
    CHECK(refused < 0.10);
    CHECK(Refused(model, unknown) > 3.0 * refused);
    CHECK(model->main().outputs.size() == 2);
  }
}

TEST_CASE("Rejecter: negatives are refused more surely", "[train]") {
  const Data taught = Digits("train", 0, 6, 2), unknown = Digits("test", 7, 9);
  const auto trainer = Taught(test::DigitsModel(), taught, Options(7, 0.01f));
  const double before = Refused(Exported(trainer.get()), unknown, 0.01f);
  const Data negatives = Digits("train", 7, 9, 2);
  REQUIRE(trainer->rejecter().AddNegatives(negatives.examples(), nullptr).ToString() == "OK");
  const auto model = Exported(trainer.get());
  CHECK(trainer->rejecter().summary().n_negatives > 0);
  CHECK(trainer->rejecter().summary().negatives_refused > 0.5);
  const double after = Refused(model, unknown, 0.01f);
  CHECK(after > before + 0.05);
  CHECK(Refused(model, Digits("test", 0, 6), 0.01f) < 0.05);
}

TEST_CASE("Rejecter: a checkpoint with examples holds the negatives, and the same ones count once",
          "[train]") {
  const Data negatives = Digits("train", 7, 9, 4);
  for (const FeatureType type : {FeatureType::kFloat32, FeatureType::kFloat16}) {
    TrainerOptions options = Options(7, 0.05f);
    options.feature_type = type;
    const auto trainer = Taught(test::DigitsModel(), Digits("train", 0, 6, 4), options);
    REQUIRE(trainer->rejecter().AddNegatives(negatives.examples(), nullptr).ToString() == "OK");
    const std::vector<float> rows = trainer->rejecter().NegativeRows();
    const size_t dim = static_cast<size_t>(trainer->set().dim());
    REQUIRE(rows.size() == negatives.y.size() * dim);
    const test::TempFile file("negatives"), bare("bare");
    REQUIRE(trainer->SaveCheckpoint(file.path, true).ToString() == "OK");
    REQUIRE(trainer->SaveCheckpoint(bare.path).ToString() == "OK");
    const auto other = Trainer::Create(test::DigitsModel(), trainer->options());
    REQUIRE(other.status().ToString() == "OK");
    Rejecter& rejecter = (*other)->rejecter();
    for (int i = 0; i < 2; ++i) {
      REQUIRE((*other)->RestoreCheckpoint(file.path).ToString() == "OK");
      CHECK(rejecter.NegativeRows() == rows);
      CHECK((*other)->Export().value() == trainer->Export().value());
      CHECK(rejecter.summary().n_negatives == trainer->rejecter().summary().n_negatives);
    }
    REQUIRE(rejecter.AddNegatives(negatives.examples(), nullptr).ToString() == "OK");
    CHECK(rejecter.NegativeRows() == rows);
    REQUIRE(rejecter.AddNegatives(Digits("test", 7, 9, 8).examples(), nullptr).ToString() == "OK");
    CHECK(rejecter.NegativeRows().size() > rows.size());
    const std::string text = bare.Read();
    const auto data =
        DecodeCheckpoint({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    CHECK(data.value().negatives.empty());
  }
}

TEST_CASE("Rejecter: negatives of a checkpoint that cannot be are refused, and change nothing",
          "[train]") {
  const test::TempFile file("negatives");
  TrainerOptions options = Options(3, 0.05f);
  const auto trainer = Taught(test::DigitsModel(), Digits("train", 0, 2, 8), options);
  REQUIRE(trainer->SaveCheckpoint(file.path, true).ToString() == "OK");
  const std::string text = file.Read();
  const auto data = DecodeCheckpoint({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  REQUIRE(data.status().ToString() == "OK");
  const size_t dim = static_cast<size_t>(trainer->set().dim());
  options = trainer->options();
  options.cache_limit_bytes = 100 * dim * sizeof(float);
  const struct {
    size_t n_floats;
    float value;
    StatusCode code;
  } wrong[] = {{dim + 1, 0.5f, StatusCode::kCorrupt},
               {dim, std::numeric_limits<float>::infinity(), StatusCode::kNumeric},
               {101 * dim, 0.5f, StatusCode::kOutOfMemory}};
  for (const auto& each : wrong) {
    CheckpointData changed = *data;
    changed.negatives.assign(each.n_floats, each.value);
    const std::vector<uint8_t> bytes = EncodeCheckpoint(changed).value();
    file.Write(std::string(bytes.begin(), bytes.end()));
    const auto other = Trainer::Create(test::DigitsModel(), options);
    REQUIRE(other.status().ToString() == "OK");
    CHECK((*other)->RestoreCheckpoint(file.path).code() == each.code);
    CHECK((*other)->set().size() == 0);
    CHECK((*other)->rejecter().NegativeRows().empty());
  }
}

TEST_CASE("Rejecter: groups may have any numbers", "[train]") {
  const Data taught = Digits("train", 0, 9);
  REQUIRE(static_cast<int64_t>(taught.y.size()) > kMaxStored);
  Examples examples = taught.examples();
  examples.read = [read = examples.read](int64_t i, Span<void* const> inputs,
                                         ExampleTarget* target) {
    TW_RETURN_IF_ERROR(read(i, inputs, target));
    target->group = std::numeric_limits<int32_t>::max() - static_cast<int32_t>(i % 40);
    return Status::Ok();
  };
  auto trainer = Trainer::Create(test::DigitsModel(), Options(10, 0.05f));
  REQUIRE(trainer.ok());
  REQUIRE((*trainer)->AddExamples(examples).ToString() == "OK");
  REQUIRE((*trainer)->Train().ToString() == "OK");
  CHECK(FindRejection(*Exported(trainer->get())) == 1);
  CHECK((*trainer)->rejecter().summary().known_refused <= 0.0501);
}

TEST_CASE("Rejecter: names, an export of an export, and rates that nothing asks for", "[train]") {
  const Data taught = Digits("train", 0, 2, 4);
  TrainerOptions options = Options(3, 0.05f);
  options.class_names = {"zero", "one", "two"};
  auto trainer = Taught(test::DigitsModel(), taught, options);
  std::vector<std::string> names;
  for (size_t i = 0; i < taught.y.size(); ++i) names.push_back(StrFormat("{}.png", i));
  REQUIRE(trainer->SetExampleNames(names).ok());
  const auto model = Exported(trainer.get());
  const AssociatedFile* file = nullptr;
  for (const AssociatedFile& each : model->associated_files()) {
    if (each.name == kStoredNames) file = &each;
  }
  REQUIRE(file != nullptr);
  CHECK(file->content.find("reject_rate\t0.05\nzero\t0.png\n") == 0);
  // A head of other classes takes the old verdict's place; without a rate there is none.
  const auto again = Taught(model, Digits("train", 0, 4, 4), Options(5, 0.05f));
  const auto second = Exported(again.get());
  CHECK(second->main().outputs.size() == 2);
  CHECK(second->main().ops.size() == model->main().ops.size());
  const auto plain = Exported(Taught(model, Digits("train", 0, 4, 4), Options(5, 0.0f)).get());
  CHECK(FindRejection(*plain) < 0);
  CHECK(plain->main().outputs.size() == 1);
  auto empty = Trainer::Create(test::DigitsModel(), Options(3, 0.05f));
  CHECK(FindRejection(*Exported(empty->get())) < 0);
}

TEST_CASE("Rejecter: faults are said", "[train]") {
  for (float rate : {-0.1f, 0.001f, 0.6f}) {
    CHECK_THAT(Trainer::Create(test::DigitsModel(), Options(3, rate)).status().ToString(),
               Catch::Contains("reject_rate"));
  }
  const Data taught = Digits("train", 0, 2, 8);
  TrainerOptions deep = Options(3, 0.05f);
  deep.n_layers = 2;
  deep.validation_fraction = 0.0f;
  const auto trainer = Taught(test::DigitsModel(), taught, deep);
  CHECK_THAT(trainer->Export().status().ToString(),
             Catch::Contains("no examples are kept for validation"));
  deep.validation_fraction = 0.5f;
  const auto other = Taught(test::DigitsModel(), taught, deep);
  CHECK(FindRejection(*Exported(other.get())) == 1);
  CHECK(other->rejecter().summary().n_calibrated ==
        static_cast<int64_t>(other->set().validation().size()));
}

}  // namespace rejecter_test
}  // namespace topwork
