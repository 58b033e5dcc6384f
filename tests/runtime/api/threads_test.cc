// C API: cancelling from another thread, sessions side by side, and the application's allocator.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {
namespace {

tw_session* g_cancelled_by_itself = nullptr;

void CancelOnce(void* user_data, const tw_profile_entry*) {
  int* n_calls = static_cast<int*>(user_data);
  if (++*n_calls == 1) (void)tw_session_cancel(g_cancelled_by_itself);
}

struct CountingAllocator {
  std::atomic<int64_t> n_live{0}, n_total{0}, live_bytes{0}, n_left{1 << 30};
  std::atomic<bool> aligned{true};
  static void* Allocate(void* user_data, size_t bytes, size_t alignment) {
    CountingAllocator* self = static_cast<CountingAllocator*>(user_data);
    if (self->n_left-- <= 0) return nullptr;
    if (bytes == 0 || alignment > 64 || (alignment & (alignment - 1)) != 0) self->aligned = false;
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    ++self->n_live;
    ++self->n_total;
    self->live_bytes += static_cast<int64_t>(bytes);
    return memory;
  }
  static void Deallocate(void* user_data, void* memory, size_t bytes) {
    CountingAllocator* self = static_cast<CountingAllocator*>(user_data);
    --self->n_live;
    self->live_bytes -= static_cast<int64_t>(bytes);
    std::free(memory);
  }
  tw_allocator table() {
    return {sizeof(tw_allocator), &CountingAllocator::Allocate, &CountingAllocator::Deallocate,
            this};
  }
};

}  // namespace

TEST_CASE("cancelling without a run cancels none", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  tw_status from_thread = TW_STATUS_INTERNAL;
  std::thread([&] { from_thread = tw_session_cancel(session.get()); }).join();
  CHECK(from_thread == TW_STATUS_OK);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("a run in progress stops at its next operator", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  int n_calls = 0;
  g_cancelled_by_itself = session.get();
  REQUIRE(tw_session_set_profile(session.get(), CancelOnce, &n_calls) == TW_STATUS_OK);
  RequireError(tw_session_run(session.get()), TW_STATUS_CANCELLED, "cancelled");
  CHECK(n_calls == 1);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
  CHECK(n_calls > 2);
}

TEST_CASE("cancelling again and again from another thread does no harm", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  const SessionPtr session = MakeSession(model.get());
  std::atomic<bool> stop{false};
  std::thread canceller([&] {
    while (!stop) {
      (void)tw_session_cancel(session.get());
      std::this_thread::yield();
    }
  });
  int n_other = 0;
  for (int i = 0; i < 200; ++i) {
    const tw_status status = tw_session_run(session.get());
    if (status != TW_STATUS_OK && status != TW_STATUS_CANCELLED) ++n_other;
  }
  stop = true;
  canceller.join();
  CHECK(n_other == 0);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("four threads with their own sessions share one model", "[api]") {
  RegisterTestOps();
  ModelPtr model = OpenModel(kDigitsModel);
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 16.0f;
  std::vector<std::vector<float>> results(4, std::vector<float>(10));
  std::atomic<int> n_failed{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tw_session_options options = {};
      options.struct_size = sizeof(options);
      options.n_threads = static_cast<int32_t>(t + 1);
      tw_session* made = nullptr;
      bool ok = tw_session_create(model.get(), &options, &made) == TW_STATUS_OK;
      const SessionPtr session(made);
      for (int i = 0; ok && i < 20; ++i) {
        ok = tw_session_write_input(made, 0, x.data(), 256) == TW_STATUS_OK &&
             tw_session_run(made) == TW_STATUS_OK &&
             tw_session_read_output(made, 0, results[t].data(), 40) == TW_STATUS_OK;
      }
      if (!ok) ++n_failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(n_failed == 0);
  CHECK(results[1] == results[0]);  // the same bits for any number of threads
  CHECK(results[2] == results[0]);
  CHECK(results[3] == results[0]);
}

TEST_CASE("a session outlives its model's handle", "[api]") {
  RegisterTestOps();
  ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  model.reset();
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("the application's allocator serves a session and gets all back", "[api]") {
  CountingAllocator counter;
  const tw_allocator table = counter.table();
  {
    const ModelPtr model = OpenModel(kDigitsModel);
    tw_session_options options = DefaultSessionOptions();
    options.allocator = &table;
    const SessionPtr session = MakeSession(model.get(), &options);
    CHECK(counter.n_live > 0);
    tw_session_info memory;
    memory.struct_size = sizeof(memory);
    REQUIRE(tw_session_get_info(session.get(), &memory) == TW_STATUS_OK);
    CHECK(counter.live_bytes >= static_cast<int64_t>(memory.session_bytes + memory.packed_bytes));
    const int64_t before = counter.n_total;
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
    CHECK(counter.n_total == before);  // run allocates nothing
    const int32_t dims[4] = {2, 8, 8, 1};
    REQUIRE(tw_session_resize_input(session.get(), 0, dims, 4) == TW_STATUS_OK);
    REQUIRE(tw_session_run(session.get()) == TW_STATUS_OK);
    CHECK(counter.n_total > before);
  }
  CHECK(counter.n_live == 0);
  CHECK(counter.live_bytes == 0);
  CHECK(counter.aligned);
}

TEST_CASE("an allocator that fails at any moment gives OUT_OF_MEMORY and loses nothing", "[api]") {
  const ModelPtr model = OpenModel(kDigitsModel);
  bool succeeded = false;
  for (int n = 0; n < 200 && !succeeded; ++n) {
    CountingAllocator counter;
    counter.n_left = n;
    const tw_allocator table = counter.table();
    tw_session_options options = DefaultSessionOptions();
    options.allocator = &table;
    tw_session* made = nullptr;
    const tw_status status = tw_session_create(model.get(), &options, &made);
    succeeded = status == TW_STATUS_OK;
    if (!succeeded) {
      RequireError(status, TW_STATUS_OUT_OF_MEMORY, "bytes");
      REQUIRE(made == nullptr);
    }
    tw_session_free(made);
    REQUIRE(counter.n_live == 0);
  }
  CHECK(succeeded);
}

TEST_CASE("an allocator that fails while planning anew leaves the session as it was", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  CountingAllocator counter;
  const tw_allocator table = counter.table();
  tw_session_options options = DefaultSessionOptions();
  options.allocator = &table;
  const SessionPtr session = MakeSession(model.get(), &options);
  const int32_t dims[2] = {100, 4};
  REQUIRE(tw_session_resize_input(session.get(), 0, dims, 2) == TW_STATUS_OK);
  counter.n_left = 0;
  RequireError(tw_session_run(session.get()), TW_STATUS_OUT_OF_MEMORY, "bytes");
  CHECK(InputInfo(session.get(), 0).dims[0] == 1);
  CHECK(tw_session_run(session.get()) == TW_STATUS_OK);
}

TEST_CASE("an allocator needs both functions", "[api]") {
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session_options options = DefaultSessionOptions();
  CountingAllocator counter;
  tw_allocator table = counter.table();
  table.allocate = nullptr;
  options.allocator = &table;
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "tw_allocator.allocate is NULL");
  table = counter.table();
  table.deallocate = nullptr;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_INVALID_ARGUMENT,
               "tw_allocator.deallocate is NULL");
}

}  // namespace api_test
}  // namespace topwork
