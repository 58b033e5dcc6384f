// The whole platform contract: everything Topwork needs from an operating system.
//
// A port (ports/<name>/port_<name>.cc) implements these functions; nothing else in the library
// includes an operating-system header. Errors are returned as errno-style numbers (0 = success) so
// that this header depends on nothing. All functions are thread-safe unless they say otherwise.
#ifndef TOPWORK_PORTS_PORT_H_
#define TOPWORK_PORTS_PORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace port {

// A read-only view of a file. Unmap with UnmapFile.
struct MappedFile {
  const uint8_t* data = nullptr;
  size_t size = 0;
  void* mapping = nullptr;  // page-aligned start; null when the view is empty
  size_t mapping_size = 0;
};

// Maps the whole file read-only. Returns 0 or errno; EISDIR for a folder.
int MapFile(const char* path, MappedFile* out);
// Maps `length` bytes from `offset` of an open descriptor (an Android asset in its APK, say);
// offset needs no alignment; length −1 means "to the end". The descriptor stays the caller's and
// may be closed.
int MapFd(int fd, int64_t offset, int64_t length, MappedFile* out);
void UnmapFile(MappedFile* file);
// Bytes of a mapped file, or of ReserveSpace, are not needed for now: the pages that hold nothing
// else leave this program's memory. They may still be read: those of a file come back, the others
// are zeros.
void ForgetMapped(const void* data, size_t size);

// Writes the file so that readers see the old content or the whole new one: temporary file in the
// same folder, write, fsync, rename, fsync of the folder. On failure nothing of it stays behind; a
// folder that cannot be synced is none, as the new content is there.
int WriteFileAtomic(const char* path, const void* data, size_t size);
// A temporary file for streaming the same way: write pieces, then commit (rename) or discard.
struct AtomicFile;
int AtomicFileOpen(const char* path, AtomicFile** out);
int AtomicFileWrite(AtomicFile* file, const void* data, size_t size);
int AtomicFileCommit(AtomicFile* file);    // frees file; on failure the temporary is removed
void AtomicFileDiscard(AtomicFile* file);  // frees file, removes the temporary
// A file that is written in place and belongs to one user at a time. It is created when it is
// missing and locked until it is closed; when a program dies, its lock goes, too. Who holds it may
// remove it: then the next user makes it anew. On file systems without locks nothing is locked.
// Writes are not synced: the caller checks what a power cut leaves. Not thread-safe.
struct LockedFile;
// Fails with EWOULDBLOCK while another LockedFile, of this program or another, holds the file; with
// EINVAL for what is not a regular file, EISDIR for a folder.
int LockedFileOpen(const char* path, LockedFile** out);
int LockedFileSize(LockedFile* file, uint64_t* out);
// ENOSPC, EDQUOT, EFBIG: some of the data may have been written.
int LockedFileWriteAt(LockedFile* file, uint64_t offset, const void* data, size_t size);
int LockedFileResize(LockedFile* file, uint64_t size);
// Maps the whole file as it is now, read-only. Unmap with UnmapFile before the file is cut shorter.
int LockedFileMap(LockedFile* file, MappedFile* out);
void LockedFileClose(LockedFile* file);  // frees file; null is allowed

// A lock beside a file that is read and replaced as a whole while it is in use: `path`.lock, which
// says who holds it and goes when it is given back. The lock of a program that was killed goes with
// it, whatever its file still says. The file itself need not exist; a link is followed. What cannot
// be replaced (a pipe, a file in a folder that may not be written), and what lies on a file system
// without locks, is given without a lock.
struct FileLock;
struct LockHolder {
  int64_t process = 0;  // its number, 0: unknown
  std::string program;  // "" where unknown
  bool is_this_program = false;
};
// EWOULDBLOCK when another FileLock, of this program or another, still holds it after `wait_nanos`:
// *holder says whose. EEXIST when a file of the lock's name is there that is no lock.
int FileLockTake(const char* path, int64_t wait_nanos, FileLock** out, LockHolder* holder);
void FileLockGive(FileLock* lock);  // frees lock; null is allowed

// A thread of its own, which runs body(data) once. The error is the system's: EAGAIN where a process, a
// user or a container has as many threads as it may.
struct Thread;
int ThreadStart(void (*body)(void*), void* data, Thread** out);
void ThreadJoin(Thread* thread);  // returns when body has, frees thread; null is allowed

// Human-readable text of an errno value.
std::string ErrorText(int error);

