// Failures without sentences (TOPWORK_MESSAGES=OFF): each says where in the source its sentence stands.
//
// Compilers read this before every file of such a library. What fails then names a file and a line and nothing
// else; pattern and values are checked and dropped, with everything that would make them.
#ifndef TOPWORK_KERNELS_CONTRACT_PLACES_H_
#define TOPWORK_KERNELS_CONTRACT_PLACES_H_

#include <string>

#include "kernels/contract/kernel.h"
#include "runtime/base/status.h"

namespace topwork {

// Never called, so never defined.
template <typename... Values>
const char* NeverSaid(const char* pattern, const Values&... values);
std::string NeverSaidBefore(const std::string& prefix);

}  // namespace topwork

#ifndef __FILE_NAME__  // compilers older than gcc 12
#define __FILE_NAME__ __FILE__
#endif
#define TW_LINE_TEXT_OF(line) #line
#define TW_LINE_TEXT(line) TW_LINE_TEXT_OF(line)
#define TW_PLACE(...) \
  (true ? __FILE_NAME__ ":" TW_LINE_TEXT(__LINE__) : ::topwork::NeverSaid(__VA_ARGS__))
#define InvalidArgument(...) InvalidArgument(TW_PLACE(__VA_ARGS__))
#define InvalidModel(...) InvalidModel(TW_PLACE(__VA_ARGS__))
#define Invalid(...) Invalid(TW_PLACE(__VA_ARGS__))
#define Unsupported(...) Unsupported(TW_PLACE(__VA_ARGS__))
#define OutOfMemory(...) OutOfMemory(TW_PLACE(__VA_ARGS__))
#define IoError(...) IoError(TW_PLACE(__VA_ARGS__))
#define Cancelled(...) Cancelled(TW_PLACE(__VA_ARGS__))
#define FailedPrecondition(...) FailedPrecondition(TW_PLACE(__VA_ARGS__))
#define NumericError(...) NumericError(TW_PLACE(__VA_ARGS__))
#define NotFound(...) NotFound(TW_PLACE(__VA_ARGS__))
#define Corrupt(...) Corrupt(TW_PLACE(__VA_ARGS__))
#define InternalError(...) InternalError(TW_PLACE(__VA_ARGS__))
#define WithPrefix(...) \
  WithPrefix((static_cast<void>(sizeof(::topwork::NeverSaidBefore(__VA_ARGS__))), std::string()))

#endif  // TOPWORK_KERNELS_CONTRACT_PLACES_H_
