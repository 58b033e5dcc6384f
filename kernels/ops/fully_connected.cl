// FULLY_CONNECTED: y[batch x units] = activation(x[batch x depth] * w[units x depth]^T + bias).
//
// All row-major, as the model's file has them. `bias` is not read when has_bias is 0. Sums run in
// float in an order that the sizes alone decide.

// A matrix-vector product for few rows: one work-group of 64 per (unit, row), whose items walk the
// depth side by side and add up in a tree. Global size: units * 64, batch.
__kernel void fully_connected_gemv(__global const tw_store_t* x, __global const tw_store_t* w,
                                   __global const tw_store_t* bias, __global tw_store_t* y,
                                   int units, int depth, int has_bias, int activation, float lo,
                                   float hi) {
  __local float sums[64];
  const int item = get_local_id(0);
  const int unit = get_group_id(0);
  const int row = get_global_id(1);
  __global const tw_store_t* xr = x + (size_t)row * depth;
  __global const tw_store_t* wr = w + (size_t)unit * depth;
  const int quads = depth / 4;
  float sum = 0.0f;
  for (int q = item; q < quads; q += 64) sum += dot(tw_load4(q, xr), tw_load4(q, wr));
  const int k = 4 * quads + item;
  if (k < depth) sum += tw_load(k, xr) * tw_load(k, wr);
  sums[item] = sum;
  for (int half_size = 32; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) sums[item] += sums[item + half_size];
  }
  if (item == 0) {
    const float b = has_bias != 0 ? tw_load(unit, bias) : 0.0f;
    tw_store(tw_activate(sums[0] + b, activation, lo, hi), (size_t)row * units + unit, y);
  }
}

// A tiled matrix product: work-groups of 8 x 8 make 32 x 32 outputs, each item 4 x 4 of them, from
// slices of 16 in depth that lie in local memory. Outside the matrices zeros are loaded and nothing
// is stored. Global size: units / 32 * 8, batch / 32 * 8, both rounded up to whole groups.
#define TW_TILE 32
#define TW_SLICE_BITS 4
#define TW_SLICE (1 << TW_SLICE_BITS)

// Loads rows [first, first + 32) x depth [k, k + 16) of a row-major matrix, transposed.
inline void fully_connected_load(__global const tw_store_t* matrix, int rows, int depth, int first,
                                 int k, __local float* tile, int item) {
  for (int i = item; i < TW_TILE * TW_SLICE; i += 64) {
    const int r = i >> TW_SLICE_BITS, c = i & (TW_SLICE - 1);
    const bool inside = first + r < rows && k + c < depth;
    tile[c * (TW_TILE + 1) + r] =
        inside ? tw_load((size_t)(first + r) * depth + k + c, matrix) : 0.0f;
  }
}

__kernel void fully_connected_gemm(__global const tw_store_t* x, __global const tw_store_t* w,
                                   __global const tw_store_t* bias, __global tw_store_t* y,
                                   int batch, int units, int depth, int has_bias, int activation,
                                   float lo, float hi) {
  __local float xs[TW_SLICE * (TW_TILE + 1)];
  __local float ws[TW_SLICE * (TW_TILE + 1)];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int item = ly * 8 + lx;
  const int unit0 = get_group_id(0) * TW_TILE, row0 = get_group_id(1) * TW_TILE;
  float sums[4][4];
  for (int r = 0; r < 4; ++r) {
    for (int u = 0; u < 4; ++u) sums[r][u] = 0.0f;
  }
  for (int k = 0; k < depth; k += TW_SLICE) {
    fully_connected_load(x, batch, depth, row0, k, xs, item);
    fully_connected_load(w, units, depth, unit0, k, ws, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0; c < TW_SLICE; ++c) {
      // Neighbours take neighbouring columns: rows and units of an item are 8 apart.
      for (int r = 0; r < 4; ++r) {
        const float a = xs[c * (TW_TILE + 1) + ly + 8 * r];
        for (int u = 0; u < 4; ++u) sums[r][u] += a * ws[c * (TW_TILE + 1) + lx + 8 * u];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int u = 0; u < 4; ++u) {
    const int unit = unit0 + lx + 8 * u;
    if (unit >= units) continue;
    const float b = has_bias != 0 ? tw_load(unit, bias) : 0.0f;
    for (int r = 0; r < 4; ++r) {
      const int row = row0 + ly + 8 * r;
      if (row >= batch) continue;
      tw_store(tw_activate(sums[r][u] + b, activation, lo, hi), (size_t)row * units + unit, y);
    }
  }
}
