// Steps of training a dense head by many groups: scores of many outputs, in tiles, and what the loss
// needs of them. Buffers are described in head_gpu.h, `state` in head_steps.cl.

#ifdef TW_LABELS
inline float head_most(__local const float* tile, int r, int c, int end) {
  float most = -INFINITY;
  for (int i = c; i < end; ++i) most = fmax(most, tile[TW_AT(r, i)]);
  return most;
}

// Of columns from c to end - 1 of row r of a tile. x: the sum of exponentials; y, z: as in details.
inline float4 head_part(__local float* tile, int r, int c, int end, int c0, int n,
                        __global const float* class_weights, int has_class_weights) {
  float4 part = (float4)(0.0f);
  for (int i = c; i < end; ++i) {
    const float weight = has_class_weights != 0 ? class_weights[c0 + i] : 1.0f;
    const float z = head_shifted(tile[TW_AT(r, i)], n), e = exp(z);
    tile[TW_AT(r, i)] = e;
    part.x += e;
    part.y += weight != 0.0f ? weight * z : 0.0f;
    part.z += weight;
  }
  return part;
}

// 1 where another score of row r of a tile is better than the label's; the first of equals is the best.
inline float head_missed(__local const float* tile, int r, int label, int n) {
  const float own = tile[TW_AT(r, label)];
  float missed = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float z = tile[TW_AT(r, i)];
    if (z > own || (i < label && z == own)) missed = 1.0f;
  }
  return missed;
}
#else
// Of columns from c to end - 1 of row r of a tile, whose scores become slopes; t: what they are to be.
inline float4 head_slopes(__local float* tile, int r, int c, int end, __global const float* t,
                          int c0, __global const float* class_weights, int has_class_weights,
                          int kind, float smoothing, float huber_delta, float share, float scale) {
  float4 part = (float4)(0.0f);
  for (int i = c; i < end; ++i) {
    const float weight = has_class_weights != 0 ? class_weights[c0 + i] : 1.0f;
    const float4 loss = head_output(tile[TW_AT(r, i)], t[i], weight, kind, smoothing, huber_delta);
    tile[TW_AT(r, i)] = scale * share * loss.z;
    part.x += share * loss.x;  // a sum of squares might overflow
    part.y += loss.y;
  }
  return part;
}
#endif

// Global size: outputs / 32 * 64, batch / 32, both rounded up to whole groups.
TW_KERNEL_FOR(head_scores, tiled)(
    __global const tw_store_t* features, __global float* parameters, __global const int* order,
    __global const int* spans, __global int* state, __global const float* rates,
    __global const int* targets, __global const float* class_weights, __global float* scores,
    __global int* parts, __global float* details, __global const float* gradient,
    __global float* moment1, __global float* moment2, __global float* other_parameters,
    __global float* other_moment1, __global float* other_moment2, __global const float* sums,
    int dim, int n_outputs, int pitch, int has_class_weights, int kind, float smoothing,
    float huber_delta, int n_sums, TW_OPTIMIZER_PARAMS, float clip_norm) {
  __local float slices[2 * TW_SLICE * TW_PITCH];
  __local float4 room[TW_ITEMS];
  __local float bias[TW_TILE];
  __local float *xs = slices, *ws = slices + TW_SLICE * TW_PITCH;
  const int item = get_local_id(0), lx = item & 7, ly = item >> 3;
  const int c0 = get_group_id(0) * TW_TILE, b0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_STEP];
  const int first = spans[2 * step], count = spans[2 * step + 1];
  if (TW_HALTED) return;
  TW_LATE_BEGIN(b0 == 0)
  if (item < TW_TILE) {
    const int c = c0 + item;
    bias[item] = c < n_outputs ? TW_WEIGHT((size_t)n_outputs * dim + c, true) : 0.0f;
  }
  float4 sum0 = (float4)(0.0f), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (int k0 = 0; k0 < dim; k0 += TW_SLICE) {
    for (int i = item; i < TW_TILE * TW_SLICE; i += TW_ITEMS) {
      const int r = i >> TW_SLICE_BITS, k = i & (TW_SLICE - 1);
      const int b = b0 + r, c = c0 + r;
      float x = 0.0f, w = 0.0f;
      if (k0 + k < dim && b < count) {
        x = tw_load((size_t)order[2 * (first + b)] * dim + k0 + k, features);
      }
      if (k0 + k < dim && c < n_outputs) w = TW_WEIGHT((size_t)c * dim + k0 + k, false);
      xs[k * TW_PITCH + r] = x;
      ws[k * TW_PITCH + r] = w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    TW_ADD_SLICE(xs, ws)
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  TW_KEEP_SUMS()
  for (int k = 0; k < 16; ++k) own[k * TW_ITEMS] += bias[lx + 8 * (k & 3)];
  barrier(CLK_LOCAL_MEM_FENCE);
  // Two items take a row.
  const int r = item >> 1, begin = TW_TILE / 2 * (item & 1), n_tiles = get_num_groups(0);
  const int end = b0 + r < count ? min(begin + TW_TILE / 2, n_outputs - c0) : 0;
  const bool leaves = begin == 0 && end > 0;
  __global int* part = parts + 2 * (get_group_id(0) * (size_t)count + b0 + r);
#ifdef TW_LABELS
  __global float* detail = details + (size_t)(b0 + r) * TW_DETAILS * (n_tiles + 1);
  const int label = end > begin ? targets[order[2 * (first + b0 + r) + 1]] - c0 : -1;
  if (label >= begin && label < end) {
    detail[TW_DETAILS * n_tiles] = slices[TW_AT(r, label)];
    detail[TW_DETAILS * n_tiles + 1] = head_missed(slices, r, label, min(TW_TILE, n_outputs - c0));
  }
  room[item].x = head_most(slices, r, begin, end);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float most = fmax(room[item].x, room[item ^ 1].x);
  const int n = head_shifts(most);
  barrier(CLK_LOCAL_MEM_FENCE);
  room[item] = head_part(slices, r, begin, end, c0, n, class_weights, has_class_weights);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (leaves) {
    part[0] = n;
    part[1] = as_int(room[item].x + room[item + 1].x);
    detail += TW_DETAILS * get_group_id(0);
    detail[0] = most;
    detail[1] = room[item].y + room[item + 1].y;
    detail[2] = room[item].z + room[item + 1].z;
  }
#else
  __global const float* t = (__global const float*)targets + c0;
  if (begin < end) t += (size_t)order[2 * (first + b0 + r) + 1] * n_outputs;
  room[item] = head_slopes(slices, r, begin, end, t, c0, class_weights, has_class_weights, kind,
                           smoothing, huber_delta, 1.0f / (float)n_outputs,
                           rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (leaves) {
    part[0] = as_int(room[item].x + room[item + 1].x);
    part[1] = as_int(room[item].y + room[item + 1].y);
  }
#endif
  for (int k = 0; k < 16; ++k) {
    const int b = b0 + ly + 8 * (k >> 2), c = c0 + lx + 8 * (k & 3);
    if (b < count && c < n_outputs) scores[(size_t)b * pitch + c] = own[k * TW_ITEMS];
  }
  if (b0 + c0 + item == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
}
