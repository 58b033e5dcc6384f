// Steps of training a dense head by many groups: the gradient, in tiles, and for many outputs the
// scores in tiles, too. Buffers are described in head_gpu.h, `state` in head_steps.cl.
//
// Where `direct` is not 0, no element of the gradient can be too large (head_gpu.h): then the
// optimizer's update follows at once, and the gradient is not stored.

// An element of the gradient: the update, or it is stored and checked.
inline void head_take(float g, int c, int d, int dim, int n_outputs, int direct,
                      __global float* gradient, __global int* state, __global float* parameters,
                      __global float* moment1, __global float* moment2, __global const float* rate,
                      int adam, int nesterov, float beta1, float beta2, float epsilon,
                      float weight_decay, float l1) {
  if (c >= n_outputs || d > dim) return;
  if (direct != 0) {
    head_update(head_place(c, d, dim, n_outputs), g, d == dim, parameters, moment1, moment2, rate,
                adam, nesterov, beta1, beta2, epsilon, weight_decay, l1);
    return;
  }
  const int halt = head_store(g, c, d, dim, n_outputs, gradient);
  if (halt != TW_HALT_NONE) atomic_max(state + TW_HEAD_HALT, halt);
}
#define TW_TAKE(g, c, d)                                                                    \
  head_take(g, c, d, dim, n_outputs, direct, gradient, state, parameters, moment1, moment2, \
            rates + TW_NUM_HEAD_RATES * step, adam, nesterov, beta1, beta2, epsilon,        \
            weight_decay, l1)

// An item per tile of 4 x 4. Groups of 64. Global size: (dim + 1) / 4 rounded up, pitch / 4.
TW_KERNEL(head_gradient)(__global const tw_store_t* features, __global const float* scores,
                         __global const int* order, __global const int* spans, __global int* state,
                         __global const float* rates, __global float* gradient,
                         __global float* parameters, __global float* moment1,
                         __global float* moment2, int dim, int n_outputs, int pitch, int direct,
                         int adam, int nesterov, float beta1, float beta2, float epsilon,
                         float weight_decay, float l1) {
  __local float tiles[16 * TW_ITEMS];
  const int d = 4 * get_global_id(0), c = 4 * get_global_id(1);
  if (d > dim) return;
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  if (direct != 0 && state[TW_HEAD_HALT] != TW_HALT_NONE) return;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  __local float* own = tiles + get_local_id(0);
  head_tile(c, d, first, count, features, scores, pitch, order, dim, own);
  for (int k = 0; k < 16; ++k) TW_TAKE(own[k * TW_ITEMS], c + (k >> 2), d + (k & 3));
  if (direct != 0 && c == 0 && d == 0) state[TW_HEAD_STEP] = step + 1;
}

// Groups of 8 x 8 make 32 x 32 results, each item 4 x 4 of them 8 apart, from slices of 16 that lie
// in local memory. Outside the matrices zeros are loaded and nothing is stored.
#define TW_TILE 32
#define TW_PITCH (TW_TILE + 1)
#define TW_SLICE_BITS 4
#define TW_SLICE (1 << TW_SLICE_BITS)

// Row i of sums += what a slice gives rows ly + 8 i and columns lx, lx + 8, lx + 16, lx + 24.
#define TW_ADD_SLICE(a, x)                                                                   \
  for (int k = 0; k < TW_SLICE; ++k) {                                                       \
    const float4 right = (float4)(x[k * TW_PITCH + lx], x[k * TW_PITCH + lx + 8],            \
                                  x[k * TW_PITCH + lx + 16], x[k * TW_PITCH + lx + 24]);     \
    sum0 += a[k * TW_PITCH + ly] * right;                                                    \
    sum1 += a[k * TW_PITCH + ly + 8] * right;                                                \
    sum2 += a[k * TW_PITCH + ly + 16] * right;                                               \
    sum3 += a[k * TW_PITCH + ly + 24] * right;                                               \
  }

// The slices' place takes all sums when there are no more slices; each item reads its own alone.
#define TW_KEEP_SUMS()                       \
  __local float* own = slices + ly * 8 + lx; \
  head_keep4(sum0, 0, TW_ITEMS, own);        \
  head_keep4(sum1, 4, TW_ITEMS, own);        \
  head_keep4(sum2, 8, TW_ITEMS, own);        \
  head_keep4(sum3, 12, TW_ITEMS, own);

