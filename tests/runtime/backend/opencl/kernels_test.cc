// Every kernel of the library at small sizes: what oclgrind runs (oclgrind.py), and a compilation
// of every kernel file with every define that it can get.
#include <catch2/catch.hpp>
#include <cmath>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "kernels/contract/functions.h"
#include "kernels/gpu/launch.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "tests/runtime/backend/opencl/apart_device.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/case_runner.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace test {
namespace opencl_kernels_test {

// Runs the case on the backend alone; false when the CPU would take a part of it. Answers are
// compared elsewhere: a simulator's exp and sin are those of its machine.
bool RunWhole(const OpCase& op_case, const std::shared_ptr<const Device>& backend) {
  CaseRunner runner(OneThreadOn(backend));
  REQUIRE(runner.Open(op_case).ToString() == "OK");
  for (const Step& step : runner.session().plan().steps) {
    if (step.parts.empty()) return false;
  }
  REQUIRE(runner.Write(op_case).ok());
  REQUIRE(runner.Run().ToString() == "OK");
  REQUIRE(runner.session().options().devices.size() == 1);  // the device did not fail
  return true;
}

// Quantized operators launch the kernels of the float ones, and two more that these files need;
// sweeps launch those of the operators' own files.
bool IsRepetition(const std::string& file) {
  if (file.rfind("sweep_", 0) == 0) return true;
  return file.rfind("quant_", 0) == 0 && file != "quant_abs" && file != "quant_quantize";
}

void RunAllWhole(const opencl::Device& device, Storage storage) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  const auto backend = std::make_shared<ApartDevice>(context.value(), storage);
  size_t n_cases = 0;
  ForEachCase(
      [](const OpCase& op_case) {
        return OpensFirstSubgraph(op_case) && !IsRepetition(op_case.file);
      },
      [&](const OpCase& op_case) { n_cases += RunWhole(op_case, backend) ? 1 : 0; });
  CHECK(n_cases > 500);
}

TEST_CASE("opencl kernels: golden cases in float32, for oclgrind", "[.][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  RunAllWhole(device, Storage::kFloat32);
}

TEST_CASE("opencl kernels: golden cases in float16 storage, for oclgrind", "[.][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  RunAllWhole(device, Storage::kFloat16);
}

// No golden case has a fused TANH: LiteRT refuses it.
TEST_CASE("opencl kernels: a fused TANH", "[opencl][opencl-kernels]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {1, 7});
  const int y = spec.AddTensor("y", DType::kFloat32, {1, 7});
  constexpr int8_t kTanhNumber = 4;  // in ActivationFunctionType
  spec.AddOp(OpCode::kAdd, {x, x}, {y}, OptionsSpec(kAddOptions).Byte(0, kTanhNumber));
  spec.main().outputs = {y};
  const Bytes bytes = BuildModel(spec);
  const auto model = Model::OpenMemory(bytes.data(), bytes.size(), true);
  REQUIRE(model.status().ToString() == "OK");
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16}) {
    auto session = Session::Create(
        model.value(), OneThreadOn(std::make_shared<ApartDevice>(context.value(), storage)));
    REQUIRE(session.status().ToString() == "OK");
    REQUIRE(session.value()->plan().steps[0].parts.size() == 1);
    float* in = session.value()->input(0).as<float>();
    for (int i = 0; i < 7; ++i) in[i] = 0.25f * static_cast<float>(i - 3);
    REQUIRE(session.value()->Run().ToString() == "OK");
    for (int i = 0; i < 7; ++i) {
      const double expected = std::tanh(0.5 * (i - 3));
      CHECK(session.value()->output(0).as<const float>()[i] ==
            Approx(expected).margin(storage == Storage::kFloat16 ? 1e-3 : 1e-6));
    }
  }
}

std::string TextOf(const std::string& name) {
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    if (name == test::NameOf(file)) return opencl::TextOf(file);
  }
  FAIL("no file is called " << name);
  return "";
}

TEST_CASE("opencl kernels: each file's text is whole", "[backend]") {
  size_t offset = 0;
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    INFO(file.path);
    const std::string text = opencl::TextOf(file);
    CHECK(file.offset == offset);
    REQUIRE(text.size() == file.bytes);
    // No comment is left, no line is indented.
    CHECK(text.find("//") == std::string::npos);
    CHECK(text.find("\n ") == std::string::npos);
    CHECK(text.find_first_not_of('\n') != std::string::npos);
    CHECK(text.back() == '\n');
    offset += file.bytes;
  }
}

TEST_CASE("opencl kernels: what a kernel computes has a name, not a number", "[backend]") {
  const std::regex number(R"((case|\b(fn|kind|state\[|rates?\[|params\[)) *(==|!=)? *[0-9]+)");
  CHECK(std::regex_search("    case 3: return a / b;", number));
  CHECK(std::regex_search("v = kind == 2 ? 1.0f : 0.0f;", number));
  CHECK(std::regex_search("const int step = state[0];", number));
  CHECK(!std::regex_search("case TW_RELU6: return kind != TW_L2_POOL;", number));
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    std::istringstream text(opencl::TextOf(file));
    for (std::string line; std::getline(text, line);) {
      INFO(file.path << ": " << line);
      CHECK(!std::regex_search(line, number));
    }
  }
}

