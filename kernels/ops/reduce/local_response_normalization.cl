// LOCAL_RESPONSE_NORMALIZATION of rows of n channels: x (bias + alpha sum of x^2)^-beta, the sum over
// channels [c - radius, c + radius + last). x: channels; y: rows.

TW_KERNEL(local_response_normalization)(tw_in x, tw_out y, int rows, int n, int radius,
                                        int last, float bias, float alpha, float beta) {
  const int c = (int)get_global_id(0), row = (int)get_global_id(1);
  if (c >= n || row >= rows) return;
  float sum = 0.0f;
  for (int i = max(0, c - radius); i < min(n, c + radius + last); ++i) {
    const float v = tw_load(row * n + i, x);
    sum += v * v;
  }
  tw_store(tw_load(row * n + c, x) * pow(bias + alpha * sum, -beta), row * n + c, y);
}
