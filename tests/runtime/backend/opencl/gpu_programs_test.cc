// Which programs the library gives to drivers, with which options: the launches of all golden cases
// and of every variant that a tuner could choose, in both storages, and of a head's training. They
// are written to a folder for compilers that need no device (tests/gpu_compilers):
//   TOPWORK_WRITE_PROGRAMS=FOLDER topwork_tests "[gpu-programs]"
// NAME.cl is a program's whole text; a line of FAMILY.txt, such as Mali.txt, is a name, a space and
// options of what GPUs of that family are given.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/op_options.h"
#include "kernels/train/head_gpu.h"
#include "models/format/model.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "runtime/plan/plan.h"
#include "tests/runtime/backend/opencl/small_model.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/runtime/plan/fake_gpu.h"
#include "tests/support/embedded.h"
#include "tests/support/net.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace test {
namespace gpu_programs_test {

// A kind of GPU. Those of a family may differ.
struct Kind {
  const char* family;
  bool has_dots;       // of bytes
  bool half_products;  // float16 is multiplied, too

  const GpuFamily& row() const { return GpuFamilyOf(family, "", has_dots); }
};

// Program and options of launches.
class ProgramSet {
 public:
  explicit ProgramSet(const Kind& kind) : kind_(kind) {}
  const Kind& kind() const { return kind_; }
  void Add(const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) {
      if (launch.kind == Launch::Kind::kKernel) Add(launch.program, launch.Defines());
    }
  }
  void Add(const std::string& program, const std::string& defines) {
    names_.insert(program);
    for (const std::string& options : opencl::BuildOptions(
             program, defines, {kind_.has_dots, false, false, kind_.half_products})) {
      lines_.insert(program + " " + options);
      if (kind_.row().has_dots) break;  // without them it would be another kind
    }
  }
  const std::set<std::string>& names() const { return names_; }
  const std::set<std::string>& lines() const { return lines_; }

  void Join(const ProgramSet& other) {
    names_.insert(other.names_.begin(), other.names_.end());
    lines_.insert(other.lines_.begin(), other.lines_.end());
  }
  // Lines with this text.
  size_t Count(const std::string& text) const {
    size_t n = 0;
    for (const std::string& line : lines_) n += line.find(text) != std::string::npos ? 1 : 0;
    return n;
  }

 private:
  Kind kind_;
  std::set<std::string> names_, lines_;
};

// Has all time to measure, and takes each kernel for as fast as any other.
class AnyVariant final : public GpuTuner {
 public:
  explicit AnyVariant(ProgramSet* programs) : programs_(*programs) {}
  std::string Best(const std::string&) const override { return ""; }
  bool IsMeasured(const std::string&, const std::string&) const override { return false; }
  bool HasBlas() override { return false; }
  double BlasCrossover() const override { return std::numeric_limits<double>::infinity(); }
  bool HasTime() override { return true; }
  Result<int64_t> MeasureNanos(GpuProgram program) override {
    programs_.Add(program.launches);
    return 1;
  }
  void Keep(const std::string&, const std::string&, int64_t) override {}

 private:
  ProgramSet& programs_;
};

class Recorder final : public FakeGpu {
 public:
  Recorder(Storage storage, ProgramSet* programs, bool half_products)
      : storage_(storage),
        half_products_(half_products),
        family_(programs->kind().row()),
        programs_(*programs),
        tuner_(programs) {}
  Storage storage() const override { return storage_; }
  bool has_half_products() const override { return half_products_; }
  const GpuFamily& family() const override { return family_; }
  GpuTuner* tuner() const override { return &tuner_; }
  DeviceLimits limits() const override { return {0, 0, size_t{1} << 27}; }
  Result<std::shared_ptr<const LoadedProgram>> Load(GpuProgram program) const override {
    programs_.Add(program.launches);
    return FakeGpu::Load(std::move(program));
  }

 private:
  const Storage storage_;
  const bool half_products_;
  const GpuFamily& family_;
  ProgramSet& programs_;
  mutable AnyVariant tuner_;
};

void AddModel(const void* data, size_t n_bytes, Storage storage, ProgramSet* programs,
              bool half_products = false) {
  half_products |= programs->kind().half_products;
  const auto model = Model::OpenMemory(data, n_bytes, false);
  REQUIRE(model.ok());
  PlanOptions options;
  options.devices = {std::make_shared<Recorder>(storage, programs, half_products)};
  REQUIRE(BuildPlan(model.value(), options).status().ToString() == "OK");
}

