// Steps of training a dense head by many groups: the gradient, in tiles. Buffers are described in
// head_gpu.h, `state` in head_steps.cl.
//
// Where `direct` is not 0, no element of the gradient can be too large (head_gpu.h): then the
// optimizer's update follows at once, and the gradient is not stored. Else the update is a late one
// (head.clh). Launches of a step that is refused may be repeated: they read and write the same.

// An element of the gradient: the update, or it is stored and checked.
inline void head_take(float g, int c, int d, int dim, int n_outputs, int direct,
                      __global float* gradient, __global int* state, __global float* parameters,
                      __global float* moment1, __global float* moment2, __global const float* rate,
                      TW_OPTIMIZER_PARAMS) {
  if (c >= n_outputs || d > dim) return;
  if (direct != 0) {
    head_update(head_place(c, d, dim, n_outputs), g, d == dim, 1, parameters, moment1, moment2,
                parameters, moment1, moment2, rate, TW_OPTIMIZER);
    return;
  }
  const int halt = head_store(g, c, d, dim, n_outputs, gradient);
  if (halt != TW_HALT_NONE) atomic_max(state + TW_HEAD_HALT, halt);
}
inline float4 head_inside_square(float g, int c, int d, int dim, int n_outputs) {
  return c < n_outputs && d <= dim ? head_square(g) : (float4)(0.0f);
}
#define TW_TAKE(g, c, d)                                                                    \
  head_take(g, c, d, dim, n_outputs, direct, gradient, state, parameters, moment1, moment2, \
            rates + TW_NUM_HEAD_RATES * step, TW_OPTIMIZER)

// What the only group that `tells` leaves in `state`: a late step counts before it is known to be
// good (DeviceHead::End).
inline void head_tell(bool tells, int direct, int halt, int step, __global int* state) {
  if (!tells || get_local_id(0) != 0) return;
  if (halt != TW_HALT_NONE) atomic_max(state + TW_HEAD_HALT, halt);
  if (direct == 0 || halt == TW_HALT_NONE) state[TW_HEAD_STEP] = step + 1;
}

// The group's part of the gradient's squares, where they are wanted.
inline void head_leave_squares(bool wanted, float4 squares, __global float* sums,
                               __local float4* room) {
  squares = head_sum(squares, TW_ITEMS, room);
  const int group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  if (wanted && get_local_id(0) == 0) vstore2(squares.xy, group, sums);
}

// An item per tile of 4 x 4. Groups of 64. Global size: (dim + 1) / 4 rounded up, pitch / 4.
TW_KERNEL(head_gradient)(__global const tw_store_t* features, __global const float* scores,
                         __global const int* order, __global const int* spans, __global int* state,
                         __global const float* rates, __global const float* losses,
                         __global float* gradient, __global float* parameters,
                         __global float* moment1, __global float* moment2, __global float* sums,
                         int dim, int n_outputs, int pitch, int direct, TW_OPTIMIZER_PARAMS) {
  __local float tiles[16 * TW_ITEMS];
  __local float4 room[TW_ITEMS];
  const int item = get_local_id(0), d = 4 * get_global_id(0), c = 4 * get_global_id(1);
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  float worst = 0.0f;
  for (int b = item; b < count; b += TW_ITEMS) {
    worst = head_is_bad(losses[2 * (first + b)]) ? 1.0f : worst;
  }
  const int halt = head_max(worst, TW_ITEMS, room) > 0.0f ? TW_HALT_LOSS : TW_HALT_NONE;
  head_tell(get_group_id(0) + get_group_id(1) == 0, direct, halt, step, state);
  const bool takes = direct == 0 || halt == TW_HALT_NONE;
  __local float* own = tiles + item;
  head_tile(c, d, first, d > dim ? 0 : count, features, scores, pitch, order, dim, own);
  float4 squares = (float4)(0.0f);
  for (int k = 0; takes && k < 16; ++k) {
    TW_TAKE(own[k * TW_ITEMS], c + (k >> 2), d + (k & 3));
    squares += head_inside_square(own[k * TW_ITEMS], c + (k >> 2), d + (k & 3), dim, n_outputs);
  }
  head_leave_squares(direct == 0, squares, sums, room);
}

