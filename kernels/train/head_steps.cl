// Steps of training a dense head by groups that take whole rows: scores and loss of a row by one
// group, and whole steps of small heads by a single group, with barriers in place of launches.
//
// state[TW_HEAD_STEP] is the step for scores and loss, and state[TW_HEAD_NEXT_STEP] = step + 1 for
// what follows; state[TW_HEAD_HALT] says why a step must not be taken.

// Scores, loss and the scores' slopes. A group per row. Global size: local size * batch.
TW_KERNEL(head_rows)(__global const tw_store_t* features, __global const float* parameters,
                     __global const int* order, __global const int* spans, __global int* state,
                     __global const float* rates, __global const int* targets,
                     __global const float* class_weights, __global float* scores,
                     __global float* losses, int dim, int n_outputs, int pitch,
                     int score_lanes, int loss_lanes, int has_class_weights, int kind,
                     float smoothing, float huber_delta) {
  __local float4 room[TW_MOST_ITEMS];
  const int b = get_group_id(0), step = state[TW_HEAD_STEP];
  const int first = spans[2 * step], count = spans[2 * step + 1];
  head_score_rows(b, b < count ? 1 : 0, first, features, parameters, order, scores, pitch, dim,
                  n_outputs, score_lanes, room);
  barrier(CLK_GLOBAL_MEM_FENCE);
  // The first team is enough for the loss of a row.
  const int halt = head_row_loss(get_local_id(0) < loss_lanes ? b : count, first, count,
                                 rates[TW_NUM_HEAD_RATES * step + TW_RATE_SCALE], scores, pitch,
                                 order, targets, class_weights, losses, n_outputs,
                                 has_class_weights, kind, smoothing, huber_delta, loss_lanes, room);
  if (halt != TW_HALT_NONE) atomic_max(state + TW_HEAD_HALT, halt);
  if (b == 0 && get_local_id(0) == 0) state[TW_HEAD_NEXT_STEP] = step + 1;
}

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
      head_update(i, factor * gradient[i], i >= n - n_outputs, parameters, moment1, moment2, rate,
                  adam, nesterov, beta1, beta2, epsilon, weight_decay, l1);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (item == 0) {
    state[TW_HEAD_STEP] = step;
    state[TW_HEAD_NEXT_STEP] = step;
    if (trains != 0) state[TW_HEAD_HALT] = halt;
  }
}
