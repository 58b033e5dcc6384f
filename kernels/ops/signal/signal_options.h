// What the operators of TFLite Micro's signal library (signal_*.cc) share: their options, which lie
// in a FlexBuffers map, and the memory that some of them keep from run to run.
//
// The library is tensorflow/tflite-micro, signal/; its names begin with "Signal". Results of
// integers are its bits.
#ifndef TOPWORK_KERNELS_OPS_SIGNAL_SIGNAL_OPTIONS_H_
#define TOPWORK_KERNELS_OPS_SIGNAL_SIGNAL_OPTIONS_H_

#include <memory>
#include <string>

#include "kernels/contract/kernel.h"
#include "kernels/ops/signal/mixed_radix.h"

namespace topwork {

// The most samples that an option may ask to be kept or transformed.
constexpr int32_t kMostSamples = 1 << 20;

// A whole number or boolean, and what it may be.
struct SignalOption {
  const char* key;
  int32_t least, most;
};

// How samples go through memory, see signal_frames.cc.
struct SignalStream {
  int64_t chunk = 1, size = 0, step = 0;
  int64_t before = 0;   // zeros in memory before the first chunk
  int64_t repeats = 0;  // of the first chunk
  // Samples of a row: the most that wait, and a chunk.
  int64_t capacity() const { return (before > size ? before : size) + chunk; }
};

// One type for all these operators: each costs the library code of its own.
struct SignalState : OpState {
  int32_t options[9] = {};  // in the order of the operator's list
  int64_t rows = 1;         // all dimensions of input 0 but the last
  int64_t length = 0;       // its last dimension
  SignalStream stream;
  std::string owner;
  size_t memory_bytes = 0;
  std::unique_ptr<int32_t[]> table;     // of SignalFilterBankLog
  std::unique_ptr<MixedRadix> fourier;  // of SignalRfft and SignalIrfft

  // Memory for `samples` elements of element_bytes in each of `memory_rows` rows.
  Status PlanMemory(const PrepareContext& context, int64_t memory_rows, int64_t samples,
                    size_t element_bytes);
  // This session's: a number and then the elements, all 0 at first. Valid during the run.
  struct Memory {
    int64_t* number;
    uint8_t* elements;
  };
  Result<Memory> MemoryOf(const RunContext& context) const;
};

// Refuses an option that is not there or outside its limits.
Status ReadSignalOption(const PrepareContext& context, const SignalOption& option, int32_t* out);

// Checks the types of the inputs, how many outputs there are, and ranks: of input 0, 1 to
// `most_rank`, of the others, 0 or 1. Reads the options.
Status PrepareSignal(PrepareContext& context, std::initializer_list<DType> inputs, int most_rank,
                     int n_outputs, std::initializer_list<SignalOption> options,
                     SignalState** state);
// Input i has so many elements.
Status CheckSignalSize(const PrepareContext& context, int i, int64_t size);
// Output 0: the type of input 0 and its dimensions but the last `n_replaced`, then `dims`.
Status SetSignalOutput(PrepareContext& context, int n_replaced,
                       std::initializer_list<int64_t> dims);

}  // namespace topwork

#endif  // TOPWORK_KERNELS_OPS_SIGNAL_SIGNAL_OPTIONS_H_
