// One or two small dense layers, with TW_MEANS of the means of an image's channels, in one launch:
// what squeeze-and-excite blocks begin with. Sums are float32, what lies between stays in local memory.
//
// A work-group, whose size is a power of two, for each row: x is [row][depth], or with TW_MEANS
// [row][pixels][depth], whose means are clamped to lo and hi. Its items share the columns, `fours`
// fours of them at a time, and the depth of each, and add up in a tree. Weights are [depth][n
// rounded up to fours], the bias as long. A layer's results are clamped; with TW_TWO those of the
// first, after which TW_MIDDLE names a function of one number, go to a second. Depth and n are at
// most TW_MOST. y: rows.
#define TW_GROUP 256  // the largest work-group
#define TW_MOST 1024

// The sums of all lanes of an item's four: those of items below `fours` are whole.
TW_INLINE float4 tw_squeeze_sum(__local float4* part, float4 sum, int fours) {
  const int id = (int)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  part[id] = sum;
  for (int half_way = (int)get_local_size(0) / 2; half_way >= fours; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < half_way) part[id] += part[id + half_way];
  }
  return part[id];
}

// A lane's part of four columns of a layer.
TW_INLINE float4 tw_squeeze_part(const __local float* x, tw_in w, int depth, int n, int column,
                                 int first, int lanes) {
  const int wide = (n + 3) / 4 * 4;
  float4 sum = (float4)(0.0f);
  if (column >= n) return sum;
  for (int i = first; i < depth; i += lanes) sum += x[i] * tw_aligned4(w + i * wide + column);
  return sum;
}

TW_KERNEL(squeeze)(tw_in x, tw_out y, int pixels, int depth, int fours, float lo, float hi,
                   tw_in w_a, tw_in bias_a, int n_a, int fours_a, float lo_a, float hi_a
#ifdef TW_TWO
                   , tw_in w_b, tw_in bias_b, int n_b, int fours_b, float lo_b, float hi_b
#endif
                   TW_TAIL) {
  __local float4 part[TW_GROUP];
  __local float a[TW_MOST];
  const int id = (int)get_local_id(0), size = (int)get_local_size(0);
  const int row = (int)get_global_id(1);
#ifdef TW_MEANS
  const int of_means = id / fours, lanes = size / fours;
  for (int block = 0; 4 * block < depth; block += fours) {
    const int c = 4 * (block + id - of_means * fours), n = min(4, depth - c);
    float4 sum = (float4)(0.0f);
    for (int k = of_means; k < pixels && n > 0; k += lanes) {
      sum += tw_load_part(x, (row * pixels + k) * depth + c, n);
    }
    sum = tw_squeeze_sum(part, sum, fours);
    if (of_means > 0) continue;
    sum = tw_clamp4(sum / (float)pixels, lo, hi);
    if (n > 0) a[c] = sum.x;
    if (n > 1) a[c + 1] = sum.y;
    if (n > 2) a[c + 2] = sum.z;
    if (n > 3) a[c + 3] = sum.w;
  }
#else
  for (int i = id; i < depth; i += size) a[i] = tw_load(row * depth + i, x);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef TW_TWO
  __local float b[TW_MOST];
#endif
  const int of_a = id / fours_a, lanes_a = size / fours_a;
  for (int block = 0; 4 * block < n_a; block += fours_a) {
    const int column = 4 * (block + id - of_a * fours_a), n = min(4, n_a - column);
    const float4 mine = tw_squeeze_part(a, w_a, depth, n_a, column, of_a, lanes_a);
    const float4 sum = tw_squeeze_sum(part, mine, fours_a);
    if (of_a > 0 || n <= 0) continue;
    float4 v = tw_clamp4(sum + tw_aligned4(bias_a + column), lo_a, hi_a);
#ifdef TW_TWO
#ifdef TW_MIDDLE
    v = TW_MAP4(TW_MIDDLE, v, 0.0f);
#endif
    b[column] = v.x;
    if (n > 1) b[column + 1] = v.y;
    if (n > 2) b[column + 2] = v.z;
    if (n > 3) b[column + 3] = v.w;
#else
    tw_finish(y, row * n_a + column, column, n, v);
#endif
  }
#ifdef TW_TWO
  barrier(CLK_LOCAL_MEM_FENCE);
  const int of_b = id / fours_b, lanes_b = size / fours_b;
  for (int block = 0; 4 * block < n_b; block += fours_b) {
    const int column = 4 * (block + id - of_b * fours_b), n = min(4, n_b - column);
    const float4 mine = tw_squeeze_part(b, w_b, n_a, n_b, column, of_b, lanes_b);
    const float4 sum = tw_squeeze_sum(part, mine, fours_b);
    if (of_b > 0 || n <= 0) continue;
    tw_finish(y, row * n_b + column, column, n,
           tw_clamp4(sum + tw_aligned4(bias_b + column), lo_b, hi_b));
  }
#endif
}
