// The platform contract of ports/port.h for Linux, Android and other POSIX systems: files mapped
// read-only, clocks, processors, processor features and dynamic libraries. Writing files is in
// atomic_file.cc, locks are in locked_file.cc and file_lock.cc, folders in folder.cc. A mapped file
// that another process truncates raises SIGBUS on access, as with every mmap; programs that cannot
// rule that out read the file and open the model from memory.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "ports/port.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace topwork {
namespace port {
namespace {

int MapRange(int fd, uint64_t offset, uint64_t length, MappedFile* out) {
  if (length == 0) return 0;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t slack = offset % page;
  if (length > SIZE_MAX - slack) return EFBIG;
  const size_t mapping_size = static_cast<size_t>(length + slack);
  void* mapping =
      mmap(nullptr, mapping_size, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset - slack));
  if (mapping == MAP_FAILED) return errno;
  out->data = static_cast<const uint8_t*>(mapping) + slack;
  out->size = static_cast<size_t>(length);
  out->mapping = mapping;
  out->mapping_size = mapping_size;
  return 0;
}

#if defined(__x86_64__) || defined(__i386__)
// The registers that the operating system saves on a task switch (XCR0); 0 without OSXSAVE.
uint64_t SavedRegisters(unsigned leaf1_ecx) {
  if ((leaf1_ecx & (1u << 27)) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}
#endif

}  // namespace

int MapFile(const char* path, MappedFile* out) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno;
  const int error = MapFd(fd, 0, -1, out);
  close(fd);
  return error;
}

int MapFd(int fd, int64_t offset, int64_t length, MappedFile* out) {
  *out = MappedFile();
  struct stat info;
  if (fstat(fd, &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (!S_ISREG(info.st_mode)) return EINVAL;
  const int64_t file_size = static_cast<int64_t>(info.st_size);
  if (offset < 0 || offset > file_size || length < -1) return EINVAL;
  if (length == -1) length = file_size - offset;
  if (length > file_size - offset) return EINVAL;  // pages beyond the end would raise SIGBUS
  return MapRange(fd, static_cast<uint64_t>(offset), static_cast<uint64_t>(length), out);
}

void UnmapFile(MappedFile* file) {
  if (file->mapping != nullptr) munmap(file->mapping, file->mapping_size);
  *file = MappedFile();
}

void ForgetMapped(const void* data, size_t size) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t at = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (at + page - 1) / page * page, end = (at + size) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string ErrorText(int error) {
  char text[256] = "";
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  return strerror_r(error, text, sizeof(text));
#else
  if (strerror_r(error, text, sizeof(text)) != 0) return "error " + std::to_string(error);
  return text;
#endif
}

namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

size_t InLargePages(size_t size) {
  return (size + kLargePage / 8 * 3) / kLargePage * kLargePage;  // of impossible sizes 0
}

size_t WithLastPage(size_t size) { return std::max(size, InLargePages(size)); }

void* AlignedAlloc(size_t alignment, size_t size) {
  void* pointer = nullptr;
#if defined(MADV_HUGEPAGE)
  const size_t rounded = InLargePages(size);
  const bool in_large = rounded > 0 && alignment <= kLargePage;
  if (posix_memalign(&pointer, in_large ? kLargePage : alignment, size) != 0) return nullptr;
  // What lies behind the block is not touched by it.
  if (in_large) madvise(pointer, rounded, MADV_HUGEPAGE);
  return pointer;
#else
  return posix_memalign(&pointer, alignment, size) == 0 ? pointer : nullptr;
#endif
}

int64_t CountPageParts(size_t size) {
  return 1 + static_cast<int64_t>(InLargePages(size) / kLargePage);
}

void TakePages(void* block, size_t size, int64_t part) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14, which older headers lack
  constexpr size_t kLeastTaken = size_t{256} << 10;
  if (part > 0) {
    volatile uint8_t* const bytes = static_cast<uint8_t*>(block);
    bytes[static_cast<size_t>(part - 1) * kLargePage] = 0;
    return;
  }
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(block);
  const uintptr_t first = (begin + InLargePages(size) + page - 1) / page * page;
  const uintptr_t last = (begin + size) / page * page;
  if (size >= kLeastTaken && first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, kPopulateWrite);
  }
}

