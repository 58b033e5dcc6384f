// One step of training a dense head, first half: scores, loss with its gradient, and the weights'
// gradient. The update is in head_update.cl; all buffers are described in head_gpu.h.
//
//   scores[b, c] = parameters[c, :] . row_b + bias[c];  delta = d loss / d scores, in their place
//   gradient[c, d] = sum over b of delta[b, c] * row_b[d];  the bias's with row_b[dim] = 1
// A mini-batch is spans[step] = (first, count) of `order`, whose entries are (row, target); rows are
// read where they lie. state[TW_HEAD_STEP] is the step for scores and loss, and
// state[TW_HEAD_NEXT_STEP] = step + 1 for what follows; state[TW_HEAD_HALT] says why a step must
// not be taken. Float arithmetic, sums in a fixed order.
// Local sizes are powers of two up to 64; tiles take 8 x 8.

#define TW_ITEMS 64
#define TW_MAX_GRADIENT 1e18f

// The bits of |x|, which order as |x| does, infinity and NaN last.
inline int head_magnitude(float x) { return as_int(x) & 0x7FFFFFFF; }

// Of all items of a group, for each of them.
inline float head_sum(float x, __local float* room) {
  const int item = get_local_id(0);
  room[item] = x;
  for (int half_size = get_local_size(0) >> 1; half_size > 0; half_size >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) room[item] += room[item + half_size];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float total = room[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return total;
}

inline float head_max(float x, __local float* room) {
  const int item = get_local_id(0);
  room[item] = x;
  for (int half_size = get_local_size(0) >> 1; half_size > 0; half_size >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) room[item] = fmax(room[item], room[item + half_size]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float largest = room[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return largest;
}

// A group per (output, row). Global size: outputs * local size, batch.
TW_KERNEL(head_scores)(__global const tw_store_t* features, __global const float* parameters,
                       __global const int* order, __global const int* spans,
                       __global const int* state, __global float* scores, int dim,
                       int n_outputs) {
  __local float room[TW_ITEMS];
  const int item = get_local_id(0), n_items = get_local_size(0);
  const int c = get_group_id(0), b = get_global_id(1);
  const int step = state[TW_HEAD_STEP];
  const bool inside = b < spans[2 * step + 1];
  const int row = inside ? order[2 * (spans[2 * step] + b)] : 0;
  __global const tw_store_t* x = features + (size_t)row * dim;
  __global const float* w = parameters + (size_t)c * dim;
  const int quads = inside ? dim >> 2 : 0;
  float sum = 0.0f;
  for (int q = item; q < quads; q += n_items) sum += dot(tw_load4(q, x), vload4(q, w));
  for (int k = 4 * quads + item; inside && k < dim; k += n_items) sum += tw_load(k, x) * w[k];
  sum = head_sum(sum, room);
  if (inside && item == 0) {
    scores[(size_t)b * n_outputs + c] = sum + parameters[(size_t)n_outputs * dim + c];
  }
}

// Softmax cross-entropy of a row: sum over c of target_c (log sum exp - z_c), target_c = weight_c
// (smoothing / C + (1 - smoothing) [c = label]). A group per row. Global size: local size, batch.
TW_KERNEL(head_loss_softmax)(__global float* scores, __global const int* order,
                             __global const int* spans, __global int* state,
                             __global const float* rates, __global const int* labels,
                             __global const float* class_weights, __global float* losses,
                             int n_outputs, int has_class_weights, float smoothing,
                             float everywhere) {
  __local float room[TW_ITEMS];
  const int item = get_local_id(0), n_items = get_local_size(0), b = get_global_id(1);
  const int step = state[TW_HEAD_STEP];
  const int first = spans[2 * step];
  const bool inside = b < spans[2 * step + 1];
  const int n = inside ? n_outputs : 0;
  const int label = inside ? labels[order[2 * (first + b) + 1]] : 0;
  __global float* z = scores + (size_t)b * n_outputs;
  float most = -INFINITY;
  for (int c = item; c < n; c += n_items) most = fmax(most, z[c]);
  most = head_max(most, room);
  const float own = inside ? z[label] : 0.0f;
  float sum = 0.0f, better = 0.0f;
  for (int c = item; c < n; c += n_items) {
    sum += exp(z[c] - most);
    // The first of equals is the best.
    better += z[c] > own || (z[c] == own && c < label) ? 1.0f : 0.0f;
  }
  sum = head_sum(sum, room);
  better = head_sum(better, room);
  const float log_sum = log(sum);
  float loss = 0.0f, total = 0.0f;
  for (int c = item; c < n; c += n_items) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float target = weight * (everywhere + (c == label ? 1.0f - smoothing : 0.0f));
    total += target;
    if (target != 0.0f) loss += target * (log_sum - (z[c] - most));
  }
  loss = head_sum(loss, room);
  total = head_sum(total, room);
  barrier(CLK_GLOBAL_MEM_FENCE);  // all have read z[label]
  const float scale = rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE];
  for (int c = item; c < n; c += n_items) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float target = weight * (everywhere + (c == label ? 1.0f - smoothing : 0.0f));
    z[c] = scale * (total * (exp(z[c] - most) / sum) - target);
  }
  if (inside && item == 0) {
    losses[2 * (first + b)] = loss;
    losses[2 * (first + b) + 1] = better == 0.0f ? 1.0f : 0.0f;
    if (head_magnitude(loss) >= 0x7F800000) atomic_max(state + TW_HEAD_HALT, TW_HALT_LOSS);
    if (b == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
  }
}

inline float head_softplus(float z) { return fmax(z, 0.0f) + log1p(exp(-fabs(z))); }
inline float head_logistic(float z) {
  const float e = exp(-fabs(z));
  return (z >= 0.0f ? 1.0f : e) / (1.0f + e);
}

// The losses of outputs on their own, their mean an example's loss: sigmoid cross-entropy, squared
// error, Huber's. A group per row. Global size: local size, batch.
TW_KERNEL(head_loss_outputs)(__global float* scores, __global const int* order,
                             __global const int* spans, __global int* state,
                             __global const float* rates, __global const float* values,
                             __global const float* class_weights, __global float* losses,
                             int n_outputs, int has_class_weights, int kind, float smoothing,
                             float huber_delta, float share) {
  __local float room[TW_ITEMS];
  const int item = get_local_id(0), n_items = get_local_size(0), b = get_global_id(1);
  const int step = state[TW_HEAD_STEP];
  const int first = spans[2 * step];
  const bool inside = b < spans[2 * step + 1];
  const int n = inside ? n_outputs : 0;
  const int target = inside ? order[2 * (first + b) + 1] : 0;
  __global float* scores_b = scores + (size_t)b * n_outputs;
  __global const float* t_b = values + (size_t)target * n_outputs;
  const float scale = rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE];
  float loss = 0.0f, hits = 0.0f;
  for (int c = item; c < n; c += n_items) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float z = scores_b[c], t = t_b[c];
    float value, slope;
    if (kind == TW_LOSS_SIGMOID) {
      const float soft = t * (1.0f - smoothing) + 0.5f * smoothing;
      const float positive = soft * weight, negative = 1.0f - soft;
      value = positive * head_softplus(-z) + negative * head_softplus(z);
      slope = negative * head_logistic(z) - positive * head_logistic(-z);
      hits += (z > 0.0f) == (t > 0.5f) ? 1.0f : 0.0f;
    } else {
      const float error = z - t;
      if (kind == TW_LOSS_SQUARED) {
        value = weight * error * error;
        slope = 2.0f * weight * error;
      } else if (fabs(error) <= huber_delta) {
        value = 0.5f * weight * error * error;
        slope = weight * error;
      } else {  // a NaN takes this way, and stays one in the value
        value = weight * huber_delta * (fabs(error) - 0.5f * huber_delta);
        slope = weight * copysign(huber_delta, error);
      }
    }
    loss += value;
    scores_b[c] = scale * share * slope;
  }
  loss = share * head_sum(loss, room);
  hits = share * head_sum(hits, room);
  if (inside && item == 0) {
    losses[2 * (first + b)] = loss;
    losses[2 * (first + b) + 1] = hits;
    if (head_magnitude(loss) >= 0x7F800000) atomic_max(state + TW_HEAD_HALT, TW_HALT_LOSS);
    if (b == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
  }
}

