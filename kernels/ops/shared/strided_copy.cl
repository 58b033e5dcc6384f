// Moves elements between two layouts: TRANSPOSE, SLICE, CONCATENATION and their like.
//
// `loops` holds, for each of `rank` dimensions from the outermost: size, source stride, destination
// stride, in elements (see kernels/ops/shared/strided_copy.h).

// As they lie in memory.
#ifdef TW_HALF
typedef ushort tw_raw_t;
#else
typedef tw_store_t tw_raw_t;
#endif

// Moves *from and *to on to step i of the loops.
inline void tw_copy_at(const __global int* loops, int rank, int i, int* from, int* to) {
  for (int d = rank - 1; d >= 0; --d) {
    const int k = tw_index(&i, loops[3 * d]);
    *from += k * loops[3 * d + 1];
    *to += k * loops[3 * d + 2];
  }
}

TW_KERNEL(strided_copy)(tw_in x, tw_out y, const __global int* loops, int rank, int n, int from,
                        int to) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  tw_copy_at(loops, rank, i, &from, &to);
  tw_store(tw_load(from, x), to, y);
}

// The innermost dimension is contiguous in both and counts groups of four.
TW_KERNEL_FOR(strided_copy, fours)(tw_in x, tw_out y, const __global int* loops, int rank, int n,
                                   int from, int to) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  tw_copy_at(loops, rank, i, &from, &to);
  vstore4(vload4(0, (const __global tw_raw_t*)x + from), 0, (__global tw_raw_t*)y + to);
}

TW_KERNEL(fill)(tw_out y, int n, float value) {
  const int first = (int)get_global_id(0) * 4;
  for (int i = first; i < min(first + 4, n); ++i) tw_store(value, i, y);
}

// The output is seen as dims; each index is looked up in the dimension's map of source offsets.
// `maps` holds (size, the map's place in maps) for each dimension, then the maps.
TW_KERNEL(mapped_copy)(tw_in x, tw_out y, const __global int* maps, int rank, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  int left = i, from = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const int k = tw_index(&left, maps[2 * d]);
    from += maps[maps[2 * d + 1] + k];
  }
  tw_store(tw_load(from, x), i, y);
}
