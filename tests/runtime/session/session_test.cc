// Sessions: resizing, binding, cancelling, sharing a model, deferred operators.
#include "runtime/session/session.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "ports/port.h"
#include "tests/support/digits_model.h"
#include "tests/support/open_session.h"
#include "tests/support/skip.h"

namespace topwork {
namespace {

std::unique_ptr<Session> NewSession(const std::shared_ptr<const Model>& model, int n_threads = 1) {
  SessionOptions options;
  options.n_threads = n_threads;
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  return std::move(session.value());
}

std::vector<float> Image(int seed) {
  std::vector<float> image(64);
  for (size_t k = 0; k < image.size(); ++k) {
    image[k] = 0.5f + 0.5f * std::sin(static_cast<float>(k) * 0.7f + static_cast<float>(seed));
  }
  return image;
}

std::vector<float> Classify(Session* session, const std::vector<float>& image) {
  std::memcpy(session->input(0).data, image.data(), image.size() * sizeof(float));
  REQUIRE(session->Run().ToString() == "OK");
  const TensorView& output = session->output(0);
  return std::vector<float>(output.as<float>(), output.as<float>() + output.shape.NumElements());
}

}  // namespace

TEST_CASE("session: a clone shares the plan, and both run at the same time", "[session]") {
  const auto model = test::DigitsModel();
  const auto session = NewSession(model);
  REQUIRE(session->ResizeInput(0, Shape({2, 8, 8, 1})).ok());
  REQUIRE(session->Prepare().ok());
  auto clone = session->Clone();
  REQUIRE(clone.status().ToString() == "OK");
  CHECK(&(*clone)->plan() == &session->plan());
  CHECK((*clone)->memory_bytes() == session->memory_bytes());
  CHECK((*clone)->input(0).shape == Shape({2, 8, 8, 1}));
  CHECK((*clone)->input(0).data != session->input(0).data);
  CHECK_FALSE(session->has_custom_ops());
  const auto both = [](int seed) {
    std::vector<float> images = Image(seed);
    const std::vector<float> second = Image(seed + 1);
    images.insert(images.end(), second.begin(), second.end());
    return images;
  };
  const std::vector<float> expected[] = {Classify(session.get(), both(0)),
                                         Classify(session.get(), both(9))};
  bool same[] = {true, true};
  const auto work = [&](int i, Session* runner) {
    const std::vector<float> images = both(9 * i);
    for (int round = 0; round < 200; ++round) {
      std::memcpy(runner->input(0).data, images.data(), images.size() * sizeof(float));
      same[i] = runner->Run().ok() && same[i] &&
                std::memcmp(runner->output(0).data, expected[i].data(), 80) == 0;
    }
  };
  std::thread other([&] { work(1, clone.value().get()); });
  work(0, session.get());
  other.join();
  CHECK(same[0]);
  CHECK(same[1]);
  // A resized clone gets a plan of its own.
  REQUIRE((*clone)->ResizeInput(0, Shape({1, 8, 8, 1})).ok());
  REQUIRE((*clone)->Prepare().ok());
  CHECK(&(*clone)->plan() != &session->plan());
  CHECK(session->output(0).shape == Shape({2, 10}));
}

TEST_CASE("session: a batch gives the same answers as its examples one by one", "[session]") {
  const auto model = test::DigitsModel();
  const auto one = NewSession(model);
  const auto batch = NewSession(model);
  REQUIRE(batch->ResizeInput(0, Shape({3, 8, 8, 1})).ok());
  REQUIRE(batch->Prepare().ToString() == "OK");
  REQUIRE(batch->output(0).shape == Shape({3, 10}));
  for (int i = 0; i < 3; ++i) {
    std::memcpy(batch->input(0).as<float>() + 64 * i, Image(i).data(), 64 * sizeof(float));
  }
  REQUIRE(batch->Run().ok());
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> expected = Classify(one.get(), Image(i));
    for (int c = 0; c < 10; ++c) {
      CHECK(batch->output(0).as<float>()[10 * i + c] ==
            Approx(expected[static_cast<size_t>(c)]).margin(1e-6));
    }
  }
}