// Checked and stored; d = dim is the bias.
inline void head_store_gradient(float g, int c, int d, int dim, int n_outputs,
                                __global float* gradient, __global int* state) {
  gradient[d < dim ? (size_t)c * dim + d : (size_t)n_outputs * dim + c] = g;
  if (head_magnitude(g) > head_magnitude(TW_MAX_GRADIENT)) {
    atomic_max(state + TW_HEAD_HALT, d < dim ? TW_HALT_WEIGHTS : TW_HALT_BIAS);
  }
}

// An item per (d, output). Global size: dim + 1 rounded up, outputs.
TW_KERNEL(head_gradient)(__global const tw_store_t* features, __global const float* delta,
                         __global const int* order, __global const int* spans,
                         __global int* state, __global float* gradient, int dim,
                         int n_outputs) {
  const int d = get_global_id(0), c = get_global_id(1);
  if (d > dim) return;
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float sum = 0.0f;
  if (d == dim) {
    for (int b = 0; b < count; ++b) sum += delta[(size_t)b * n_outputs + c];
  } else {
    for (int b = 0; b < count; ++b) {
      const size_t row = order[2 * (first + b)];
      sum += delta[(size_t)b * n_outputs + c] * tw_load(row * dim + d, features);
    }
  }
  head_store_gradient(sum, c, d, dim, n_outputs, gradient, state);
}

