// C API: runs in the background, their callbacks, two sessions by turns, and freeing in between.
#include <cstring>
#include <thread>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_async_test {

using namespace api_test;

struct Finished {
  std::atomic<int> n_calls{0};
  std::atomic<int> status{-1};
  float first = 0;
  std::string error;
};

void Keep(void* user_data, tw_session* session, tw_status status) {
  Finished* result = static_cast<Finished*>(user_data);
  result->error = tw_last_error();
  // A callback may use its session; assertions are for the main thread.
  tw_tensor_info y = {};
  y.struct_size = sizeof(y);
  if (status == TW_STATUS_OK && tw_session_get_output(session, 0, &y) == TW_STATUS_OK) {
    std::memcpy(&result->first, y.data, sizeof(float));
  }
  result->status = status;
  ++result->n_calls;
}

// Runs the session until *user_data runs are left.
void RunAgain(void* user_data, tw_session* session, tw_status status) {
  int* n_left = static_cast<int*>(user_data);
  if (status == TW_STATUS_OK && --*n_left > 0) {
    (void)tw_session_run_async(session, RunAgain, user_data);
  }
}

// Ends when it is told to: keeps a run in flight, from within its profile function.
struct Block {
  std::atomic<bool> entered{false}, leave{false};
};
void WaitInside(void* user_data, const tw_profile_entry*) {
  Block* block = static_cast<Block*>(user_data);
  block->entered = true;
  while (!block->leave) std::this_thread::yield();
}

std::vector<float> Image(size_t seed) {
  std::vector<float> image(64);
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>((i * 7 + seed * 3) % 17) / 16.0f;
  }
  return image;
}

std::vector<float> Expected(tw_session* session, size_t seed) {
  std::vector<float> image = Image(seed), scores(10);
  REQUIRE(tw_session_write_input(session, 0, image.data(), 256) == TW_STATUS_OK);
  REQUIRE(tw_session_run(session) == TW_STATUS_OK);
  REQUIRE(tw_session_read_output(session, 0, scores.data(), 40) == TW_STATUS_OK);
  return scores;
}