#ifdef TW_LABELS
// Joins every `lanes`-th part of a row from `lane` on. x: shifts; y: the sum of exponentials. Parts of
// a row are `count` apart.
inline float4 head_join(__global const int* parts, int count, int n_parts, int lane, int lanes) {
  int most = -2000000;
  for (int t = lane; t < n_parts; t += lanes) most = max(most, parts[2 * t * count]);
  float sum = 0.0f;
  for (int t = lane; t < n_parts; t += lanes) {
    sum += as_float(parts[2 * t * count + 1]) * head_power(parts[2 * t * count] - most);
  }
  return (float4)((float)most, sum, 0.0f, 0.0f);
}

// What details add to the loss: y: the sum of weight * score shifted n times; z: of weights; and x: 1
// where a score of another tile is better than the label's.
inline float4 head_detail(__global const float* details, __global const int* parts, int count,
                          int n_parts, int n, int label) {
  const float own = details[TW_DETAILS * n_parts];
  float4 sums = (float4)(0.0f);
  for (int t = 0; t < n_parts; ++t) {
    __global const float* detail = details + TW_DETAILS * t;
    const int behind = t - label / TW_TILE;
    if (behind != 0 && (detail[0] > own || (behind < 0 && detail[0] == own))) sums.x = 1.0f;
    sums.y += detail[1];
    if (detail[2] != 0.0f) sums.y += detail[2] * TW_LOG_2 * (float)(parts[2 * t * count] - n);
    sums.z += detail[2];
  }
  return sums;
}
#endif

// Joins the parts of 16 rows from b0 on, by a group of 64. rows: three numbers of each for softmax, what
// the exponentials of `tile` are multiplied with, the label's bits, and what its slope is less by. The
// group that `tells` leaves losses and hits. The result is a halt, 0 where all is well.
inline int head_join_rows(int b0, int tile, bool tells, int first, int count, float scale,
                          __global const int* parts, __global const float* details,
                          __global const int* order, __global const int* targets,
                          __global const float* class_weights, __global float* losses,
                          int n_outputs, int has_class_weights, float smoothing,
                          __local float* rows, __local float4* room) {
  const int item = get_local_id(0), row = item & 15, lane = item >> 4, b = b0 + row;
  const int n_tiles = (n_outputs + TW_TILE - 1) / TW_TILE, n_parts = b < count ? n_tiles : 0;
  __global const int* own = parts + 2 * b;
#ifdef TW_LABELS
  const float4 joined = head_join(own, count, n_parts, lane, 4);
  room[item] = joined;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (b >= count || lane != 0) return TW_HALT_NONE;
  float most = joined.x, sum = 0.0f;
  for (int i = 16; i < 64; i += 16) most = fmax(most, room[item + i].x);
  for (int i = 0; i < 64; i += 16) {
    sum += room[item + i].y * head_power((int)(room[item + i].x - most));
  }
  __global const float* detail = details + (size_t)b * TW_DETAILS * (n_tiles + 1);
  const int n = (int)most, label = targets[order[2 * (first + b) + 1]];
  const float at = detail[TW_DETAILS * n_tiles], missed = detail[TW_DETAILS * n_tiles + 1];
  const float everywhere = smoothing / (float)n_outputs;
  const float weight = has_class_weights != 0 ? class_weights[label] : 1.0f;
  const float of_label = weight * (1.0f - smoothing);
  float4 sums = (float4)(0.0f);
  if (tells || everywhere != 0.0f) sums = head_detail(detail, own, count, n_parts, n, label);
  const float all = everywhere * sums.z + of_label, hit = sums.x + missed == 0.0f ? 1.0f : 0.0f;
  float loss = all * log(sum);
  if (everywhere != 0.0f) loss -= everywhere * sums.y;
  if (of_label != 0.0f) loss -= of_label * head_shifted(at, n);
  const float down = head_power(own[2 * tile * count] - n);
  rows[3 * row] = scale * all / sum * down;
  rows[3 * row + 1] = as_float(label);
  rows[3 * row + 2] = scale * of_label;
#else
  if (b >= count || lane != 0) return TW_HALT_NONE;
  float loss = 0.0f, hit = 0.0f;
  for (int t = 0; t < n_parts; ++t) {
    loss += as_float(own[2 * t * count]);
    hit += as_float(own[2 * t * count + 1]);
  }
  hit /= (float)n_outputs;
#endif
  if (tells) vstore2((float2)(loss, hit), first + b, losses);
  return head_is_bad(loss) ? TW_HALT_LOSS : TW_HALT_NONE;
}

