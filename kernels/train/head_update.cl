// One step of training a dense head, second half: clipping and the optimizer's update, by the
// formulas of train_kernels.h. Buffers are described in head_gpu.h, `state` in head_gradient.cl.
//
// Parameters from n_weights on are biases, which do not decay. No update happens where
// state[TW_HEAD_HALT] says that the step must not be taken; the step's number then stays, too.

#define TW_ITEMS 64
// Squares of larger values are summed scaled down, so that no sum overflows.
#define TW_LARGE 1e6f
#define TW_DOWN 1e-12f

// sums[2g], sums[2g + 1]: what group g of 64 has of the squares of small and of large values.
// Global size: 64 groups of 64.
TW_KERNEL(head_squares)(__global const float* gradient, __global float* sums, int n) {
  __local float small_room[TW_ITEMS];
  __local float large_room[TW_ITEMS];
  const int item = get_local_id(0);
  float small_sum = 0.0f, large_sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    const float g = gradient[i];
    if (fabs(g) <= TW_LARGE) {
      small_sum += g * g;
    } else {
      large_sum += (g * TW_DOWN) * (g * TW_DOWN);
    }
  }
  small_room[item] = small_sum;
  large_room[item] = large_sum;
  for (int half_size = TW_ITEMS / 2; half_size > 0; half_size >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) {
      small_room[item] += small_room[item + half_size];
      large_room[item] += large_room[item + half_size];
    }
  }
  if (item == 0) {
    sums[2 * get_group_id(0)] = small_room[0];
    sums[2 * get_group_id(0) + 1] = large_room[0];
  }
}

// sums[128] = what the gradient is multiplied with. Global size: 1.
TW_KERNEL(head_clip)(__global float* sums, float clip_norm) {
  float small_sum = 0.0f, large_sum = 0.0f;
  for (int g = 0; g < TW_ITEMS; ++g) {
    small_sum += sums[2 * g];
    large_sum += sums[2 * g + 1];
  }
  const float norm = hypot(sqrt(small_sum), sqrt(large_sum) / TW_DOWN);
  sums[2 * TW_ITEMS] = fmin(1.0f, clip_norm / (norm + 1e-6f));
}

inline float head_penalty(float weight_decay, float l1, float w) {
  const float sign_w = (w > 0.0f ? 1.0f : 0.0f) - (w < 0.0f ? 1.0f : 0.0f);
  return weight_decay * w + l1 * sign_w;
}

// Global size: n rounded up.
TW_KERNEL(head_sgd)(__global const float* gradient, __global float* parameters,
                    __global float* velocity, __global int* state,
                    __global const float* rates, __global const float* sums, int n,
                    int n_weights, int clips, float momentum, int nesterov, float weight_decay,
                    float l1) {
  const int i = get_global_id(0);
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  if (i >= n || state[TW_HEAD_HALT] != TW_HALT_NONE) return;
  const float w = parameters[i];
  const float factor = clips != 0 ? sums[2 * TW_ITEMS] : 1.0f;
  const float penalty = i < n_weights ? head_penalty(weight_decay, l1, w) : 0.0f;
  float g = factor * gradient[i] + penalty;
  if (momentum != 0.0f) {
    const float v = momentum * velocity[i] + g;
    velocity[i] = v;
    g = nesterov != 0 ? g + momentum * v : v;
  }
  parameters[i] = w - rates[TW_NUM_HEAD_RATES * step + TW_RATE_LEARNING] * g;
  if (i == 0) state[TW_HEAD_STEP] = step + 1;
}

// Global size: n rounded up.
TW_KERNEL(head_adam)(__global const float* gradient, __global float* parameters,
                     __global float* moment1, __global float* moment2, __global int* state,
                     __global const float* rates, __global const float* sums, int n,
                     int n_weights, int clips, float beta1, float beta2, float epsilon,
                     float weight_decay, float l1) {
  const int i = get_global_id(0);
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  if (i >= n || state[TW_HEAD_HALT] != TW_HALT_NONE) return;
  __global const float* rate = rates + TW_NUM_HEAD_RATES * step;
  const float w = parameters[i];
  const float factor = clips != 0 ? sums[2 * TW_ITEMS] : 1.0f;
  const float penalty = i < n_weights ? head_penalty(weight_decay, l1, w) : 0.0f;
  const float g = factor * gradient[i] + penalty;
  const float m = beta1 * moment1[i] + (1.0f - beta1) * g;
  const float v = beta2 * moment2[i] + (1.0f - beta2) * g * g;
  moment1[i] = m;
  moment2[i] = v;
  const float keep = i < n_weights ? rate[TW_RATE_KEEP] : 1.0f;
  parameters[i] = keep * w - rate[TW_RATE_LEARNING] * (m * rate[TW_RATE_CORRECTION1]) /
                      (sqrt(v * rate[TW_RATE_CORRECTION2]) + epsilon);
  if (i == 0) state[TW_HEAD_STEP] = step + 1;
}

// Goes on to the next mini-batch without an update, for evaluation. Global size: 1.
TW_KERNEL(head_next)(__global int* state) { state[TW_HEAD_STEP] = state[TW_HEAD_NEXT_STEP]; }