TEST_CASE("a run in the background calls back with its result", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  int32_t running = 7;
  REQUIRE(tw_session_is_running(session.get(), &running) == TW_STATUS_OK);
  CHECK(running == 0);
  RequireError(tw_session_wait(session.get()), TW_STATUS_FAILED_PRECONDITION, "no run was started");
  const float x[4] = {1, 2, 3, 4};
  REQUIRE(tw_session_write_input(session.get(), 0, x, sizeof(x)) == TW_STATUS_OK);
  Finished result;
  REQUIRE(tw_session_run_async(session.get(), Keep, &result) == TW_STATUS_OK);
  REQUIRE(tw_session_wait(session.get()) == TW_STATUS_OK);
  CHECK(result.n_calls == 1);
  CHECK(result.status == TW_STATUS_OK);
  CHECK(result.first == 3);
  REQUIRE(tw_session_run_async(session.get(), nullptr, nullptr) == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_cancel(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_run_async(session.get(), Keep, &result) == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);
  CHECK(result.n_calls == 2);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("a session is its run's own while one is in flight", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr owned = MakeSession(model.get());
  tw_session* s = owned.get();
  Block block;
  REQUIRE(tw_session_set_profile(s, WaitInside, &block) == TW_STATUS_OK);
  REQUIRE(tw_session_run_async(s, nullptr, nullptr) == TW_STATUS_OK);
  while (!block.entered) std::this_thread::yield();
  int32_t running = 0;
  CHECK(tw_session_is_running(s, &running) == TW_STATUS_OK);
  CHECK(running == 1);
  float values[64] = {};
  const int32_t dims[4] = {2, 8, 8, 1};
  tw_tensor_info info = {};
  info.struct_size = sizeof(info);
  tw_session_info memory = {};
  memory.struct_size = sizeof(memory);
  char* text = nullptr;
  tw_session* clone = nullptr;
  const tw_status refused[] = {tw_session_run(s),
                               tw_session_run_async(s, nullptr, nullptr),
                               tw_session_prepare(s),
                               tw_session_write_input(s, 0, values, 256),
                               tw_session_read_output(s, 0, values, 40),
                               tw_session_bind_input(s, 0, values, 256),
                               tw_session_bind_output(s, 0, values, 40),
                               tw_session_resize_input(s, 0, dims, 4),
                               tw_session_get_input(s, 0, &info),
                               tw_session_get_output(s, 0, &info),
                               tw_session_get_info(s, &memory),
                               tw_session_set_profile(s, nullptr, nullptr),
                               tw_session_describe_plan(s, TW_PLAN_TEXT, &text),
                               tw_session_clone(s, &clone)};
  for (const tw_status status : refused) CHECK(status == TW_STATUS_FAILED_PRECONDITION);
  CHECK(std::string(tw_last_error()).find("a run is in flight") != std::string::npos);
  block.leave = true;
  CHECK(tw_session_wait(s) == TW_STATUS_OK);
  CHECK(tw_session_set_profile(s, nullptr, nullptr) == TW_STATUS_OK);
  CHECK(tw_session_run(s) == TW_STATUS_OK);
}

TEST_CASE("cancelling ends a run in the background", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  Block block;
  Finished result;
  REQUIRE(tw_session_set_profile(session.get(), WaitInside, &block) == TW_STATUS_OK);
  REQUIRE(tw_session_run_async(session.get(), Keep, &result) == TW_STATUS_OK);
  while (!block.entered) std::this_thread::yield();
  REQUIRE(tw_session_cancel(session.get()) == TW_STATUS_OK);
  block.leave = true;
  RequireError(tw_session_wait(session.get()), TW_STATUS_CANCELLED, "cancelled");
  CHECK(result.status == TW_STATUS_CANCELLED);
  CHECK(result.error.find("cancelled") != std::string::npos);
}

TEST_CASE("a run in the background is cancelled from the call on that starts it", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  int n_cancelled = 0;
  for (int i = 0; i < 50; ++i) {
    Block block;
    REQUIRE(tw_session_set_profile(session.get(), WaitInside, &block) == TW_STATUS_OK);
    REQUIRE(tw_session_run_async(session.get(), nullptr, nullptr) == TW_STATUS_OK);
    REQUIRE(tw_session_cancel(session.get()) == TW_STATUS_OK);  // its thread may not run yet
    block.leave = true;
    if (tw_session_wait(session.get()) == TW_STATUS_CANCELLED) ++n_cancelled;
    REQUIRE(tw_session_set_profile(session.get(), nullptr, nullptr) == TW_STATUS_OK);
    REQUIRE(tw_session_cancel(session.get()) == TW_STATUS_OK);  // it has ended
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
  }
  CHECK(n_cancelled == 50);
}

TEST_CASE("a callback starts the next run, and waiting means all of them", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  int n_left = 50;
  REQUIRE(tw_session_run_async(session.get(), RunAgain, &n_left) == TW_STATUS_OK);
  CHECK(tw_session_wait(session.get()) == TW_STATUS_OK);
  CHECK(n_left == 0);
}

TEST_CASE("a clone computes the next input while the first session runs", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  SessionPtr first = MakeSession(model.get());
  tw_session* made = nullptr;
  REQUIRE(tw_session_clone(first.get(), &made) == TW_STATUS_OK);
  SessionPtr second(made);
  std::vector<std::vector<float>> expected;
  for (size_t i = 0; i < 4; ++i) expected.push_back(Expected(first.get(), i));
  tw_session* sessions[] = {first.get(), second.get()};
  std::vector<float> scores(10);
  for (size_t i = 0; i < 40; ++i) {
    tw_session* next = sessions[i % 2];
    if (i >= 2) {  // its run of two rounds ago
      REQUIRE(tw_session_wait(next) == TW_STATUS_OK);
      REQUIRE(tw_session_read_output(next, 0, scores.data(), 40) == TW_STATUS_OK);
      CHECK(scores == expected[(i - 2) % 4]);
    }
    const std::vector<float> image = Image(i % 4);
    REQUIRE(tw_session_write_input(next, 0, image.data(), 256) == TW_STATUS_OK);
    REQUIRE(tw_session_run_async(next, nullptr, nullptr) == TW_STATUS_OK);
  }
  first.reset();  // in flight, and the allocator's owner
  CHECK(tw_session_wait(second.get()) == TW_STATUS_OK);
  CHECK(Expected(second.get(), 1) == expected[1]);
}

TEST_CASE("a clone has the shapes of its session and no bindings", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);  // a custom operator: planned anew
  SessionPtr session = MakeSession(model.get());
  const int32_t dims[2] = {3, 4};
  std::vector<float> in(12, 2.0f);
  REQUIRE(tw_session_resize_input(session.get(), 0, dims, 2) == TW_STATUS_OK);
  REQUIRE(tw_session_prepare(session.get()) == TW_STATUS_OK);
  REQUIRE(tw_session_bind_input(session.get(), 0, in.data(), 48) == TW_STATUS_OK);
  tw_session* made = nullptr;
  REQUIRE(tw_session_clone(session.get(), &made) == TW_STATUS_OK);
  const SessionPtr clone(made);
  session.reset();
  const tw_tensor_info x = InputInfo(clone.get(), 0);
  CHECK(x.dims[0] == 3);
  CHECK(x.data != in.data());
  std::memcpy(x.data, in.data(), 48);
  REQUIRE(tw_session_run(clone.get()) == TW_STATUS_OK);
  CHECK(static_cast<const float*>(OutputInfo(clone.get(), 0).data)[11] == 6);
}

TEST_CASE("freeing a session at any moment of a run ends it cleanly", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr source = MakeSession(model.get());
  int n_wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    tw_session* session = nullptr;
    REQUIRE(tw_session_clone(source.get(), &session) == TW_STATUS_OK);
    Finished result;
    REQUIRE(tw_session_run_async(session, Keep, &result) == TW_STATUS_OK);
    for (int k = 0; k < i % 30; ++k) std::this_thread::yield();
    if (i % 3 == 0) (void)tw_session_cancel(session);
    tw_session_free(session);
    const bool known = result.status == TW_STATUS_OK || result.status == TW_STATUS_CANCELLED;
    if (result.n_calls != 1 || !known) ++n_wrong;
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("options for sharing a device are checked", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session* session = nullptr;
  tw_session_options options = DefaultSessionOptions();
  options.opencl.low_priority = 2;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "low_priority is 2");
  options.opencl.low_priority = 1;
  options.opencl.max_kernel_ms = -1;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "max_kernel_ms is -1");
  options.opencl.max_kernel_ms = 8;
  options.opencl.check_first_answer = 2;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "check_first_answer is 2");
  options.opencl.check_first_answer = 1;
  CHECK(MakeSession(model.get(), &options) != nullptr);  // on the CPU they mean nothing
}

}  // namespace api_async_test
}  // namespace topwork