// Aligned allocation; null when memory is exhausted. `alignment` is a power of two ≥ sizeof(void*).
// Where the system has large pages, large blocks lie in them.
void* AlignedAlloc(size_t alignment, size_t size);
void AlignedFree(void* pointer);
// Takes pages of a new block of AlignedAlloc, whose bytes nobody has written: part 0 all of a large block's
// small pages with one call, where the system can, for taking each at its first touch costs more than filling
// it; the other parts a large page each.
int64_t CountPageParts(size_t size);
void TakePages(void* block, size_t size, int64_t part);
// How much of a block of so many bytes lies in large pages; a last one is taken, too, that is filled to five
// eighths.
size_t InLargePages(size_t size);
// `size`, or more where a last large page would be nearly full: the system gives it only to blocks that
// reach to its end, or by chance.
size_t WithLastPage(size_t size);

// Address space for `size` > 0 bytes, zeros, which take memory page by page when they are written;
// null when there is none. Page-aligned; ReleaseSpace takes the same size.
void* ReserveSpace(size_t size);
void ReleaseSpace(void* pointer, size_t size);

int64_t NowNanos();  // monotonic clock
inline double SecondsSince(int64_t start_nanos) {
  return static_cast<double>(NowNanos() - start_nanos) * 1e-9;
}
int NumCpus();  // processors this process may use, ≥ 1
// Memory of this machine, or what a container may take of it; 0 when unknown. As it was when the
// program asked first.
uint64_t MemoryBytes();
// The same, from the files below `root` ("": the system's), now.
uint64_t ReadMemoryBytes(const std::string& root);
int64_t PeakRssBytes();  // high-water mark of resident memory; 0 when unknown
uint64_t RandomSeed();   // not for cryptography; differs from run to run
bool Isatty(int fd);

// Instruction-set features of the processor we run on.
struct CpuFeatures {
  bool avx2_fma = false;     // AVX2, FMA, F16C, BMI2, enabled by the operating system
  bool avx_vnni = false;     // byte dot products in the encoding of AVX, beside avx2_fma
  bool avx512 = false;       // AVX-512 F, BW, VL, DQ and VNNI
  bool avx512_bf16 = false;  // products of bfloat16, beside avx512
  bool amx_int8 = false;     // AMX's products of bytes, beside avx512; for those who AskForTiles
  bool amx_bf16 = false;     // AMX's products of bfloat16, beside amx_int8 and avx512_bf16
  bool avx512_vbmi = false;  // bytes looked up among 128, beside avx512
  bool sha = false;          // SHA-256 (x86), SSSE3 and SSE4.1
  bool arm_fp16 = false;     // ARMv8.2 half-precision arithmetic
  bool arm_dotprod = false;  // ARMv8.2 dot product, beside arm_fp16
  bool arm_i8mm = false;     // products of matrices of bytes, beside arm_dotprod
  bool arm_bf16 = false;     // products of bfloat16, beside arm_dotprod
};
CpuFeatures DetectCpuFeatures();
// Asks the operating system for the registers of AMX's tiles, which enlarge what it saves of each
// thread from then on. Whether this process has them now.
bool AskForTiles();

// Of the processors, what says how many threads pay.
struct Processors {
  int n = 1;           // that this process may use, by its affinity
  int n_cores = 1;     // of them, each core counted once
  int n_fast = 1;      // of the cores, the fastest and those about as fast
  double quota = 0.0;  // how many processors' time a container may take; 0: no limit
};
Processors FindProcessors();
// The same, of the processors that are `allowed`, from the files below `root` ("": the system's).
Processors ReadProcessors(const std::string& root, const std::vector<int>& allowed);

// The processor that the calling thread runs on; −1: not known.
int CurrentProcessor();
// Those that it may run on, and those that it runs on from now on; false: that is refused.
std::vector<int> AllowedProcessors();
bool SetProcessors(const std::vector<int>& processors);

// Dynamic libraries (never closed: vendor drivers crash when they are). A name without a slash is
// looked for where the system looks for libraries. Null when it cannot be opened; then *reason (if
// not null) says why.
void* LoadLibrary(const char* name, std::string* reason = nullptr);
void* LibrarySymbol(void* library, const char* symbol);  // null: it has no such symbol

// Folders, for caches.

// The user's folder for Topwork's caches: $TOPWORK_CACHE, else $XDG_CACHE_HOME/topwork, else
// $HOME/.cache/topwork; "" when none of them is set. Nothing is created.
std::string CacheFolder();
// Makes the folder and those above it, for this user alone; 0 when it is there already.
int MakeFolders(const char* path);
struct FolderEntry {
  std::string name;
  uint64_t size = 0;
  int64_t changed_nanos = 0;  // time of the last change, since 1970
};
// Regular files of a folder, in no order.
int ListFiles(const char* folder, std::vector<FolderEntry>* out);
int RemoveFile(const char* path);

}  // namespace port
}  // namespace topwork

#endif  // TOPWORK_PORTS_PORT_H_
