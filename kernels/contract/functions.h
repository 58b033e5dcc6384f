// The enums of functions.inc: what kernels of the CPU and of accelerators are told to compute.
#ifndef TOPWORK_KERNELS_CONTRACT_FUNCTIONS_H_
#define TOPWORK_KERNELS_CONTRACT_FUNCTIONS_H_

#include "kernels/contract/functions.inc"

namespace topwork {

#define TW_ENUMERATOR(name, ...) k##name,
#define TW_COUNT(...) +1

enum class UnaryFn : int { TW_UNARY_FUNCTIONS(TW_ENUMERATOR) };
constexpr int kNumUnaryFns = TW_UNARY_FUNCTIONS(TW_COUNT);

enum class BinaryFn : int { TW_BINARY_FUNCTIONS(TW_ENUMERATOR) };
constexpr int kNumBinaryFns = TW_BINARY_FUNCTIONS(TW_COUNT);

enum class ReduceFn : int { TW_REDUCE_FUNCTIONS(TW_ENUMERATOR) };
constexpr int kNumReduceFns = TW_REDUCE_FUNCTIONS(TW_COUNT);

enum class CompareFn : int { TW_COMPARE_FUNCTIONS(TW_ENUMERATOR) };
enum class LogicalFn : int { TW_LOGICAL_FUNCTIONS(TW_ENUMERATOR) };
enum class ReduceKind : int { TW_REDUCE_KINDS(TW_ENUMERATOR) };
enum class RowwiseKind : int { TW_ROWWISE_KINDS(TW_ENUMERATOR) };
enum class PoolKind : int { TW_POOL_KINDS(TW_ENUMERATOR) };

struct IntegerBinaryParam {
  enum : int { TW_INTEGER_BINARY_PARAMS(TW_ENUMERATOR) kCount };
};

enum class HeadLoss : int { TW_HEAD_LOSSES(TW_ENUMERATOR) };
enum HeadState : int { TW_HEAD_STATES(TW_ENUMERATOR) kNumHeadStates };
enum HeadHalt : int { TW_HEAD_HALTS(TW_ENUMERATOR) };
enum HeadRate : int { TW_HEAD_RATES(TW_ENUMERATOR) kNumHeadRates };

#undef TW_COUNT
#undef TW_ENUMERATOR

}  // namespace topwork

#endif  // TOPWORK_KERNELS_CONTRACT_FUNCTIONS_H_
