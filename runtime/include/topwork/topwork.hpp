// Topwork in C++17: owning classes over the C API of topwork.h, header-only, in namespace tw.
//
// It compiles with and without -fno-exceptions and throws nothing itself: what may fail returns a
// tw::Status, or a tw::Result<T> that holds either a value or a Status. Objects are movable and
// free their handle when they go. Ownership, units, thread rules and errors are those of the
// functions of topwork.h that each method names or is named after. Logging and custom operators are
// used through topwork.h directly.
#ifndef TOPWORK_TOPWORK_HPP_
#define TOPWORK_TOPWORK_HPP_

#include "topwork/base.hpp"
#include "topwork/compress.hpp"
#include "topwork/device.hpp"
#include "topwork/evaluate.hpp"
#include "topwork/examples.hpp"
#include "topwork/learn.hpp"
#include "topwork/model.hpp"
#include "topwork/monitor.hpp"
#include "topwork/session.hpp"
#include "topwork/topwork.h"
#include "topwork/train.hpp"

#endif  // TOPWORK_TOPWORK_HPP_
