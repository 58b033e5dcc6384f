// The first kernel that a driver has to run: doubles and adds, through local memory and a barrier.
// out[i] = 2 * in[i] + in[mirror of i in its work-group]; work-groups of 64.

TW_KERNEL(probe)(__global const tw_store_t* in, __global tw_store_t* out) {
  __local float values[64];
  const int i = get_local_id(0);
  const int at = get_global_id(0);
  values[i] = tw_load(at, in);
  barrier(CLK_LOCAL_MEM_FENCE);
  tw_store(2.0f * values[i] + values[63 - i], at, out);
}