TEST_CASE("session: a resize that does not fit fails and leaves the old shapes in force",
          "[session]") {
  const auto session = NewSession(test::DigitsModel());
  const std::vector<float> before = Classify(session.get(), Image(1));
  REQUIRE(session->ResizeInput(0, Shape({1, 8, 8, 5})).ok());
  const Status status = session->Prepare();
  REQUIRE_FALSE(status.ok());
  INFO(status.ToString());
  CHECK(status.message().find("CONV_2D") != std::string::npos);
  CHECK(session->input(0).shape == Shape({1, 8, 8, 1}));
  CHECK(Classify(session.get(), Image(1)) == before);
  CHECK_FALSE(session->ResizeInput(0, Shape({1, -8, 8, 1})).ok());
  CHECK_FALSE(session->ResizeInput(5, Shape({1})).ok());
}

TEST_CASE("session: the caller's buffers are read and written in place", "[session]") {
  const auto session = NewSession(test::DigitsModel());
  const std::vector<float> expected = Classify(session.get(), Image(2));
  std::vector<float> input = Image(2);
  std::vector<float> output(11, -1.0f);
  // Off by one float: bound memory needs only the element's alignment.
  std::vector<float> shifted(65);
  std::memcpy(shifted.data() + 1, input.data(), 64 * sizeof(float));
  REQUIRE(session->BindInput(0, shifted.data() + 1, 64 * sizeof(float)).ok());
  REQUIRE(session->BindOutput(0, output.data() + 1, 10 * sizeof(float)).ok());
  REQUIRE(session->Run().ok());
  CHECK(output[0] == -1.0f);
  for (size_t c = 0; c < 10; ++c) CHECK(output[c + 1] == Approx(expected[c]).margin(1e-6));
  CHECK(std::memcmp(shifted.data() + 1, input.data(), 64 * sizeof(float)) == 0);
  CHECK_FALSE(session->BindInput(0, input.data(), 63 * sizeof(float)).ok());
  CHECK_FALSE(session->BindOutput(0, output.data(), 39).ok());
  REQUIRE(session->BindInput(0, nullptr, 0).ok());
  REQUIRE(session->BindOutput(0, nullptr, 0).ok());
  CHECK(Classify(session.get(), Image(2)) == expected);
}

TEST_CASE("session: an input keeps its values over runs", "[session]") {
  const auto session = NewSession(test::DigitsModel());
  const std::vector<float> first = Classify(session.get(), Image(3));
  REQUIRE(session->Run().ok());
  CHECK(std::memcmp(session->output(0).data, first.data(), first.size() * sizeof(float)) == 0);
}

TEST_CASE("session: cancelling without a run cancels none", "[session]") {
  const auto session = NewSession(test::DigitsModel());
  session->Cancel();
  CHECK(session->Run().ok());
  session->Cancel();  // the run has ended
  CHECK(session->Run().ok());
  REQUIRE(session->RunAsync(nullptr).ok());
  CHECK(session->Wait().ok());
}

TEST_CASE("session: the same bits for any number of threads", "[session]") {
  const auto model = test::DigitsModel();
  const std::vector<float> expected = Classify(NewSession(model, 1).get(), Image(4));
  for (int n_threads : {2, 3, 5, 8}) {
    CHECK(Classify(NewSession(model, n_threads).get(), Image(4)) == expected);
  }
}

