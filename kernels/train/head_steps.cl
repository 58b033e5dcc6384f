// Steps of training a dense head by groups that take whole rows: scores and loss of a row by one
// group, and whole steps of small heads by a single group, with barriers in place of launches.
//
// state[TW_HEAD_STEP] is the step for scores and loss, and state[TW_HEAD_NEXT_STEP] = step + 1 for
// what follows; state[TW_HEAD_HALT] says why a step must not be taken.

// Scores of rows b0 to b0 + n_rows - 1 of the mini-batch that begins at `first`: a team takes four
// outputs of a row. The row's padding gets zeros, which the gradient's tiles count on.
inline void head_score_rows(int b0, int n_rows, int first, __global const tw_store_t* features,
                            __global const float* from, __global const int* order,
                            __global float* scores, int pitch, int dim, int n_outputs, int lanes,
                            __local float4* room TW_LATE_PARAMS) {
  const int item = get_local_id(0), lane = item & (lanes - 1);
  const int team = item / lanes, n_teams = (int)get_local_size(0) / lanes;
  const int fours = pitch >> 2, n_tasks = n_rows * fours;
#ifdef TW_LATE
  const int n_quads = 0;  // one by one: 16 updates in a row take all registers
#else
  const int n_quads = dim >> 2;
#endif
  const size_t bias = (size_t)n_outputs * dim;
  for (int at = 0; at < n_tasks; at += n_teams) {
    const int task = at + team;
    const bool inside = task < n_tasks;
    const int row = inside ? task / fours : 0;  // oclgrind knows no remainder beside a quotient
    const int b = b0 + row, c = inside ? 4 * (task - row * fours) : 0;
    const int4 output = min((int4)(c) + (int4)(0, 1, 2, 3), (int4)(n_outputs - 1));
    __global const tw_store_t* x = features + (size_t)order[2 * (first + b)] * dim;
    const size_t w0 = (size_t)output.x * dim, w1 = (size_t)output.y * dim;
    const size_t w2 = (size_t)output.z * dim, w3 = (size_t)output.w * dim;
    float4 sum = (float4)(0.0f);
#ifndef TW_LATE
    for (int q = inside ? lane : n_quads; q < n_quads; q += lanes) {
      const float4 v = tw_load4(q, x);
      sum.x += dot(v, TW_WEIGHTS4(w0 + 4 * q));
      sum.y += dot(v, TW_WEIGHTS4(w1 + 4 * q));
      sum.z += dot(v, TW_WEIGHTS4(w2 + 4 * q));
      sum.w += dot(v, TW_WEIGHTS4(w3 + 4 * q));
    }
#endif
    for (int k = inside ? 4 * n_quads + lane : dim; k < dim; k += lanes) {
      sum += tw_load(k, x) * (float4)(TW_WEIGHT(w0 + k, false), TW_WEIGHT(w1 + k, false),
                                      TW_WEIGHT(w2 + k, false), TW_WEIGHT(w3 + k, false));
    }
    sum = head_sum(sum, lanes, room);
    if (!inside || lane != 0) continue;
    sum += (float4)(TW_WEIGHT(bias + output.x, true), TW_WEIGHT(bias + output.y, true),
                    TW_WEIGHT(bias + output.z, true), TW_WEIGHT(bias + output.w, true));
    sum = select((float4)(0.0f), sum, (int4)(c) + (int4)(0, 1, 2, 3) == output);
    vstore4(sum, 0, scores + (size_t)b * pitch + c);
  }
}

// Softmax cross-entropy of a row: sum over c of target_c (log sum exp - z_c), target_c = weight_c
// (smoothing / C + (1 - smoothing) [c = label]). A team per row; z[c] becomes what it changes the
// loss by, times scale. x: the loss; y: 1 where the label has the best score.
inline float4 head_softmax(bool inside, int label, __global float* z, int n_outputs, float scale,
                           __global const float* class_weights, int has_class_weights,
                           float smoothing, int lanes, __local float4* room) {
  const int lane = get_local_id(0) & (lanes - 1), n = inside ? n_outputs : 0;
  const float everywhere = smoothing / (float)n_outputs;
  float most = -INFINITY;
  for (int c = lane; c < n; c += lanes) most = fmax(most, z[c]);
  most = head_max(most, lanes, room);
  const float own = inside ? z[label] : 0.0f;
  float4 sums = (float4)(0.0f);
  for (int c = lane; c < n; c += lanes) {
    sums.x += exp(z[c] - most);
    // The first of equals is the best.
    sums.y += z[c] > own || (z[c] == own && c < label) ? 1.0f : 0.0f;
  }
  sums = head_sum(sums, lanes, room);
  const float sum = sums.x, log_sum = log(sum);
  float4 losses = (float4)(0.0f);
  for (int c = lane; c < n; c += lanes) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float target = weight * (everywhere + (c == label ? 1.0f - smoothing : 0.0f));
    losses.x += target != 0.0f ? target * (log_sum - (z[c] - most)) : 0.0f;
    losses.y += target;
  }
  losses = head_sum(losses, lanes, room);
  barrier(CLK_GLOBAL_MEM_FENCE);  // all have read z[label]
  for (int c = lane; c < n; c += lanes) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float target = weight * (everywhere + (c == label ? 1.0f - smoothing : 0.0f));
    z[c] = scale * (losses.y * (exp(z[c] - most) / sum) - target);
  }
  losses.y = sums.y == 0.0f ? 1.0f : 0.0f;
  return losses;
}

