// Elements chosen by int32 indices: GATHER, GATHER_ND, EMBEDDING_LOOKUP, DYNAMIC_UPDATE_SLICE.
//
// An index outside its dimension sets *error and reads element 0.

inline int tw_checked(int index, int n, __global int* error) {
  if (index >= 0 && index < n) return index;
  atomic_xchg(error, 1);
  return 0;
}

// y[b, o, k, i] = x[b, o, indices[b, k], i]. x: inner; y: indices; z: batch and outer.
TW_KERNEL(gather)(tw_in x, const __global int* indices, tw_out y, __global int* error, int outer,
                  int axis, int n_indices, int inner, int n_rows) {
  const int i = (int)get_global_id(0), k = (int)get_global_id(1), row = (int)get_global_id(2);
  if (i >= inner || k >= n_indices || row >= n_rows) return;
  const int at = tw_checked(indices[row / outer * n_indices + k], axis, error);
  tw_store(tw_load((row * axis + at) * inner + i, x), (row * n_indices + k) * inner + i, y);
}

// y[row, i] = x[indices[row, 0], ..., indices[row, depth - 1], i]. x: inner; y: rows.
TW_KERNEL(gather_nd)(tw_in x, const __global int* indices, tw_out y, __global int* error,
                     const __global int* dims, int depth, int n_rows, int inner) {
  const int i = (int)get_global_id(0), row = (int)get_global_id(1);
  if (i >= inner || row >= n_rows) return;
  int at = 0;
  for (int d = 0; d < depth; ++d) {
    at = at * dims[d] + tw_checked(indices[row * depth + d], dims[d], error);
  }
  tw_store(tw_load(at * inner + i, x), row * inner + i, y);
}

// Writes `update` into y from `start` on, which is clamped so that all of it lies inside. `box`
// holds, for each dimension: the update's size, the last start, the stride in y.
TW_KERNEL(update_slice)(tw_in update, const __global int* start, tw_out y,
                        const __global int* box, int rank, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  int left = i, at = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int k = tw_index(&left, box[3 * d]);
    at += (min(max(start[d], 0), box[3 * d + 1]) + k) * box[3 * d + 2];
  }
  tw_store(tw_load(i, update), at, y);
}