TEST_CASE("session: a run that another thread cancels leaves the next one as it was", "[session]") {
  const auto session = NewSession(test::DigitsModel(), 6);
  REQUIRE(session->ResizeInput(0, Shape({64, 8, 8, 1})).ok());
  REQUIRE(session->Prepare().ok());
  std::vector<float> images;
  for (int k = 0; k < 64; ++k) {
    const std::vector<float> image = Image(k);
    images.insert(images.end(), image.begin(), image.end());
  }
  const std::vector<float> expected = Classify(session.get(), images);
  std::atomic<bool> stop{false};
  std::thread canceller([&] {
    while (!stop) {
      session->Cancel();
      std::this_thread::yield();
    }
  });
  int n_other = 0;
  for (int i = 0; i < 300; ++i) {
    const StatusCode code = session->Run().code();
    n_other += code == StatusCode::kOk || code == StatusCode::kCancelled ? 0 : 1;
  }
  stop = true;
  canceller.join();
  CHECK(n_other == 0);
  (void)session->Run();  // takes the last request
  CHECK(Classify(session.get(), images) == expected);
}

TEST_CASE("session: the plan says how many tasks threads share", "[session]") {
  const auto session = NewSession(test::DigitsModel(), 2);
  const auto n_tasks = [&] {
    int64_t most = 0;
    for (const Step& step : session->plan().steps) most = std::max(most, step.n_tasks);
    return most;
  };
  CHECK(n_tasks() == 1);  // a task is worth being handed over
  REQUIRE(session->ResizeInput(0, Shape({512, 8, 8, 1})).ok());
  REQUIRE(session->Prepare().ok());
  CHECK(n_tasks() >= 4);
  CHECK(PrintPlan(session->plan()).find(" tasks ") != std::string::npos);
  CHECK(PlanToJson(session->plan()).find("\"n_tasks\"") != std::string::npos);
}

TEST_CASE("session: a small model gets one thread, and more when its batch grows", "[session]") {
  SessionOptions options;
  auto processors = std::make_shared<port::Processors>();
  processors->n = processors->n_cores = processors->n_fast = 3;
  options.processors = processors;
  auto created = Session::Create(test::DigitsModel(), options);
  REQUIRE(created.status().ToString() == "OK");
  Session* const session = created->get();
  CHECK(session->threads().n_threads == 1);
  CHECK(session->pool().n_threads() == 1);
  CHECK(session->threads().reason.find("million operations") != std::string::npos);
  REQUIRE(session->ResizeInput(0, Shape({64, 8, 8, 1})).ok());
  std::vector<float> images;
  for (int k = 0; k < 64; ++k) {
    const std::vector<float> image = Image(k);
    images.insert(images.end(), image.begin(), image.end());
  }
  REQUIRE(session->Prepare().ok());
  CHECK(session->pool().n_threads() == 3);
  CHECK(PrintPlan(session->plan(), "", &session->threads()).find("3 threads: ") !=
        std::string::npos);
  const auto alone = NewSession(test::DigitsModel());
  CHECK(alone->threads().ToString() == "1 thread: as asked for");
  REQUIRE(alone->ResizeInput(0, Shape({64, 8, 8, 1})).ok());
  REQUIRE(alone->Prepare().ok());
  CHECK(Classify(session, images) == Classify(alone.get(), images));
  const auto clone = session->Clone();
  REQUIRE(clone.status().ToString() == "OK");
  CHECK((*clone)->pool().n_threads() == 3);
}

TEST_CASE("session: many sessions share one model", "[session]") {
  const auto model = test::DigitsModel();
  const std::vector<float> expected = Classify(NewSession(model).get(), Image(5));
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      SessionOptions options;
      options.n_threads = 2;
      auto session = Session::Create(model, options);
      if (!session.ok()) return;
      for (int i = 0; i < 20; ++i) {
        std::memcpy((*session)->input(0).data, Image(5).data(), 64 * sizeof(float));
        if (!(*session)->Run().ok()) return;
      }
      const float* out = (*session)->output(0).as<float>();
      results[t].assign(out, out + 10);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) CHECK(result == expected);
}

