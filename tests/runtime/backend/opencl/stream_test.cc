// Streams: copies, parts of buffers, times, the flush policy and what launches may not say.
#include "runtime/backend/opencl/stream.h"

#include <catch2/catch.hpp>

#include "tests/runtime/backend/opencl/support.h"

namespace topwork {
namespace stream_test {

using opencl::MemHandle;

struct Bench {
  std::shared_ptr<opencl::Context> context;
  opencl::Stream stream;
  size_t align = 0;

  explicit Bench(const opencl::Device& device) : align(device.info.base_align_bytes) {
    auto made = opencl::Context::Create(device, {});
    REQUIRE(made.status().ToString() == "OK");
    context = made.value();
    opencl::StreamOptions options;
    options.profile = true;
    auto stream_made = opencl::Stream::Create(context.get(), options);
    REQUIRE(stream_made.ok());
    stream = std::move(stream_made.value());
  }
  MemHandle Buffer(size_t bytes) {
    auto buffer = opencl::CreateBuffer(context->handle(), bytes);
    REQUIRE(buffer.ok());
    return std::move(buffer.value());
  }
};

Launch ProbeLaunch(LaunchArgument in, LaunchArgument out) {
  Launch launch;
  launch.program = launch.entry = "probe";
  launch.arguments = {in, out};
  launch.global[0] = launch.local[0] = 64;
  launch.local[1] = launch.local[2] = 1;
  return launch;
}

TEST_CASE("opencl stream: uploads, copies and downloads keep the bytes", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  std::vector<uint8_t> data(1000), back(1000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
  const MemHandle a = bench.Buffer(1000), b = bench.Buffer(1000);
  REQUIRE(bench.stream.Upload(a, 0, data.data(), 1000).ok());
  REQUIRE(bench.stream.Copy(a, 0, b, 0, 1000).ok());
  REQUIRE(bench.stream.Copy(a, 100, b, 500, 200).ok());
  REQUIRE(bench.stream.Download(b, 0, back.data(), 1000).ok());
  CHECK(std::vector<uint8_t>(back.begin(), back.begin() + 500) ==
        std::vector<uint8_t>(data.begin(), data.begin() + 500));
  CHECK(std::vector<uint8_t>(back.begin() + 500, back.begin() + 700) ==
        std::vector<uint8_t>(data.begin() + 100, data.begin() + 300));
  CHECK(bench.stream.Upload(a, 0, nullptr, 0).ok());
  CHECK(bench.stream.Download(a, 0, nullptr, 0).ok());
  const Status beyond = bench.stream.Download(a, 900, back.data(), 200);
  CHECK(beyond.code() == StatusCode::kInternal);
}

TEST_CASE("opencl stream: recorded commands run again on parts of one buffer", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const size_t bytes = 64 * sizeof(float), part = RoundUp(bytes, bench.align);
  const MemHandle all[] = {bench.Buffer(3 * part)};
  const Launch launches[] = {
      ProbeLaunch(LaunchArgument::Buffer(0, 0, bytes), LaunchArgument::Buffer(0, part, bytes)),
      ProbeLaunch(LaunchArgument::Buffer(0, part, bytes),
                  LaunchArgument::Buffer(0, 2 * part, bytes))};
  auto commands = bench.stream.Record({launches, 2}, {all, 1});
  REQUIRE(commands.status().ToString() == "OK");
  CHECK(commands->size() == 2);
  for (const float first : {1.0f, -3.0f}) {
    const std::vector<float> in(64, first);
    std::vector<float> out(64);
    REQUIRE(bench.stream.Upload(all[0], 0, in.data(), bytes).ok());
    std::vector<int64_t> nanos;
    REQUIRE(bench.stream.SubmitTimed(commands.value(), &nanos).ToString() == "OK");
    REQUIRE(nanos.size() == 2);
    CHECK(nanos[0] >= 0);
    REQUIRE(bench.stream.Submit(commands.value()).ok());
    REQUIRE(bench.stream.Finish().ok());
    REQUIRE(bench.stream.Download(all[0], 2 * part, out.data(), bytes).ok());
    CHECK(out == std::vector<float>(64, 9 * first));
  }
}

TEST_CASE("opencl stream: launches that cannot run are refused when recorded", "[opencl]") {
  TW_NEED_DEVICE(device);
  Bench bench(device);
  const MemHandle buffers[] = {bench.Buffer(1024), bench.Buffer(1024)};
  const auto refusal = [&](const Launch& launch) {
    const auto commands = bench.stream.Record({&launch, 1}, {buffers, 2});
    return commands.ok() ? std::string("OK") : commands.status().message();
  };
  const Launch good = ProbeLaunch(LaunchArgument::Buffer(0), LaunchArgument::Buffer(1));
  CHECK(refusal(good) == "OK");
  Launch launch = good;
  launch.arguments[1] = LaunchArgument::Buffer(2);
  CHECK(refusal(launch).find("argument 1 is buffer 2 of 2") != std::string::npos);
  launch.arguments[1] = LaunchArgument::Buffer(1, 128);
  CHECK(refusal(launch).find("an offset but no size") != std::string::npos);
  launch = good;
  launch.global[0] = 100;
  CHECK(refusal(launch).find("no multiple of 64") != std::string::npos);
  launch.global[0] = launch.local[0] = size_t{1} << 30;
  CHECK(refusal(launch).find("this device allows") != std::string::npos);
  launch = good;
  launch.program = "no_such_program";
  CHECK(refusal(launch).find("no_such_program") != std::string::npos);
  launch = good;
  launch.entry = "no_such_kernel";
  CHECK(refusal(launch).find("no_such_kernel") != std::string::npos);
}

TEST_CASE("opencl stream: the flush policy is a row of its vendor", "[backend]") {
  opencl::DeviceInfo info;
  info.name = "Mali-G710";
  CHECK(opencl::FlushEvery(info, opencl::FlushRows()) == 24);
  info.name = "QUALCOMM Adreno(TM)";
  CHECK(opencl::FlushEvery(info, opencl::FlushRows()) == 16);
  info.name = "pthread-EPYC";
  CHECK(opencl::FlushEvery(info, opencl::FlushRows()) == 0);
}

}  // namespace stream_test
}  // namespace topwork
