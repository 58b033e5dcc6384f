// CONV_2D of 3x3 taps, stride 1, by Winograd's minimal filtering (Lavin and Gray, 2015):
// Y = A^T [ sum over channels of (G g G^T) * (B^T d B) ] A for tiles of 2x2 or 4x4 outputs.
//
// The filters are transformed on the host; transformed values are float whatever the storage is: in
// half they err by 3 parts in 1,000 of the largest output, and products of them take a third more
// instructions on NVIDIA and twice as many on Adreno.
// The points of 4x4 are 0, +-3/4, +-3/2 and infinity: rounding errors are a third of those of 0,
// +-1, +-2. An input that is not finite spoils the whole tiles that it lies in.
// V is [position][tile][input channel, rounded up to fours], U [position][input channel, the
// same][output channel, the same], M [position][tile][output channel, the same].

__constant float tw_b2[16] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, -1, 0, 1};
__constant float tw_a2[8] = {1, 1, 1, 0, 0, 1, -1, 1};
__constant float tw_b4[36] = {1.265625f, 0,         -2.8125f, 0,        1, 0,  //
                              0,         -1.6875f,  -2.25f,   0.75f,    1, 0,  //
                              0,         1.6875f,   -2.25f,   -0.75f,   1, 0,  //
                              0,         -0.84375f, -0.5625f, 1.5f,     1, 0,  //
                              0,         0.84375f,  -0.5625f, -1.5f,    1, 0,  //
                              0,         1.265625f, 0,        -2.8125f, 0, 1};
__constant float tw_a4[24] = {1, 1,         1,          1,      1,       0,  //
                              0, 0.75f,     -0.75f,     1.5f,   -1.5f,   0,  //
                              0, 0.5625f,   0.5625f,    2.25f,  2.25f,   0,  //
                              0, 0.421875f, -0.421875f, 3.375f, -3.375f, 1};

// What lies between the kernels; always aligned.
typedef const __global float* tw_floats;
#define tw_four(p) (*(const __global float4*)(p))
#define tw_to_four(p) (*(__global float4*)(p))

// Columns of a tile; those after n fall away when it is compiled. TW_SUM is a row of a matrix
// times the columns.
#define TW_COLUMNS(M) \
  M(0) M(1) M(2) M(3) if (n > 4) { M(4) M(5) }
#define TW_SUM(row)                                                \
  ((row)[0] * t0 + (row)[1] * t1 + (row)[2] * t2 + (row)[3] * t3 + \
   (n > 4 ? (row)[n - 2] * t4 + (row)[n - 1] * t5 : (float4)(0.0f)))

// One row of B^T d B of one tile, four channels. n = m + 2 is 4 or 6.
TW_INLINE void tw_winograd_input(const int m, __constant const float* bt, tw_in input,
                                 __global float* v, int in_h, int in_w, int in_c, int tiles_h,
                                 int tiles_w, int pad_top, int pad_left, int n_rows) {
  const int n = m + 2;
  const int c = (int)get_global_id(0) * 4, tx = (int)get_global_id(1);
  const int z = (int)get_global_id(2), row = z / n, i = z - row * n;
  if (c >= in_c || tx >= tiles_w || row >= n_rows) return;
  const int b = row / tiles_h, ty = row - b * tiles_h, part = min(4, in_c - c);
  float4 t0 = (float4)(0.0f), t1 = t0, t2 = t0, t3 = t0, t4 = t0, t5 = t0;
  for (int r = 0; r < n; ++r) {
    const float k = bt[i * n + r];
    const int y = ty * m - pad_top + r;
    if (k == 0.0f || y < 0 || y >= in_h) continue;
    const int first = tx * m - pad_left, line = (b * in_h + y) * in_w + first;
#define TW_ADD(j)                         \
  if (first + j >= 0 && first + j < in_w) \
    t##j += k * tw_load_part(input, (line + j) * in_c + c, part);
    TW_COLUMNS(TW_ADD)
#undef TW_ADD
  }
  const int wide = (in_c + 3) / 4 * 4, n_tiles = n_rows * tiles_w;
  __global float* to = v + (i * n * n_tiles + row * tiles_w + tx) * wide + c;
  for (int j = 0; j < n; ++j) tw_to_four(to + j * n_tiles * wide) = TW_SUM(bt + j * n);
}

// x: fours of channels; y: tiles of a row; z: rows of all transformed tiles.
TW_KERNEL_FOR(winograd_input, 2x2)(tw_in restrict input, __global float* restrict v, int in_h,
                                   int in_w, int in_c, int tiles_h, int tiles_w, int pad_top,
                                   int pad_left, int n_rows) {
  tw_winograd_input(2, tw_b2, input, v, in_h, in_w, in_c, tiles_h, tiles_w, pad_top, pad_left,
                    n_rows);
}