void AlignedFree(void* pointer) { free(pointer); }

void* ReserveSpace(size_t size) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* pointer = mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return pointer == MAP_FAILED ? nullptr : pointer;
}

void ReleaseSpace(void* pointer, size_t size) { munmap(pointer, size); }

int64_t NowNanos() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

int NumCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);  // more processors than a cpu_set_t holds
  return online > 0 ? static_cast<int>(online) : 1;
}

int64_t PeakRssBytes() {
  // VmHWM counts this program alone; ru_maxrss survives exec and may be that of the parent.
  if (FILE* status = fopen("/proc/self/status", "re")) {
    char line[256];
    long long kib = -1;
    while (kib < 0 && fgets(line, sizeof(line), status) != nullptr) {
      if (sscanf(line, "VmHWM: %lld", &kib) != 1) kib = -1;
    }
    fclose(status);
    if (kib >= 0) return kib * 1024;
  }
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

uint64_t RandomSeed() {
  uint64_t seed = 0;
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const bool complete =
      fd >= 0 && read(fd, &seed, sizeof(seed)) == static_cast<ssize_t>(sizeof(seed));
  if (fd >= 0) close(fd);
  if (complete) return seed;
  return static_cast<uint64_t>(NowNanos()) * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(getpid());
}

bool Isatty(int fd) { return isatty(fd) == 1; }

bool AskForTiles() {
#if defined(__x86_64__)
  return syscall(SYS_arch_prctl, 0x1023, 18) == 0;  // ARCH_REQ_XCOMP_PERM for XTILEDATA
#else
  return false;
#endif
}

CpuFeatures DetectCpuFeatures() {
  CpuFeatures features;
  [[maybe_unused]] const auto has = [](unsigned long word, std::initializer_list<int> bits) {
    for (int bit : bits) {
      if ((word >> bit & 1u) == 0) return false;
    }
    return true;
  };
#if defined(__x86_64__) || defined(__i386__)
  unsigned eax, ebx, ecx1, edx, ebx7, ecx7;
  if (!__get_cpuid(1, &eax, &ebx, &ecx1, &edx)) return features;
  if (!__get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx)) return features;
  const unsigned edx7 = edx;
  const unsigned subleaves7 = eax;
  const uint64_t saved = SavedRegisters(ecx1);
  // FMA, AVX, F16C; BMI1, AVX2, BMI2. LZCNT comes with them on every such processor.
  features.avx2_fma = (saved & 0x6) == 0x6 && has(ecx1, {12, 28, 29}) && has(ebx7, {3, 5, 8});
  // AVX-512 F, DQ, BW, VL; VNNI.
  features.avx512 =
      features.avx2_fma && (saved & 0xe6) == 0xe6 && has(ebx7, {16, 17, 30, 31}) && has(ecx7, {11});
  features.avx512_vbmi = features.avx512 && has(ecx7, {1});
  // Tiles; products of bytes.
  features.amx_int8 = features.avx512 && (saved & 0x60000) == 0x60000 && has(edx7, {24, 25});
  features.sha = has(ebx7, {29}) && has(ecx1, {9, 19});
  unsigned eax71, ecx;
  if (subleaves7 >= 1 && __get_cpuid_count(7, 1, &eax71, &ebx, &ecx, &edx)) {
    features.avx_vnni = features.avx2_fma && has(eax71, {4});
    features.avx512_bf16 = features.avx512 && has(eax71, {5});
    features.amx_bf16 = features.amx_int8 && features.avx512_bf16 && has(edx7, {22});
  }
#elif defined(__aarch64__)
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  features.arm_fp16 = has(first, {9, 10});  // scalars and vectors
  features.arm_dotprod = features.arm_fp16 && has(first, {20});
  features.arm_i8mm = features.arm_dotprod && has(second, {13});
  features.arm_bf16 = features.arm_dotprod && has(second, {14});
#endif
  return features;
}

void* LoadLibrary(const char* name, std::string* reason) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && reason != nullptr) {
    const char* text = dlerror();
    *reason = text != nullptr ? text : "no reason given";
  }
  return library;
}

void* LibrarySymbol(void* library, const char* symbol) { return dlsym(library, symbol); }

}  // namespace port
}  // namespace topwork
