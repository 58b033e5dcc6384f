// Contexts: shared, tried out, and compiling nothing at a second start.
#include "runtime/backend/opencl/context.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "kernels/gpu/launch.h"
#include "runtime/backend/opencl/kernel_source.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/temp_folder.h"

namespace topwork {
namespace context_test {

using opencl::Context;
using opencl::ContextOptions;

std::shared_ptr<Context> Make(const opencl::Device& device, const std::string& folder) {
  ContextOptions options;
  options.cache_folder = folder;
  auto context = Context::Create(device, options);
  REQUIRE(context.status().ToString() == "OK");
  return context.value();
}

void MakeProbe(Context* context) {
  const auto kernel = context->MakeKernel("probe", "-DTW_HALF", "probe_f16");
  REQUIRE(kernel.status().ToString() == "OK");
}

TEST_CASE("opencl context: a second start compiles nothing", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  {
    const auto first = Make(device, folder / "cache");
    MakeProbe(first.get());
    MakeProbe(first.get());
    CHECK(first->counts().compiled == 2);  // float for the trial, half here
    CHECK(first->counts().cached == 0);
  }
  {
    const auto second = Make(device, folder / "cache");
    MakeProbe(second.get());
    CHECK(second->counts().compiled == 0);
    CHECK(second->counts().cached == 2);
  }
  const auto without = Make(device, "off");
  MakeProbe(without.get());
  CHECK(without->counts().compiled == 2);
}

std::vector<cl_context_properties> g_clocks;  // that were asked for
bool g_takes_clocks = true;

// A driver that takes hints of its clock, on top of the machine's.
cl_context CL_API_CALL MakeHintedContext(
    const cl_context_properties* properties, cl_uint n, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* error) {
  g_clocks.push_back(properties[2] == 0x40C2 ? properties[3] : 0);
  if (properties[2] != 0 && !g_takes_clocks) {
    *error = CL_INVALID_PROPERTY;
    return nullptr;
  }
  const cl_context_properties plain[] = {properties[0], properties[1], 0};
  return opencl::LoadOpencl().value()->clCreateContext(plain, n, devices, notify, data, error);
}

TEST_CASE("opencl context: a high clock is asked for where there are hints", "[opencl]") {
  TW_NEED_DEVICE(device);
  opencl::ClApi api = *device.api;
  api.clCreateContext = MakeHintedContext;
  opencl::Device hinting = device;
  hinting.api = &api;
  const auto asked = [&](bool low_priority) {
    g_clocks.clear();
    ContextOptions options;
    options.cache_folder = "off";
    options.low_priority = low_priority;
    CHECK(Context::Create(hinting, options).status().ToString() == "OK");
    return g_clocks;
  };
  using Clocks = std::vector<cl_context_properties>;
  hinting.info.context_hints = true;
  CHECK(asked(false) == Clocks{opencl::kHighClock});
  CHECK(asked(true) == Clocks{opencl::kNormalClock});
  g_takes_clocks = false;
  CHECK(asked(false) == Clocks{opencl::kHighClock, 0});
  g_takes_clocks = true;
  hinting.info.context_hints = false;
  CHECK(asked(false) == Clocks{0});
}

TEST_CASE("opencl context: binaries that the driver refuses are compiled anew", "[opencl]") {
  TW_NEED_DEVICE(device);
  const test::TempFolder folder;
  const std::string cache = folder / "cache";
  const auto source = opencl::KernelSource("probe");
  REQUIRE(source.ok());
  const std::string key =
      opencl::ProgramCache::Key(source.value(), "-cl-std=CL1.2", DriverIdentity(device.info));
  const std::vector<uint8_t> nonsense(64, 0x5A);
  const opencl::ProgramCache files(cache + "/opencl");
  REQUIRE(files.Store(key, {nonsense.data(), nonsense.size()}));
  {
    const auto context = Make(device, cache);
    CHECK(context->counts().compiled == 1);
    CHECK(context->counts().cached == 0);
  }
  CHECK(Make(device, cache)->counts().cached == 1);  // replaced by a good one
}

TEST_CASE("opencl context: one for all users of a device, as long as there is one", "[opencl]") {
  TW_NEED_DEVICE(device);
  const DeviceName name = test::TestDeviceName();
  auto first = Context::Open(name, {});
  REQUIRE(first.status().ToString() == "OK");
  auto second = Context::Open(name, {});
  REQUIRE(second.ok());
  CHECK(first.value() == second.value());
  CHECK(first.value()->info().name == device.info.name);
  const std::weak_ptr<Context> watch = first.value();
  first.value() = second.value() = nullptr;
  CHECK(watch.expired());
  const auto none = Context::Open(ParseDeviceName("opencl:no such device").value(), {});
  REQUIRE(!none.ok());
  CHECK(none.status().code() == StatusCode::kNotFound);
}

TEST_CASE("opencl context: every program compiles with every define", "[opencl]") {
  TW_NEED_DEVICE(device);
  auto context = opencl::CreateContext(*device.api, device.platform, device.id);
  REQUIRE(context.ok());
  int compiled = 0;
  for (const opencl::KernelFile& file : opencl::KernelFiles()) {
    const std::string path = file.path;
    if (path.substr(path.size() - 3) != ".cl") continue;  // what all begin with
    const auto source = opencl::KernelSource(test::NameOf(file));
    REQUIRE(source.ok());
    std::vector<std::string> defines = {TypeDefine(KernelType::kF32), TypeDefine(KernelType::kF16)};
    for (const char* name : {"axis", "cast", "compare", "gather", "space_batch", "strided_copy"}) {
      if (test::NameOf(file) == name) defines.push_back(TypeDefine(KernelType::kI32));
    }
    for (const char* name :
         {"gather", "integer_depthwise", "integer_depthwise_rows", "integer_elementwise",
          "integer_product", "resize", "space_batch", "strided_copy"}) {
      if (test::NameOf(file) == name) defines.push_back(TypeDefine(KernelType::kI8));
    }
    if (test::NameOf(file) == "conv_2d") {
      for (std::string& define : defines) define += " -DTW_PIXELS=4 -DTW_CHANNELS=8";
    }
    if (test::NameOf(file) == "depthwise_rows") {
      for (std::string& define : defines) define += " -DTW_TAPS=3 -DTW_STRIDE=2 -DTW_PIXELS=2";
    }
    if (test::NameOf(file) == "gemm") {
      for (std::string& define : defines) define += " -DTW_ROWS=4 -DTW_COLUMNS=8";
      defines.push_back("-DTW_SPLIT -DTW_ROWS=8 -DTW_COLUMNS=4");
    }
    for (const char* name : {"batch_matmul", "conv_2d", "depthwise_conv_2d", "depthwise_pointwise",
                             "depthwise_rows", "gemm", "gemv", "transpose_conv", "winograd"}) {
      if (test::NameOf(file) != name) continue;
      const std::vector<std::string> unaligned = defines;
      for (const std::string& define : unaligned) defines.push_back(define + " -DTW_ALIGNED");
      defines.push_back(defines.back() + " -DTW_MULTIPLIED -DTW_TURN_A");
    }
    if (path.find("train/head_") != std::string::npos) {
      for (int i = 0; i < 2; ++i) {
        defines.push_back(defines[static_cast<size_t>(i)] + " -DTW_LABELS -DTW_ALIGNED");
        defines.push_back(defines.back() + " -DTW_LATE");
      }
    }
    if (path.find("integer_depthwise") != std::string::npos) {
      defines.push_back("-DTW_BYTE -DTW_SMALL -DTW_ALIGNED");
    }
    if (test::NameOf(file) == "integer_product") {
      for (std::string& define : defines) define += " -DTW_ROWS=4 -DTW_COLUMNS=8";
      const std::string bytes = defines.back();
      defines.push_back(bytes + " -DTW_SMALL -DTW_ALIGNED -DTW_DEEP");
      defines.push_back(bytes + " -DTW_REALS -DTW_WINDOW -DTW_ZEROS");
      defines.push_back(bytes + " -DTW_WINDOW -DTW_ZEROS -DTW_ALIGNED");
    }
    if (test::NameOf(file) == "squeeze") {
      defines.push_back("-DTW_MEANS -DTW_TWO -DTW_MIDDLE=TW_SWISH");
    }
    if (source.value().find(" TW_TAIL) {") != std::string::npos) {
      const std::string stages =
          " -DTW_STAGE1=TW_MUL -DTW_FORM1=row -DTW_STAGE2=TW_TANH -DTW_FORM2=value "
          "-DTW_STAGE3=TW_SUB -DTW_FORM3=same_left -DTW_STAGE4=TW_ADD -DTW_FORM4=one";
      defines.push_back(defines.front() + stages);
      defines.push_back(defines.back() + " -DTW_ALIGNED");
    }
    for (const std::string& define : defines) {
      const std::string options = "-cl-std=CL1.2 -Werror " + define;
      INFO(file.path << " " << options);
      const auto program =
          opencl::BuildFromSource(context.value(), device.id, file.path, source.value(), options);
      CHECK(program.status().ToString() == "OK");
      ++compiled;
    }
  }
  CHECK(compiled >= 4);
  const auto missing = opencl::KernelSource("no_such_program");
  CHECK(missing.status().code() == StatusCode::kNotFound);
  CHECK(!opencl::KernelSource("common").ok());
  CHECK(!opencl::KernelSource("functions").ok());
}

TEST_CASE("opencl context: an unusable device is refused with its reason", "[opencl]") {
  TW_NEED_DEVICE(device);
  opencl::Device tired = device;
  tired.info.usable = false;
  tired.info.reason = "it is tired";
  const auto context = Context::Create(tired, {});
  REQUIRE(!context.ok());
  CHECK(context.status().code() == StatusCode::kUnsupported);
  CHECK(context.status().message().find("it is tired") != std::string::npos);
}

}  // namespace context_test
}  // namespace topwork
