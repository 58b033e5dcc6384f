// C API of the quantizer in a library built without it: every function says so.
#include "runtime/api/handles.h"

namespace {

tw_status WithoutQuantizer() {
  return topwork::api::Report(topwork::Unsupported(
      "this library was built without the quantizer; build it with TOPWORK_QUANTIZER=ON and "
      "TOPWORK_TRAIN=ON"));
}

}  // namespace

tw_status tw_quantizer_create(const tw_model*, const tw_quantizer_options*, tw_quantizer**) {
  return WithoutQuantizer();
}
void tw_quantizer_free(tw_quantizer*) {}
tw_status tw_quantizer_get_input(const tw_quantizer*, size_t, tw_tensor_info*) {
  return WithoutQuantizer();
}
tw_status tw_quantizer_add_examples(tw_quantizer*, const tw_examples*) {
  return WithoutQuantizer();
}
tw_status tw_quantizer_cancel(tw_quantizer*) { return WithoutQuantizer(); }
tw_status tw_quantizer_export(tw_quantizer*, tw_model**, tw_quantize_report*) {
  return WithoutQuantizer();
}
