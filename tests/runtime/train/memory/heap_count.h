// Bytes on the heap, now and at most: operator new, and the aligned blocks of the library.
//
// The program replaces operator new and delete and is linked with --wrap for posix_memalign,
// malloc, calloc, realloc and free. Bytes are those asked for, without the allocator's own.
#ifndef TOPWORK_TESTS_RUNTIME_TRAIN_MEMORY_HEAP_COUNT_H_
#define TOPWORK_TESTS_RUNTIME_TRAIN_MEMORY_HEAP_COUNT_H_

#include <cstddef>

namespace topwork {
namespace test {

size_t HeapBytes();
size_t HeapPeak();     // since the last reset
void ResetHeapPeak();  // to the present bytes

// A block that would bring the bytes above this is refused. SIZE_MAX: none is.
void LimitHeap(size_t bytes);

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_RUNTIME_TRAIN_MEMORY_HEAP_COUNT_H_