TEST_CASE("session: the profile names every step once per run", "[session]") {
  const auto session = NewSession(test::DigitsModel());
  std::vector<StepProfile> profiles;
  session->SetProfile(
      [](void* user_data, const StepProfile& profile) {
        static_cast<std::vector<StepProfile>*>(user_data)->push_back(profile);
      },
      &profiles);
  REQUIRE(session->Run().ok());
  REQUIRE(profiles.size() == session->plan().steps.size());
  for (size_t s = 0; s < profiles.size(); ++s) {
    CHECK(profiles[s].step == static_cast<int>(s));
    CHECK(profiles[s].nanos >= 0);
    CHECK(std::strlen(profiles[s].op) > 0);
  }
  session->SetProfile(nullptr, nullptr);
  REQUIRE(session->Run().ok());
  CHECK(profiles.size() == session->plan().steps.size());
}

TEST_CASE("session: cutting at an inner value computes only what it needs", "[session]") {
  const auto model = test::DigitsModel();
  const Graph& graph = model->main();
  const int embedding = graph.ops.back().inputs[0];
  SessionOptions options;
  options.outputs = {embedding};
  auto session = Session::Create(model, options);
  REQUIRE(session.status().ToString() == "OK");
  REQUIRE((*session)->Run().ok());
  CHECK((*session)->plan().steps.size() < NewSession(model)->plan().steps.size());
  CHECK((*session)->output(0).shape.NumElements() > 0);
}

#if !defined(__OPTIMIZE_SIZE__)  // the smallest library leaves that out
TEST_CASE("session: activations end with whole large pages of the library's own memory",
          "[session]") {
  const auto arena = [](int32_t values, bool own_allocator, size_t limit) {
    test::ModelSpec spec;
    const int x = spec.AddInput("x", DType::kFloat32, {1, values});
    const int y = spec.AddTensor("y", DType::kFloat32, {1, values});
    spec.AddOp(OpCode::kExp, {x}, {y});
    spec.main().outputs = {y};
    Allocator allocator;
    allocator.allocate = [](void*, size_t bytes, size_t alignment) {
      return port::AlignedAlloc(alignment, bytes);
    };
    allocator.deallocate = [](void*, void* pointer, size_t) { port::AlignedFree(pointer); };
    SessionOptions options;
    options.memory_limit_bytes = limit;
    if (own_allocator) options.allocator = &allocator;
    auto session = test::TryOpenSession(spec, options);
    return session.ok() ? (*session)->memory_bytes() : size_t{0};
  };
  size_t n_rounded = 0;
  for (const int32_t kib : {100, 1200, 1300, 1900, 2200, 3500}) {
    const size_t needed = arena(kib << 7, true, 0), taken = arena(kib << 7, false, 0);
    INFO(needed << " bytes");
    CHECK(needed >= size_t{2} * static_cast<size_t>(kib) << 9);
    CHECK(taken == port::WithLastPage(needed));
    n_rounded += taken > needed ? 1 : 0;
    CHECK(arena(kib << 7, false, taken) == taken);
    CHECK(arena(kib << 7, false, taken - 1) == 0);
  }
  CHECK(n_rounded == 3);
}
#endif

TEST_CASE("without a limit a session takes half of the machine's memory at most", "[session]") {
  const uint64_t memory = port::MemoryBytes();
  if (memory / 2 > SIZE_MAX / 16) TW_SKIP("no tensor can take half of the machine's memory");
  constexpr int32_t kRow = 1 << 20;
  const int32_t rows = static_cast<int32_t>(memory / 8 / kRow) + 1;
  test::ModelSpec spec;
  const int x = spec.AddInput("x", DType::kFloat32, {rows, kRow});
  const int y = spec.AddTensor("y", DType::kFloat32, {rows, kRow});
  spec.AddOp(OpCode::kRelu, {x}, {y});
  spec.main().outputs = {y};
  const Status status = test::TryOpenSession(spec).status();
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(status.message().find("half of what there is (" + std::to_string(memory) + " bytes)") !=
        std::string::npos);
  SessionOptions options;
  options.memory_limit_bytes = 1000;  // the caller's own is no share of anything
  const Status own = test::TryOpenSession(spec, options).status();
  CHECK(own.code() == StatusCode::kOutOfMemory);
  CHECK(own.message().find("half") == std::string::npos);
}

}  // namespace topwork
