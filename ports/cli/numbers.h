// Elements of arrays and tensors as doubles, whatever their dtype.
#ifndef TOPWORK_PORTS_CLI_NUMBERS_H_
#define TOPWORK_PORTS_CLI_NUMBERS_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <vector>

namespace topwork {
namespace cli {

// True for integers and floats of whole bytes; false for bool, complex, int4, strings, handles.
bool IsInteger(tw_dtype dtype);
bool IsFloat(tw_dtype dtype);

// Element i of dense `data`, as it is stored; bool gives 0 or 1, other types 0.
double NumberAt(tw_dtype dtype, const void* data, int64_t i);

// Element i of a tensor as a real number: (stored − zero point) × scale where it is quantized as a
// whole, the stored number elsewhere.
double RealAt(const tw_tensor_info& tensor, int64_t i);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_NUMBERS_H_
