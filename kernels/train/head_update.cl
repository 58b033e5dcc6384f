// A step of training a dense head, last part: clipping and the optimizer's update.
//
// No update happens where state[TW_HEAD_HALT] says that the step must not be taken; the step's
// number then stays, too.

// sums[2g], sums[2g + 1]: what group g of 64 has of the squares of small and of large values.
// Global size: 64 groups of 64.
TW_KERNEL(head_squares)(__global const float* gradient, __global float* sums, int n) {
  __local float4 room[TW_ITEMS];
  float4 squares = (float4)(0.0f);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    squares += head_square(gradient[i]);
  }
  squares = head_sum(squares, TW_ITEMS, room);
  if (get_local_id(0) == 0) {
    sums[2 * get_group_id(0)] = squares.x;
    sums[2 * get_group_id(0) + 1] = squares.y;
  }
}

// Parameters from n_weights on are biases. Groups of 64. Global size: n rounded up.
TW_KERNEL(head_update)(__global const float* gradient, __global float* parameters,
                       __global float* moment1, __global float* moment2, __global int* state,
                       __global const float* rates, __global const float* sums, int n,
                       int n_weights, int adam, int nesterov, float beta1, float beta2,
                       float epsilon, float weight_decay, float l1, float clip_norm) {
  __local float4 room[TW_ITEMS];
  const int i = get_global_id(0), item = get_local_id(0), step = state[TW_HEAD_NEXT_STEP] - 1;
  float factor = 1.0f;
  if (clip_norm > 0.0f) {
    const float4 squares = (float4)(sums[2 * item], sums[2 * item + 1], 0.0f, 0.0f);
    factor = head_clip_factor(head_sum(squares, TW_ITEMS, room), clip_norm);
  }
  if (i >= n || state[TW_HEAD_HALT] != TW_HALT_NONE) return;
  head_update(i, factor * gradient[i], i >= n_weights, parameters, moment1, moment2,
              rates + TW_NUM_HEAD_RATES * step, adam, nesterov, beta1, beta2, epsilon, weight_decay,
              l1);
  if (i == 0) state[TW_HEAD_STEP] = step + 1;
}

// Goes on to the next mini-batch without an update, for evaluation. Global size: 1.
TW_KERNEL(head_next)(__global int* state) { state[TW_HEAD_STEP] = state[TW_HEAD_NEXT_STEP]; }