// Losses of outputs on their own: their mean is an example's. x: the loss; y: the share of hits.
inline float4 head_outputs(bool inside, __global const float* t, __global float* z, int n_outputs,
                           float scale, __global const float* class_weights, int has_class_weights,
                           int kind, float smoothing, float huber_delta, int lanes,
                           __local float4* room) {
  const int lane = get_local_id(0) & (lanes - 1), n = inside ? n_outputs : 0;
  const float share = 1.0f / (float)n_outputs;
  float4 sums = (float4)(0.0f);
  for (int c = lane; c < n; c += lanes) {
    const float weight = has_class_weights != 0 ? class_weights[c] : 1.0f;
    const float4 loss = head_output(z[c], t[c], weight, kind, smoothing, huber_delta);
    sums.x += share * loss.x;  // a sum of squares might overflow
    sums.y += loss.y;
    z[c] = scale * share * loss.z;
  }
  sums = head_sum(sums, lanes, room);
  sums.y *= share;
  return sums;
}

// Loss and hit of row b of the mini-batch, by a team, and the row's part of the gradient in the
// place of its scores. Rows from `count` on have none. The result is a halt, 0 where all is well.
inline int head_row_loss(int b, int first, int count, float scale, __global float* scores,
                         int pitch, __global const int* order, __global const int* targets,
                         __global const float* class_weights, __global float* losses,
                         int n_outputs, int has_class_weights, int kind, float smoothing,
                         float huber_delta, int lanes, __local float4* room) {
  const bool inside = b < count;
  const int target = inside ? order[2 * (first + b) + 1] : 0;
  __global float* z = scores + (size_t)b * pitch;
  float4 loss;
#ifdef TW_LABELS
  loss = head_softmax(inside, inside ? targets[target] : 0, z, n_outputs, scale, class_weights,
                      has_class_weights, smoothing, lanes, room);
#else
  __global const float* values = (__global const float*)targets + (size_t)target * n_outputs;
  loss = head_outputs(inside, values, z, n_outputs, scale, class_weights, has_class_weights, kind,
                      smoothing, huber_delta, lanes, room);
#endif
  if (!inside || (get_local_id(0) & (lanes - 1)) != 0) return TW_HALT_NONE;
  losses[2 * (first + b)] = loss.x;
  losses[2 * (first + b) + 1] = loss.y;
  return head_is_bad(loss.x) ? TW_HALT_LOSS : TW_HALT_NONE;
}

// Scores, loss and the scores' slopes. A group per row. Global size: local size * batch.
TW_KERNEL(head_rows)(
    __global const tw_store_t* features, __global float* parameters, __global const int* order,
    __global const int* spans, __global int* state, __global const float* rates,
    __global const int* targets, __global const float* class_weights, __global float* scores,
    __global float* losses, __global const float* gradient, __global float* moment1,
    __global float* moment2, __global float* other_parameters, __global float* other_moment1,
    __global float* other_moment2, __global const float* sums, int dim, int n_outputs, int pitch,
    int score_lanes, int loss_lanes, int has_class_weights, int kind, float smoothing,
    float huber_delta, int n_sums, TW_OPTIMIZER_PARAMS, float clip_norm) {
  __local float4 room[TW_MOST_ITEMS];
  const int b = get_group_id(0), step = state[TW_HEAD_STEP];
  const int first = spans[2 * step], count = spans[2 * step + 1];
  if (TW_HALTED) return;
  TW_LATE_BEGIN(b == 0)
  head_score_rows(b, b < count ? 1 : 0, first, features, from, order, scores, pitch, dim, n_outputs,
                  score_lanes, room TW_LATE_ARGUMENTS);
  barrier(CLK_GLOBAL_MEM_FENCE);
  // The first team is enough for the loss of a row. A loss that is not finite is left to who reads it.
  head_row_loss(get_local_id(0) < loss_lanes ? b : count, first, count,
                rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE], scores, pitch,
                order, targets, class_weights, losses, n_outputs, has_class_weights, kind, smoothing, huber_delta,
                loss_lanes, room);
  if (b == 0 && get_local_id(0) == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
}

