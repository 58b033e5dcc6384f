// What a session on a device reports of each operator, and sessions that take turns on one program.
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/backend/opencl/context.h"
#include "runtime/backend/opencl/opencl_device.h"
#include "runtime/session/session.h"
#include "tests/runtime/backend/opencl/support.h"
#include "tests/support/digits_model.h"

namespace topwork {
namespace opencl_profile_test {

std::unique_ptr<Session> Digits(const opencl::Device& device) {
  auto context = opencl::Context::Create(device, {});
  REQUIRE(context.status().ToString() == "OK");
  SessionOptions options;
  options.n_threads = 1;
  options.devices = {opencl::MakeDevice(context.value(), Storage::kFloat32)};
  auto session = Session::Create(test::DigitsModel(), options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

void Fill(Session* session, int seed) {
  float* values = session->input(0).as<float>();
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>((i * 7 + seed) % 17) / 16.0f;
}

std::vector<float> Scores(const Session& session) {
  const float* out = session.output(0).as<float>();
  return std::vector<float>(out, out + 10);
}

TEST_CASE("opencl session: the profile names every operator of the device", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto session = Digits(device);
  Fill(session.get(), 1);
  REQUIRE(session->Run().ToString() == "OK");
  const std::vector<float> expected = Scores(*session);
  std::vector<StepProfile> profiles;
  session->SetProfile(
      [](void* user_data, const StepProfile& profile) {
        static_cast<std::vector<StepProfile>*>(user_data)->push_back(profile);
      },
      &profiles);
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(Scores(*session) == expected);
  size_t k = 0;
  int64_t on_device = 0;
  for (size_t s = 0; s < session->plan().steps.size(); ++s) {
    const Step& step = session->plan().steps[s];
    for (size_t part = 0; part <= step.parts.size(); ++part, ++k) {
      REQUIRE(k < profiles.size());
      const bool whole = part == step.parts.size();
      const Step& what = whole ? step : step.parts[part];
      CHECK(profiles[k].step == static_cast<int>(s));
      CHECK(profiles[k].part == (whole ? -1 : static_cast<int>(part)));
      CHECK(std::string(profiles[k].op) == what.def->name());
      CHECK(std::string(profiles[k].variant) == what.variant);
      CHECK(std::string(profiles[k].backend) == PlaceName(what.device));
      CHECK(std::strlen(profiles[k].output_name) > 0);
      CHECK(profiles[k].nanos >= 0);
      if (!whole) on_device += profiles[k].nanos;
    }
  }
  CHECK(k == profiles.size());
  CHECK(on_device > 0);
  session->SetProfile(nullptr, nullptr);
  REQUIRE(session->Run().ToString() == "OK");
  CHECK(profiles.size() == k);
  CHECK(Scores(*session) == expected);
}

TEST_CASE("opencl session: clones in the background take turns", "[opencl]") {
  TW_NEED_DEVICE(device);
  const auto first = Digits(device);
  auto made = first->Clone();
  REQUIRE(made.ok());
  Session* sessions[] = {first.get(), made.value().get()};
  std::vector<std::vector<float>> expected;
  for (int seed = 0; seed < 3; ++seed) {
    Fill(first.get(), seed);
    REQUIRE(first->Run().ToString() == "OK");
    expected.push_back(Scores(*first));
  }
  CHECK(expected[0] != expected[1]);
  for (int i = 0; i < 30; ++i) {
    Session* session = sessions[i % 2];
    if (i >= 2) {
      REQUIRE(session->Wait().ToString() == "OK");
      CHECK(Scores(*session) == expected[static_cast<size_t>((i - 2) % 3)]);
    }
    Fill(session, i % 3);
    REQUIRE(session->RunAsync(nullptr).ok());
  }
  CHECK(sessions[0]->Wait().ok());
  CHECK(sessions[0]->options().devices.size() == 1);  // the device did not fail
}

}  // namespace opencl_profile_test
}  // namespace topwork
