// Sums of products of the columns of a matrix, X^T X, for heads in closed form.
//
// Numbers and sums have about twice the digits of float32: each is the sum of two. What a product and a
// sum lose to rounding goes into the second one (Ogita, Rump and Oishi 2005, Accurate sum and dot
// product, algorithm Dot2).
#pragma OPENCL FP_CONTRACT OFF

// *high + *low += (a.x + a.y) * (b + b_low), but for a.y * b_low.
inline void square_add(float2 a, float4 b, float4 b_low, float4* high, float4* low) {
  const float4 product = a.x * b, sum = *high + product, part = sum - *high;
  const float4 lost = fma((float4)(a.y), b, fma((float4)(a.x), b_low, fma((float4)(a.x), b, -product)));
  *low += ((*high - (sum - part)) + (product - part)) + lost;
  *high = sum;
}

// high, low [pitch, pitch] += X^T X on and below the diagonal, and some of it above. A row of x is that of
// X, its first parts and then its second ones, pitch of each, a multiple of 32. An item has two rows and
// four columns. Groups of 8 x 8. Global size: columns / 4, rows / 2, each rounded up.
TW_KERNEL(square)(__global const float* x, __global float* high, __global float* low, int n_rows,
                  int pitch) {
  const int column = 4 * get_global_id(0), row = 2 * get_global_id(1);
  if (column > row + 1) return;
  const int first = (row * pitch + column) / 4, second = first + pitch / 4;
  __global float4 *highs = (__global float4*)high, *lows = (__global float4*)low;
  float4 h0 = highs[first], h1 = highs[second], l0 = lows[first], l1 = lows[second];
  for (int r = 0; r < n_rows; ++r, x += 2 * pitch) {
    const float4 b = *(__global const float4*)(x + column);
    const float4 b_low = *(__global const float4*)(x + pitch + column);
    const float2 a = *(__global const float2*)(x + row);
    const float2 a_low = *(__global const float2*)(x + pitch + row);
    square_add((float2)(a.x, a_low.x), b, b_low, &h0, &l0);
    square_add((float2)(a.y, a_low.y), b, b_low, &h1, &l1);
  }
  highs[first] = h0;
  highs[second] = h1;
  lows[first] = l0;
  lows[second] = l1;
}