#ifndef TW_LATE
// The gradient of all parameters, in tiles of 4 x 4, an item a tile.
inline int head_whole_gradient(int first, int count, __global const tw_store_t* features,
                               __global const float* scores, int pitch, __global const int* order,
                               __global float* gradient, int dim, int n_outputs,
                               __local float* own) {
  const int columns = (dim + 4) >> 2, n_tiles = columns * (pitch >> 2);
  const int n_items = get_local_size(0);
  int halt = TW_HALT_NONE;
  for (int tile = get_local_id(0); tile < n_tiles; tile += n_items) {
    const int row = tile / columns, c = 4 * row, d = 4 * (tile - row * columns);
    head_tile(c, d, first, count, features, scores, pitch, order, dim, own);
    for (int k = 0; k < 16; ++k) {
      halt = max(halt, head_store(own[k * n_items], c + (k >> 2), d + (k & 3), dim, n_outputs,
                                  gradient));
    }
  }
  return halt;
}

// What the gradient is multiplied with, for all items of the only group.
inline float head_whole_clip(__global const float* gradient, int n, float clip_norm,
                             __local float4* room) {
  float4 squares = (float4)(0.0f);
  for (int i = get_local_id(0); i < n; i += get_local_size(0)) squares += head_square(gradient[i]);
  return head_clip_factor(head_sum(squares, get_local_size(0), room), clip_norm);
}

// n_steps whole steps; the first that must not be taken ends them. Where `trains` is 0, their
// losses alone, whatever these are. Global size: one group.
TW_KERNEL(head_steps)(__global const tw_store_t* features, __global float* parameters,
                      __global const int* order, __global const int* spans, __global int* state,
                      __global const float* rates, __global const int* targets,
                      __global const float* class_weights, __global float* scores,
                      __global float* losses, __global float* gradient, __global float* moment1,
                      __global float* moment2, int dim, int n_outputs, int pitch, int score_lanes,
                      int loss_lanes, int n_steps, int trains, int has_class_weights, int kind,
                      int adam, int nesterov, float smoothing, float huber_delta, float beta1,
                      float beta2, float epsilon, float weight_decay, float l1, float clip_norm) {
  __local float4 room[TW_MOST_ITEMS];
  __local float tiles[16 * TW_MOST_ITEMS];
  __local int halts;
  const int item = get_local_id(0), n_items = get_local_size(0), n = (dim + 1) * n_outputs;
  const int n_teams = n_items / loss_lanes;
  const int begun = state[TW_HEAD_STEP];
  int step = begun, halt = state[TW_HEAD_HALT];
  if (halt != TW_HALT_NONE) return;
  if (item == 0) halts = TW_HALT_NONE;
  while (step < begun + n_steps) {
    const int first = spans[2 * step], count = spans[2 * step + 1];
    __global const float* rate = rates + TW_NUM_HEAD_RATES * step;
    head_score_rows(0, count, first, features, parameters, order, scores, pitch, dim, n_outputs,
                    score_lanes, room);
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    for (int at = 0; at < count; at += n_teams) {
      halt = max(halt, head_row_loss(at + item / loss_lanes, first, count, rate[TW_RATE_SCALE],
                                     scores, pitch, order, targets, class_weights, losses,
                                     n_outputs, has_class_weights, kind, smoothing, huber_delta,
                                     loss_lanes, room));
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (trains == 0) {
      ++step;
      continue;
    }
    halt = max(halt, head_whole_gradient(first, count, features, scores, pitch, order, gradient,
                                         dim, n_outputs, tiles + item));
    if (halt != TW_HALT_NONE) atomic_max(&halts, halt);
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    halt = halts;
    if (halt != TW_HALT_NONE) break;
    ++step;
    const float factor =
        clip_norm > 0.0f ? head_whole_clip(gradient, n, clip_norm, room) : 1.0f;
    for (int i = item; i < n; i += n_items) {
      head_update(i, factor * gradient[i], i >= n - n_outputs, 1, parameters, moment1, moment2,
                  parameters, moment1, moment2, rate, TW_OPTIMIZER);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (item == 0) {
    state[TW_HEAD_STEP] = step;
    state[TW_HEAD_NEXT_STEP] = step;
    if (trains != 0) state[TW_HEAD_HALT] = halt;
  }
}
#endif
