// TW_STRING: what a macro stands for, as a string literal.
#ifndef TOPWORK_RUNTIME_BASE_STRINGIFY_H_
#define TOPWORK_RUNTIME_BASE_STRINGIFY_H_

#define TW_STRING_INNER(x) #x
#define TW_STRING(x) TW_STRING_INNER(x)

#endif  // TOPWORK_RUNTIME_BASE_STRINGIFY_H_
