// While CLBlast compiles, its context has a table of functions with our clCreateProgramWithSource.
#include "runtime/backend/opencl/blas.h"

#include <chrono>

#include "kernels/contract/selection.h"
#include "runtime/base/log.h"

namespace topwork {
namespace opencl {
namespace {

// Products of this size compile all kernels of CLBlast's GEMM: they are one program.
constexpr size_t kWarmSize = 64;

std::mutex& RegisterMutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

std::string WholeSource(cl_uint n, const char** strings, const size_t* lengths) {
  std::string source;
  for (cl_uint i = 0; i < n; ++i) {
    const bool counted = lengths != nullptr && lengths[i] != 0;
    source += counted ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
  }
  return source;
}

}  // namespace

// A driver's functions in the order of the extension cl_khr_icd; of OpenCL 3.0.
struct Blas::Table {
  cl_icd_dispatch functions;

  // Attached contexts, and the copies of tables, which live as long as the process; under
  // RegisterMutex().
  static std::map<cl_context, Blas*>& Attached() {
    static auto* const contexts = new std::map<cl_context, Blas*>;
    return *contexts;
  }
  static std::map<const Table*, const Table*>& Copies() {
    static auto* const copies = new std::map<const Table*, const Table*>;
    return *copies;
  }
  // The table is what an object's first bytes point to.
  static const Table* Of(const void* object) {
    return __atomic_load_n(static_cast<const Table* const*>(object), __ATOMIC_SEQ_CST);
  }
  static void Set(void* object, const Table* table) {
    __atomic_store_n(static_cast<const Table**>(object), table, __ATOMIC_SEQ_CST);
  }
};

Blas::Blas(const Device& device, const ContextHandle& context, const ProgramCache& cache)
    : device_(device), context_(context), cache_(cache) {
  if (!kHasTrials) return;
  const Result<const ClBlast*> loaded = LoadClBlast(*device.api);
  if (loaded.ok()) blas_ = loaded.value();
}

Blas::~Blas() {
  if (!kHasTrials) return;
  thread_.Join();
  // CLBlast keeps programs, and they the context, until it is told otherwise.
  if (state_ != State::kCold) blas_->clear_cache();
  Detach();
}

void Blas::Warm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kCold || blas_ == nullptr) return;
  state_ = State::kWarming;
  failure_ = thread_.Start([this] { Compile(); });
  if (!failure_.ok()) state_ = State::kFailed;
}

bool Blas::WaitReady(int64_t nanos) {
  Warm();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(nanos),
                    [this] { return state_ != State::kWarming; });
  return state_ == State::kReady;
}

Status Blas::EnsureReady() {
  if (blas_ == nullptr) return Unsupported("there is no CLBlast for this device");
  Warm();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::kWarming; });
  return failure_;
}

void Blas::Compile() {
  const bool attached = Attach();
  Status status = CompileProduct();
  if (!status.ok() && ForgetPrograms()) status = CompileProduct();
  if (attached) KeepPrograms();
  Detach();
  if (!status.ok()) Log(LogLevel::kDebug, "CLBlast: {}", status.message());
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = status;
  state_ = status.ok() ? State::kReady : State::kFailed;
  changed_.notify_all();
}

Status Blas::CompileProduct() {
  TW_ASSIGN_OR_RETURN(const QueueHandle queue, CreateQueue(context_, device_.id, 0));
  std::vector<MemHandle> buffers;
  for (int i = 0; i < 3; ++i) {
    TW_ASSIGN_OR_RETURN(MemHandle buffer,
                        CreateBuffer(context_, kWarmSize * kWarmSize * sizeof(float)));
    buffers.push_back(std::move(buffer));
  }
  Product product = {kWarmSize,        kWarmSize,        kWarmSize, buffers[0].get(),
                     buffers[1].get(), buffers[2].get(), nullptr};
  TW_ASSIGN_OR_RETURN(const size_t bytes, TempBytes(product, queue.get()));
  TW_ASSIGN_OR_RETURN(const MemHandle temp, CreateBuffer(context_, bytes));
  product.temp = temp.get();
  TW_RETURN_IF_ERROR(Enqueue(product, queue.get(), nullptr));
  return ClStatus(device_.api->clFinish(queue.get()), "clFinish");
}

Result<size_t> Blas::TempBytes(const Product& p, cl_command_queue queue) const {
  size_t bytes = 0;
  TW_RETURN_IF_ERROR(
      BlasStatus(blas_->sgemm_temp_bytes(kBlasRowMajor, kBlasNoTranspose, kBlasTranspose, p.m, p.n,
                                         p.k, 0, p.k, 0, p.k, 0, p.n, &queue, &bytes),
                 "CLBlastSGemmTempBufferSize"));
  return bytes + sizeof(float);  // small products need none, and a buffer has some
}

