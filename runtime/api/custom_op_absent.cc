// C API of custom operators in a library built without those of applications.
#include "runtime/api/handles.h"

tw_status tw_op_register(const tw_custom_op*) {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without custom operators of applications; build it with "
      "TOPWORK_CUSTOM_OPS=ON"));
}