void AddModels(Storage storage, ProgramSet* programs) {
  ForEachCase(OpensFirstSubgraph, [&](const OpCase& op_case) {
    AddModel(op_case.model, op_case.model_bytes, storage, programs);
  });
  size_t n_files = 0;
  const EmbeddedFile* files = EmbeddedFiles(&n_files);
  for (size_t i = 0; i < n_files; ++i) {
    const std::string name = files[i].name;
    const bool in_zoo = name.rfind("models/zoo/", 0) == 0;
    if (!in_zoo || name.find(".tflite") == std::string::npos) continue;
    AddModel(files[i].data, files[i].size, storage, programs);
  }
}

void AddHeads(Storage storage, ProgramSet* programs) {
  const LaunchArgument buffer = LaunchArgument::Buffer(0);
  programs->Add({MakeSquare(64, 256, buffer, buffer, buffer)});
  for (const int32_t n_outputs : {2, 100}) {
    for (const bool adam : {false, true}) {
      HeadLaunch head;
      head.dim = adam ? 1280 : 1281;  // aligned rows, and others
      head.n_outputs = n_outputs;
      head.loss = adam ? HeadLoss::kSoftmax : HeadLoss::kHuber;
      head.batch = 32;
      head.storage = storage;
      head.adam = adam;
      programs->Add(MakeHeadStep(head, false));
      programs->Add(MakeHeadStep(head, true));
      programs->Add({MakeHeadEnd(head)});
      programs->Add(MakeHeadEvaluation(head));
      programs->Add({MakeHeadSteps(head, 16, true)});
    }
  }
}

// A square convolution of so many channels.
void AddConvolution(int32_t channels, int32_t filter, Storage storage, ProgramSet* programs,
                    bool half_products = false) {
  OneOpModel model;
  const size_t n_weights = static_cast<size_t>(channels * filter * filter * channels);
  model.Input({1, 16, 16, channels})
      .Constant({channels, filter, filter, channels}, RandomFloats(n_weights, 1));
  const Bytes bytes = model.Build(OpCode::kConv2d, {1, 16, 16, channels},
                                  OptionsSpec(kConv2dOptions).Int(1, 1).Int(2, 1));
  AddModel(bytes.data(), bytes.size(), storage, programs, half_products);
}

// Layers whose results are joined in place.
void AddJoined(Storage storage, ProgramSet* programs) {
  Net net;
  const int x = net.Input({1, 8, 8, 16});
  const Bytes bytes = net.Build(net.Join({net.Conv(x, 16, 1), net.Conv(x, 16, 3)}, 3));
  AddModel(bytes.data(), bytes.size(), storage, programs);
}

// Convolutions of bytes of 1x1 and 3x3 taps that fit all tiles; the golden cases' do not.
void AddWideConvolutionsOfBytes(Storage storage, ProgramSet* programs) {
  for (const int32_t taps : {1, 3}) {
    ModelSpec spec;
    const int x = spec.AddInput("x", DType::kInt8, {1, 16, 16, 16});
    const Bytes weights(static_cast<size_t>(16 * taps * taps * 16), 1);
    const int w = spec.AddConstant("w", DType::kInt8, {16, taps, taps, 16}, weights);
    const int y = spec.AddTensor("y", DType::kInt8, {1, 16, 16, 16});
    for (const int tensor : {x, w, y}) {
      spec.main().tensors[static_cast<size_t>(tensor)].scales = {0.0625f};
      spec.main().tensors[static_cast<size_t>(tensor)].zero_points = {0};
    }
    spec.AddOp(OpCode::kConv2d, {x, w}, {y}, OptionsSpec(kConv2dOptions).Int(1, 1).Int(2, 1));
    spec.main().outputs = {y};
    const Bytes model = BuildModel(spec);
    AddModel(model.data(), model.size(), storage, programs);
  }
}

// Products of aligned rows, either side turned or not; those of the golden cases are narrower.
void AddBatchMatMul(Storage storage, ProgramSet* programs) {
  for (const int8_t turned : {0, 1, 2, 3}) {
    OneOpModel model;
    model.Input({1, 8, 8}).Input({1, 8, 8});
    const OptionsSpec options =
        OptionsSpec(static_cast<uint8_t>(::topwork::OptionsType::kBatchMatMul))
            .Byte(0, turned % 2)
            .Byte(1, turned / 2);
    const Bytes bytes = model.Build(OpCode::kBatchMatmul, {1, 8, 8}, options);
    AddModel(bytes.data(), bytes.size(), storage, programs);
  }
}

// Those of the library that no launch above names: drivers' trials, and what no golden case has.
void AddRest(ProgramSet* programs) {
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    const bool is_program = opencl::KernelSource(test::NameOf(file)).ok();
    if (!is_program || programs->names().count(test::NameOf(file)) > 0) continue;
    for (const KernelType type : {KernelType::kF32, KernelType::kF16}) {
      programs->Add(test::NameOf(file), TypeDefine(type));
    }
  }
}