// Global size: outputs / 32 * 8, batch / 32 * 8, both rounded up to whole groups.
TW_KERNEL_FOR(head_scores, tiled)(__global const tw_store_t* features,
                                  __global const float* parameters, __global const int* order,
                                  __global const int* spans, __global const int* state,
                                  __global float* scores, int dim, int n_outputs, int pitch) {
  __local float slices[2 * TW_SLICE * TW_PITCH];
  __local float *xs = slices, *ws = slices + TW_SLICE * TW_PITCH;
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int c0 = get_group_id(0) * TW_TILE, b0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_STEP];
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float4 sum0 = (float4)(0.0f), sum1 = sum0, sum2 = sum0, sum3 = sum0;
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
    TW_ADD_SLICE(xs, ws)
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  TW_KEEP_SUMS()
  for (int k = 0; k < 16; ++k) {
    const int b = b0 + ly + 8 * (k >> 2), c = c0 + lx + 8 * (k & 3);
    if (b >= count || c >= n_outputs) continue;
    scores[(size_t)b * pitch + c] = own[k * TW_ITEMS] + parameters[(size_t)n_outputs * dim + c];
  }
}

// Losses of the rows whose scores are there. A group per row. Global size: local size * batch.
TW_KERNEL(head_loss)(__global const int* order, __global const int* spans, __global int* state,
                     __global const float* rates, __global const int* targets,
                     __global const float* class_weights, __global float* scores,
                     __global float* losses, int n_outputs, int pitch, int has_class_weights,
                     int kind, float smoothing, float huber_delta) {
  __local float4 room[TW_ITEMS];
  const int b = get_group_id(0), step = state[TW_HEAD_STEP];
  const int halt = head_row_loss(
      b, spans[2 * step], spans[2 * step + 1], rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE],
      scores, pitch, order, targets, class_weights, losses, n_outputs, has_class_weights, kind,
      smoothing, huber_delta, get_local_size(0), room);
  if (halt != TW_HALT_NONE) atomic_max(state + TW_HEAD_HALT, halt);
  if (b == 0 && get_local_id(0) == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
}

// Global size: (dim + 1) / 32 * 8, outputs / 32 * 8, both rounded up to whole groups.
TW_KERNEL_FOR(head_gradient, tiled)(__global const tw_store_t* features,
                                    __global const float* scores, __global const int* order,
                                    __global const int* spans, __global int* state,
                                    __global const float* rates, __global float* gradient,
                                    __global float* parameters, __global float* moment1,
                                    __global float* moment2, int dim, int n_outputs, int pitch,
                                    int direct, int adam, int nesterov, float beta1, float beta2,
                                    float epsilon, float weight_decay, float l1) {
  __local float slices[2 * TW_SLICE * TW_PITCH];
  __local float *ds = slices, *xs = slices + TW_SLICE * TW_PITCH;
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int d0 = get_group_id(0) * TW_TILE, c0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float4 sum0 = (float4)(0.0f), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (int b0 = 0; b0 < count; b0 += TW_SLICE) {
    for (int i = ly * 8 + lx; i < TW_TILE * TW_SLICE; i += 64) {
      const int k = i >> 5, r = i & (TW_TILE - 1);
      const int b = b0 + k, c = c0 + r, d = d0 + r;
      float x = 0.0f, delta = 0.0f;
      if (b < count && d == dim) x = 1.0f;
      if (b < count && d < dim) x = tw_load((size_t)order[2 * (first + b)] * dim + d, features);
      if (b < count && c < n_outputs) delta = scores[(size_t)b * pitch + c];
      xs[k * TW_PITCH + r] = x;
      ds[k * TW_PITCH + r] = delta;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    TW_ADD_SLICE(ds, xs)
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (direct != 0 && state[TW_HEAD_HALT] != TW_HALT_NONE) return;
  TW_KEEP_SUMS()
  for (int k = 0; k < 16; ++k) {
    TW_TAKE(own[k * TW_ITEMS], c0 + ly + 8 * (k >> 2), d0 + lx + 8 * (k & 3));
  }
  if (direct != 0 && c0 + d0 + lx + ly == 0) state[TW_HEAD_STEP] = step + 1;
}
