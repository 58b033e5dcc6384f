// C API: structs of older and newer headers, and forgotten struct_sizes.
#include <cstddef>
#include <cstring>

#include "tests/runtime/api/support.h"

namespace topwork {
namespace api_test {
namespace {

// A caller's struct as a later header may have it.
template <typename T>
struct Newer {
  T known;
  uint64_t later;
};

}  // namespace

TEST_CASE("options of an older header leave the later fields at their defaults", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session_options options;
  std::memset(&options, 0xFF, sizeof(options));  // what lies behind the older struct is garbage
  const size_t older = offsetof(tw_session_options, memory_limit_bytes);
  std::memset(&options, 0, older);
  options.struct_size = older;
  options.n_threads = 1;
  const SessionPtr session = MakeSession(model.get(), &options);
  CHECK(session != nullptr);
}

TEST_CASE("options of a newer header work as long as the unknown fields are zero", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  Newer<tw_session_options> options;
  std::memset(&options, 0, sizeof(options));
  options.known.struct_size = sizeof(options);
  MakeSession(model.get(), &options.known);
  options.later = 1;
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), &options.known, &session), TW_STATUS_UNSUPPORTED,
               "tw_session_options has a field");
  CHECK(session == nullptr);
}

TEST_CASE("structs that the library fills may be older or newer", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  tw_tensor_info info;
  std::memset(&info, 0xFF, sizeof(info));
  info.struct_size = offsetof(tw_tensor_info, open_dims);
  REQUIRE(tw_session_get_input(session.get(), 0, &info) == TW_STATUS_OK);
  CHECK(info.struct_size == offsetof(tw_tensor_info, open_dims));
  CHECK(info.rank == 2);
  CHECK(info.dims[1] == 4);
  CHECK(info.bytes == ~size_t{0});  // beyond the older struct: untouched

  Newer<tw_session_info> memory;
  std::memset(&memory, 0xFF, sizeof(memory));
  memory.known.struct_size = sizeof(memory);
  REQUIRE(tw_session_get_info(session.get(), &memory.known) == TW_STATUS_OK);
  CHECK(memory.known.struct_size == sizeof(memory));
  CHECK(memory.later == 0);
  CHECK(memory.known.model_bytes > 0);
}

TEST_CASE("a struct_size that no header has is refused", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  const SessionPtr session = MakeSession(model.get());
  for (const size_t size : {size_t{0}, size_t{3}, sizeof(size_t), size_t{5000}, ~size_t{0}}) {
    tw_session_options options = {};
    options.struct_size = size;
    tw_session* made = nullptr;
    RequireError(tw_session_create(model.get(), &options, &made), TW_STATUS_INVALID_ARGUMENT,
                 "set it to sizeof(tw_session_options)");
    tw_tensor_info info = {};
    info.struct_size = size;
    RequireError(tw_session_get_input(session.get(), 0, &info), TW_STATUS_INVALID_ARGUMENT,
                 "tw_tensor_info.struct_size");
    RequireError(tw_session_get_output(session.get(), 0, &info), TW_STATUS_INVALID_ARGUMENT,
                 "tw_tensor_info.struct_size");
    tw_session_info memory = {};
    memory.struct_size = size;
    RequireError(tw_session_get_info(session.get(), &memory), TW_STATUS_INVALID_ARGUMENT,
                 "tw_session_info.struct_size");
    tw_custom_op op = {};
    op.struct_size = size;
    RequireError(tw_op_register(&op), TW_STATUS_INVALID_ARGUMENT, "tw_custom_op.struct_size");
    tw_allocator allocator = {};
    allocator.struct_size = size;
    options = DefaultSessionOptions();
    options.allocator = &allocator;
    RequireError(tw_session_create(model.get(), &options, &made), TW_STATUS_INVALID_ARGUMENT,
                 "tw_allocator.struct_size");
  }
}

#ifdef TW_HAVE_TRAIN
TEST_CASE("the trainer's defaults fill as much as the caller's header knows", "[api][train]") {
  tw_trainer_options options;
  std::memset(&options, 0xFF, sizeof(options));
  const size_t older = offsetof(tw_trainer_options, replay_capacity);
  REQUIRE(tw_trainer_options_init(&options, older) == TW_STATUS_OK);
  CHECK(options.struct_size == older);
  CHECK(options.n_epochs == 20);
  CHECK(options.replay_capacity == -1);  // untouched
  RequireError(tw_trainer_options_init(&options, 3), TW_STATUS_INVALID_ARGUMENT,
               "tw_trainer_options.struct_size");
}
#endif

TEST_CASE("bytes that options keep for later versions must be zero", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  tw_session_options options = DefaultSessionOptions();
  options.opencl.reserved[3] = 1;
  tw_session* session = nullptr;
  RequireError(tw_session_create(model.get(), &options, &session), TW_STATUS_UNSUPPORTED,
               "tw_session_options.opencl.reserved is not zero");
#ifdef TW_HAVE_TRAIN
  const ModelPtr digits = OpenModel(kDigitsModel);
  tw_trainer* trainer = nullptr;
  tw_trainer_options clean;
  REQUIRE(tw_trainer_options_init(&clean, sizeof(clean)) == TW_STATUS_OK);
  uint64_t* const parts[] = {clean.head.reserved,      clean.loss.reserved,
                             clean.optimizer.reserved, clean.schedule.reserved,
                             clean.stopping.reserved,  clean.augmentation.reserved,
                             clean.features.reserved,  clean.input_scale.reserved};
  for (uint64_t* const reserved : parts) {
    reserved[0] = 1;
    RequireError(tw_trainer_create(digits.get(), &clean, &trainer), TW_STATUS_UNSUPPORTED,
                 "reserved is not zero");
    reserved[0] = 0;
  }
#endif
}

}  // namespace api_test
}  // namespace topwork
