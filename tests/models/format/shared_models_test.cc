// All real models beside the repository open, and what is in them makes sense.
#include <catch2/catch.hpp>
#include <filesystem>

#include "models/format/model.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace test {

TEST_CASE("shared models: every .tflite opens", "[format][shared]") {
  const std::string folder = SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  int n_models = 0;
  int n_with_labels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".tflite") continue;
    ++n_models;
    const auto model = Model::OpenFile(entry.path().string());
    INFO(entry.path().string() << ": " << model.status().ToString());
    CHECK(model.ok());
    if (!model.ok()) continue;
    CHECK_FALSE((*model)->main().values.empty());
    CHECK_FALSE((*model)->main().outputs.empty());
    if (!(*model)->labels().empty()) ++n_with_labels;
  }
  CHECK(n_models > 100);
  CHECK(n_with_labels >= 3);
}

TEST_CASE("shared models: labels and normalisation of a classifier", "[format][shared]") {
  const std::string folder = SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const std::string path = folder + "/int8/coral_mobilenet_v1_0.25_128_quant.tflite";
  const auto model = Model::OpenFile(path);
  INFO(model.status().ToString());
  REQUIRE(model.ok());
  REQUIRE((*model)->labels().size() == 1001);
  CHECK((*model)->labels()[0] == "background");
  REQUIRE((*model)->normalization() != nullptr);
  CHECK((*model)->normalization()->mean[0] == 127.5f);
}

}  // namespace test
}  // namespace topwork