// Losses alone, for evaluation; goes on to the next mini-batch. Global size: batch / 16 * 64.
TW_KERNEL(head_losses)(__global const int* order, __global const int* spans, __global int* state,
                       __global const int* targets, __global const float* class_weights,
                       __global const int* parts, __global const float* details,
                       __global float* losses, int n_outputs, int has_class_weights,
                       float smoothing) {
  __local float4 room[TW_ITEMS];
  __local float rows[3 * TW_SLICE];
  const int group = get_group_id(0), step = state[TW_HEAD_NEXT_STEP] - 1;
  head_join_rows(TW_SLICE * group, 0, true, spans[2 * step], spans[2 * step + 1], 1.0f, parts,
                 details, order, targets, class_weights, losses, n_outputs, has_class_weights,
                 smoothing, rows, room);
  if (group == 0 && get_local_id(0) == 0) state[TW_HEAD_STEP] = step + 1;
}

// Global size: (dim + 1) / 32 * 64, outputs / 32, both rounded up to whole groups.
TW_KERNEL_FOR(head_gradient, tiled)(
    __global const tw_store_t* features, __global const float* scores, __global const int* order,
    __global const int* spans, __global int* state, __global const float* rates,
    __global float* losses, __global const int* targets, __global const float* class_weights,
    __global const int* parts, __global const float* details, __global float* gradient,
    __global float* parameters, __global float* moment1, __global float* moment2,
    __global float* sums, int dim, int n_outputs, int pitch, int has_class_weights,
    float smoothing, int direct, TW_OPTIMIZER_PARAMS) {
  __local float slices[2 * TW_SLICE * TW_PITCH];
  __local float4 room[TW_ITEMS];
  __local float rows[3 * TW_SLICE];
  __local int halts;
  __local float *ds = slices, *xs = slices + TW_SLICE * TW_PITCH;
  const int item = get_local_id(0), lx = item & 7, ly = item >> 3;
  const int d0 = get_group_id(0) * TW_TILE, c0 = get_group_id(1) * TW_TILE;
  const int step = state[TW_HEAD_NEXT_STEP] - 1;
  const int first = spans[2 * step], count = spans[2 * step + 1];
  const float scale = rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE];
  const float everywhere = scale * smoothing / (float)n_outputs;
  if (item == 0) halts = TW_HALT_NONE;
  float4 sum0 = (float4)(0.0f), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (int b0 = 0; b0 < count; b0 += TW_SLICE) {
    const int halt =
        head_join_rows(b0, get_group_id(1), c0 + d0 == 0, first, count, scale, parts, details, order,
                       targets, class_weights, losses, n_outputs, has_class_weights, smoothing,
                       rows, room);
    if (halt != TW_HALT_NONE) atomic_max(&halts, halt);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < TW_TILE * TW_SLICE; i += TW_ITEMS) {
      const int k = i >> 5, r = i & (TW_TILE - 1);
      const int b = b0 + k, c = c0 + r, d = d0 + r;
      float x = 0.0f, delta = 0.0f;
      if (b < count && d == dim) x = 1.0f;
      if (b < count && d < dim) x = tw_load((size_t)order[2 * (first + b)] * dim + d, features);
      if (b < count && c < n_outputs) {
        delta = scores[(size_t)b * pitch + c];
#ifdef TW_LABELS
        delta *= rows[3 * k];
        if (c == as_int(rows[3 * k + 1])) delta -= rows[3 * k + 2];
        if (everywhere != 0.0f) {
          delta -= everywhere * (has_class_weights != 0 ? class_weights[c] : 1.0f);
        }
#endif
      }
      xs[k * TW_PITCH + r] = x;
      ds[k * TW_PITCH + r] = delta;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    TW_ADD_SLICE(ds, xs)
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  head_tell(c0 + d0 == 0, direct, halts, step, state);
  const bool takes = direct == 0 || halts == TW_HALT_NONE;
  TW_KEEP_SUMS()
  float4 squares = (float4)(0.0f);
  for (int k = 0; takes && k < 16; ++k) {
    const int c = c0 + ly + 8 * (k >> 2), d = d0 + lx + 8 * (k & 3);
    TW_TAKE(own[k * TW_ITEMS], c, d);
    if (direct == 0) squares += head_inside_square(own[k * TW_ITEMS], c, d, dim, n_outputs);
  }
  head_leave_squares(direct == 0, squares, sums, room);
}
