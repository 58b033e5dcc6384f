// What a device can do at most: chains of multiply-adds and of byte products that wait for nothing
// but themselves, and a plain stream. For `topwork benchmark --roofline`; models do not use them.

// y[i] = a sum of chains of n rounds, each 64 multiply-adds of float4.
TW_KERNEL(limits_add)(const __global float* x, __global float* y, int n) {
  const int i = get_global_id(0);
  float4 a = (float4)(x[i & 63]), b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
  const float4 f = (float4)(0.999f), g = (float4)(0.001f);
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < 16; ++k) {
      a = mad(a, f, g);
      b = mad(b, f, g);
      c = mad(c, f, g);
      d = mad(d, f, g);
    }
  }
  y[i] = dot(a + b + c + d, (float4)(1.0f));
}

// The same of byte products: n rounds of 64 dot products of four bytes.
TW_KERNEL(limits_dot)(const __global float* x, __global float* y, int n) {
  const int i = get_global_id(0);
  int a = (int)x[i & 63], b = a + 1, c = a + 2, d = a + 3;
#ifdef tw_dot
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < 16; ++k) {
      a = tw_dot((uint)a, (uint)b, a);
      b = tw_dot((uint)b, (uint)c, b);
      c = tw_dot((uint)c, (uint)d, c);
      d = tw_dot((uint)d, (uint)a, d);
    }
  }
#endif
  y[i] = (float)(a + b + c + d);
}

// y[i] = (x[i] + y[i]) / 2 for four elements i.
TW_KERNEL(limits_stream)(const __global float* x, __global float* y) {
  const int i = get_global_id(0);
  vstore4(0.5f * (vload4(i, x) + vload4(i, y)), i, y);
}
