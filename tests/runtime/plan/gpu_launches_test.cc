// What the plans of whole models ask of a device: how many launches, and none that leaves a device
// idle while few work-items take many steps.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "models/format/model.h"
#include "runtime/plan/plan.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/embedded.h"
#include "tests/support/net.h"
#include "tests/support/npz.h"
#include "tests/support/skip.h"

namespace topwork {
namespace gpu_launches_test {

// What fills a small GPU, and what a work-item may take where they do not.
constexpr int64_t kFewItems = 2048, kManySteps = 1000;

class StorageGpu final : public test::FakeGpu {
 public:
  explicit StorageGpu(Storage storage) : storage_(storage) {}
  Storage storage() const override { return storage_; }

 private:
  const Storage storage_;
};

std::shared_ptr<const Plan> PlanOf(const Result<std::shared_ptr<const Model>>& model,
                                   Storage storage) {
  REQUIRE(model.status().ToString() == "OK");
  PlanOptions options;
  options.devices = {std::make_shared<StorageGpu>(storage)};
  const auto plan = BuildPlan(model.value(), options);
  return plan.ok() ? plan.value() : nullptr;
}

// Returns the number of launches.
int64_t CheckLaunches(const std::string& name, const Plan& plan) {
  int64_t n = 0;
  for (const Step& step : plan.steps) {
    for (const Step& part : step.parts) {
      for (const PlannedLaunch& launch : part.launches) {
        INFO(name << ": " << plan.Where(part) << ", " << launch.kernel << ": " << launch.work.items
                  << " work-items of " << launch.work.steps << " steps");
        CHECK((launch.work.items >= kFewItems || launch.work.steps <= kManySteps));
        CHECK(launch.work.items > 0);
        CHECK(launch.work.items <= launch.started);
        CHECK(launch.work.steps > 0);
        ++n;
      }
    }
  }
  CHECK(TotalsOf(plan).n >= n);
  return n;
}

TEST_CASE("gpu launches: the zoo's models", "[plan]") {
  const std::map<std::string, int64_t> most = {{"efficientnet_lite0_fp16", 52}};
  size_t n_files = 0;
  const test::EmbeddedFile* files = test::EmbeddedFiles(&n_files);
  int n_models = 0;
  for (size_t i = 0; i < n_files; ++i) {
    const std::filesystem::path path = files[i].name;
    if (path.parent_path() != "models/zoo" || path.extension() != ".tflite") continue;
    for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
      const auto plan = PlanOf(Model::OpenMemory(files[i].data, files[i].size, false), storage);
      REQUIRE(plan != nullptr);
      const int64_t n = CheckLaunches(path.stem(), *plan);
      CHECK(n > 0);
      if (most.count(path.stem()) != 0) CHECK(n <= most.at(path.stem()));
    }
    ++n_models;
  }
  CHECK(n_models >= 4);
}

// MobileNetV3-Large as Keras' converter writes it: a hard sigmoid is ADD, RELU6 and MUL.
test::Bytes MobileNetV3() {
  constexpr int8_t kRelu = 1, kRelu6 = 3;
  struct Row {
    int taps, wide, outputs, squeezes, hard, stride;
  };
  const Row rows[] = {{3, 16, 16, 0, 0, 1},   {3, 64, 24, 0, 0, 2},   {3, 72, 24, 0, 0, 1},
                      {5, 72, 40, 1, 0, 2},   {5, 120, 40, 1, 0, 1},  {5, 120, 40, 1, 0, 1},
                      {3, 240, 80, 0, 1, 2},  {3, 200, 80, 0, 1, 1},  {3, 184, 80, 0, 1, 1},
                      {3, 184, 80, 0, 1, 1},  {3, 480, 112, 1, 1, 1}, {3, 672, 112, 1, 1, 1},
                      {5, 672, 160, 1, 1, 2}, {5, 960, 160, 1, 1, 1}, {5, 960, 160, 1, 1, 1}};
  test::Net net;
  const auto activate = [&](int x, bool hard) {
    return hard ? net.Op(OpCode::kHardSwish, {x}) : net.Op(OpCode::kRelu, {x});
  };
  int channels = 16;
  int x = activate(net.Conv(net.Input({1, 224, 224, 3}), channels, 3, 0, 2), true);
  for (const Row& row : rows) {
    int y = row.wide == channels ? x : activate(net.Conv(x, row.wide, 1), row.hard != 0);
    y = activate(net.Depthwise(y, row.taps, 0, row.stride), row.hard != 0);
    if (row.squeezes != 0) {
      const int few = net.Conv(net.GlobalPool(y), row.wide / 4, 1, kRelu);
      const int gate = net.Conv(few, row.wide, 1);
      const int sum = net.Op(OpCode::kAdd, {gate, net.Constant({1})}, {1, 1, 1, row.wide},
                             test::OptionsSpec(test::kAddOptions).Byte(0, kRelu6));
      const int hard_sigmoid = net.Binary(OpCode::kMul, sum, net.Constant({1}), sum);
      y = net.Binary(OpCode::kMul, y, hard_sigmoid, y);
    }
    y = net.Conv(y, row.outputs, 1);
    const bool adds = row.stride == 1 && channels == row.outputs;
    x = adds ? net.Binary(OpCode::kAdd, x, y, y) : y;
    channels = row.outputs;
  }
  x = net.GlobalPool(activate(net.Conv(x, 960, 1), true));
  x = net.Conv(activate(net.Conv(x, 1280, 1), true), 1000, 1);
  return net.Build(net.Op(OpCode::kSoftmax, {x}, {1, 1, 1, 1000},
                          test::OptionsSpec(test::kSoftmaxOptions).Float(0, 1.0f)));
}

TEST_CASE("gpu launches: MobileNetV3", "[plan]") {
  const test::Bytes bytes = MobileNetV3();
  const auto plan = PlanOf(Model::OpenMemory(bytes.data(), bytes.size(), true), Storage::kFloat32);
  REQUIRE(plan != nullptr);
  CHECK(plan->steps.size() == 1);
  CHECK(CheckLaunches("MobileNetV3", *plan) <= 80);
}

TEST_CASE("gpu launches: larger models", "[shared]") {
  const std::string folder = test::SharedModelsFolder();
  if (folder.empty()) TW_SKIP("TOPWORK_SHARED does not name a folder that holds models/");
  const std::map<std::string, int64_t> most = {{"efficientnet_lite0_fp16", 52},
                                               {"mp_selfie_segmentation", 60},
                                               {"mp_face_detection_short_range", 62},
                                               {"gen_unet_ops_f32", 10}};
  int n_models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".tflite") continue;
    const auto model = Model::OpenFile(entry.path());
    if (!model.ok()) continue;  // some are there to be refused
    const auto plan = PlanOf(model, Storage::kFloat32);
    if (plan == nullptr) continue;
    const std::string name = entry.path().stem();
    const int64_t n = CheckLaunches(name, *plan);
    INFO(name);
    if (most.count(name) != 0) CHECK(n <= most.at(name));
    ++n_models;
  }
  CHECK(n_models > 50);
}

TEST_CASE("gpu launches: plans show them", "[plan]") {
  size_t n_files = 0;
  const test::EmbeddedFile* files = test::EmbeddedFiles(&n_files);
  const test::EmbeddedFile* file =
      std::find_if(files, files + n_files, [](const test::EmbeddedFile& it) {
        return std::string(it.name) == "models/zoo/digits_mlp_f32.tflite";
      });
  REQUIRE(file != files + n_files);
  const auto plan = PlanOf(Model::OpenMemory(file->data, file->size, false), Storage::kFloat32);
  REQUIRE(plan != nullptr);
  const LaunchTotals totals = TotalsOf(*plan);
  CHECK(totals.n >= 2);
  CHECK(totals.work.multiply_adds > 0.0);
  const std::string text = PrintPlan(*plan);
  const std::string json = PlanToJson(*plan);
  CHECK(text.find(std::to_string(totals.n) + " launches of ") != std::string::npos);
  CHECK(json.find("\"device_work\":{\"launches\":" + std::to_string(totals.n)) !=
        std::string::npos);
  CHECK(json.find("\"launches\":[{\"kernel\":\"") != std::string::npos);
}

}  // namespace gpu_launches_test
}  // namespace topwork
