// Steps of training a dense head, what lies outside of them: the last late update, and going on to
// the next mini-batch without one.

// Ends steps with late updates (head.clh): the values go to the first set of buffers, updated by the
// last step unless that was refused. Parameters from n_weights on are biases. Groups of 64. Global
// size: n rounded up.
TW_KERNEL(head_update)(__global float* parameters, __global const int* state,
                       __global const float* rates, __global const float* gradient,
                       __global float* moment1, __global float* moment2,
                       __global const float* other_parameters, __global const float* other_moment1,
                       __global const float* other_moment2, __global const float* sums, int n,
                       int n_weights, int n_sums, TW_OPTIMIZER_PARAMS, float clip_norm) {
  __local float factor;  // made once, in the order in which scores make theirs
  const int i = get_global_id(0), step = state[TW_HEAD_STEP] - 1;
  if (get_local_id(0) == 0) factor = step < 0 ? 1.0f : head_factor(sums, n_sums, clip_norm);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (step < 0 || i >= n) return;
  const bool second = (step & 1) != 0;
  __global const float* from = second ? other_parameters : parameters;
  __global const float* from_moment1 = second ? other_moment1 : moment1;
  __global const float* from_moment2 = second ? other_moment2 : moment2;
  if (state[TW_HEAD_HALT] == TW_HALT_NONE) {
    head_update(i, factor * gradient[i], i >= n_weights, 1, from, from_moment1, from_moment2,
                parameters, moment1, moment2, rates + TW_NUM_HEAD_RATES * step, TW_OPTIMIZER);
  } else if (second) {
    parameters[i] = from[i];
    if (adam != 0 || beta1 != 0.0f) moment1[i] = from_moment1[i];
    if (adam != 0) moment2[i] = from_moment2[i];
  }
}

// Goes on to the next mini-batch without an update, for evaluation. Global size: 1.
TW_KERNEL(head_next)(__global int* state) { state[TW_HEAD_STEP] = state[TW_HEAD_NEXT_STEP]; }