// The same products in tiles, for many outputs: groups of 8 x 8 make 32 x 32 results, each item 4 x
// 4 of them 8 apart, from slices of 16 that lie in local memory. Outside the matrices zeros are
// loaded and nothing is stored.
#define TW_TILE 32
#define TW_PITCH (TW_TILE + 1)
#define TW_SLICE_BITS 4
#define TW_SLICE (1 << TW_SLICE_BITS)

inline void head_add_slice(__local const float* a, __local const float* x, float sums[4][4]) {
  const int lx = get_local_id(0), ly = get_local_id(1);
  for (int k = 0; k < TW_SLICE; ++k) {
    for (int i = 0; i < 4; ++i) {
      const float left = a[k * TW_PITCH + ly + 8 * i];
      for (int j = 0; j < 4; ++j) sums[i][j] += left * x[k * TW_PITCH + lx + 8 * j];
    }
  }
}

// Global size: outputs / 32 * 8, batch / 32 * 8, both rounded up to whole groups.
TW_KERNEL_FOR(head_scores, tiled)(__global const tw_store_t* features,
                                  __global const float* parameters, __global const int* order,
                                  __global const int* spans, __global const int* state,
                                  __global float* scores, int dim, int n_outputs) {
  __local float xs[TW_SLICE * TW_PITCH];
  __local float ws[TW_SLICE * TW_PITCH];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int c0 = get_group_id(0) * TW_TILE, b0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_STEP];
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float sums[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) sums[i][j] = 0.0f;
  }
  for (int k0 = 0; k0 < dim; k0 += TW_SLICE) {
    for (int i = ly * 8 + lx; i < TW_TILE * TW_SLICE; i += 64) {
      const int r = i >> TW_SLICE_BITS, k = i & (TW_SLICE - 1);
      const int b = b0 + r, c = c0 + r;
      float x = 0.0f, w = 0.0f;
      if (k0 + k < dim && b < count) {
        x = tw_load((size_t)order[2 * (first + b)] * dim + k0 + k, features);
      }
      if (k0 + k < dim && c < n_outputs) w = parameters[(size_t)c * dim + k0 + k];
      xs[k * TW_PITCH + r] = x;
      ws[k * TW_PITCH + r] = w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    head_add_slice(xs, ws, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < 4; ++j) {
    const int c = c0 + lx + 8 * j;
    if (c >= n_outputs) continue;
    const float bias = parameters[(size_t)n_outputs * dim + c];
    for (int i = 0; i < 4; ++i) {
      const int b = b0 + ly + 8 * i;
      if (b < count) scores[(size_t)b * n_outputs + c] = sums[i][j] + bias;
    }
  }
}

// Global size: (dim + 1) / 32 * 8, outputs / 32 * 8, both rounded up to whole groups.
TW_KERNEL_FOR(head_gradient, tiled)(__global const tw_store_t* features,
                                    __global const float* delta, __global const int* order,
                                    __global const int* spans, __global int* state,
                                    __global float* gradient, int dim, int n_outputs) {
  __local float ds[TW_SLICE * TW_PITCH];
  __local float xs[TW_SLICE * TW_PITCH];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int d0 = get_group_id(0) * TW_TILE, c0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float sums[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) sums[i][j] = 0.0f;
  }
  for (int b0 = 0; b0 < count; b0 += TW_SLICE) {
    for (int i = ly * 8 + lx; i < TW_TILE * TW_SLICE; i += 64) {
      const int k = i >> 5, r = i & (TW_TILE - 1);
      const int b = b0 + k, c = c0 + r, d = d0 + r;
      float x = 0.0f, delta_bc = 0.0f;
      if (b < count && d == dim) x = 1.0f;
      if (b < count && d < dim) x = tw_load((size_t)order[2 * (first + b)] * dim + d, features);
      if (b < count && c < n_outputs) delta_bc = delta[(size_t)b * n_outputs + c];
      xs[k * TW_PITCH + r] = x;
      ds[k * TW_PITCH + r] = delta_bc;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    head_add_slice(ds, xs, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i) {
    const int c = c0 + ly + 8 * i;
    if (c >= n_outputs) continue;
    for (int j = 0; j < 4; ++j) {
      const int d = d0 + lx + 8 * j;
      if (d <= dim) head_store_gradient(sums[i][j], c, d, dim, n_outputs, gradient, state);
    }
  }
}