Status Blas::Enqueue(const Product& p, cl_command_queue queue, cl_event* event) const {
  return BlasStatus(
      blas_->sgemm_with_temp(kBlasRowMajor, kBlasNoTranspose, kBlasTranspose, p.m, p.n, p.k, 1.0f,
                             p.a, 0, p.k, p.b, 0, p.k, 0.0f, p.c, 0, p.n, &queue, event, p.temp),
      "CLBlastSgemmWithTempBuffer");
}

Blas::Counts Blas::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

// The table of a driver older than OpenCL 3.0 may be shorter than what would be copied.
bool Blas::Attach() {
  const Table* original = Table::Of(context_.get());
  if (device_.info.version_number < 300 || original == nullptr ||
      original != Table::Of(device_.id)) {
    return false;
  }
  const std::lock_guard<std::mutex> lock(RegisterMutex());
  const Table*& copy = Table::Copies()[original];
  if (copy == nullptr) {
    Table* made = new Table(*original);
    made->functions.clCreateProgramWithSource = &Blas::CreateProgram;
    copy = made;
  }
  original_ = original;
  compiling_ = std::this_thread::get_id();
  Table::Attached()[context_.get()] = this;
  Table::Set(context_.get(), copy);
  return true;
}

void Blas::Detach() {
  if (original_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(RegisterMutex());
  Table::Set(context_.get(), original_);
  Table::Attached().erase(context_.get());
  original_ = nullptr;
}

// In place of the driver's function, on the contexts that are attached: CLBlast's calls are those
// of the thread that compiles, all others pass.
cl_program CL_API_CALL Blas::CreateProgram(cl_context context, cl_uint n, const char** strings,
                                           const size_t* lengths, cl_int* error) {
  Blas* self = nullptr;
  const Table* original = nullptr;
  {
    const std::lock_guard<std::mutex> lock(RegisterMutex());
    const auto found = Table::Attached().find(context);
    if (found != Table::Attached().end()) self = found->second;
    original = Table::Of(context);
    for (const auto& table : Table::Copies()) {
      if (table.second == original) original = table.first;
    }
  }
  if (self == nullptr || self->compiling_ != std::this_thread::get_id()) {
    return original->functions.clCreateProgramWithSource(context, n, strings, lengths, error);
  }
  const std::string key = ProgramCache::Key(WholeSource(n, strings, lengths), "CLBlast",
                                            DriverIdentity(self->device_.info));
  cl_program program = self->CreateCached(key, error);
  if (program != nullptr) return program;
  program = original->functions.clCreateProgramWithSource(context, n, strings, lengths, error);
  if (program == nullptr) return program;
  original->functions.clRetainProgram(program);
  const std::lock_guard<std::mutex> lock(self->mutex_);
  ++self->counts_.compiled;
  self->new_programs_.emplace_back(key, program);
  return program;
}

// Null when there is no binary that the driver takes. CLBlast builds it; PoCL would not bear a
// second time.
cl_program Blas::CreateCached(const std::string& key, cl_int* error) {
  std::vector<uint8_t> binary;
  if (!cache_.Load(key, &binary)) return nullptr;
  const cl_icd_dispatch& driver = original_->functions;
  const unsigned char* data = binary.data();
  const size_t size = binary.size();
  cl_program program = driver.clCreateProgramWithBinary(context_.get(), 1, &device_.id, &size,
                                                        &data, nullptr, error);
  if (program == nullptr) {
    cache_.Remove(key);
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_.cached;
  cached_keys_.push_back(key);
  return program;
}

bool Blas::ForgetPrograms() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& key : cached_keys_) cache_.Remove(key);
  const bool any = !cached_keys_.empty();
  cached_keys_.clear();
  if (any) blas_->clear_cache();
  return any;
}

void Blas::KeepPrograms() {
  std::vector<std::pair<std::string, cl_program>> programs;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    programs.swap(new_programs_);
  }
  for (auto& entry : programs) {
    const ProgramHandle program(device_.api, entry.second);
    cl_build_status built = CL_BUILD_NONE;
    device_.api->clGetProgramBuildInfo(program.get(), device_.id, CL_PROGRAM_BUILD_STATUS,
                                       sizeof(built), &built, nullptr);
    if (built != CL_BUILD_SUCCESS) continue;
    const Result<std::vector<uint8_t>> binary = ProgramBinary(program);
    if (binary.ok()) cache_.Store(entry.first, {binary.value().data(), binary.value().size()});
  }
}

}  // namespace opencl
}  // namespace topwork