TEST_CASE("opencl kernels: each function that C++ can ask for has its case", "[backend]") {
  const std::string binary = TextOf("stages");
  const std::string compare = TextOf("compare");
#define TW_HAS_CASE(name, number) CHECK(text.find("case " #number ":") != std::string::npos);
  {
    const std::string& text = binary;
    TW_BINARY_FUNCTIONS(TW_HAS_CASE)
  }
  {
    const std::string& text = compare;
    TW_COMPARE_FUNCTIONS(TW_HAS_CASE)
  }
#undef TW_HAS_CASE
}

TEST_CASE("opencl kernels: names say the operator, the type and the assumption", "[backend]") {
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    if (test::NameOf(file) == "common") continue;
    INFO(file.path);
    CHECK(opencl::TextOf(file).find("__kernel") == std::string::npos);  // TW_KERNEL makes the name
  }
  Launch launch;
  launch.kernel = {"conv_2d_4x8", "4x8"};
  launch.type = KernelType::kF16;
  launch.options = " -DTW_PIXELS=4";
  CHECK(launch.Entry() == "conv_2d_f16_4x8");
  CHECK(launch.Defines() == "-DTW_HALF -DTW_PIXELS=4");
  launch.arguments = {LaunchArgument::Buffer(0), LaunchArgument::Buffer(1)};
  launch.arguments[1].pixels = 9;
  CHECK(launch.Defines() == "-DTW_HALF -DTW_PIXELS=4 -DTW_WEIGHT_IMAGE");
  launch.kernel = "gather";
  launch.type = KernelType::kI32;
  CHECK(launch.Entry() == "gather_i32");
}

TEST_CASE("opencl kernels: files depend on known defines alone", "[backend]") {
  std::set<std::string> conditions;
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    std::istringstream text(opencl::TextOf(file));
    for (std::string line; std::getline(text, line);) {
      if (line.compare(0, 3, "#if") == 0 || line.compare(0, 4, "#eli") == 0) {
        conditions.insert(line);
      }
    }
  }
  // What TypeDefine, Launch::Defines, BuildOptions, GpuContext::TakesOptions, stages.cc,
  // head_gpu.cc, Context::MakeProgram, compilers and tests name.
  CHECK(conditions == std::set<std::string>{"#ifdef TW_INT",
                                            "#elif defined(TW_BYTE)",
                                            "#elif defined(TW_HALF)",
                                            "#if defined(TW_DOT)",
                                            "#elif defined(TW_ARM_DOT)",
                                            "#elif defined(TW_ARM_DOT) && "
                                            "defined(cl_arm_integer_dot_product_accumulate_int8)",
                                            "#elif defined(__NVPTX__) && __CUDA_ARCH__ >= 610",
                                            "#ifdef tw_dot",
                                            "#ifdef TW_ALIGNED",
                                            "#ifndef TW_ALIGNED",
                                            "#ifdef TW_SUB_GROUPS",
                                            "#ifndef TW_TILES",
                                            "#ifdef TW_SPLIT",
                                            "#ifdef TW_LABELS",
                                            "#ifdef TW_LATE",
                                            "#ifndef TW_LATE",
                                            "#ifdef TW_MULTIPLIED",
                                            "#ifdef TW_TURN_A",
                                            "#ifdef __NVPTX__",
                                            "#ifdef TW_DEEP",
                                            "#ifdef TW_WINDOW",
                                            "#ifdef TW_ZEROS",
                                            "#if defined(TW_SMALL)",
                                            "#elif defined(TW_REALS)",
                                            "#ifdef TW_HALF",
                                            "#ifdef TW_FP16",
                                            "#ifdef TW_WEIGHT_IMAGE",
                                            "#ifdef TW_SCALED",
                                            "#ifdef TW_MEANS",
                                            "#ifdef TW_TWO",
                                            "#ifdef TW_PLACED",
                                            "#ifdef TW_HALF_PRODUCTS",
                                            "#ifdef TW_EMULATED",
                                            "#ifdef TW_MIDDLE",
                                            "#if defined(TW_STAGE1) || defined(TW_MIDDLE)",
                                            "#ifdef TW_STAGE1",
                                            "#ifdef TW_STAGE2",
                                            "#ifdef TW_STAGE3",
                                            "#ifdef TW_STAGE4",
                                            "#if TW_COLUMNS == 8"});
  CHECK(std::string(TypeDefine(TypeOf(Storage::kFloat16))) == "-DTW_HALF");
}

}  // namespace opencl_kernels_test
}  // namespace test
}  // namespace topwork