TW_KERNEL_FOR(winograd_input, 4x4)(tw_in restrict input, __global float* restrict v, int in_h,
                                   int in_w, int in_c, int tiles_h, int tiles_w, int pad_top,
                                   int pad_left, int n_rows) {
  tw_winograd_input(4, tw_b4, input, v, in_h, in_w, in_c, tiles_h, tiles_w, pad_top, pad_left,
                    n_rows);
}

// M = V U at each position: TW_TILES tiles by four output channels per work-item. x: fours of
// output channels; y: blocks of tiles; z: positions.
#ifndef TW_TILES
#define TW_TILES 8
#endif
TW_KERNEL(winograd_gemm)(tw_floats restrict v, tw_floats restrict u, __global float* restrict m,
                         int n_tiles, int in_wide, int out_wide) {
  const int column = (int)get_global_id(0) * 4, row = (int)get_global_id(1) * TW_TILES;
  const int position = (int)get_global_id(2);
  if (column >= out_wide || row >= n_tiles) return;
  const int first = position * n_tiles;
  tw_floats k = u + position * in_wide * out_wide + column;
  tw_floats from[TW_TILES];
  float4 sum[TW_TILES];
#pragma unroll
  for (int r = 0; r < TW_TILES; ++r) {
    from[r] = v + (first + min(row + r, n_tiles - 1)) * in_wide;
    sum[r] = (float4)(0.0f);
  }
  for (int c = 0; c < in_wide; c += 4, k += 4 * out_wide) {
    const float4 k0 = tw_four(k), k1 = tw_four(k + out_wide);
    const float4 k2 = tw_four(k + 2 * out_wide), k3 = tw_four(k + 3 * out_wide);
#pragma unroll
    for (int r = 0; r < TW_TILES; ++r) {
      const float4 a = tw_four(from[r] + c);
      tw_product4(sum[r], a, k0, k1, k2, k3)
    }
  }
#pragma unroll
  for (int r = 0; r < TW_TILES; ++r) {
    if (row + r < n_tiles) tw_to_four(m + (first + row + r) * out_wide + column) = sum[r];
  }
}

// One row of the outputs of one tile, four channels.
TW_INLINE void tw_winograd_output(const int m, __constant const float* at, tw_floats from,
                                  tw_in bias, tw_in residual, tw_out output, int out_h, int out_w,
                                  int out_c, int tiles_h, int tiles_w, int has_residual,
                                  int n_rows, float lo, float hi TW_TAIL) {
  const int n = m + 2;
  const int c = (int)get_global_id(0) * 4, tx = (int)get_global_id(1);
  const int z = (int)get_global_id(2), row = z / m, i = z - row * m;
  if (c >= out_c || tx >= tiles_w || row >= n_rows) return;
  const int b = row / tiles_h, ty = row - b * tiles_h, y = ty * m + i;
  if (y >= out_h) return;
  const int wide = (out_c + 3) / 4 * 4, n_tiles = n_rows * tiles_w;
  from += (row * tiles_w + tx) * wide + c;
  float4 t0 = (float4)(0.0f), t1 = t0, t2 = t0, t3 = t0, t4 = t0, t5 = t0;
  for (int r = 0; r < n; ++r) {
    const float k = at[i * n + r];
    if (k == 0.0f) continue;
    tw_floats line = from + r * n * n_tiles * wide;
#define TW_ADD(j) t##j += k * tw_four(line + j * n_tiles * wide);
    TW_COLUMNS(TW_ADD)
#undef TW_ADD
  }
  const int part = min(4, out_c - c);
  const float4 start = tw_aligned4(bias + c);
  for (int x = 0; x < m; ++x) {
    if (tx * m + x >= out_w) continue;
    float4 sum = start + TW_SUM(at + x * n);
    const int to = ((b * out_h + y) * out_w + tx * m + x) * out_c + c;
    if (has_residual) sum += tw_load_part(residual, to, part);
    tw_finish(output, to, c, part, tw_clamp4(sum, lo, hi));
  }
}

// x: fours of channels; y: tiles of a row; z: rows of all tiles' outputs.
TW_KERNEL_FOR(winograd_output, 2x2)(tw_floats restrict m, tw_in restrict bias,
                                    tw_in restrict residual, tw_out restrict output, int out_h,
                                    int out_w, int out_c, int tiles_h, int tiles_w,
                                    int has_residual, int n_rows, float lo, float hi TW_TAIL) {
  tw_winograd_output(2, tw_a2, m, bias, residual, output, out_h, out_w, out_c, tiles_h, tiles_w,
                     has_residual, n_rows, lo, hi TW_PASS);
}

TW_KERNEL_FOR(winograd_output, 4x4)(tw_floats restrict m, tw_in restrict bias,
                                    tw_in restrict residual, tw_out restrict output, int out_h,
                                    int out_w, int out_c, int tiles_h, int tiles_w,
                                    int has_residual, int n_rows, float lo, float hi TW_TAIL) {
  tw_winograd_output(4, tw_a4, m, bias, residual, output, out_h, out_w, out_c, tiles_h, tiles_w,
                     has_residual, n_rows, lo, hi TW_PASS);
}
