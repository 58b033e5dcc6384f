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
  REQUIRE(tw_session_options_init(&options, older) == TW_STATUS_OK);
  CHECK(options.struct_size == older);
  CHECK(options.n_threads == 0);
  CHECK(options.memory_limit_bytes == ~size_t{0});  // untouched
  options.n_threads = 1;
  const SessionPtr session = MakeSession(model.get(), &options);
  CHECK(session != nullptr);
}

TEST_CASE("options of a newer header work as long as the unknown fields are zero", "[api]") {
  RegisterTestOps();
  const ModelPtr model = OpenModel(kScaleModel);
  Newer<tw_session_options> options;
  std::memset(&options, 0xFF, sizeof(options));
  REQUIRE(tw_session_options_init(&options.known, sizeof(options)) == TW_STATUS_OK);
  CHECK(options.known.struct_size == sizeof(options));
  CHECK(options.later == 0);
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

  Newer<tw_memory_info> memory;
  std::memset(&memory, 0xFF, sizeof(memory));
  memory.known.struct_size = sizeof(memory);
  REQUIRE(tw_session_get_memory(session.get(), &memory.known) == TW_STATUS_OK);
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
    RequireError(tw_session_options_init(&options, size), TW_STATUS_INVALID_ARGUMENT,
                 "tw_session_options.struct_size");
    tw_tensor_info info = {};
    info.struct_size = size;
    RequireError(tw_session_get_input(session.get(), 0, &info), TW_STATUS_INVALID_ARGUMENT,
                 "tw_tensor_info.struct_size");
    RequireError(tw_session_get_output(session.get(), 0, &info), TW_STATUS_INVALID_ARGUMENT,
                 "tw_tensor_info.struct_size");
    tw_memory_info memory = {};
    memory.struct_size = size;
    RequireError(tw_session_get_memory(session.get(), &memory), TW_STATUS_INVALID_ARGUMENT,
                 "tw_memory_info.struct_size");
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

}  // namespace api_test
}  // namespace topwork