TEST_CASE("opencl programs: the ways to compile them, the best first", "[backend]") {
  using Ways = std::vector<std::string>;
  const auto ways = [](const char* program, const opencl::LanguageExtensions& has) {
    return opencl::BuildOptions(program, "-DTW_HALF", has);
  };
  CHECK(ways("gemv", {true, true, true}) ==
        Ways{"-cl-std=CL3.0 -DTW_SUB_GROUPS -DTW_HALF", "-cl-std=CL1.2 -DTW_HALF"});
  CHECK(ways("gemv", {true, true, false}) == Ways{"-cl-std=CL1.2 -DTW_HALF"});
  CHECK(ways("gemm", {true, true, true}) == Ways{"-cl-std=CL1.2 -DTW_HALF"});
  CHECK(ways("gemm", {false, false, false, true}) == Ways{"-cl-std=CL1.2 -DTW_HALF -DTW_FP16"});
  CHECK(opencl::BuildOptions("gemm", "", {false, false, false, true}) == Ways{"-cl-std=CL1.2"});
  CHECK(ways("integer_product", {true, true, true}) == Ways{"-cl-std=CL3.0 -DTW_DOT -DTW_HALF",
                                                            "-cl-std=CL1.2 -DTW_ARM_DOT -DTW_HALF",
                                                            "-cl-std=CL1.2 -DTW_HALF"});
}

void Write(const std::string& folder, const ProgramSet& programs) {
  std::ofstream list(folder + "/" + programs.kind().family + ".txt");
  for (const std::string& line : programs.lines()) list << line << "\n";
  CHECK(list.flush().good());
  for (const std::string& name : programs.names()) {
    std::ofstream file(folder + "/" + name + ".cl");
    file << opencl::KernelSource(name).value();
    CHECK(file.flush().good());
  }
}

ProgramSet ProgramsOf(const Kind& kind) {
  ProgramSet programs(kind);
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    AddModels(storage, &programs);
    // What the golden cases are too small for: Winograd's kernels, products that split the depth.
    for (const int32_t channels : {16, 17}) AddConvolution(channels, 3, storage, &programs);
    for (const int32_t channels : {128, 129}) AddConvolution(channels, 1, storage, &programs);
    AddWideConvolutionsOfBytes(storage, &programs);
    AddBatchMatMul(storage, &programs);
    AddHeads(storage, &programs);
    AddJoined(storage, &programs);
  }
  for (const int32_t filter : {1, 3}) {
    AddConvolution(128, filter, Storage::kFloat16, &programs, true);
  }
  const size_t n_launched = programs.names().size();
  AddRest(&programs);
  CHECK(programs.names().size() - n_launched <= 3);
  return programs;
}

TEST_CASE("opencl programs: what drivers compile", "[.][gpu-programs]") {
  // Drivers of NVIDIA offer no float16, those of AMD only some.
  ProgramSet mali = ProgramsOf({"Mali", true, true});
  mali.Join(ProgramsOf({"Mali", false, true}));
  const ProgramSet nvidia = ProgramsOf({"NVIDIA", true, false});
  CHECK(nvidia.lines().count("gemm -cl-std=CL1.2 -DTW_HALF -DTW_ROWS=4 -DTW_COLUMNS=4") == 1);
  CHECK(nvidia.lines().count("integer_product -cl-std=CL3.0 -DTW_DOT -DTW_BYTE -DTW_ROWS=4 "
                             "-DTW_COLUMNS=8 -DTW_SMALL -DTW_ALIGNED -DTW_DEEP") == 1);
  CHECK(nvidia.lines().count("gemm -cl-std=CL1.2 -DTW_HALF -DTW_ROWS=8 -DTW_COLUMNS=4 "
                             "-DTW_ALIGNED -DTW_HALF_PRODUCTS") == 1);
  // A tuner, too, is offered only what fits.
  CHECK(mali.Count("integer_product -cl-std=CL3.0 -DTW_DOT -DTW_BYTE -DTW_ROWS=2") > 0);
  CHECK(mali.Count("integer_product -cl-std=CL1.2 -DTW_BYTE -DTW_ROWS=1") > 0);
  CHECK(mali.Count("integer_product -cl-std=CL1.2 -DTW_BYTE -DTW_ROWS=2") == 0);
  CHECK(mali.Count("=8") == 0);
  CHECK(mali.Count("-DTW_WEIGHT_IMAGE") + nvidia.Count("-DTW_WEIGHT_IMAGE") == 0);
  CHECK(nvidia.Count("=8") > 0);
  const char* folder = std::getenv("TOPWORK_WRITE_PROGRAMS");
  if (folder == nullptr) return;
  for (const ProgramSet& programs :
       {ProgramsOf({"Adreno", true, true}), mali, nvidia, ProgramsOf({"AMD", true, false})}) {
    Write(folder, programs);
  }
}

}  // namespace gpu_programs_test
}  // namespace test
}  // namespace topwork
